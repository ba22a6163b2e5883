import { describe, expect, it } from 'vitest';
import { loadBlock } from '../../../src/chain/loadedBlock.js';
import { sha256d } from '../../../src/crypto/hash.js';
import { formatBlock, parseBlockBytes } from '../../../src/primitives/block.js';
import { TX_FLAGS } from '../../../src/primitives/blockLayout.js';
import { txid } from '../../../src/primitives/transaction.js';
import { ReadError } from '../../../src/util/reader.js';
import { Random, randomBlock } from '../../differential/support.js';

describe('loadBlock', () => {
  it('gives bytes, table, header and id of one block', () => {
    const bytes = randomBlock(new Random(600), 4);
    const { raw, parsed, header, hash } = loadBlock(bytes);
    expect(raw).toBe(bytes);
    expect(parsed.txCount).toBe(4);
    expect(header).toEqual(parseBlockBytes(bytes).header);
    expect(hash.equals(sha256d(bytes.subarray(0, 112)))).toBe(true);
  });

  it('cuts off bytes behind the block without copying it', () => {
    const block = randomBlock(new Random(601), 2);
    const bytes = Buffer.concat([block, Buffer.from('behind')]);
    const { raw, parsed } = loadBlock(bytes);
    expect(raw.equals(block)).toBe(true);
    expect(raw.buffer).toBe(bytes.buffer);
    expect(parsed.consumedBytes).toBe(raw.length);
  });

  it('throws ReadError for what is no block', () => {
    expect(() => loadBlock(Buffer.alloc(0))).toThrow(ReadError);
    expect(() => loadBlock(Buffer.alloc(112))).toThrow(ReadError);
    const block = randomBlock(new Random(602), 3);
    expect(() => loadBlock(block.subarray(0, -1))).toThrow(ReadError);
  });

  it('drops a witness marker without witness, behind which the ids stay the same', () => {
    const block = parseBlockBytes(randomBlock(new Random(603), 2));
    for (const tx of block.transactions) for (const input of tx.inputs) input.witness = [];
    const plain = formatBlock(block);
    const first = formatBlock({ ...block, transactions: [block.transactions[0]!] }).subarray(113);
    const second = plain.subarray(113 + first.length);
    const stacks = Buffer.alloc(block.transactions[1]!.inputs.length);
    const marked = Buffer.concat([
      plain.subarray(0, 113),
      first,
      second.subarray(0, 4),
      Buffer.of(0, 1),
      second.subarray(4, -4),
      stacks,
      second.subarray(-4),
    ]);
    const { raw, parsed } = loadBlock(Buffer.concat([marked, Buffer.from('behind')]));
    expect(raw.equals(plain)).toBe(true);
    expect(parsed.txs[12 + TX_FLAGS]).toBe(0);
    expect(parsed.txids.subarray(32).equals(txid(block.transactions[1]!))).toBe(true);
  });

  it('refuses outputs without inputs, which have no form of their own', () => {
    // Written out they begin like a witness marker, and would be read as a shorter transaction.
    const tx = Buffer.from(`010000000001000100000000000000000400000000${'00000000'}`, 'hex');
    expect(() => loadBlock(Buffer.concat([Buffer.alloc(112), Buffer.of(1), tx]))).toThrow(ReadError);
  });
});
