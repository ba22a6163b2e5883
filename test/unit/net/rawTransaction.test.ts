import { describe, expect, it } from 'vitest';
import { isNullTransaction, readRawTransaction, withoutWitness } from '../../../src/net/rawTransaction.js';
import { formatTransaction, parseTransaction } from '../../../src/primitives/transaction.js';
import { Reader, ReadError } from '../../../src/util/reader.js';
import { coinbaseTx, mutate, Random, randomOutPoint, randomTx } from '../../differential/support.js';

const random = new Random(5);

function anyTransaction(): Buffer {
  const inputs = Array.from({ length: random.below(4) }, () => randomOutPoint(random));
  return formatTransaction(
    random.chance(5)
      ? coinbaseTx(random)
      : randomTx(random, {
          inputs,
          outputs: inputs.length === 0 ? 0 : random.below(4),
          witness: random.chance(2),
        }),
  );
}

/** Position after the transaction, or null if it is refused. */
function endOf(read: (reader: Reader) => unknown, bytes: Buffer): number | null {
  const reader = new Reader(bytes, 3);
  try {
    read(reader);
    return reader.offset;
  } catch (error) {
    if (error instanceof ReadError) return null;
    throw error;
  }
}

describe('transactions as bytes', () => {
  it('end where the parser ends, and are refused where it refuses', () => {
    let refused = 0;
    for (let i = 0; i < 3000; i++) {
      const tx = random.chance(3) ? anyTransaction() : mutate(random, anyTransaction());
      const bytes = Buffer.concat([random.bytes(3), tx, random.bytes(random.below(5))]);
      const end = endOf(readRawTransaction, bytes);
      expect(end).toBe(endOf(parseTransaction, bytes));
      if (end === null) refused++;
    }
    expect(refused).toBeGreaterThan(500);
    expect(refused).toBeLessThan(2500);
  });

  it('are a view of their buffer', () => {
    const tx = anyTransaction();
    const bytes = Buffer.concat([Buffer.alloc(3), tx, Buffer.alloc(2)]);
    const raw = readRawTransaction(new Reader(bytes, 3));
    expect(raw.equals(tx)).toBe(true);
    expect(raw.buffer).toBe(bytes.buffer);
  });

  it('include the null transaction, with a marker or without', () => {
    const INPUT = `${'11'.repeat(36)}00ffffffff`;
    const OUTPUT = `${'00'.repeat(8)}00`;
    for (const [hex, isNull] of [
      ['01000000' + '0000' + '00000000', true],
      ['01000000' + '0001' + '0000' + '00000000', true],
      ['01000000' + '0001' + `00` + `01${OUTPUT}` + '00000000', false],
      ['01000000' + '0001' + `01${INPUT}` + '00' + '00' + '00000000', false],
      ['01000000' + `01${INPUT}` + '00' + '00000000', false],
    ] as const) {
      const bytes = Buffer.from(hex, 'hex');
      const tx = parseTransaction(new Reader(bytes));
      expect(tx.inputs.length + tx.outputs.length === 0, hex).toBe(isNull);
      expect(isNullTransaction(bytes), hex).toBe(isNull);
    }
  });

  it('can be copied without witness', () => {
    for (let i = 0; i < 50; i++) {
      const raw = anyTransaction();
      expect(withoutWitness(raw)).toEqual(formatTransaction(parseTransaction(new Reader(raw)), false));
    }
  });
});
