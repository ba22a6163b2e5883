/**
 * Compares the spending rules on a block's offset table with the readable ones on objects, for each transaction: the same
 * verdict and the same fees. The test makes the coins in the form in which the coin table returns them.
 */
import { describe, expect, it } from 'vitest';
import {
  checkSpends,
  spentScript,
  type SpendRules,
  type SpendVerdict,
} from '../../src/chain/connect/checkSpends.js';
import { loadBlock } from '../../src/chain/blocks/loadedBlock.js';
import { checkTxInputs, type SpentCoin } from '../../src/consensus/checkTxInputs.js';
import { isMoneyRange, MAX_BLOCK_SIGOPS_COST, MAX_MONEY } from '../../src/consensus/limits.js';
import { calculateSequenceLocks, sequenceLocksOpen } from '../../src/consensus/lockTime.js';
import { transactionSigopCost } from '../../src/consensus/sigopCost.js';
import { hash160, sha256 } from '../../src/crypto/hash.js';
import type { ResolvedInputs } from '../../src/native/binding.js';
import {
  formatTransaction,
  isCoinbase,
  type Transaction,
  type TxInput,
} from '../../src/primitives/transaction.js';
import { SCRIPT_VERIFY } from '../../src/script/flags.js';
import { OP } from '../../src/script/opcodes.js';
import { buildScript, pushData } from '../../src/script/script.js';
import { toHex, type Bytes } from '../../src/util/bytes.js';
import {
  coinbaseTx,
  formatRawBlock,
  Random,
  randomClaimPrefix,
  randomOutPoint,
  randomScript,
} from './support.js';

const HEIGHT = 5000;
const FLAGS = SCRIPT_VERIFY.P2SH | SCRIPT_VERIFY.WITNESS;
/** Block times a minute apart, so that BIP68's units of 512 seconds fall between blocks. */
const medianTimeAt = (height: number): number => 1_500_000_000 + 60 * height;

const RULES: SpendRules = {
  height: HEIGHT,
  flags: FLAGS,
  sequenceLocks: true,
  medianTimeAt,
  parentMedianTimeSec: medianTimeAt(HEIGHT - 1),
};

interface Coin extends SpentCoin {
  readonly script: Bytes;
}

interface Case {
  readonly transactions: Transaction[];
  /** The spent coin of each input, for each transaction except the coinbase; null if it does not exist. */
  readonly coins: (Coin | null)[][];
}

/** The rules of `consensus`, assembled in the order of the reference's `ConnectBlock`. */
function readable(
  { transactions, coins }: Case,
  rules: SpendRules,
): { reason: string | null; debug: string; feesSat: bigint } {
  let feesSat = 0n;
  let cost = 0;
  const refused = (reason: string, debug = ''): { reason: string; debug: string; feesSat: bigint } => ({
    reason,
    debug,
    feesSat,
  });
  for (const [i, tx] of transactions.entries()) {
    const spent = coins[i]!;
    if (!isCoinbase(tx)) {
      const { error, feeSat } = checkTxInputs(tx, spent, rules.height);
      if (error) return refused(error.reason, error.debug);
      feesSat += feeSat;
      if (!isMoneyRange(feesSat)) return refused('bad-txns-accumulated-fee-outofrange');
      if (rules.sequenceLocks) {
        const heights = spent.map((coin) => coin!.height);
        const locks = calculateSequenceLocks(tx, heights, rules.medianTimeAt);
        if (!sequenceLocksOpen(locks, rules.height, rules.parentMedianTimeSec))
          return refused('bad-txns-nonfinal');
      }
    }
    cost += transactionSigopCost(tx, (input) => spent[input]!.script, rules.flags);
    if (cost > MAX_BLOCK_SIGOPS_COST) return refused('bad-blk-sigops');
  }
  return { reason: null, debug: '', feesSat };
}

function resolve({ coins }: Case): ResolvedInputs {
  const all = coins.flat();
  const scripts = Buffer.concat(all.map((coin) => coin?.script ?? Buffer.alloc(0)));
  const resolved: ResolvedInputs = {
    heightCodes: new Uint32Array(all.length),
    amounts: new BigInt64Array(all.length),
    scriptOffsets: new Uint32Array(all.length),
    scriptLengths: new Uint32Array(all.length),
    scripts,
    status: new Uint8Array(all.length),
    claimKinds: new Uint8Array(all.length),
    duplicates: new Uint32Array(0),
  };
  let at = 0;
  all.forEach((coin, input) => {
    resolved.scriptOffsets[input] = at;
    if (coin === null) {
      resolved.status[input] = 1;
      return;
    }
    resolved.heightCodes[input] = coin.height * 2 + (coin.isCoinbase ? 1 : 0);
    resolved.amounts[input] = coin.value;
    resolved.scriptLengths[input] = coin.script.length;
    at += coin.script.length;
  });
  return resolved;
}

function verdict(test: Case, rules: SpendRules = RULES): SpendVerdict {
  const bytes = formatRawBlock(
    new Random(1),
    test.transactions.map((tx) => formatTransaction(tx)),
  );
  // The coinbase's own row stays empty: it spends nothing.
  const resolved = resolve({ ...test, coins: [[null], ...test.coins.slice(1)] });
  resolved.status[0] = 0;
  test.coins.flat().forEach((coin, i) => {
    if (coin !== null) expect(toHex(spentScript(resolved, i + 1))).toBe(toHex(coin.script));
  });
  const got = checkSpends(loadBlock(bytes), resolved, rules);
  const expected = readable(test, rules);
  expect(got.error?.reason ?? null).toBe(expected.reason);
  if (expected.debug !== '') expect(got.error?.debug).toBe(expected.debug);
  expect(got.feesSat).toBe(expected.feesSat);
  return got;
}

const P2PKH = (random: Random): Buffer =>
  buildScript(OP.OP_DUP, OP.OP_HASH160, random.bytes(20), OP.OP_EQUALVERIFY, OP.OP_CHECKSIG);
const p2sh = (redeem: Bytes): Buffer => buildScript(OP.OP_HASH160, hash160(redeem), OP.OP_EQUAL);
const p2wsh = (script: Bytes): Buffer => buildScript(OP.OP_0, sha256(script));

/** A script with signature operations: CHECKSIG, and CHECKMULTISIG with and without a preceding number of keys. */
function operations(random: Random): Buffer {
  const pieces = Array.from({ length: random.below(6) }, () =>
    random.pick([
      Buffer.of(OP.OP_CHECKSIG),
      Buffer.of(OP.OP_2, OP.OP_CHECKMULTISIG),
      Buffer.of(OP.OP_16, OP.OP_CHECKMULTISIGVERIFY),
      Buffer.of(OP.OP_CHECKMULTISIG),
      pushData(Buffer.alloc(3, OP.OP_CHECKSIG)),
      Buffer.of(OP.OP_0, OP.OP_CHECKMULTISIG),
    ]),
  );
  if (random.chance(8)) pieces.push(Buffer.of(OP.OP_PUSHDATA2, 9));
  return Buffer.concat(pieces);
}

interface Spend {
  readonly script: Buffer;
  readonly scriptSig: Buffer;
  readonly witness: Buffer[];
}

function spendOf(random: Random, redeem = operations(random)): Spend {
  const none = Buffer.alloc(0);
  const kinds: (() => Spend)[] = [
    () => ({ script: P2PKH(random), scriptSig: random.bytes(9), witness: [] }),
    () => ({ script: p2sh(redeem), scriptSig: buildScript(random.bytes(3), redeem), witness: [] }),
    () => ({ script: p2sh(redeem), scriptSig: Buffer.concat([buildScript(redeem), Buffer.of(random.pick([0, 0x61, 0x51]))]), witness: [] }),
    () => ({ script: p2wsh(redeem), scriptSig: none, witness: [random.bytes(2), redeem] }),
    () => ({ script: p2wsh(redeem), scriptSig: none, witness: [] }),
    () => ({ script: p2sh(p2wsh(redeem)), scriptSig: pushData(p2wsh(redeem)), witness: [redeem] }),
    () => ({ script: buildScript(OP.OP_0, random.bytes(20)), scriptSig: none, witness: [random.bytes(70), random.bytes(33)] }),
    () => ({ script: p2sh(buildScript(OP.OP_0, random.bytes(20))), scriptSig: pushData(buildScript(OP.OP_0, random.bytes(20))), witness: [] }),
    () => ({ script: buildScript(OP.OP_1, random.bytes(32)), scriptSig: none, witness: [redeem] }),
    () => ({ script: Buffer.concat([Buffer.of(OP.OP_DUP), random.bytes(24)]), scriptSig: redeem, witness: [redeem] }),
    () => ({ script: randomScript(random), scriptSig: operations(random), witness: random.chance(2) ? [redeem] : [] }),
  ]; // prettier-ignore
  const spend = random.pick(kinds)();
  return random.chance(4)
    ? { ...spend, script: Buffer.concat([randomClaimPrefix(random), spend.script]) }
    : spend;
}

function inputOf(random: Random, { scriptSig, witness }: Spend, sequence: number): TxInput {
  return { prevout: randomOutPoint(random), scriptSig, sequence, witness };
}

const coinOf = (spend: Spend, changes: Partial<SpentCoin> = {}): Coin => ({
  value: 1000n,
  height: 100,
  isCoinbase: false,
  ...changes,
  script: spend.script,
});

/** One transaction after the coinbase. */
function single(
  random: Random,
  inputs: readonly { spend?: Spend; coin?: Partial<SpentCoin> | null; sequence?: number }[],
  changes: { version?: number; outputs?: readonly bigint[] } = {},
): Case {
  const spends = inputs.map(
    ({ spend }) => spend ?? { script: P2PKH(random), scriptSig: Buffer.alloc(0), witness: [] },
  );
  const tx: Transaction = {
    version: changes.version ?? 2,
    inputs: inputs.map(({ sequence }, i) => inputOf(random, spends[i]!, sequence ?? 0xffffffff)),
    outputs: (changes.outputs ?? [1n]).map((value) => ({ value, script: Buffer.of(OP.OP_1) })),
    lockTime: 0,
  };
  const coins = inputs.map(({ coin }, i) => (coin === null ? null : coinOf(spends[i]!, coin)));
  return { transactions: [soundCoinbase(random), tx], coins: [[], coins] };
}

function soundCoinbase(random: Random): Transaction {
  return { ...coinbaseTx(random), outputs: [{ value: 0n, script: Buffer.of(OP.OP_1) }] };
}

function joined(...cases: Case[]): Case {
  return {
    transactions: [cases[0]!.transactions[0]!, ...cases.flatMap((test) => test.transactions.slice(1))],
    coins: [[], ...cases.flatMap((test) => test.coins.slice(1))],
  };
}

const reasonOf = (test: Case, rules: Partial<SpendRules> = {}): string | null =>
  verdict(test, { ...RULES, ...rules }).error?.reason ?? null;

describe('spending rules over a table and over objects', () => {
  const random = new Random(900);

  it('a coinbase without spends, and valid spends with their fees', () => {
    expect(reasonOf({ transactions: [soundCoinbase(random)], coins: [[]] })).toBeNull();
    const two = joined(single(random, [{}, {}]), single(random, [{}], { outputs: [400n, 600n] }));
    expect(verdict(two)).toEqual({ error: null, feesSat: 1999n });
  });

  it('a missing coin is reported before other errors', () => {
    expect(reasonOf(single(random, [{ coin: null }]))).toBe('bad-txns-inputs-missingorspent');
    const immature = { coin: { isCoinbase: true, height: HEIGHT - 1 } };
    expect(reasonOf(single(random, [immature, { coin: null }]))).toBe('bad-txns-inputs-missingorspent');
  });

  it('a coinbase output of 99 and of 100 blocks', () => {
    const spend = (height: number): Case => single(random, [{}, { coin: { isCoinbase: true, height } }]);
    expect(reasonOf(spend(HEIGHT - 99))).toBe('bad-txns-premature-spend-of-coinbase');
    expect(verdict(spend(HEIGHT - 99)).error?.dosScore).toBe(0);
    expect(reasonOf(spend(HEIGHT - 100))).toBeNull();
    expect(reasonOf(spend(0))).toBeNull();
  });

  it('amounts out of range, alone and in sum', () => {
    expect(reasonOf(single(random, [{ coin: { value: MAX_MONEY + 1n } }]))).toBe(
      'bad-txns-inputvalues-outofrange',
    );
    expect(reasonOf(single(random, [{ coin: { value: -1n } }, {}]))).toBe('bad-txns-inputvalues-outofrange');
    expect(reasonOf(single(random, [{ coin: { value: MAX_MONEY } }, { coin: { value: 1n } }]))).toBe(
      'bad-txns-inputvalues-outofrange',
    );
    expect(reasonOf(single(random, [{ coin: { value: MAX_MONEY } }, { coin: { value: 0n } }]))).toBeNull();
  });

  it('the first bad coin decides', () => {
    const immature = { coin: { isCoinbase: true, height: HEIGHT } };
    const outOfRange = { coin: { value: -5n } };
    expect(reasonOf(single(random, [immature, outOfRange]))).toBe('bad-txns-premature-spend-of-coinbase');
    expect(reasonOf(single(random, [outOfRange, immature]))).toBe('bad-txns-inputvalues-outofrange');
  });

  it('outputs above the inputs, with both sums in the text', () => {
    const test = single(random, [{}], { outputs: [600n, 401n] });
    expect(verdict(test).error).toMatchObject({
      reason: 'bad-txns-in-belowout',
      debug: 'value in (0.00001) < value out (0.00001001)',
      dosScore: 100,
    });
  });

  it('fees that overflow together', () => {
    const rich = (): Case => single(random, [{ coin: { value: MAX_MONEY } }], { outputs: [0n] });
    expect(reasonOf(rich())).toBeNull();
    expect(reasonOf(joined(rich(), single(random, [{}], { outputs: [1000n] })))).toBeNull();
    expect(reasonOf(joined(rich(), single(random, [{}], { outputs: [999n] })))).toBe(
      'bad-txns-accumulated-fee-outofrange',
    );
  });

  it('relative lock times by height', () => {
    const at = (sequence: number, height: number, version = 2): Case =>
      single(random, [{}, { sequence, coin: { height } }], { version });
    expect(reasonOf(at(10, HEIGHT - 10))).toBeNull();
    expect(reasonOf(at(11, HEIGHT - 10))).toBe('bad-txns-nonfinal');
    expect(verdict(at(11, HEIGHT - 10)).error?.dosScore).toBe(100);
    expect(reasonOf(at(11, HEIGHT - 10), { sequenceLocks: false })).toBeNull();
    expect(reasonOf(at(11, HEIGHT - 10, 1))).toBeNull();
    expect(reasonOf(at(11, HEIGHT - 10, -1))).toBe('bad-txns-nonfinal');
    expect(reasonOf(at(0x8000000b, HEIGHT - 10))).toBeNull();
    expect(reasonOf(at(0xffff, HEIGHT - 10))).toBe('bad-txns-nonfinal');
  });

  it('relative lock times by time', () => {
    const byTime = 0x400000;
    const at = (units: number, height: number): Case =>
      single(random, [{ sequence: byTime | units, coin: { height } }]);
    // BIP68: relative time is counted from the median time of the block before the coin's block.
    const elapsedSec = (height: number): number =>
      RULES.parentMedianTimeSec - medianTimeAt(Math.max(0, height - 1));
    for (const height of [HEIGHT - 100, HEIGHT - 9, 1, 0]) {
      const units = Math.min(0xffff, Math.floor(elapsedSec(height) / 512));
      expect(reasonOf(at(units, height))).toBeNull();
      if (units < 0xffff) expect(reasonOf(at(units + 1, height))).toBe('bad-txns-nonfinal');
    }
  });

  it.each([
    [
      'within P2SH',
      (script: Buffer): Spend => ({ script: p2sh(script), scriptSig: pushData(script), witness: [] }),
      4,
    ],
    [
      'of a witness script',
      (script: Buffer): Spend => ({ script: p2wsh(script), scriptSig: Buffer.alloc(0), witness: [script] }),
      1,
    ],
    [
      'of a witness script within P2SH',
      (script: Buffer): Spend => ({
        script: p2sh(p2wsh(script)),
        scriptSig: pushData(p2wsh(script)),
        witness: [script],
      }),
      1,
    ],
  ])('signature operations %s up to the limit and beyond', (_name, spendFor, weight) => {
    const count = MAX_BLOCK_SIGOPS_COST / weight / 2;
    // A script is too short for all of them, so there are two spends. Each has multisig operations with sixteen keys, and single
    // signature operations.
    const script = (more: number): Buffer => {
      const sixteens = Math.floor(count / 16);
      const singles = count - 16 * sixteens + more;
      return Buffer.concat([
        Buffer.alloc(2 * sixteens, Buffer.of(OP.OP_16, OP.OP_CHECKMULTISIG)),
        Buffer.alloc(singles, OP.OP_CHECKSIG),
      ]);
    };
    const both = (more: number): Case =>
      joined(
        single(random, [{ spend: spendFor(script(0)) }]),
        single(random, [{ spend: spendFor(script(more)) }]),
      );
    // Replaces the input script of the coinbase by one without signature operations.
    const clean = (test: Case): Case => {
      test.transactions[0]!.inputs[0]!.scriptSig = Buffer.of(0x51, 0x51);
      return test;
    };
    expect(reasonOf(clean(both(0)))).toBeNull();
    expect(reasonOf(clean(both(1)))).toBe('bad-blk-sigops');
    expect(reasonOf(clean(both(1)), { flags: 0 })).toBeNull();
  });

  it('signature operations of a coinbase count, those of its inputs do not', () => {
    const coinbase = soundCoinbase(random);
    coinbase.outputs = [{ value: 0n, script: Buffer.alloc(20_001, OP.OP_CHECKSIG) }];
    expect(reasonOf({ transactions: [coinbase], coins: [[]] })).toBe('bad-blk-sigops');
  });
});

describe('random blocks', () => {
  function randomTransaction(random: Random): { tx: Transaction; coins: (Coin | null)[] } {
    const spends = Array.from({ length: 1 + random.below(4) }, () =>
      spendOf(
        random,
        random.chance(20) ? Buffer.alloc(200 + random.below(700), OP.OP_CHECKMULTISIG) : operations(random),
      ),
    );
    const height = (): number => (random.chance(3) ? HEIGHT - random.below(200) : random.below(HEIGHT));
    const sequence = (): number =>
      random.pick([
        0xffffffff,
        0xffffffff,
        0xfffffffe,
        random.below(4),
        random.below(120),
        0x400000 + random.below(12),
        0x80000000,
      ]);
    const tx: Transaction = {
      version: random.pick([1, 1, 2, -1]),
      inputs: spends.map((spend) => inputOf(random, spend, sequence())),
      outputs: Array.from({ length: 1 + random.below(3) }, () => ({
        value: BigInt(random.below(400)),
        script: random.chance(4) ? operations(random) : Buffer.of(OP.OP_1),
      })),
      lockTime: 0,
    };
    const coins = spends.map((spend) => {
      if (random.chance(150)) return null;
      const value = random.chance(100)
        ? random.pick([MAX_MONEY, MAX_MONEY + 1n, -1n])
        : BigInt(500 + random.below(1000));
      return coinOf(spend, { value, height: height(), isCoinbase: random.chance(12) });
    });
    return { tx, coins };
  }

  it('get the same verdict and fees', () => {
    const random = new Random(901);
    const reasons = new Map<string, number>();
    for (let i = 0; i < 1500; i++) {
      const spends = Array.from({ length: random.below(5) }, () => randomTransaction(random));
      const coinbase = soundCoinbase(random);
      if (random.chance(30))
        coinbase.outputs[0]!.script = Buffer.alloc(17_000 + random.below(5_000), OP.OP_CHECKSIG);
      const test = {
        transactions: [coinbase, ...spends.map(({ tx }) => tx)],
        coins: [[], ...spends.map(({ coins }) => coins)],
      };
      const rules = {
        ...RULES,
        flags: random.pick([FLAGS, FLAGS, SCRIPT_VERIFY.P2SH, 0]),
        sequenceLocks: !random.chance(4),
      };
      const reason = verdict(test, rules).error?.reason ?? 'accepted';
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    }
    expect(reasons.get('accepted')).toBeGreaterThan(200);
    for (const reason of [
      'bad-blk-sigops',
      'bad-txns-nonfinal',
      'bad-txns-inputs-missingorspent',
      'bad-txns-in-belowout',
    ]) {
      expect(reasons.get(reason), reason).toBeGreaterThan(5);
    }
  });
});
