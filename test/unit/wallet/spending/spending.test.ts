import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sha256, hash160 } from '../../../../src/crypto/hash.js';
import { transactionWeight } from '../../../../src/consensus/txSize.js';
import { txid, type Transaction, type TxOutput } from '../../../../src/primitives/transaction.js';
import { buildClaimPrefix } from '../../../../src/script/claimScript.js';
import {
  scriptForDestination,
  scriptForMultisig,
  scriptForPublicKey,
} from '../../../../src/script/standard.js';
import { FastChance } from '../../../../src/signing/coinSelection/random.js';
import { inputProblem, signingTask } from '../../../../src/signing/signInput.js';
import { toLatin1, type Bytes } from '../../../../src/util/bytes.js';
import { isMine, MINE } from '../../../../src/wallet/keys/isMine.js';
import { balance } from '../../../../src/wallet/ledger/balances.js';
import { outputKey } from '../../../../src/wallet/ledger/entry.js';
import { txRecordKey } from '../../../../src/wallet/ledger/txRecord.js';
import {
  reacceptTransactions,
  resendBefore,
  resendWhenDue,
} from '../../../../src/wallet/spending/broadcasting.js';
import { bumpFee } from '../../../../src/wallet/spending/bumpFee.js';
import { knownOutput } from '../../../../src/wallet/spending/chooseCoins.js';
import { coinControl, type CoinControl } from '../../../../src/wallet/spending/coinControl.js';
import { LONG_CHAIN } from '../../../../src/wallet/spending/spendError.js';
import { commitTransaction, sendTransaction } from '../../../../src/wallet/spending/commitTransaction.js';
import {
  createTransaction,
  giveUpTransaction,
  type CreatedTransaction,
  type CreateOptions,
  type Recipient,
} from '../../../../src/wallet/spending/createTransaction.js';
import { fundTransaction } from '../../../../src/wallet/spending/fundTransaction.js';
import { refuseOversized } from '../../../../src/wallet/spending/oversized.js';
import { sendMoney } from '../../../../src/wallet/spending/sendMoney.js';
import { endSpending } from '../../../../src/wallet/spending/spendState.js';
import { FakeNode } from '../support/fakeNode.js';
import { openTestWallet, type TestWallet } from '../support/openWallet.js';

const COIN = 100_000_000n;
/** Number of bytes by which a transaction may be smaller than estimated: keys are random, and some signatures are shorter. */
const SHORTER_BYTES = 4;
const OTHER = scriptForDestination({ type: 'pubkeyhash', hash: Buffer.alloc(20, 7) });
const WITNESS = scriptForDestination({ type: 'witness_v0_keyhash', hash: Buffer.alloc(20, 7) });

let node: FakeNode;
let opened: TestWallet;
let serial = 0;

beforeEach(async () => {
  node = new FakeNode();
  node.mineEmpty(120);
  opened = await openTestWallet(node);
});
afterEach(() => opened.close());

const pay = (valueSat: bigint, script = OTHER, subtractsFee = false): Recipient => ({
  script,
  valueSat,
  subtractsFee,
});

/** A transaction of another user. */
function foreign(outputs: readonly TxOutput[]): Transaction {
  const hash = sha256(Buffer.from(`foreign ${serial++}`));
  const input = {
    prevout: { hash, index: 0 },
    scriptSig: Buffer.alloc(0),
    sequence: 0xffffffff,
    witness: [],
  };
  return { version: 2, inputs: [input], outputs: [...outputs], lockTime: 0 };
}

/** Receives each amount by a separate transaction, with enough confirmations to be spent. */
async function receive(...valuesSat: bigint[]): Promise<string[]> {
  const keys: string[] = [];
  for (const value of valuesSat) keys.push(await receiveAt(await opened.script(), value));
  node.mineEmpty(6);
  return keys;
}

async function receiveAt(script: Buffer, value: bigint): Promise<string> {
  const tx = foreign([{ value, script }]);
  node.mine(undefined, [tx]);
  return Promise.resolve(outputKey(toLatin1(txid(tx)), 0));
}

const create = (
  recipients: readonly Recipient[],
  said: Partial<CoinControl> = {},
  options?: CreateOptions,
): Promise<CreatedTransaction> =>
  createTransaction(opened.wallet, recipients, coinControl(opened.wallet, said), options);
const refused = async (
  recipients: readonly Recipient[],
  said: Partial<CoinControl> = {},
): Promise<string> => {
  const before = opened.wallet.keypool.count('change');
  const message = await create(recipients, said).then(
    () => 'made',
    (error: unknown) => (error as Error).message,
  );
  // The keys that the call had taken are returned to the pool.
  expect(opened.wallet.keypool.count('change')).toBeGreaterThanOrEqual(before);
  return message;
};
const isOwn = (script: Bytes): boolean => isMine(opened.wallet.keyring, script) === MINE.spendable;
const sumOf = (values: readonly { value: bigint }[]): bigint =>
  values.reduce((sum, { value }) => sum + value, 0n);
const spentSat = ({ coins }: CreatedTransaction): bigint =>
  coins.reduce((sum, coin) => sum + coin.valueSat, 0n);

describe('building a transaction', () => {
  it('pays, adds change, signs, and marks it for the next block', async () => {
    await receive(5n * COIN);
    const { wallet } = opened;
    const poolBefore = wallet.keypool.count('change');
    const created = await create([pay(COIN), pay(2n * COIN)]);
    const { tx, feeSat, changePosition, coins } = created;
    expect(sumOf(tx.outputs) + feeSat).toBe(5n * COIN);
    expect(tx.outputs).toHaveLength(3);
    const change = tx.outputs[changePosition]!;
    expect(isOwn(change.script)).toBe(true);
    expect(wallet.keypool.count('change')).toBe(poolBefore - 1);
    expect(tx.inputs[0]!.sequence).toBe(0xfffffffe);
    expect(node.blocks.length - 1 - tx.lockTime).toBeLessThan(100);
    const task = signingTask(tx, wallet.keyring);
    expect(inputProblem(task, 0, { value: coins[0]!.valueSat, script: coins[0]!.script })).toBeNull();
    // The fee is that of the fallback rate for the estimated size.
    const size = Math.ceil(transactionWeight(tx) / 4);
    expect(feeSat).toBeGreaterThanOrEqual(BigInt(size * 20));
    expect(feeSat).toBeLessThanOrEqual(BigInt((size + SHORTER_BYTES) * 20));
    giveUpTransaction(wallet, created);
    expect(wallet.keypool.count('change')).toBe(poolBefore);
  });

  it('sets an earlier lock time now and then', async () => {
    await receive(5n * COIN);
    const height = node.blocks.length - 1;
    const lockTimes: number[] = [];
    const chance = new FastChance(Buffer.alloc(16, 3));
    for (let i = 0; i < 60; i++) {
      const created = await create([pay(COIN)], {}, { sign: false, chance });
      lockTimes.push(created.tx.lockTime);
      giveUpTransaction(opened.wallet, created);
    }
    expect(Math.max(...lockTimes)).toBe(height);
    expect(Math.min(...lockTimes)).toBeGreaterThan(height - 100);
    expect(lockTimes.filter((one) => one === height).length).toBeGreaterThan(30);
  });

  it('adds no change if coins match exactly', async () => {
    await receive(COIN, 3n * COIN, 7n * COIN);
    // Two inputs of 148 bytes, an output of 34 bytes and 11 other bytes, at 20 sat a byte.
    const created = await create([pay(4n * COIN - 6900n)]);
    expect(created.changePosition).toBe(-1);
    expect(created.coins).toHaveLength(2);
    expect(created.changeKey).toBeNull();
    expect(spentSat(created) - sumOf(created.tx.outputs)).toBe(created.feeSat);
  });

  it('subtracts the fee from the given outputs', async () => {
    await receive(5n * COIN);
    const { tx, feeSat } = await create(
      [pay(COIN, OTHER, true), pay(COIN, WITNESS, true), pay(COIN)],
      {},
      { changePosition: 3 },
    );
    const [first, second, third] = tx.outputs.map(({ value }) => value);
    expect(first! + second! + feeSat).toBe(2n * COIN);
    expect(second! - first!).toBe(feeSat % 2n);
    expect(third).toBe(COIN);
    expect(tx.outputs[3]!.value).toBe(2n * COIN);
  });

  it('reports the reason of a failure', async () => {
    await receive(COIN);
    expect(await refused([])).toBe('Transaction must have at least one recipient');
    expect(await refused([pay(-1n)])).toBe('Transaction amounts must not be negative');
    expect(await refused([pay(100n)])).toBe('Transaction amount too small');
    expect(await refused([pay(600n, OTHER, true)])).toBe(
      'The transaction amount is too small to pay the fee',
    );
    expect(await refused([pay(4700n, OTHER, true)])).toBe(
      'The transaction amount is too small to send after the fee has been deducted',
    );
    expect(await refused([pay(COIN)])).toBe('Insufficient funds');
    expect(await refused([pay(1000n)], { feeRatePerKb: 1n, overridesMinimum: true })).toBe(
      'Transaction too large for fee policy',
    );
    await expect(create([pay(1000n)], {}, { changePosition: 2 })).rejects.toThrow(
      'Change index out of range',
    );
    opened = await opened.reopen({ fallbackFeeRatePerKb: 0n });
    expect(await refused([pay(1000n)])).toBe(
      'Fee estimation failed. Fallbackfee is disabled. Wait a few blocks or enable -fallbackfee.',
    );
  });

  it('does not select claims, locked outputs or unconfirmed ones of others', async () => {
    const { wallet } = opened;
    const own = await opened.script();
    const [locked] = await receive(2n * COIN);
    const claim = Buffer.concat([buildClaimPrefix(Buffer.from('a'), Buffer.from('b')), own]);
    const claimKey = await receiveAt(claim, 3n * COIN);
    node.addToMempool(foreign([{ value: 4n * COIN, script: own }]));
    wallet.lockedOutputs.add(locked!);
    expect(await refused([pay(COIN)])).toBe('Insufficient funds');
    wallet.lockedOutputs.clear();
    expect((await create([pay(COIN)])).coins.map(({ key }) => key)).toEqual([locked]);
    // A claim is only spent if it is named. Other coins are then not added unless that is requested.
    const named = await create([pay(COIN)], { selected: new Set([claimKey]) });
    expect(named.coins.map(({ key }) => key)).toEqual([claimKey]);
    expect(await refused([pay(4n * COIN)], { selected: new Set([claimKey]) })).toBe('Insufficient funds');
    const both = await create([pay(4n * COIN)], { selected: new Set([claimKey]), allowsOtherInputs: true });
    expect(both.coins).toHaveLength(2);
    expect(
      await refused([pay(4n * COIN)], { selected: new Set(['x'.repeat(36)]), allowsOtherInputs: true }),
    ).toBe('Insufficient funds');
  });

  it('pays the cost of the name of a new claim', async () => {
    await receive(5n * COIN);
    const script = Buffer.concat([buildClaimPrefix(Buffer.from('name'), Buffer.from('x')), OTHER]);
    expect((await create([pay(COIN, script)])).feeSat).toBe(800_000n);
  });

  it('uses the given address kind for change, or that of the payment', async () => {
    await receive(9n * COIN);
    const changeOf = async (script: Buffer, said: Partial<CoinControl> = {}): Promise<number> => {
      const created = await create([pay(COIN, script)], said);
      giveUpTransaction(opened.wallet, created);
      return created.tx.outputs[created.changePosition]!.script.length;
    };
    expect(await changeOf(WITNESS)).toBe(25);
    expect(await changeOf(OTHER, { changeType: 'bech32' })).toBe(22);
    expect(await changeOf(OTHER, { changeScript: WITNESS })).toBe(22);
    opened = await opened.reopen({ addressType: 'p2sh-segwit' });
    expect(await changeOf(OTHER)).toBe(23);
    expect(await changeOf(WITNESS)).toBe(22);
    opened = await opened.reopen({ changeType: 'legacy' });
    expect(await changeOf(WITNESS)).toBe(25);
  });

  it('spends every kind of output, with the estimated size', async () => {
    const { wallet } = opened;
    const scripts = [
      await opened.script(),
      await opened.script('p2sh-segwit'),
      await opened.script('bech32'),
    ];
    const keys = await Promise.all([1, 2].map(() => wallet.keys.take(false)));
    const multisig = scriptForMultisig(2, keys as Buffer[]);
    await wallet.change((batch) => wallet.keyring.addScript(batch, multisig));
    scripts.push(scriptForPublicKey(keys[0]!));
    scripts.push(scriptForDestination({ type: 'scripthash', hash: hash160(multisig) }));
    scripts.push(Buffer.concat([buildClaimPrefix(Buffer.from('a'), Buffer.from('b')), scripts[0]!]));
    for (const script of scripts) {
      const key = await receiveAt(script, COIN);
      const created = await create([pay(COIN / 2n)], { selected: new Set([key]) });
      const { tx, feeSat, coins } = created;
      const task = signingTask(tx, wallet.keyring);
      expect(inputProblem(task, 0, { value: coins[0]!.valueSat, script })).toBeNull();
      const size = Math.ceil(transactionWeight(tx) / 4);
      const foreseen = Number(feeSat / 20n);
      expect(foreseen).toBeGreaterThanOrEqual(size);
      expect(foreseen - size).toBeLessThanOrEqual(SHORTER_BYTES);
    }
  });

  it('spends all coins of an address together if requested', async () => {
    const script = await opened.script();
    for (let i = 0; i < 3; i++) await receiveAt(script, COIN);
    await receiveAt(await opened.script(), COIN);
    node.mineEmpty(6);
    const counts = new Set<number>();
    for (let i = 0; i < 20; i++) {
      const created = await create([pay(COIN / 2n)], { avoidsPartialSpends: true }, { sign: false });
      giveUpTransaction(opened.wallet, created);
      counts.add(created.coins.length);
      if (created.coins.length === 3)
        expect(created.coins.every((coin) => toLatin1(coin.script) === toLatin1(script))).toBe(true);
    }
    expect([...counts].every((count) => count === 1 || count === 3)).toBe(true);
    const all = await create([pay(2n * COIN)], { avoidsPartialSpends: true }, { sign: false });
    expect([3, 4]).toContain(all.coins.length);
  });

  it('keeps chains within the limits of the mempool if requested', async () => {
    await receive(9n * COIN);
    opened = await opened.reopen({ rejectsLongChains: true });
    node.limits.ancestors = node.limits.descendants = 3;
    for (let i = 0; i < 3; i++) await sendTransaction(opened.wallet, [pay(COIN)], coinControl(opened.wallet));
    expect(await refused([pay(COIN)])).toBe(LONG_CHAIN);
    expect(await refused([pay(20n * COIN)])).toBe('Insufficient funds');
    const named = new Set([...opened.wallet.ledger.unspentOutputs()].map(([key]) => key));
    expect(await refused([pay(COIN)], { selected: named })).toBe(LONG_CHAIN);
  });

  it('counts the descendants of the first unconfirmed ancestor of a coin', async () => {
    await receive(3n * COIN);
    const { wallet } = opened;
    const own = await Promise.all([1, 2].map(() => opened.script()));
    const split = await sendTransaction(
      wallet,
      own.map((script) => ({ script, valueSat: (14n * COIN) / 10n })),
      coinControl(wallet),
    );
    for (const script of own) {
      const [key] = [...wallet.ledger.unspentOutputs()].find(
        ([coin]) => toLatin1(knownOutput(wallet, coin)!.script) === toLatin1(script),
      )!;
      await sendTransaction(
        wallet,
        [pay((4n * COIN) / 10n)],
        coinControl(wallet, { selected: new Set([key]) }),
      );
    }
    expect(wallet.node.mempool.relatives(split)!.descendants).toBe(3);
    await receive(10n * COIN);
    await sendTransaction(wallet, [pay(COIN / 10n)], coinControl(wallet));
    // Two coins of about 1 are closer to the payment, but the transaction that split the first coin has three descendants.
    const created = await create([pay((15n * COIN) / 10n)], {}, { sign: false });
    expect(created.coins).toHaveLength(1);
  });

  it('selects the same coins for the same random numbers', async () => {
    await receive(...Array.from({ length: 12 }, (_, i) => BigInt(i + 1) * 1_234_567n));
    const seed = Buffer.alloc(16, 3);
    const one = await create([pay(20_000_000n)], {}, { sign: false, chance: new FastChance(seed) });
    giveUpTransaction(opened.wallet, one);
    const two = await create([pay(20_000_000n)], {}, { sign: false, chance: new FastChance(seed) });
    expect(two.tx).toEqual(one.tx);
  });
});

describe('committing', () => {
  it('writes to disk before listeners are notified, and keeps transactions that the mempool refuses', async () => {
    await receive(5n * COIN);
    const { wallet } = opened;
    let onDisk: boolean | null = null;
    node.refuse = (tx) => {
      onDisk = wallet.file.get(txRecordKey(txid(tx))) !== undefined;
      return 'no (code 64)';
    };
    const id = await sendTransaction(wallet, [pay(COIN)], coinControl(wallet), {
      notes: new Map([['to', 'you']]),
    });
    expect(onDisk).toBe(true);
    const entry = wallet.ledger.find(id)!;
    expect(entry).toMatchObject({ inMempool: false, state: 'unconfirmed' });
    expect(entry.row.notes.get('to')).toBe('you');
    expect(await refused([pay(COIN)])).toBe('Insufficient funds');
    // The transaction is sent again when the wallet is opened. Its change key remains used.
    const change = wallet.keypool.count('change');
    opened = await opened.reopen();
    expect(opened.wallet.keypool.count('change')).toBe(change);
    node.refuse = () => null;
    await reacceptTransactions(opened.wallet);
    expect(opened.wallet.ledger.find(id)!.inMempool).toBe(true);
    expect((await create([pay(COIN)])).coins).toHaveLength(1);
  });

  it('sends nothing if the transaction is not to be broadcast', async () => {
    await receive(5n * COIN);
    opened = await opened.reopen({ broadcasts: false });
    const id = await sendTransaction(opened.wallet, [pay(COIN)], coinControl(opened.wallet));
    expect(node.port.mempool.has(id)).toBe(false);
    await reacceptTransactions(opened.wallet);
    expect(node.port.mempool.has(id)).toBe(false);
  });

  it('spends no coin twice with concurrent callers', async () => {
    await receive(COIN, COIN, COIN, COIN);
    const { wallet } = opened;
    const sends = Array.from({ length: 6 }, () =>
      sendMoney(wallet, pay(COIN - 100_000n), coinControl(wallet)),
    );
    const outcomes = await Promise.allSettled(sends);
    const spent = [...wallet.ledger.all()].flatMap((entry) => (entry.row.isFromMe ? entry.inputs : []));
    expect(new Set(spent).size).toBe(spent.length);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(4);
    expect(
      outcomes.flatMap((one) => (one.status === 'rejected' ? [(one.reason as { code: number }).code] : [])),
    ).toEqual([-6, -6]);
  });

  it('ends with the wallet, after running calls', async () => {
    await receive(COIN, COIN);
    const { wallet } = opened;
    const first = sendMoney(wallet, pay(COIN / 2n), coinControl(wallet));
    const end = endSpending(wallet);
    const second = sendMoney(wallet, pay(COIN / 2n), coinControl(wallet));
    await expect(second).rejects.toThrow('The wallet is being unloaded.');
    await end;
    expect(wallet.ledger.find(await first)).toBeDefined();
  });

  it('abandons a replaced transaction', async () => {
    await receive(5n * COIN);
    const { wallet } = opened;
    const created = await create([pay(COIN)]);
    const change = wallet.keypool.count('change');
    await sendTransaction(wallet, [pay(COIN)], coinControl(wallet));
    await expect(commitTransaction(wallet, created, {})).rejects.toThrow(/spent by another transaction/);
    expect(wallet.keypool.count('change')).toBeGreaterThanOrEqual(change);
  });

  it('reports the fee if it was too high', async () => {
    await receive(COIN);
    const { wallet } = opened;
    await expect(sendMoney(wallet, pay(COIN), coinControl(wallet))).rejects.toMatchObject({
      code: -4,
      message: 'Error: This transaction requires a transaction fee of at least 0.0000382',
    });
    await expect(sendMoney(wallet, pay(2n * COIN), coinControl(wallet))).rejects.toMatchObject({ code: -6 });
    await expect(sendMoney(wallet, pay(0n), coinControl(wallet))).rejects.toMatchObject({ code: -8 });
  });

  it('refuses more payments than a transaction may have, in many slices', async () => {
    await receive(COIN, COIN);
    const { wallet } = opened;
    const many = (valueSat: bigint): Recipient[] =>
      Array.from({ length: 4000 }, () => ({ script: OTHER, valueSat }));
    expect(await refused(many(1000n))).toBe('Transaction too large');
    expect(await refused(many(1_000_000n))).toBe('Insufficient funds');
    expect(await refused(many(1n))).toBe('Transaction amount too small');
    expect(await refused([...many(1000n).slice(0, 2000), pay(2n * COIN)])).toBe('Insufficient funds');
    const looking = refuseOversized(wallet, many(1_000_000n), coinControl(wallet), new FastChance());
    let pauses = 0;
    expect(() => {
      for (;;) if (looking.next().done !== true) pauses++;
    }).toThrow('Insufficient funds');
    expect(pauses).toBeGreaterThan(20);
  });

  it('signs nothing with a locked wallet', async () => {
    await receive(COIN, COIN);
    const { wallet } = opened;
    await wallet.change((batch) => wallet.keyring.encrypt(batch, Buffer.alloc(32, 9)));
    await sendTransaction(wallet, [pay(COIN / 2n)], coinControl(wallet));
    wallet.keyring.lock();
    expect(await refused([pay(COIN / 2n)])).toBe('Signing transaction failed');
  });
});

describe('funding', () => {
  it('adds inputs and keeps the existing ones', async () => {
    const [first, second] = await receive(COIN, 4n * COIN);
    const { wallet } = opened;
    const hash = Buffer.from(first!.slice(0, 32), 'latin1');
    const input = { prevout: { hash, index: 0 }, scriptSig: Buffer.of(0x51), sequence: 5, witness: [] };
    const tx = { version: 1, inputs: [input], outputs: [{ value: 2n * COIN, script: OTHER }], lockTime: 9 };
    const request = { changePosition: 0, subtractsFrom: new Set([0]), locksCoins: true };
    const funded = await fundTransaction(wallet, tx, { ...request, control: coinControl(wallet) });
    expect(funded.tx).toMatchObject({ version: 1, lockTime: 9 });
    expect(funded.tx.inputs[0]).toEqual(input);
    expect(funded.tx.inputs).toHaveLength(2);
    expect(funded.tx.outputs[1]!.value).toBe(2n * COIN - funded.feeSat);
    expect([...wallet.lockedOutputs]).toEqual([second]);
    expect(isOwn(funded.tx.outputs[0]!.script)).toBe(true);
    // The key of the change output is never given out again, whether or not the transaction was sent.
    const change = funded.tx.outputs[0]!.script;
    opened = await opened.reopen();
    expect(opened.wallet.keypool.has(change.subarray(3, 23))).toBe(false);
  });
});

describe('replacing', () => {
  const bump = (id: Buffer | Uint8Array, totalFeeSat = 0n, said: Partial<CoinControl> = {}) =>
    bumpFee(
      opened.wallet,
      id,
      coinControl(opened.wallet, { signalsReplacement: true, ...said }),
      totalFeeSat,
    );
  const send = (said: Partial<CoinControl> = { signalsReplacement: true }): Promise<Uint8Array> =>
    sendTransaction(opened.wallet, [pay(COIN)], coinControl(opened.wallet, said));

  it('subtracts the higher fee from the change', async () => {
    await receive(5n * COIN);
    const { ledger } = opened.wallet;
    const old = await send();
    const bumped = await bump(old, 0n, { signalsReplacement: false });
    expect(bumped.errors).toEqual([]);
    expect(bumped.feeSat).toBeGreaterThan(bumped.oldFeeSat);
    const entry = ledger.find(bumped.txid)!;
    expect(entry.inMempool).toBe(true);
    expect(ledger.find(old)!.inMempool).toBe(false);
    expect(ledger.find(old)!.row.notes.has('replaced_by_txid')).toBe(true);
    expect(entry.row.notes.has('replaces_txid')).toBe(true);
    const tx = ledger.transaction(entry);
    expect(tx.inputs.map(({ sequence }) => sequence)).toEqual([0xfffffffe]);
    expect(sumOf(tx.outputs)).toBe(5n * COIN - bumped.feeSat);
    await expect(bump(old)).rejects.toThrow(/already bumped by transaction/);
    await expect(bump(bumped.txid)).rejects.toThrow('Transaction is not BIP 125 replaceable');
    // The outputs of both transactions cannot be spent, because either may be confirmed.
    expect(await refused([pay(COIN)])).toBe('Insufficient funds');
  });

  it('reports the reason of a failure', async () => {
    await receive(5n * COIN);
    const { wallet } = opened;
    await expect(bump(Buffer.alloc(32))).rejects.toMatchObject({ code: -5 });
    const id = await send();
    await expect(bump(id, 4600n)).rejects.toThrow(/Insufficient totalFee, must be at least/);
    await expect(bump(id, 60_000_000n)).rejects.toThrow(
      /is too high \(cannot be higher than maxTxFee 0.50\)/,
    );
    node.rates.mempoolMin = 10_000_000n;
    await expect(bump(id, 20_000n)).rejects.toThrow(/lower than the minimum fee rate/);
    node.rates.mempoolMin = 1000n;
    const child = await send();
    await expect(bump(id)).rejects.toThrow('Transaction has descendants in the wallet');
    expect(wallet.ledger.find(child)).toBeDefined();
    node.mine();
    await expect(bump(child)).rejects.toThrow('Transaction has been mined');
    const all = balance(wallet.ledger, wallet.balanceOptions).trusted;
    const whole = await sendTransaction(
      wallet,
      [pay(all, OTHER, true)],
      coinControl(wallet, { signalsReplacement: true }),
    );
    await expect(bump(whole)).rejects.toThrow('Transaction does not have a change output');
  });

  it('can be repeated', async () => {
    await receive(5n * COIN);
    const second = await bump(await send());
    const third = await bump(second.txid);
    expect(third.oldFeeSat).toBe(second.feeSat);
    node.mine();
    expect(opened.wallet.ledger.find(third.txid)!.state).toBe('confirmed');
    expect(opened.wallet.ledger.find(second.txid)!.state).toBe('conflicted');
  });

  it('drops change below the dust limit, and fails if the change is too small', async () => {
    await receive(COIN + 100_000n);
    const id = await send();
    const { feeSat, txid: next } = await bump(id, 98_500n);
    expect(feeSat).toBe(100_000n);
    expect(opened.wallet.ledger.transaction(opened.wallet.ledger.find(next)!).outputs).toHaveLength(1);
    await receive(COIN + 100_000n);
    await expect(bump(await send(), 200_000n)).rejects.toThrow('Change output is too small to bump the fee');
  });
});

describe('rebroadcasting', () => {
  it('happens at random times, after a block, for transactions from before it', async () => {
    await receive(5n * COIN);
    const { wallet } = opened;
    const id = toLatin1(await sendTransaction(wallet, [pay(COIN)], coinControl(wallet)));
    const due = (bestBlockSec: number): Promise<void> => resendWhenDue(wallet, bestBlockSec, () => 600);
    await due(node.timeSec);
    node.timeSec += 599;
    await due(node.timeSec);
    expect(node.announced).toEqual([]);
    // The first call only set the time of the next resend.
    node.timeSec += 1;
    await due(node.timeSec);
    expect(node.announced).toEqual([id]);
    node.timeSec += 600;
    await due(node.timeSec - 700);
    expect(node.announced).toEqual([id]);
    // A block has arrived since, but less than five minutes after the transaction.
    wallet.ledger.find(Buffer.from(id, 'latin1'))!.row = {
      ...wallet.ledger.find(Buffer.from(id, 'latin1'))!.row,
      timeReceivedSec: node.timeSec,
    };
    node.timeSec += 600;
    await due(node.timeSec - 310);
    expect(node.announced).toEqual([id]);
    expect(await resendBefore(wallet, node.timeSec)).toHaveLength(1);
  });

  it('skips mined and abandoned transactions', async () => {
    await receive(5n * COIN, 5n * COIN);
    const { wallet } = opened;
    node.refuse = () => 'no';
    const id = await sendTransaction(wallet, [pay(COIN)], coinControl(wallet));
    expect(await resendBefore(wallet, node.timeSec)).toEqual([]);
    node.refuse = () => null;
    await wallet.change((batch) => wallet.ledger.abandon(batch, wallet.ledger.find(id)!));
    expect(await resendBefore(wallet, node.timeSec)).toEqual([]);
    await sendTransaction(wallet, [pay(COIN)], coinControl(wallet));
    node.mine();
    expect(await resendBefore(wallet, node.timeSec)).toEqual([]);
  });
});
