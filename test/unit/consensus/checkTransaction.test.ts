import { describe, expect, it } from 'vitest';
import { checkTransaction } from '../../../src/consensus/checkTransaction.js';
import { MAX_MONEY } from '../../../src/consensus/limits.js';
import {
  blockSizes,
  compactSizeLength,
  strippedSize,
  transactionWeight,
  witnessSize,
} from '../../../src/consensus/txSize.js';
import { formatBlock } from '../../../src/primitives/block.js';
import * as primitives from '../../../src/primitives/transaction.js';
import type { Transaction } from '../../../src/primitives/transaction.js';
import { buildClaimPrefix, buildSupportPrefix, buildUpdatePrefix } from '../../../src/script/claimScript.js';
import { concatBytes } from '../../../src/util/bytes.js';
import { coinbaseWith, outputOf, spending, TRUE_SCRIPT } from './support/transactions.js';

const bytes = (size: number): Uint8Array => new Uint8Array(size).fill(0x61);
const id = bytes(20);
const withOutputs = (...outputs: Transaction['outputs']): Transaction => ({ ...spending(1), outputs });
const claimOutput = (prefix: Uint8Array) => outputOf(1n, concatBytes(prefix, TRUE_SCRIPT));
const nullPrevout = { hash: primitives.NULL_HASH, index: primitives.NULL_INDEX };

/**
 * Number of bytes of a claim prefix with a name of one letter, without its value. The push of the value has a length of three
 * bytes.
 */
const CLAIM_OVERHEAD = buildClaimPrefix(bytes(1), bytes(8000)).length - 8000;

describe('checkTransaction', () => {
  it('accepts ordinary transactions', () => {
    expect(checkTransaction(spending(1, 2, 3))).toBeNull();
    expect(checkTransaction(withOutputs(outputOf(0n), outputOf(MAX_MONEY)))).toBeNull();
    expect(checkTransaction(coinbaseWith(bytes(2)))).toBeNull();
    expect(checkTransaction(coinbaseWith(bytes(100)))).toBeNull();
  });

  it.each<[string, number, Transaction]>([
    ['bad-txns-vin-empty', 10, { ...spending(), outputs: [] }],
    ['bad-txns-vout-empty', 10, { ...spending(1), outputs: [] }],
    ['bad-txns-oversize', 100, withOutputs(outputOf(-1n, bytes(2_000_000)))],
    ['bad-txns-vout-negative', 100, withOutputs(outputOf(1n), outputOf(-1n))],
    ['bad-txns-vout-toolarge', 100, withOutputs(outputOf(MAX_MONEY + 1n))],
    ['bad-txns-txouttotal-toolarge', 100, withOutputs(outputOf(MAX_MONEY), outputOf(1n))],
    [
      'bad-txns-claimscriptsize-toolarge',
      100,
      withOutputs(claimOutput(buildClaimPrefix(bytes(1), bytes(8193 - CLAIM_OVERHEAD)))),
    ],
    [
      'bad-txns-claimscriptname-toolarge',
      100,
      withOutputs(claimOutput(buildClaimPrefix(bytes(256), bytes(1)))),
    ],
    ['bad-txns-inputs-duplicate', 100, spending(1, 2, 1)],
    ['bad-txns-inputs-duplicate', 100, spending(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 9)],
    ['bad-cb-length', 100, coinbaseWith(bytes(1))],
    ['bad-cb-length', 100, coinbaseWith(bytes(101))],
    [
      'bad-txns-prevout-null',
      10,
      { ...spending(1), inputs: [...spending(1).inputs, primitives.emptyInput(nullPrevout)] },
    ],
  ])('%s', (reason, dosScore, tx) => {
    expect(checkTransaction(tx)).toMatchObject({ reason, dosScore, rejectCode: 0x10, corruption: false });
  });

  it('counts the size without witness', () => {
    const overhead = strippedSize(withOutputs(outputOf(1n, bytes(1_999_000)))) - 1_999_000;
    const full = withOutputs(outputOf(1n, bytes(2_000_000 - overhead)));
    full.inputs[0]!.witness = [bytes(5000)];
    expect(strippedSize(full)).toBe(2_000_000);
    expect(checkTransaction(full)).toBeNull();
  });

  it.each([
    ['claim', buildClaimPrefix(bytes(1), bytes(8192 - CLAIM_OVERHEAD)), null],
    ['claim with the longest name', buildClaimPrefix(bytes(255), bytes(1)), null],
    ['claim with the empty name', buildClaimPrefix(bytes(0), bytes(1)), null],
    ['update', buildUpdatePrefix(bytes(256), id, bytes(1)), 'bad-txns-claimscriptname-toolarge'],
    ['support', buildSupportPrefix(bytes(256), id), 'bad-txns-claimscriptname-toolarge'],
    [
      'support with metadata',
      buildSupportPrefix(bytes(1), id, bytes(8200)),
      'bad-txns-claimscriptsize-toolarge',
    ],
    ['no whole prefix', buildSupportPrefix(bytes(256), bytes(19)), null],
    ['size before name', buildClaimPrefix(bytes(300), bytes(8200)), 'bad-txns-claimscriptsize-toolarge'],
  ])('limits claim scripts: %s', (_name, prefix, reason) => {
    expect(checkTransaction(withOutputs(claimOutput(prefix)))?.reason ?? null).toBe(reason);
    // A coinbase creates no claims, but the size limits apply to it too.
    expect(checkTransaction(coinbaseWith(bytes(2), [claimOutput(prefix)]))?.reason ?? null).toBe(reason);
  });

  it('checks outputs one by one: the first invalid one decides', () => {
    const longName = claimOutput(buildClaimPrefix(bytes(256), bytes(1)));
    expect(checkTransaction(withOutputs(longName, outputOf(-1n)))?.reason).toBe(
      'bad-txns-claimscriptname-toolarge',
    );
    expect(checkTransaction(withOutputs(outputOf(-1n), longName))?.reason).toBe('bad-txns-vout-negative');
  });

  it('does not treat the same id with another index as a duplicate', () => {
    for (const count of [2, 20]) {
      const tx = spending(...new Array<number>(count).fill(7));
      tx.inputs.forEach((input, index) => (input.prevout = { ...input.prevout, index }));
      expect(checkTransaction(tx)).toBeNull();
    }
  });
});

describe('sizes', () => {
  it('equal those of the serialized form', () => {
    for (const size of [0, 252, 253, 65_535, 65_536]) {
      const plain = withOutputs(outputOf(1n, bytes(size)), outputOf(2n));
      const witnessed = withOutputs(outputOf(1n));
      witnessed.inputs.push(...spending(2).inputs);
      witnessed.inputs[0]!.witness = [bytes(size), bytes(3)];
      for (const tx of [plain, witnessed]) {
        expect(strippedSize(tx)).toBe(primitives.formatTransaction(tx, false).length);
        expect(strippedSize(tx) + witnessSize(tx)).toBe(primitives.formatTransaction(tx).length);
        expect(transactionWeight(tx)).toBe(primitives.transactionWeight(tx));
      }
      const header = {
        version: 1,
        prevHash: bytes(32),
        merkleRoot: bytes(32),
        claimRoot: bytes(32),
        timeSec: 0,
        bits: 0,
        nonce: 0,
      };
      const block = { header, transactions: [plain, witnessed] };
      const sizes = blockSizes(block);
      expect(sizes.strippedSizeBytes).toBe(formatBlock(block, false).length);
      expect(sizes.totalSizeBytes).toBe(formatBlock(block).length);
      expect(sizes.weight).toBe(sizes.strippedSizeBytes * 3 + sizes.totalSizeBytes);
    }
    expect([252, 253, 65_535, 65_536, 0xffffffff, 0x100000000].map(compactSizeLength)).toEqual([
      1, 3, 3, 5, 5, 9,
    ]);
  });
});
