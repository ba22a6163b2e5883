import { beforeEach, describe, expect, it } from 'vitest';
import { sha256 } from '../../../../src/crypto/hash.js';
import { txid, type Transaction } from '../../../../src/primitives/transaction.js';
import {
  buildClaimPrefix,
  buildSupportPrefix,
  buildUpdatePrefix,
  claimIdOf,
  decodeClaimScript,
  stripClaimPrefix,
} from '../../../../src/script/claimScript.js';
import { fromLatin1, hashToHex } from '../../../../src/util/bytes.js';
import { atOnce } from '../../../../src/util/slices.js';
import { nameTransactions } from '../../../../src/wallet/claims/nameTransactions.js';
import { ownStake } from '../../../../src/wallet/claims/ownStake.js';
import { MINE } from '../../../../src/wallet/keys/isMine.js';
import { Ledger } from '../../../../src/wallet/ledger/ledger.js';
import { WalletBatch } from '../../../../src/wallet/store/records.js';

const MINE_SCRIPT = Buffer.from('51', 'hex');
const OTHER_SCRIPT = Buffer.from('53', 'hex');
const NAME = Buffer.from('mindblown');
const VALUE = Buffer.from('cafe', 'hex');
const claim = (inner = MINE_SCRIPT, name = NAME): Buffer =>
  Buffer.concat([buildClaimPrefix(name, VALUE), inner]);
const update = (claimId: Buffer): Buffer =>
  Buffer.concat([buildUpdatePrefix(NAME, claimId, Buffer.from('02', 'hex')), MINE_SCRIPT]);
const support = (claimId: Buffer, inner = MINE_SCRIPT, value?: Buffer): Buffer =>
  Buffer.concat([buildSupportPrefix(NAME, claimId, value), inner]);

let ledger: Ledger;
let height: number;
let serial = 0;

beforeEach(() => {
  height = 0;
  const rows = new Map<string, Buffer>();
  ledger = new Ledger({
    mine(script) {
      if (stripClaimPrefix(script)[0] !== MINE_SCRIPT[0]) return MINE.no;
      const kind = decodeClaimScript(script)?.kind;
      if (kind === undefined) return MINE.spendable;
      return MINE.spendable | (kind === 'support' ? MINE.support : MINE.claim);
    },
    mineRevision: 0,
    mineOfKeyHash: () => MINE.no,
    heightOf: () => height,
    get height() {
      return height;
    },
    nowSec: () => 1_600_000_000,
    readRow: (key) => rows.get(key),
    moves: () => [],
    settledOtherwise: () => undefined,
    spentBy: () => undefined,
  });
});

function send(
  inputs: readonly [Transaction, number][],
  outputs: readonly [Buffer, bigint][],
  confirmed = true,
): Transaction {
  const tx: Transaction = {
    version: 2,
    inputs: inputs.map(([from, n]) => ({
      prevout: { hash: txid(from), index: n },
      scriptSig: Buffer.alloc(0),
      sequence: 0xffffffff,
      witness: [],
    })),
    outputs: outputs.map(([script, value]) => ({ script, value })),
    lockTime: serial++,
  };
  const place = { blockHash: sha256(Buffer.of(serial)), height, timeSec: 1_600_000_000, index: 1 };
  ledger.add(new WalletBatch(), tx, confirmed ? place : null);
  return tx;
}
const fund = (valueSat: bigint): Transaction => {
  const from = { version: 2, inputs: [], outputs: [], lockTime: serial++ } as unknown as Transaction;
  return send([[from, 0]], [[MINE_SCRIPT, valueSat]]);
};
const list = (filter: { supports?: boolean; spent?: boolean; minDepth?: number } = {}) => {
  const found = atOnce(nameTransactions(ledger, { supports: true, spent: false, minDepth: 1, ...filter }));
  // The list is made from transactions with stakes, not from the whole ledger.
  const looked = ledger.withStakes(filter.spent === true);
  expect(looked.length).toBeLessThan(ledger.size);
  return found;
};
const shown = (found: ReturnType<typeof list>): string[] =>
  found.map(({ entry, n, kind }) => `${kind} ${hashToHex(fromLatin1(entry.key)).slice(0, 8)}:${n}`);
const id = (tx: Transaction): string => hashToHex(txid(tx)).slice(0, 8);

describe('the claim that a transaction holds', () => {
  it('is its first unspent output, with its id', () => {
    const made = send(
      [[fund(100n), 0]],
      [
        [claim(OTHER_SCRIPT), 1n],
        [claim(), 2n],
        [claim(), 3n],
        [support(Buffer.alloc(20, 9)), 4n],
      ],
    );
    const entry = ledger.find(txid(made))!;
    expect(ownStake(ledger, entry, 'claim')).toMatchObject({
      valueSat: 2n,
      claimId: claimIdOf(txid(made), 1),
      isSpent: false,
    });
    expect(ownStake(ledger, entry, 'support')).toMatchObject({
      valueSat: 4n,
      claimId: Buffer.alloc(20, 9),
      isSpent: false,
    });
    const updated = send([[made, 1]], [[update(claimIdOf(txid(made), 1)), 2n]], false);
    expect(ownStake(ledger, entry, 'claim')).toMatchObject({ valueSat: 3n, isSpent: false });
    expect(ownStake(ledger, ledger.find(txid(updated))!, 'claim')!.claimId).toEqual(claimIdOf(txid(made), 1));
    send([[made, 2]], [[MINE_SCRIPT, 3n]], false);
    expect(ownStake(ledger, entry, 'claim')).toMatchObject({ valueSat: 2n, isSpent: true });
    expect(ownStake(ledger, ledger.find(txid(fund(5n)))!, 'claim')).toBeNull();
  });
});

describe('the list of name transactions', () => {
  it('has the transactions that the wallet paid for, with fee and value, oldest first', () => {
    const made = send(
      [[fund(100n), 0]],
      [
        [claim(), 40n],
        [MINE_SCRIPT, 50n],
      ],
    );
    const claimId = claimIdOf(txid(made), 0);
    const tip = send(
      [[made, 1]],
      [
        [support(claimId, OTHER_SCRIPT, Buffer.from('01', 'hex')), 30n],
        [MINE_SCRIPT, 15n],
      ],
    );
    // A support that another user makes for the wallet is not an own transaction.
    const gift = { version: 2, inputs: [], outputs: [], lockTime: serial++ } as unknown as Transaction;
    send([[gift, 0]], [[support(claimId), 7n]]);
    expect(shown(list())).toEqual([`claim ${id(made)}:0`, `support ${id(tip)}:0`]);
    expect(list()[0]).toMatchObject({ feeSat: 10n, valueSat: 40n, claimId, value: VALUE, isSpent: false });
    expect(list()[1]).toMatchObject({ feeSat: 5n, valueSat: 30n, claimId, value: Buffer.from('01', 'hex') });
    expect(shown(list({ supports: false }))).toEqual([`claim ${id(made)}:0`]);
    const updated = send([[made, 0]], [[update(claimId), 40n]], false);
    expect(shown(list({ supports: false }))).toEqual([]);
    expect(shown(list({ supports: false, minDepth: 0 }))).toEqual([`update ${id(updated)}:0`]);
    expect(shown(list({ supports: false, spent: true }))).toEqual([`claim ${id(made)}:0`]);
    height = 4;
    expect(shown(list({ minDepth: 5 }))).toEqual([`claim ${id(made)}:0`, `support ${id(tip)}:0`].slice(1));
    expect(shown(list({ minDepth: 6 }))).toEqual([]);
  });
});
