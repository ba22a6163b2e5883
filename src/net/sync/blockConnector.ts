/**
 * Making the best chain active in the background while blocks come in, and how much of what was accepted is not yet
 * connected. One run is under way and at most one waits. Owns no verdict: what fails here the chain has told already.
 */
import type { Chain } from '../../chain/chain.js';
import { NO_HEADER } from '../../store/files/headerTable.js';

/** Accepted and not connected beyond this, peers that send blocks must wait. */
const BACKLOG_LIMIT_BYTES = 32 << 20;
/** Down from the bound, they may continue. */
const BACKLOG_RESUME_BYTES = BACKLOG_LIMIT_BYTES / 2;

export class BlockConnector {
  private readonly chain: Pick<Chain, 'activateBestChain' | 'index' | 'tip'>;
  private running: Promise<void> | null = null;
  private waiting: Promise<void> | null = null;
  /** Whether the present run may have looked at the candidates for the last time already. */
  private started = false;
  /** Sizes of accepted blocks whose connection has not been tried, by header id. */
  private readonly ahead = new Map<number, number>();
  private aheadBytes = 0;
  private wakers: (() => void)[] = [];
  /** The tip with all that follows from it; only while a run is under way the chain may be further. */
  private standing: number = NO_HEADER;
  /** Waits until a block is the tip or has been refused. */
  private targets: { id: number; reached: () => void }[] = [];
  readonly stop: () => void;

  constructor(chain: Pick<Chain, 'activateBestChain' | 'events' | 'index' | 'tip'>) {
    this.chain = chain;
    const removers = [
      chain.events.on('blockChecked', ({ id }) => this.noteChecked(id)),
      chain.events.on('tipChanged', ({ id }) => this.noteStanding(id)),
    ];
    this.stop = () => {
      for (const remove of removers) remove();
    };
  }

  /** Resolves when everything that could be connected at the time of the call is; never rejects. */
  request(): Promise<void> {
    this.running ??= this.run();
    if (this.started) return (this.waiting ??= this.runAfter(this.running));
    return this.running;
  }

  private async run(): Promise<void> {
    await null;
    this.started = true;
    // A failure stops the node: the chain has said so itself, and refuses all that follows.
    await this.chain.activateBestChain().catch(() => undefined);
    this.started = false;
    this.running = null;
    if (this.waiting === null) this.settle();
    else this.noteStanding(this.chain.tip);
  }

  private async runAfter(running: Promise<void>): Promise<void> {
    await running;
    this.waiting = null;
    await (this.running ??= this.run());
  }

  /** Called when nothing more can be connected: remaining blocks wait for an ancestor or have less work. */
  private settle(): void {
    this.ahead.clear();
    this.aheadBytes = 0;
    this.wake();
    this.standing = this.chain.tip;
    for (const { reached } of this.targets.splice(0)) reached();
  }

  /**
   * Resolves once the best of all branches that are complete now is the active one, with all that follows from that, or
   * was found wrong; null when it is already. Does not wait for what comes later, as `request` may.
   */
  pending(): Promise<void> | null {
    if (this.running === null && this.waiting === null) return null;
    const id = this.chain.index.candidates.best();
    if (this.isReached(id)) return null;
    return new Promise((reached) => void this.targets.push({ id, reached }));
  }

  private isReached(id: number): boolean {
    if (id === NO_HEADER) return true;
    const { headers } = this.chain.index;
    if (headers.isFailed(id)) return true;
    return this.standing !== NO_HEADER && headers.compareWork(this.standing, id) >= 0;
  }

  private noteStanding(tip: number): void {
    this.standing = tip;
    if (this.targets.length === 0) return;
    const reached = this.targets.filter(({ id }) => this.isReached(id));
    this.targets = this.targets.filter((target) => !reached.includes(target));
    for (const target of reached) target.reached();
  }

  /** Notes a block that was stored just now. */
  noteAccepted(id: number, sizeBytes: number): void {
    if (this.ahead.has(id)) return;
    this.ahead.set(id, sizeBytes);
    this.aheadBytes += sizeBytes;
  }

  private noteChecked(id: number): void {
    this.aheadBytes -= this.ahead.get(id) ?? 0;
    this.ahead.delete(id);
    if (this.aheadBytes <= BACKLOG_RESUME_BYTES) this.wake();
  }

  private wake(): void {
    for (const wake of this.wakers.splice(0)) wake();
  }

  get isCongested(): boolean {
    return this.aheadBytes > BACKLOG_LIMIT_BYTES;
  }

  /** Resolves once much of what is congested is connected. A run must have been requested. */
  async room(): Promise<void> {
    if (this.isCongested) await new Promise<void>((resolve) => this.wakers.push(resolve));
  }
}
