/**
 * Merkle proofs in the tree whose leaves are the ids of all blocks up to a height. The roots of complete groups of 1,024
 * blocks are cached, so that for a proof only one group and a few thousand roots are hashed. Source: lbryio/hub
 * db/merkle.py.
 */
import type { ChainReader } from '../../chain/chainReader.js';
import { merklePath, merkleRoot } from '../../crypto/merkle.js';
import { sha256dPair } from '../../crypto/hash.js';
import type { Turn } from '../../scheduler/clientQueue.js';

const GROUP_LEVELS = 10;
const GROUP_BLOCKS = 1 << GROUP_LEVELS;
const HASH_BYTES = 32;

interface KeptRoot {
  /** Header id of the group's last block, which shows whether the group belongs to a branch. */
  readonly last: number;
  readonly root: Buffer;
}

export interface HeaderProof {
  /** Sibling hashes from the leaf to the root, in wire order. */
  readonly branch: readonly Buffer[];
  readonly root: Buffer;
}

export class HeaderMerkleTree {
  private readonly reader: ChainReader;
  private readonly roots: KeptRoot[] = [];

  constructor(reader: ChainReader) {
    this.reader = reader;
  }

  /** Proof of the block at `height` in the tree of the branch that ends with header id `tip`. */
  async prove(tip: number, height: number, turn: Turn): Promise<HeaderProof> {
    const count = this.reader.headers.height(tip) + 1;
    const leaves = this.hashes(tip, Math.floor(height / GROUP_BLOCKS), count);
    const within = height % GROUP_BLOCKS;
    if (count <= GROUP_BLOCKS) {
      return { branch: merklePath(leaves, within), root: merkleRoot(chunks(leaves)).root };
    }
    const groups: Buffer[] = [];
    for (let group = 0; group * GROUP_BLOCKS < count; group++) {
      groups.push(this.rootOf(tip, group, count));
      const pause = turn.yieldIfDue();
      if (pause !== null) await pause;
    }
    const above = merklePath(Buffer.concat(groups), Math.floor(height / GROUP_BLOCKS));
    return { branch: [...foldGroup(leaves, within).branch, ...above], root: merkleRoot(groups).root };
  }

  private rootOf(tip: number, group: number, count: number): Buffer {
    const end = (group + 1) * GROUP_BLOCKS;
    if (end > count) return foldGroup(this.hashes(tip, group, count), 0).root;
    const last = this.reader.chain.index.active.ancestorOf(tip, end - 1);
    const kept = this.roots[group];
    if (kept?.last === last) return kept.root;
    const { root } = foldGroup(this.hashes(tip, group, count), 0);
    this.roots[group] = { last, root };
    return root;
  }

  /** Concatenated ids of the blocks of a group. */
  private hashes(tip: number, group: number, count: number): Buffer {
    const { headers, chain } = this.reader;
    const first = group * GROUP_BLOCKS;
    const hashes = Buffer.allocUnsafe(Math.min(GROUP_BLOCKS, count - first) * HASH_BYTES);
    for (let n = 0; n * HASH_BYTES < hashes.length; n++) {
      hashes.set(headers.hash(chain.index.active.ancestorOf(tip, first + n)), n * HASH_BYTES);
    }
    return hashes;
  }
}

function chunks(hashes: Buffer): Buffer[] {
  return Array.from({ length: hashes.length / HASH_BYTES }, (_, n) =>
    hashes.subarray(n * HASH_BYTES, (n + 1) * HASH_BYTES),
  );
}

/**
 * Hashes all levels of a group. On each level, an odd last hash is paired with itself, up to the level of a complete group's
 * root.
 */
function foldGroup(leaves: Buffer, index: number): HeaderProof {
  let level = chunks(leaves);
  let at = index;
  const branch: Buffer[] = [];
  for (let n = 0; n < GROUP_LEVELS; n++) {
    branch.push(level[at ^ 1] ?? level[at]!);
    const next: Buffer[] = [];
    for (let i = 0; i < level.length; i += 2) next.push(sha256dPair(level[i]!, level[i + 1] ?? level[i]!));
    level = next;
    at >>= 1;
  }
  return { branch, root: level[0]! };
}
