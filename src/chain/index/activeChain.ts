/** Active chain as an array of header ids by height, and ancestor lookups on any branch. Stores no block data. */
import { medianTimePast, type HeaderTree } from '../../consensus/headerTree.js';
import { NO_HEADER, type HeaderTable } from '../../store/files/headerTable.js';

export class ActiveChain implements HeaderTree {
  private ids = new Int32Array(1024);
  private length = 0;
  private takenBack = 0;
  /** Last result of `medianTimeOf`. */
  private readonly median = { id: NO_HEADER as number, timeSec: 0 };
  private readonly headers: HeaderTable;

  constructor(headers: HeaderTable) {
    this.headers = headers;
  }

  /** Height of the tip; −1 before the genesis block is connected. */
  get height(): number {
    return this.length - 1;
  }

  get tip(): number {
    return this.length === 0 ? NO_HEADER : this.ids[this.length - 1]!;
  }

  at(height: number): number {
    return height >= 0 && height < this.length ? this.ids[height]! : NO_HEADER;
  }

  contains(id: number): boolean {
    return id !== NO_HEADER && this.at(this.headers.height(id)) === id;
  }

  /** The block after `id` on the active chain, or `NO_HEADER`. */
  next(id: number): number {
    return this.contains(id) ? this.at(this.headers.height(id) + 1) : NO_HEADER;
  }

  push(id: number): void {
    if (this.length === this.ids.length) {
      const larger = new Int32Array(this.ids.length * 2);
      larger.set(this.ids);
      this.ids = larger;
    }
    this.ids[this.length++] = id;
  }

  pop(): void {
    this.length--;
    this.takenBack++;
  }

  /**
   * Number of blocks disconnected since the start. By comparing it, a reader can detect a disconnection between two turns of
   * the event loop.
   */
  get disconnects(): number {
    return this.takenBack;
  }

  /** Sets the active chain to the chain that ends at `tip`. Used at startup. */
  reset(tip: number): void {
    this.length = 0;
    if (tip === NO_HEADER) return;
    const length = this.headers.height(tip) + 1;
    this.ids = new Int32Array(Math.max(1024, length + 1024));
    for (let id = tip; id !== NO_HEADER; id = this.headers.prev(id)) this.ids[this.headers.height(id)] = id;
    this.length = length;
  }

  /** Last common block of the active chain and the branch that ends at `id`. Source: `CChain::FindFork`. */
  findFork(id: number): number {
    let at = id;
    while (at !== NO_HEADER && !this.contains(at)) at = this.headers.prev(at);
    return at;
  }

  /** Returns the block at `height` on the branch that ends at `id`. Returns `NO_HEADER` if `height` is above `id`. */
  ancestorOf(id: number, height: number): number {
    if (id === NO_HEADER || height < 0 || height > this.headers.height(id)) return NO_HEADER;
    let at = id;
    while (this.headers.height(at) > height) {
      if (this.contains(at)) return this.at(height);
      at = this.headers.prev(at);
    }
    return at;
  }

  heightOf(id: number): number {
    return this.headers.height(id);
  }

  parentOf(id: number): number {
    return this.headers.prev(id);
  }

  timeOf(id: number): number {
    return this.headers.timeSec(id);
  }

  bitsOf(id: number): number {
    return this.headers.bits(id);
  }

  versionOf(id: number): number {
    return this.headers.version(id);
  }

  /** The ancestors of a header never change, so the last result is kept: a block needs it several times. */
  medianTimeOf(id: number): number {
    const { median } = this;
    if (id === NO_HEADER || id !== median.id) {
      median.timeSec = medianTimePast(this, id);
      median.id = id;
    }
    return median.timeSec;
  }
}
