import { describe, expect, it } from 'vitest';
import { loadBlock, loadLargeBlock, type LoadedBlock } from '../../../../src/chain/blocks/loadedBlock.js';
import { sha256d } from '../../../../src/crypto/hash.js';
import { formatBlock, parseBlockBytes } from '../../../../src/primitives/block.js';
import { TX_FLAGS } from '../../../../src/primitives/blockLayout.js';
import { txid } from '../../../../src/primitives/transaction.js';
import { ReadError } from '../../../../src/util/reader.js';
import { Random, randomBlock } from '../../../differential/support.js';

/** Names of the fields in which two blocks differ. Large tables are compared as bytes. */
function differences(one: LoadedBlock, other: LoadedBlock): string[] {
  const facts = ({ raw, hash, header, consumedBytes, parsed }: LoadedBlock): [string, unknown][] =>
    Object.entries({ ...parsed, raw, hash, header: JSON.stringify(header), consumed: consumedBytes });
  const theirs = new Map(facts(other));
  return facts(one)
    .filter(([name, value]) => {
      const counterpart = theirs.get(name);
      if (!(value instanceof Uint8Array || value instanceof Uint32Array)) return value !== counterpart;
      const bytesOf = ({ buffer, byteOffset, byteLength }: typeof value): Buffer =>
        Buffer.from(buffer, byteOffset, byteLength);
      return (
        value.constructor !== counterpart!.constructor ||
        !bytesOf(value).equals(bytesOf(counterpart as typeof value))
      );
    })
    .map(([name]) => name);
}

describe('loadBlock', () => {
  it('returns bytes, table, header and id of one block', () => {
    const bytes = randomBlock(new Random(600), 4);
    const { raw, parsed, header, hash } = loadBlock(bytes);
    expect(raw).toBe(bytes);
    expect(parsed.txCount).toBe(4);
    expect(header).toEqual(parseBlockBytes(bytes).header);
    expect(hash.equals(sha256d(bytes.subarray(0, 112)))).toBe(true);
  });

  it('removes bytes after the block without copying it', () => {
    const block = randomBlock(new Random(601), 2);
    const bytes = Buffer.concat([block, Buffer.from('behind')]);
    const { raw, parsed } = loadBlock(bytes);
    expect(raw.equals(block)).toBe(true);
    expect(raw.buffer).toBe(bytes.buffer);
    expect(parsed.consumedBytes).toBe(raw.length);
  });

  it('throws ReadError for what is not a block', () => {
    expect(() => loadBlock(Buffer.alloc(0))).toThrow(ReadError);
    expect(() => loadBlock(Buffer.alloc(112))).toThrow(ReadError);
    const block = randomBlock(new Random(602), 3);
    expect(() => loadBlock(block.subarray(0, -1))).toThrow(ReadError);
  });

  it('drops a witness marker without witness, which does not change the ids', () => {
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

  it('returns the same if it parses on another thread, for blocks above the maximum size', async () => {
    const random = new Random(604);
    const parts = Array.from({ length: 400 }, () => randomBlock(random, 12).subarray(113));
    const bytes = Buffer.concat([Buffer.alloc(112, 7), Buffer.of(0xfd, 0xc0, 0x12), ...parts]);
    expect(bytes.length).toBeGreaterThan(1 << 20);
    const behind = Buffer.concat([bytes, Buffer.from('behind')]);
    expect(differences(await loadLargeBlock(behind), loadBlock(behind))).toEqual([]);
    // Every second transaction has a witness marker and an empty witness, the others have no marker.
    const marker = Buffer.from('02000000000101', 'hex');
    const bare = Buffer.concat([Buffer.alloc(36, 3), Buffer.from('00ffffffff0000', 'hex'), Buffer.alloc(4)]);
    const plain = Buffer.concat([Buffer.from('0200000001', 'hex'), bare.subarray(0, -5), bare.subarray(-4)]);
    const txs = Array.from({ length: 12_000 }, (_, i) =>
      i % 2 === 0 ? Buffer.concat([marker, bare]) : plain,
    );
    const head = Buffer.concat([Buffer.alloc(112, 7), Buffer.of(0xfd, 0xe0, 0x2e)]);
    const marked = Buffer.concat([head, ...txs]);
    const large = await loadLargeBlock(marked);
    expect(differences(large, loadBlock(marked))).toEqual([]);
    expect(large.raw.equals(Buffer.concat([head, ...txs.map(() => plain)]))).toBe(true);
    expect(large.raw.equals(formatBlock(parseBlockBytes(marked)))).toBe(true);
    await expect(loadLargeBlock(marked.subarray(0, -1))).rejects.toThrow(ReadError);
  });

  it('refuses outputs without inputs, which cannot be serialized', () => {
    // The serialized form would begin like a witness marker, and would be parsed as a shorter transaction.
    const tx = Buffer.from(`010000000001000100000000000000000400000000${'00000000'}`, 'hex');
    expect(() => loadBlock(Buffer.concat([Buffer.alloc(112), Buffer.of(1), tx]))).toThrow(ReadError);
  });
});
