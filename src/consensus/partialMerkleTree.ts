/**
 * The part of a block's merkle tree that proves some of its transactions (BIP37): building it, parsing it, and extracting
 * the proved transactions. Source: Core merkleblock.cpp `CPartialMerkleTree`.
 */
import { sha256dPair } from '../crypto/hash.js';
import { EMPTY_BYTES, isZero, type Bytes } from '../util/bytes.js';
import type { Reader } from '../util/reader.js';
import { atOnce, type Slices } from '../util/slices.js';
import type { Writer } from '../util/writer.js';
import { MAX_BLOCK_WEIGHT, MIN_TRANSACTION_WEIGHT } from './limits.js';

const HASH_SIZE = 32;
/** Source: `ExtractMatches`. */
const MAX_BLOCK_TRANSACTIONS = MAX_BLOCK_WEIGHT / MIN_TRANSACTION_WEIGHT;

export interface PartialMerkleTree {
  /** Number of transactions in the whole block. */
  txCount: number;
  /** Hashes of 32 bytes each, in depth-first order. */
  hashes: Bytes[];
  /** One bit per visited node, least significant first: whether a proved transaction is below it. */
  flags: Bytes;
}

/** Returns the number of nodes at a height above the leaves. */
function widthAt(txCount: number, height: number): number {
  return Math.ceil(txCount / 2 ** height);
}

function treeHeight(txCount: number): number {
  let height = 0;
  while (widthAt(txCount, height) > 1) height++;
  return height;
}

/** Number of nodes that are hashed between two yields to the event loop. */
const HASHED_AT_ONCE = 256;

/** Computes all levels of the tree, beginning with the leaves. */
function* levelsOf(txids: readonly Bytes[]): Slices<Bytes[][]> {
  const levels: Bytes[][] = [[...txids]];
  for (let below = levels[0]!; below.length > 1; below = levels[levels.length - 1]!) {
    const level: Bytes[] = [];
    for (let i = 0; i < below.length; i += 2) {
      level.push(sha256dPair(below[i]!, below[i + 1] ?? below[i]!));
      if (level.length % HASHED_AT_ONCE === 0) yield;
    }
    levels.push(level);
  }
  return levels;
}

function packBits(bits: readonly boolean[]): Buffer {
  const packed = Buffer.alloc(Math.ceil(bits.length / 8));
  bits.forEach((bit, i) => {
    if (bit) packed[i >> 3]! |= 1 << (i & 7);
  });
  return packed;
}

/** The tree that proves the transactions for which `isMatch` is true. At least one transaction is required. */
export function buildPartialMerkleTree(
  txids: readonly Bytes[],
  isMatch: (index: number) => boolean,
): PartialMerkleTree {
  return atOnce(buildPartialMerkleTreeInSlices(txids, isMatch));
}

/** Like `buildPartialMerkleTree`, but yields to the event loop between slices. */
export function* buildPartialMerkleTreeInSlices(
  txids: readonly Bytes[],
  isMatch: (index: number) => boolean,
): Slices<PartialMerkleTree> {
  const levels = yield* levelsOf(txids);
  /** For each node, by level and position: whether a matching transaction is at or below the node. */
  const marks: boolean[][] = [txids.map((_, index) => isMatch(index))];
  for (let height = 1; height < levels.length; height++) {
    const below = marks[height - 1]!;
    marks.push(levels[height]!.map((_, i) => below[i * 2]! || below[i * 2 + 1] === true));
  }
  const bits: boolean[] = [];
  const hashes: Bytes[] = [];
  const walk = (height: number, position: number): void => {
    const marked = marks[height]![position]!;
    bits.push(marked);
    if (height === 0 || !marked) {
      hashes.push(levels[height]![position]!);
      return;
    }
    walk(height - 1, position * 2);
    if (position * 2 + 1 < levels[height - 1]!.length) walk(height - 1, position * 2 + 1);
  };
  walk(levels.length - 1, 0);
  return { txCount: txids.length, hashes, flags: packBits(bits) };
}

export interface ProvedTransactions {
  /** Merkle root computed from the partial tree. */
  root: Bytes;
  txids: Bytes[];
  /** The index of each proved transaction in the block. */
  indexes: number[];
}

/** Extracts the transactions that the tree proves; null when the tree is malformed. Source: `ExtractMatches`. */
export function provedTransactions(tree: PartialMerkleTree): ProvedTransactions | null {
  const { txCount, hashes, flags } = tree;
  if (txCount === 0 || txCount > MAX_BLOCK_TRANSACTIONS) return null;
  if (hashes.length > txCount || flags.length * 8 < hashes.length) return null;
  const txids: Bytes[] = [];
  const indexes: number[] = [];
  let bitsUsed = 0;
  let hashesUsed = 0;
  /**
   * Computes the hash of a node. Null if not enough bits or hashes remain, or if equal siblings make the tree ambiguous
   * (CVE-2012-2459).
   */
  const walk = (height: number, position: number): Bytes | null => {
    if (bitsUsed >= flags.length * 8) return null;
    const marked = (flags[bitsUsed >> 3]! & (1 << (bitsUsed & 7))) !== 0;
    bitsUsed++;
    if (height === 0 || !marked) {
      const hash = hashes[hashesUsed++];
      if (hash === undefined) return null;
      if (height === 0 && marked) {
        txids.push(hash);
        indexes.push(position);
      }
      return hash;
    }
    const left = walk(height - 1, position * 2);
    if (left === null) return null;
    if (position * 2 + 1 >= widthAt(txCount, height - 1)) return sha256dPair(left, left);
    const right = walk(height - 1, position * 2 + 1);
    if (right === null || Buffer.compare(left, right) === 0) return null;
    return sha256dPair(left, right);
  };
  const root = walk(treeHeight(txCount), 0);
  if (root === null || isZero(root)) return null;
  if (Math.ceil(bitsUsed / 8) !== flags.length || hashesUsed !== hashes.length) return null;
  return { root, txids, indexes };
}

/**
 * Parses a partial merkle tree. Throws `ReadError` when the bytes end early. A tree with more hashes than a block can have
 * transactions proves nothing. Its hashes are skipped, and an empty tree is returned.
 */
export function parsePartialMerkleTree(reader: Reader): PartialMerkleTree {
  const txCount = reader.u32();
  const count = reader.compactSize();
  if (count > MAX_BLOCK_TRANSACTIONS) {
    reader.skip(count * HASH_SIZE);
    reader.varBytes();
    return { txCount: 0, hashes: [], flags: EMPTY_BYTES };
  }
  const hashes: Bytes[] = [];
  for (let i = 0; i < count; i++) hashes.push(reader.view(HASH_SIZE));
  return { txCount, hashes, flags: reader.varBytes() };
}

export function writePartialMerkleTree(writer: Writer, tree: PartialMerkleTree): void {
  writer.u32(tree.txCount).compactSize(tree.hashes.length);
  for (const hash of tree.hashes) writer.raw(hash);
  writer.varBytes(tree.flags);
}
