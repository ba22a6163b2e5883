/**
 * Connects the best chain in the background while blocks arrive. Counts accepted blocks that are not connected yet. At most
 * one run is active and one is queued. Errors need no handling in this module, because the chain reports them.
 */
import type { Chain } from '../../chain/chain.js';
import { NO_HEADER } from '../../store/files/headerTable.js';

/** Total size in bytes of accepted blocks without connection above which peers that send blocks must wait. */
const BACKLOG_LIMIT_BYTES = 32 << 20;
/** Total size in bytes of accepted blocks without connection at which waiting peers may continue. */
const BACKLOG_RESUME_BYTES = BACKLOG_LIMIT_BYTES / 2;

export class BlockConnector {
  private readonly chain: Pick<Chain, 'connectBestChain' | 'index' | 'tip'>;
  private running: Promise<void> | null = null;
  private waiting: Promise<void> | null = null;
  /** Whether the current run has started. If so, it may miss blocks that are accepted during its course. */
  private started = false;
  /** Sizes in bytes of accepted blocks that were not connected yet, by header id. */
  private readonly ahead = new Map<number, number>();
  private aheadBytes = 0;
  private wakers: (() => void)[] = [];
  /**
   * Tip after the last complete step of a run and all its effects. During a step the tip of the chain may already be a later
   * block.
   */
  private standing: number = NO_HEADER;
  /** Callers that wait until a certain block is connected or found invalid. */
  private targets: { id: number; reached: () => void }[] = [];
  readonly stop: () => void;

  constructor(chain: Pick<Chain, 'connectBestChain' | 'events' | 'index' | 'tip'>) {
    this.chain = chain;
    const removers = [
      chain.events.on('blockChecked', ({ id }) => this.noteChecked(id)),
      chain.events.on('tipChanged', ({ id }) => this.noteStanding(id)),
    ];
    this.stop = () => {
      for (const remove of removers) remove();
    };
  }

  /** Resolves when all blocks are connected that could be connected at the time of the call. Never rejects. */
  request(): Promise<void> {
    this.running ??= this.run();
    if (this.started) return (this.waiting ??= this.runAfter(this.running));
    return this.running;
  }

  private async run(): Promise<void> {
    await null;
    this.started = true;
    // The error is ignored at this point: the chain has reported it, stops the node, and rejects all later calls.
    await this.chain.connectBestChain().catch(() => undefined);
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

  /** Called when no further block can be connected. The remaining blocks wait for an ancestor or have less work than the tip. */
  private settle(): void {
    this.ahead.clear();
    this.aheadBytes = 0;
    this.wake();
    this.standing = this.chain.tip;
    for (const { reached } of this.targets.splice(0)) reached();
  }

  /**
   * Resolves when the branch with the most work among the complete ones at the time of the call is connected or found
   * invalid. Returns null if there is nothing to wait for. Unlike `request`, does not wait for blocks that arrive later.
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

  /** Records a stored block that is not connected yet. */
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

  /** Resolves when half of the backlog is connected. The caller must call `request` before. */
  async drained(): Promise<void> {
    if (this.isCongested) await new Promise<void>((resolve) => this.wakers.push(resolve));
  }
}
