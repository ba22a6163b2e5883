/**
 * The blocks between the active chain and its future tip. The route is computed once for all its steps, because after
 * `-reindex-chainstate` every block of the chain is a step. The caller chooses the future tip.
 */
import { NO_HEADER } from '../../store/files/headerTable.js';
import type { BlockIndex } from './blockIndex.js';

export class Route {
  private readonly index: Pick<BlockIndex, 'headers' | 'active'>;
  private end: number = NO_HEADER;
  /** Blocks that must still be connected. The lowest block is last. */
  private ahead: number[] = [];

  constructor(index: Pick<BlockIndex, 'headers' | 'active'>) {
    this.index = index;
  }

  /**
   * Computes the route to `end`. Returns the block of the active chain from which the route starts, or `NO_HEADER` if there
   * is none.
   */
  leadTo(end: number): number {
    const { headers, active } = this.index;
    const lowest = this.ahead.at(-1);
    if (this.end === end && lowest !== undefined && headers.prev(lowest) === active.tip) return active.tip;
    this.end = end;
    this.ahead = [];
    let at = end;
    for (; at !== NO_HEADER && !active.contains(at); at = headers.prev(at)) this.ahead.push(at);
    return at;
  }

  /** Returns the next block to connect, or `NO_HEADER` at the end. The caller must connect the block or stop using the route. */
  next(): number {
    return this.ahead.pop() ?? NO_HEADER;
  }
}
