/**
 * Ancestor lookups on branches far ahead of the active chain. During the first sync the headers are a million blocks ahead,
 * and walking back block by block would take milliseconds for each lookup. Stores the branch of the best header as an array
 * by height. Does not check headers. Source: Core chain.cpp `GetAncestor`, `LastCommonAncestor`, `GetLocator`;
 * validation.cpp `FindForkInGlobalIndex`.
 */
import { ActiveChain } from './activeChain.js';
import type { BlockIndex } from './blockIndex.js';
import { NO_HEADER } from '../../store/files/headerTable.js';
import type { Bytes } from '../../util/bytes.js';

/** Number of consecutive hashes in a locator before the step size doubles. */
const DENSE_LOCATOR = 10;

export class HeaderChain {
  private readonly index: Pick<BlockIndex, 'headers' | 'active' | 'bestHeader'>;
  private readonly path: ActiveChain;

  constructor(index: Pick<BlockIndex, 'headers' | 'active' | 'bestHeader'>) {
    this.index = index;
    this.path = new ActiveChain(index.headers);
  }

  /** Updates the stored branch so that it ends at the best header. Returns the branch. */
  private follow(): ActiveChain {
    const { path } = this;
    const { headers, bestHeader } = this.index;
    if (path.tip === bestHeader) return path;
    const fork = path.findFork(bestHeader);
    if (fork === NO_HEADER) {
      path.reset(bestHeader);
      return path;
    }
    while (path.tip !== fork) path.pop();
    const above: number[] = [];
    for (let id = bestHeader; id !== fork; id = headers.prev(id)) above.push(id);
    for (let i = above.length - 1; i >= 0; i--) path.push(above[i]!);
    return path;
  }

  /** Returns the block at `height` on the branch that ends at `id`. Returns `NO_HEADER` if `height` is above `id`. */
  ancestorOf(id: number, height: number): number {
    return this.follow().ancestorOf(id, height);
  }

  /** Whether `ancestor` equals `id` or is an ancestor of it. */
  isAncestor(ancestor: number, id: number): boolean {
    return this.ancestorOf(id, this.index.headers.height(ancestor)) === ancestor;
  }

  /** Returns the last block that two branches have in common. */
  lastCommon(a: number, b: number): number {
    const { headers } = this.index;
    const height = Math.min(headers.height(a), headers.height(b));
    let left = this.ancestorOf(a, height);
    let right = this.ancestorOf(b, height);
    while (left !== right) {
      left = headers.prev(left);
      right = headers.prev(right);
    }
    return left;
  }

  /** Hashes that describe the branch of `id` to another node, from `id` down to the genesis block, at growing distances. */
  locator(id: number): Buffer[] {
    const { headers } = this.index;
    const hashes: Buffer[] = [];
    let step = 1;
    for (let at = id; at !== NO_HEADER;) {
      hashes.push(Buffer.from(headers.hash(at)));
      const height = headers.height(at);
      if (height === 0) break;
      at = this.ancestorOf(at, Math.max(height - step, 0));
      if (hashes.length > DENSE_LOCATOR) step *= 2;
    }
    return hashes;
  }

  /** The last block of the active chain that the sender of a locator has; the genesis block if none of the hashes is known. */
  findFork(locator: readonly Bytes[]): number {
    const { headers, active } = this.index;
    for (const hash of locator) {
      const id = headers.find(hash);
      if (id === NO_HEADER) continue;
      if (active.contains(id)) return id;
      if (this.ancestorOf(id, active.height) === active.tip) return active.tip;
    }
    return active.at(0);
  }
}
