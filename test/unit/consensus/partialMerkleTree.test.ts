import { describe, expect, it } from 'vitest';
import {
  buildPartialMerkleTree,
  parsePartialMerkleTree,
  provedTransactions,
  writePartialMerkleTree,
  type PartialMerkleTree,
} from '../../../src/consensus/partialMerkleTree.js';
import { sha256d } from '../../../src/crypto/hash.js';
import { merkleRoot } from '../../../src/crypto/merkle.js';
import { toHex } from '../../../src/util/bytes.js';
import { Reader, ReadError } from '../../../src/util/reader.js';
import { Writer } from '../../../src/util/writer.js';

const txids = (count: number): Buffer[] =>
  Array.from({ length: count }, (_, i) => sha256d(Buffer.of(i & 255, i >> 8)));

function roundTrip(tree: PartialMerkleTree): PartialMerkleTree {
  const writer = new Writer();
  writePartialMerkleTree(writer, tree);
  return parsePartialMerkleTree(new Reader(writer.finish()));
}

describe('partial merkle trees', () => {
  it('prove exactly the chosen transactions, for trees of every shape', () => {
    for (const count of [1, 2, 3, 4, 7, 17, 56, 100, 255, 256, 513]) {
      const ids = txids(count);
      const { root } = merkleRoot(ids);
      for (let step = 1; step <= count; step *= 3) {
        const chosen = ids.filter((_, index) => index % step === 0);
        const tree = roundTrip(buildPartialMerkleTree(ids, (index) => index % step === 0));
        const proved = provedTransactions(tree)!;
        expect(toHex(proved.root)).toBe(toHex(root));
        expect(proved.txids.map(toHex)).toEqual(chosen.map(toHex));
      }
      const none = provedTransactions(buildPartialMerkleTree(ids, () => false))!;
      expect([toHex(none.root), none.txids]).toEqual([toHex(root), []]);
    }
  });

  it('have at most the size limit of Bitcoin Core', () => {
    for (const count of [1, 2, 7, 100, 513]) {
      const tree = buildPartialMerkleTree(txids(count), (index) => index === count - 1);
      expect(tree.hashes.length).toBeLessThanOrEqual(Math.min(count, 1 + Math.ceil(Math.log2(count)) || 1));
    }
  });

  it('have another root after a flipped bit of a hash', () => {
    const ids = txids(9);
    const { root } = merkleRoot(ids);
    const tree = buildPartialMerkleTree(ids, (index) => index === 4);
    for (let i = 0; i < tree.hashes.length; i++) {
      const hashes = tree.hashes.map((hash) => Buffer.from(hash));
      hashes[i]![3]! ^= 0x10;
      const proved = provedTransactions({ ...tree, hashes });
      expect(proved === null || toHex(proved.root) !== toHex(root)).toBe(true);
    }
  });

  it('are refused if they are malformed', () => {
    const tree = buildPartialMerkleTree(txids(9), (index) => index === 4);
    const { hashes, flags } = tree;
    const equalHashes = [hashes[0]!, hashes[0]!];
    const broken: PartialMerkleTree[] = [
      { ...tree, txCount: 0 },
      { ...tree, txCount: 33_334 },
      { ...tree, hashes: hashes.slice(1) },
      { ...tree, hashes: [...hashes, hashes[0]!] },
      { ...tree, flags: flags.subarray(1) },
      { ...tree, flags: Buffer.concat([flags, Buffer.of(0)]) },
      { txCount: 2, hashes: equalHashes, flags: Buffer.of(0b111) },
      { txCount: 1, hashes: equalHashes, flags: Buffer.of(1) },
    ];
    for (const bad of broken) expect(provedTransactions(bad)).toBeNull();
    expect(() => parsePartialMerkleTree(new Reader(Buffer.from('0100000001', 'hex')))).toThrow(ReadError);
  });

  it('with more hashes than a block can have transactions are ignored', () => {
    const written = (count: number): Buffer =>
      new Writer()
        .u32(count)
        .compactSize(count)
        .raw(Buffer.alloc(count * 32))
        .varBytes(Buffer.of(1))
        .u8(7)
        .finish();
    const most = parsePartialMerkleTree(new Reader(written(33_333)));
    expect(most.hashes).toHaveLength(33_333);
    const reader = new Reader(written(33_334));
    const more = parsePartialMerkleTree(reader);
    expect(more).toEqual({ txCount: 0, hashes: [], flags: new Uint8Array(0) });
    expect(provedTransactions(more)).toBeNull();
    expect(reader.remaining).toBe(1);
    const short = written(33_334).subarray(0, 33_334 * 32);
    expect(() => parsePartialMerkleTree(new Reader(short))).toThrow(/^end of data/);
  });
});
