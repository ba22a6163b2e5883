/**
 * Making the best chain active in the background while blocks come in, and how much of what was accepted is not yet
 * connected. One run is under way and at most one waits. Owns no verdict: what fails here the chain has told already.
 */
import type { Chain } from '../../chain/chain.js';

/** Accepted and not connected beyond this, whoever brings blocks must wait. */
const BACKLOG_LIMIT_BYTES = 32 << 20;
/** Down from the bound, they may go on. */
const BACKLOG_RESUME_BYTES = BACKLOG_LIMIT_BYTES / 2;

export class Activation {
  private readonly chain: Pick<Chain, 'activateBestChain'>;
  private running: Promise<void> | null = null;
  private waiting: Promise<void> | null = null;
  /** Whether the present run may have looked at the candidates for the last time already. */
  private started = false;
  /** Sizes of accepted blocks whose connection has not been tried, by header id. */
  private readonly ahead = new Map<number, number>();
  private aheadBytes = 0;
  private wakers: (() => void)[] = [];
  readonly stop: () => void;

  constructor(chain: Pick<Chain, 'activateBestChain' | 'events'>) {
    this.chain = chain;
    this.stop = chain.events.on('blockChecked', ({ id }) => this.noteChecked(id));
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
  }

  private async runAfter(running: Promise<void>): Promise<void> {
    await running;
    this.waiting = null;
    await (this.running ??= this.run());
  }

  /** Nothing more can be connected for now: what is left waits for an ancestor, or lost. */
  private settle(): void {
    this.ahead.clear();
    this.aheadBytes = 0;
    this.wake();
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
