/**
 * Activates the best chain in the background while blocks arrive, and counts accepted blocks that are not connected yet. At
 * most one run is active and one waits. It reports no errors, because the chain has already reported them.
 */
import type { Chain } from '../../chain/chain.js';
import { NO_HEADER } from '../../store/files/headerTable.js';

/** Size of accepted, unconnected blocks above which peers that send blocks must wait. */
const BACKLOG_LIMIT_BYTES = 32 << 20;
/** Size at which they may continue. */
const BACKLOG_RESUME_BYTES = BACKLOG_LIMIT_BYTES / 2;

export class BlockConnector {
  private readonly chain: Pick<Chain, 'activateBestChain' | 'index' | 'tip'>;
  private running: Promise<void> | null = null;
  private waiting: Promise<void> | null = null;
  /** Whether the present run may already have made its last check of the candidates. */
  private started = false;
  /** Sizes of accepted blocks whose connection has not been tried, by header id. */
  private readonly ahead = new Map<number, number>();
  private aheadBytes = 0;
  private wakers: (() => void)[] = [];
  /** The tip for which no further work is pending. During a run the chain may be further. */
  private standing: number = NO_HEADER;
  /** Callers that wait until a block is the tip or was rejected. */
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

  /** Resolves when all blocks that could be connected at the time of the call are connected; never rejects. */
  request(): Promise<void> {
    this.running ??= this.run();
    if (this.started) return (this.waiting ??= this.runAfter(this.running));
    return this.running;
  }

  private async run(): Promise<void> {
    await null;
    this.started = true;
    // A failure stops the node: the chain has reported it, and rejects all later calls.
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

  /** Called when nothing more can be connected: the remaining blocks wait for an ancestor or have less work. */
  private settle(): void {
    this.ahead.clear();
    this.aheadBytes = 0;
    this.wake();
    this.standing = this.chain.tip;
    for (const { reached } of this.targets.splice(0)) reached();
  }

  /**
   * Resolves when the best of all complete branches has been connected or found invalid; null if that is already so. In
   * contrast to `request` it does not wait for blocks that arrive later.
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

  /** Records a block that was just stored. */
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

  /** Resolves when much of the backlog is connected. Call `request` before. */
  async room(): Promise<void> {
    if (this.isCongested) await new Promise<void>((resolve) => this.wakers.push(resolve));
  }
}
