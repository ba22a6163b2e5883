import { describe, expect, it } from 'vitest';
import { prepare, prepareInSlices } from '../../../src/mempool/acceptance.js';
import { parseTransaction } from '../../../src/primitives/transaction.js';
import { Reader } from '../../../src/util/reader.js';
import { atOnce } from '../../../src/util/slices.js';
import { bigTransaction } from '../../support/bigTransaction.js';

const ITEM = Buffer.from('51', 'hex');

describe('what follows from a transaction alone', () => {
  it.each([
    ['a small one', {}, 0],
    ['one with a witness', { witness: [ITEM] }, 0],
    ['many inputs', { inputs: 5000, scriptSig: ITEM }, 10],
    ['many outputs', { outputs: 5000, script: ITEM, witness: [ITEM] }, 10],
    ['many witness items', { witness: Array<Buffer>(20_000).fill(ITEM) }, 50],
  ])('is the same in slices: %s', (_, parts, leastPauses) => {
    const tx = parseTransaction(new Reader(bigTransaction(parts)));
    const work = prepareInSlices(tx);
    let pauses = 0;
    while (work.next().done !== true) pauses++;
    expect(pauses).toBeGreaterThanOrEqual(leastPauses);
    const { bytes, ...facts } = atOnce(prepareInSlices(tx));
    const { bytes: whole, ...expected } = prepare(tx);
    expect(bytes.equals(whole)).toBe(true);
    // A stored transaction must not keep a larger buffer alive.
    expect(bytes.buffer.byteLength).toBe(bytes.length);
    expect(facts).toEqual(expected);
  });
});
