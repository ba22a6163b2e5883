import { describe, expect, it } from 'vitest';
import type { ChainReader } from '../../../../src/chain/chainReader.js';
import { merklePath, merkleRoot, rootFromPath } from '../../../../src/crypto/merkle.js';
import { sha256 } from '../../../../src/crypto/hash.js';
import { HeaderMerkleTree } from '../../../../src/hub/history/headerTree.js';
import { ClientQueue } from '../../../../src/scheduler/clientQueue.js';

/** A chain that consists only of ids. Above the fork, block `n` of branch `b` has id `n + b`. */
class Ids {
  private readonly fork: number;
  private readonly branch: number;
  constructor(fork: number, branch: number) {
    this.fork = fork;
    this.branch = branch;
  }
  at(height: number): number {
    return height < this.fork ? height : height + this.branch;
  }
}

const hashOf = (id: number): Buffer => sha256(Buffer.from(`block ${id}`));

function readerOf(ids: () => Ids): ChainReader {
  return {
    headers: { hash: hashOf, height: (id: number) => id % 100_000 },
    chain: { index: { active: { ancestorOf: (_tip: number, height: number) => ids().at(height) } } },
  } as unknown as ChainReader;
}

describe('HeaderTree', () => {
  it('proves as the whole tree would, at every length', async () => {
    let ids = new Ids(0, 0);
    const tree = new HeaderMerkleTree(readerOf(() => ids));
    const turn = await new ClientQueue().enter({});
    const check = async (count: number, height: number): Promise<void> => {
      const leaves = Array.from({ length: count }, (_, n) => hashOf(ids.at(n)));
      const { branch, root } = await tree.prove(ids.at(count - 1), height, turn);
      expect(root).toEqual(merkleRoot(leaves).root);
      expect(branch).toEqual(merklePath(Buffer.concat(leaves), height));
      expect(rootFromPath(leaves[height]!, branch, height)).toEqual(root);
    };
    for (const count of [1, 2, 3, 1023, 1024, 1025, 1026, 2047, 2048, 2049, 3072, 3073, 5000]) {
      for (const height of new Set([0, Math.floor(count / 2), count - 1])) await check(count, height);
    }
    // A branch that begins within a group of headers whose root is cached.
    ids = new Ids(1500, 100_000);
    await check(5000, 1499);
    await check(5000, 1501);
    await check(5000, 4999);
  });
});
