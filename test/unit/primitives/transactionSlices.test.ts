import { describe, expect, it } from 'vitest';
import { sha256d } from '../../../src/crypto/hash.js';
import { formatTransaction, parseTransaction, txid } from '../../../src/primitives/transaction.js';
import {
  formatTransactionInSlices,
  parseTransactionInSlices,
  sha256dInSlices,
  txidInSlices,
} from '../../../src/primitives/transactionSlices.js';
import { formatAsm, formatAsmInSlices } from '../../../src/script/asm.js';
import { Reader, ReadError } from '../../../src/util/reader.js';
import { atOnce } from '../../../src/util/slices.js';
import { bigTransaction } from '../../support/bigTransaction.js';
import { countPauses } from '../../support/slices.js';

const ITEM = Buffer.of(1, 2);

describe('transactions in slices', () => {
  it.each([
    ['nothing', bigTransaction({ inputs: 0, outputs: 0 }), 0],
    ['little', bigTransaction({ witness: [ITEM] }), 0],
    ['many inputs', bigTransaction({ inputs: 5000, scriptSig: ITEM }), 19],
    ['many outputs', bigTransaction({ outputs: 5000, script: ITEM }), 19],
    ['many witnesses', bigTransaction({ inputs: 2000, witness: [ITEM, ITEM] }), 25],
    ['many witness items', bigTransaction({ inputs: 2, witness: Array<Buffer>(5000).fill(ITEM) }), 38],
  ])('are read and written like one of %s without slices', (_, bytes, least) => {
    for (const allowWitness of [true, false]) {
      const read = (work: () => unknown): unknown => {
        try {
          return work();
        } catch (error) {
          expect(error).toBeInstanceOf(ReadError);
          return 'refused';
        }
      };
      const expected = read(() => parseTransaction(new Reader(bytes), allowWitness));
      expect(read(() => atOnce(parseTransactionInSlices(new Reader(bytes), allowWitness)))).toEqual(expected);
    }
    const { value: tx, pauses } = countPauses(parseTransactionInSlices(new Reader(bytes)));
    expect(pauses).toBeGreaterThanOrEqual(least);
    for (const withWitness of [true, false]) {
      const written = countPauses(formatTransactionInSlices(tx, withWitness));
      expect(written.value.equals(formatTransaction(tx, withWitness))).toBe(true);
      if (withWitness) expect(written.pauses).toBeGreaterThanOrEqual(least);
    }
    expect(atOnce(txidInSlices(tx))).toEqual(txid(tx));
  });

  it('are refused if truncated or with unknown flags', () => {
    const bytes = bigTransaction({ inputs: 1000, witness: [ITEM] });
    for (const end of [3, 6, 4000, bytes.length - 1]) {
      expect(() => atOnce(parseTransactionInSlices(new Reader(bytes.subarray(0, end))))).toThrow(ReadError);
    }
    const flagged = Buffer.from(bytes);
    flagged[5] = 3;
    expect(() => atOnce(parseTransactionInSlices(new Reader(flagged)))).toThrow(
      'Unknown transaction optional data',
    );
  });

  it('are refused with more witness items than a block may have, before those are read', () => {
    const bytes = bigTransaction({ witness: [] });
    // The count of items comes before the lock time.
    const counted = Buffer.concat([bytes.subarray(0, -5), Buffer.from('fe01127a00', 'hex')]);
    expect(() => atOnce(parseTransactionInSlices(new Reader(counted)))).toThrow('more witness items');
  });

  it('keep only the beginning of a long witness, and are read to the end', () => {
    const bytes = bigTransaction({ inputs: 2, witness: Array<Buffer>(5000).fill(ITEM) });
    const whole = parseTransaction(new Reader(bytes));
    const { value: tx, pauses } = countPauses(parseTransactionInSlices(new Reader(bytes), true, 3000));
    expect(pauses).toBeGreaterThanOrEqual(38);
    expect(tx.inputs.map(({ witness }) => witness.length)).toEqual([1001, 0]);
    expect([tx.outputs, tx.lockTime, txid(tx)]).toEqual([whole.outputs, whole.lockTime, txid(whole)]);
    expect(atOnce(parseTransactionInSlices(new Reader(bytes), true, 30_000))).toEqual(whole);
    for (const end of [20_000, bytes.length - 1])
      expect(() => atOnce(parseTransactionInSlices(new Reader(bytes.subarray(0, end)), true, 3000))).toThrow(
        ReadError,
      );
  });

  it('are hashed with pauses if they are long', () => {
    const bytes = Buffer.alloc(1 << 20, 7);
    const { value, pauses } = countPauses(sha256dInSlices(bytes));
    expect(value).toEqual(sha256d(bytes));
    expect(pauses).toBe(4);
    expect(atOnce(sha256dInSlices(Buffer.alloc(0)))).toEqual(sha256d(Buffer.alloc(0)));
  });

  it('have long scripts classified like without slices', () => {
    const scripts = [
      Buffer.alloc(0),
      Buffer.alloc(1000, 0),
      Buffer.alloc(1000, 0x61),
      Buffer.alloc(256, 0x51),
      Buffer.alloc(1001, 0x02),
      Buffer.concat([Buffer.of(0xb5), Buffer.alloc(1000, 0x01)]),
      Buffer.concat([Buffer.alloc(600, 0x61), Buffer.of(0x4e)]),
    ];
    for (const script of scripts) {
      for (const decode of [false, true]) {
        const { value, pauses } = countPauses(formatAsmInSlices(script, decode));
        expect(value).toBe(formatAsm(script, decode));
        expect(pauses).toBeGreaterThanOrEqual(Math.floor(script.length / 1024));
      }
    }
  });
});
