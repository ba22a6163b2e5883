import { beforeEach, describe, expect, it } from 'vitest';
import { atOnce } from '../../../../src/util/slices.js';
import { txid, type Transaction } from '../../../../src/primitives/transaction.js';
import { sha256 } from '../../../../src/crypto/hash.js';
import { fromLatin1 } from '../../../../src/util/bytes.js';
import { MINE } from '../../../../src/wallet/keys/isMine.js';
import {
  fittingCoins,
  balance,
  blocksToMaturity,
  inIdOrder,
  isTrusted,
  ownCoins,
  pendingSat,
  stakedSat,
  type BalanceOptions,
  type CoinFilter,
} from '../../../../src/wallet/ledger/balances.js';
import { outputNumber, txKeyOf, type Entry, type OwnOutput } from '../../../../src/wallet/ledger/entry.js';
import { Ledger } from '../../../../src/wallet/ledger/ledger.js';
import { WalletBatch } from '../../../../src/wallet/store/records.js';

const MINE_SCRIPT = Buffer.from('51', 'hex');
const WATCHED_SCRIPT = Buffer.from('52', 'hex');
const OTHER_SCRIPT = Buffer.from('53', 'hex');
const CLAIM_SCRIPT = Buffer.from('54', 'hex');
const FLAGS = new Map([
  [0x51, MINE.spendable],
  [0x52, MINE.watchOnly],
  [0x54, MINE.spendable | MINE.claim],
]);
const OPTIONS: BalanceOptions = { spendsUnconfirmedChange: true, isFinal: () => true };
const ALL: CoinFilter = {
  onlySafe: true,
  minDepth: 0,
  maxDepth: Infinity,
  minValueSat: 0n,
  maxValueSat: 1n << 60n,
  destinations: null,
  isLocked: () => false,
  isChosen: () => false,
};

let ledger: Ledger;
let blocks: Buffer[];
let rows: Map<string, Buffer>;
let serial = 0;

beforeEach(() => {
  blocks = [];
  rows = new Map();
  ledger = new Ledger({
    mine: (script) => FLAGS.get(script[0]!) ?? MINE.no,
    mineRevision: 0,
    mineOfKeyHash: () => MINE.no,
    heightOf: (hash) => blocks.findIndex((block) => block.equals(hash)),
    get height() {
      return blocks.length - 1;
    },
    nowSec: () => 1_600_000_000,
    readRow: (key) => rows.get(key),
    moves: () => [],
    settledOtherwise: () => undefined,
    spentBy: () => undefined,
  });
});

function tx(
  inputs: readonly [Transaction | null, number][],
  outputs: readonly [Buffer, bigint][],
): Transaction {
  return {
    version: 2,
    inputs: inputs.map(([from, n]) => ({
      prevout: from === null ? { hash: Buffer.alloc(32), index: 0xffffffff } : { hash: txid(from), index: n },
      scriptSig: Buffer.of(serial & 0xff, serial >> 8),
      sequence: 0xffffffff,
      witness: [],
    })),
    outputs: outputs.map(([script, value]) => ({ script, value })),
    lockTime: serial++,
  };
}
const coinbase = (valueSat: bigint, script = MINE_SCRIPT): Transaction =>
  tx([[null, 0]], [[script, valueSat]]);
const foreign = tx([[null, 0]], [[OTHER_SCRIPT, 1n]]);

function add(one: Transaction, notes?: ReadonlyMap<string, string>): Entry {
  const batch = new WalletBatch();
  const entry = ledger.add(batch, one, null, notes && { notes })!;
  ledger.setInMempool(txid(one), true);
  save(batch);
  return entry;
}

function save(batch: WalletBatch): void {
  for (const [key, value] of batch.changes) if (value !== null) rows.set(key as string, Buffer.from(value));
  ledger.committed(batch);
}

function connect(...txs: Transaction[]): void {
  const blockHash = sha256(Buffer.from(`block ${serial++}`));
  blocks.push(blockHash);
  const batch = new WalletBatch();
  txs.forEach((one, index) => {
    ledger.add(batch, one, { blockHash, height: blocks.length - 1, timeSec: 1_600_000_000, index });
    ledger.setInMempool(txid(one), false);
  });
  save(batch);
}
const connectEmpty = (count: number): void => {
  for (let i = 0; i < count; i++) connect();
};

describe('balances', () => {
  it('separate immature coinbase outputs', () => {
    const mined = coinbase(50n);
    connect(mined);
    expect(balance(ledger, OPTIONS)).toEqual({ trusted: 0n, pending: 0n, immature: 50n });
    connectEmpty(99);
    expect(blocksToMaturity(ledger, ledger.find(txid(mined))!)).toBe(1);
    expect(balance(ledger, OPTIONS).immature).toBe(50n);
    connectEmpty(1);
    expect(balance(ledger, OPTIONS)).toEqual({ trusted: 50n, pending: 0n, immature: 0n });
    expect(balance(ledger, OPTIONS, MINE.spendable, 102)).toMatchObject({ trusted: 0n });
  });

  it('trust own change, but no unconfirmed outputs of others', () => {
    const received = tx([[foreign, 0]], [[MINE_SCRIPT, 10n]]);
    add(received);
    expect(balance(ledger, OPTIONS)).toEqual({ trusted: 0n, pending: 10n, immature: 0n });
    expect(pendingSat(ledger, OPTIONS)).toBe(10n);
    const sent = tx(
      [[received, 0]],
      [
        [OTHER_SCRIPT, 3n],
        [MINE_SCRIPT, 6n],
      ],
    );
    const entry = add(sent);
    // The input of `sent` belongs to the wallet, although another wallet sent the spent transaction.
    expect(balance(ledger, OPTIONS)).toEqual({ trusted: 6n, pending: 0n, immature: 0n });
    const careful = { ...OPTIONS, spendsUnconfirmedChange: false };
    expect(balance(ledger, careful)).toEqual({ trusted: 0n, pending: 6n, immature: 0n });
    expect([pendingSat(ledger, OPTIONS), pendingSat(ledger, careful)]).toEqual([0n, 6n]);
    expect(isTrusted(ledger, entry, { ...OPTIONS, isFinal: () => false })).toBe(false);
    ledger.setInMempool(txid(sent), false);
    expect(balance(ledger, OPTIONS)).toEqual({ trusted: 0n, pending: 0n, immature: 0n });
  });

  it('separate watched outputs, and count claims', () => {
    connect(
      tx(
        [[foreign, 0]],
        [
          [WATCHED_SCRIPT, 1n],
          [MINE_SCRIPT, 2n],
          [CLAIM_SCRIPT, 4n],
        ],
      ),
    );
    expect(balance(ledger, OPTIONS).trusted).toBe(6n);
    expect(balance(ledger, OPTIONS, MINE.watchOnly).trusted).toBe(1n);
    expect([...ownCoins(ledger, OPTIONS)]).toHaveLength(3);
    expect(stakedSat(ledger, OPTIONS)).toEqual({ claims: 4n, supports: 0n });
    expect(balance(ledger, OPTIONS, MINE.claim).trusted).toBe(4n);
    atOnce(ledger.disconnect(blocks.pop()!));
    expect(stakedSat(ledger, OPTIONS)).toEqual({ claims: 0n, supports: 0n });
    expect(pendingSat(ledger, OPTIONS)).toBe(0n);
  });
});

describe('available coins', () => {
  const values = (filter: Partial<CoinFilter> = {}): bigint[] =>
    fittingCoins(ledger, OPTIONS, { ...ALL, ...filter }).map(
      ({ output }: { output: OwnOutput }) => output.valueSat,
    );

  it('are those that match, with claims only on request', () => {
    const one = tx(
      [[foreign, 0]],
      [
        [MINE_SCRIPT, 5n],
        [CLAIM_SCRIPT, 6n],
        [MINE_SCRIPT, 7n],
      ],
    );
    connect(one);
    connect();
    const fresh = tx([[foreign, 0]], [[MINE_SCRIPT, 8n]]);
    add(fresh);
    expect(values()).toEqual([5n, 7n]);
    expect(values({ onlySafe: false })).toEqual([5n, 7n, 8n]);
    expect(values({ onlySafe: false, minDepth: 1 })).toEqual([5n, 7n]);
    expect(values({ onlySafe: false, maxDepth: 1 })).toEqual([8n]);
    expect(values({ minValueSat: 6n })).toEqual([7n]);
    expect(values({ maxValueSat: 6n })).toEqual([5n]);
    expect(values({ isLocked: (key) => outputNumber(key) === 0 })).toEqual([7n]);
    expect(values({ isChosen: (key) => outputNumber(key) === 1 })).toEqual([5n, 6n, 7n]);
    ledger.setInMempool(txid(fresh), false);
    expect(values({ onlySafe: false })).toEqual([5n, 7n]);
  });

  it('exclude outputs of waiting replacements', () => {
    const coin = tx([[foreign, 0]], [[MINE_SCRIPT, 5n]]);
    connect(coin);
    add(tx([[coin, 0]], [[MINE_SCRIPT, 4n]]), new Map([['replaces_txid', '00']]));
    expect(values()).toEqual([]);
    expect(values({ onlySafe: false })).toEqual([4n]);
  });

  it('can be put in the order of the reference', () => {
    for (let i = 0; i < 5; i++)
      connect(
        tx(
          [[foreign, i]],
          [
            [MINE_SCRIPT, 1n],
            [MINE_SCRIPT, 2n],
          ],
        ),
      );
    const keys = inIdOrder(fittingCoins(ledger, OPTIONS, ALL)).map(
      ({ key }) => `${fromLatin1(txKeyOf(key)).toString('hex')} ${outputNumber(key)}`,
    );
    expect(keys).toHaveLength(10);
    expect(keys).toEqual([...keys].sort());
  });
});
