/**
 * The blocks between the active chain and one that shall be its tip. They are found once and then gone along, however many
 * steps that takes: after `-reindex-chainstate` every block of the chain is one. Owns no choice: who asks names the end.
 */
import { NO_HEADER } from '../../store/files/headerTable.js';
import type { BlockIndex } from './blockIndex.js';

export class Route {
  private readonly index: Pick<BlockIndex, 'headers' | 'active'>;
  private end: number = NO_HEADER;
  /** Blocks to connect, the lowest last. */
  private ahead: number[] = [];

  constructor(index: Pick<BlockIndex, 'headers' | 'active'>) {
    this.index = index;
  }

  /** Answers the last block of the active chain on the way to `end`; `NO_HEADER` where there is none. */
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

  /** The next block, which the caller connects or leaves the way at; `NO_HEADER` at the end. */
  next(): number {
    return this.ahead.pop() ?? NO_HEADER;
  }
}
