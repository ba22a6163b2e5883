import { describe, expect, it } from 'vitest';
import type { ResolvedInputs } from '../../src/native/binding.js';
import { parseBlockFallback, parseTxFallback } from '../../src/primitives/blockScan.js';
import { formatTransaction, type Transaction } from '../../src/primitives/transaction.js';
import { uncachedVerifier } from '../../src/crypto/ecdsa.js';
import { TransactionChecker } from '../../src/script/checker.js';
import { SCRIPT_VERIFY, STANDARD_SCRIPT_VERIFY_FLAGS } from '../../src/script/flags.js';
import { verifyScript } from '../../src/script/interpreter.js';
import { makeSpend, type Spend } from './spends.js';
import { Random, addon, coinbaseTx, formatRawBlock, native, randomOutPoint, randomTx } from './support.js';

/** Flags with which a block is checked from the segwit height on. */
const BLOCK_FLAGS =
  SCRIPT_VERIFY.P2SH |
  SCRIPT_VERIFY.DERSIG |
  SCRIPT_VERIFY.CHECKLOCKTIMEVERIFY |
  SCRIPT_VERIFY.CHECKSEQUENCEVERIFY |
  SCRIPT_VERIFY.WITNESS |
  SCRIPT_VERIFY.NULLDUMMY;

function randomFlags(random: Random): number {
  let flags = random.u32() & 0x1ffff;
  if (flags & SCRIPT_VERIFY.CLEANSTACK) flags |= SCRIPT_VERIFY.WITNESS;
  if (flags & SCRIPT_VERIFY.WITNESS) flags |= SCRIPT_VERIFY.P2SH;
  return flags;
}

function resolvedOf(spends: readonly Spend[], leading = 0): ResolvedInputs {
  const count = spends.length + leading;
  const resolved: ResolvedInputs = {
    heightCodes: new Uint32Array(count),
    amounts: new BigInt64Array(count),
    scriptOffsets: new Uint32Array(count),
    scriptLengths: new Uint32Array(count),
    scripts: Buffer.concat(spends.map((spend) => spend.spent)),
    status: new Uint8Array(count),
    claimKinds: new Uint8Array(count),
    duplicates: new Uint32Array(0),
  };
  let at = 0;
  spends.forEach((spend, i) => {
    resolved.amounts[leading + i] = spend.amount;
    resolved.scriptOffsets[leading + i] = at;
    resolved.scriptLengths[leading + i] = spend.spent.length;
    at += spend.spent.length;
  });
  return resolved;
}

function makeTx(random: Random): { tx: Transaction; spends: Spend[] } {
  const tx = randomTx(random, {
    inputs: Array.from({ length: 1 + random.below(4) }, () => randomOutPoint(random)),
    outputs: 1 + random.below(3),
    witness: false,
  });
  return { tx, spends: tx.inputs.map((_, input) => makeSpend(random, tx, input)) };
}

/**
 * Runs the interpreter on one input. A later spend of the same transaction may have changed data that earlier signatures cover;
 * this affects both implementations alike.
 */
function interpret(tx: Transaction, spends: readonly Spend[], input: number, flags: number): boolean {
  const { scriptSig, witness } = tx.inputs[input]!;
  const spend = spends[input]!;
  const checker = new TransactionChecker(tx, input, spend.amount, undefined, uncachedVerifier());
  return verifyScript(scriptSig, spend.spent, witness, flags, checker) === 0;
}

describe.skipIf(!native)('native verification against the interpreter', () => {
  it('never accepts an input that the interpreter refuses', async () => {
    const random = new Random(200);
    let validBoth = 0;
    let validInterpreter = 0;
    let invalid = 0;
    for (let round = 0; round < 2500; round++) {
      const { tx, spends } = makeTx(random);
      const flags = random.pick([
        BLOCK_FLAGS,
        STANDARD_SCRIPT_VERIFY_FLAGS,
        randomFlags(random),
        randomFlags(random),
      ]);
      const block = formatTransaction(tx);
      const parsed = parseTxFallback(block);
      const cacheResults = random.chance(2);
      const job = { block, parsed, resolved: resolvedOf(spends), flags, cacheResults };
      const report = await addon().verifyInputs(job);
      expect(addon().verifyInputsHere({ ...job, cacheResults: false }).undecided).toEqual(report.undecided);
      expect(report.checked).toBe(tx.inputs.length);
      const undecided = new Set(report.undecided);
      // An input is listed once, even if several of its signatures are invalid.
      expect(undecided.size).toBe(report.undecided.length);
      for (let input = 0; input < tx.inputs.length; input++) {
        const expected = interpret(tx, spends, input, flags);
        const decided = !undecided.has(input);
        if (decided && !expected) {
          expect.fail(
            `round ${round}: input ${input} with flags ${flags.toString(16)} of ${block.toString('hex')}`,
          );
        }
        if (decided) validBoth++;
        if (expected) validInterpreter++;
        else invalid++;
      }
      const again = addon().verifyInputsHere(job);
      expect(again.undecided).toEqual(report.undecided);
    }
    expect(validBoth).toBeGreaterThan(1000);
    expect(invalid).toBeGreaterThan(1000);
    expect(validInterpreter).toBeGreaterThan(validBoth);
  });

  it('decides every plain input of a standard form', async () => {
    const random = new Random(201);
    let decided = 0;
    let plain = 0;
    for (let round = 0; round < 2000; round++) {
      const { tx, spends } = makeTx(random);
      if (spends.some((spend) => !spend.isPlain)) continue;
      const block = formatTransaction(tx);
      const parsed = parseTxFallback(block);
      const { undecided } = await addon().verifyInputs({
        block,
        parsed,
        resolved: resolvedOf(spends),
        flags: STANDARD_SCRIPT_VERIFY_FLAGS,
      });
      for (let input = 0; input < tx.inputs.length; input++) {
        if (!interpret(tx, spends, input, STANDARD_SCRIPT_VERIFY_FLAGS)) continue;
        plain++;
        if (!undecided.includes(input)) decided++;
      }
    }
    expect(plain).toBeGreaterThan(300);
    expect(decided).toBe(plain);
  });

  it('numbers the inputs of a block and skips coinbases', async () => {
    const random = new Random(202);
    const made = Array.from({ length: 40 }, () => makeTx(random));
    const txs = [coinbaseTx(random), ...made.map(({ tx }) => tx)];
    const block = formatRawBlock(
      random,
      txs.map((tx) => formatTransaction(tx)),
    );
    const parsed = parseBlockFallback(block);
    const spends = made.flatMap((m) => m.spends);
    const resolved = resolvedOf(spends, 1);
    resolved.status[3] = 1;
    const whole = await addon().verifyInputs({ block, parsed, resolved, flags: BLOCK_FLAGS });
    expect(whole.checked).toBe(spends.length);
    expect(whole.undecided.includes(0)).toBe(false);
    expect(whole.undecided.includes(3)).toBe(true);
    expect([...whole.undecided]).toEqual([...whole.undecided].sort((a, b) => a - b));
    const parts: number[] = [];
    for (let firstInput = 0; firstInput < spends.length + 5; firstInput += 7) {
      const job = { block, parsed, resolved, flags: BLOCK_FLAGS, firstInput, count: 7 };
      parts.push(...(await addon().verifyInputs(job)).undecided);
    }
    expect(parts).toEqual([...whole.undecided]);
  });

  it('leaves inputs with unknown flags to the interpreter', async () => {
    const random = new Random(203);
    const { tx, spends } = makeTx(random);
    const block = formatTransaction(tx);
    const parsed = parseTxFallback(block);
    for (const flags of [1 << 17, SCRIPT_VERIFY.WITNESS, SCRIPT_VERIFY.CLEANSTACK | SCRIPT_VERIFY.P2SH]) {
      const report = await addon().verifyInputs({ block, parsed, resolved: resolvedOf(spends), flags });
      expect(report.undecided.length).toBe(spends.length);
    }
  });

  it('caches valid signatures only on request, and removes them when a block uses them', async () => {
    const random = new Random(204);
    let made = makeTx(random);
    while (
      !made.spends.every((spend, i) => spend.isPlain && interpret(made.tx, made.spends, i, BLOCK_FLAGS))
    ) {
      made = makeTx(random);
    }
    const block = formatTransaction(made.tx);
    const base = {
      block,
      parsed: parseTxFallback(block),
      resolved: resolvedOf(made.spends),
      flags: BLOCK_FLAGS,
    };
    const hits = async (cacheResults: boolean) =>
      (await addon().verifyInputs({ ...base, cacheResults })).cacheHits;
    expect(await hits(false)).toBe(0);
    expect(await hits(true)).toBe(0);
    expect(await hits(true)).toBeGreaterThan(0);
    expect(await hits(false)).toBeGreaterThan(0);
    expect(await hits(false)).toBe(0);
    expect(await hits(true)).toBe(0);
    addon().setSignatureCacheBytes(0);
    expect(await hits(true)).toBe(0);
    expect(await hits(true)).toBe(0);
    addon().setSignatureCacheBytes(1 << 20);
  });

  it('completes many batches at once while the number of threads changes', async () => {
    const random = new Random(205);
    const jobs = Array.from({ length: 60 }, () => {
      const { tx, spends } = makeTx(random);
      const block = formatTransaction(tx);
      return { block, parsed: parseTxFallback(block), resolved: resolvedOf(spends), flags: BLOCK_FLAGS };
    });
    addon().setVerifyThreads(1);
    const expected = [];
    for (const job of jobs) expected.push(await addon().verifyInputs(job));
    const pending = jobs.map((job, i) => {
      if (i % 20 === 10) addon().setVerifyThreads(1 + (i % 3));
      return addon().verifyInputs(job);
    });
    expect(await Promise.all(pending)).toEqual(expected);
    addon().setVerifyThreads(2);
  });

  it('refuses tables that do not match each other', () => {
    const random = new Random(206);
    const { tx, spends } = makeTx(random);
    const block = formatTransaction(tx);
    const parsed = parseTxFallback(block);
    const resolved = resolvedOf(spends);
    const flags = BLOCK_FLAGS;
    const shifted = { ...resolved, scriptOffsets: resolved.scriptOffsets.map((at) => at + 1) };
    expect(() => addon().verifyInputs({ block, parsed, resolved: shifted, flags })).toThrow(/belong/);
    expect(() => addon().verifyInputsHere({ block, parsed, resolved: shifted, flags })).toThrow(/belong/);
    expect(() => addon().verifyInputs({ block: block.subarray(0, 60), parsed, resolved, flags })).toThrow(
      /belong/,
    );
    const short = { ...resolved, amounts: new BigInt64Array(0) };
    expect(() => addon().verifyInputs({ block, parsed, resolved: short, flags })).toThrow(/belong/);
  });
});
