/**
 * Watches chain and mempool for changes of subscribed scripts, and notifies clients. Blocks are searched in short slices,
 * independent of the connecting of blocks. If too many blocks wait for the search, all subscribed scripts are treated as
 * changed.
 */
import type { ChainReader } from '../../chain/chainReader.js';
import type { ConnectedBlock } from '../../chain/chainEvents.js';
import { touchedKeys } from '../../index/addressIndex.js';
import { scriptKeyOf } from '../../index/addressScripts.js';
import { TX_FIRST_OUTPUT, TX_OUTPUT_COUNT, TX_STRIDE } from '../../primitives/blockLayout.js';
import { outputScriptAt } from '../../primitives/blockView.js';
import type { AddressService } from '../../interfaces/services.js';
import { parseUndo } from '../../store/cache/coinRow.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import type { Logger } from '../../util/logging.js';

/** Time in ms for which changes are collected before clients are notified. */
const GATHER_MS = 40;
/**
 * Milliseconds for which changes are collected if clients were notified within the last `BUSY_MS` milliseconds. Source: the
 * reference checks ten times a second.
 */
const BUSY_GATHER_MS = 100;
const BUSY_MS = 1000;
/** Maximum number of blocks that wait for the search. Each is in memory. */
const MAX_WAITING_BLOCKS = 16;
/** Number of scripts that are processed between two checks whether to yield to the event loop. */
const SCRIPTS_A_LOOK = 32;
/** Maximum number of milliseconds without a yield to the event loop. */
const SLICE_MS = 4;

/** The subscribers. */
export interface TouchedSessions {
  readonly subscriptionCount: number;
  isWanted(scriptKey: string): boolean;
  wantedKeys(): Iterable<string>;
  touch(scriptKey: string): void;
  /** Notifies clients of the scripts marked by `touch`, and of the tip if it has changed. */
  tell(): Promise<void>;
}

export interface TouchWatchDeps {
  readonly reader: ChainReader;
  readonly addresses: Pick<AddressService, 'onMempool'>;
  readonly sessions: TouchedSessions;
  readonly log: Logger;
  /** Called for each disconnected block before clients are notified. */
  readonly disconnected: (height: number) => void;
  readonly failed: (error: unknown) => void;
}

export class TouchWatch {
  private readonly deps: TouchWatchDeps;
  private readonly offs: (() => void)[];
  private blocks: Pick<ConnectedBlock, 'id' | 'raw' | 'parsed'>[] = [];
  private isAllTouched = false;
  private timer: NodeJS.Timeout | null = null;
  private running: Promise<void> | null = null;
  private isStopped = false;
  /** Header id of the tip at the last notification of clients. */
  private notifiedTip: number;
  private notifiedMs = -Infinity;

  constructor(deps: TouchWatchDeps) {
    this.deps = deps;
    this.notifiedTip = deps.reader.chain.tip;
    const { events } = deps.reader.chain;
    this.offs = [
      events.on('blockConnected', (block) => this.addBlock(block)),
      events.on('blockDisconnected', (block) => {
        deps.disconnected(block.height);
        this.addBlock(block);
        // A round is scheduled even without the event `tipChanged`: if a reorg fails, the chain may return to the former
        // tip without the event.
        this.schedule();
      }),
      events.on('tipChanged', () => this.schedule()),
      deps.addresses.onMempool((keys) => this.touchAll(keys)),
    ];
  }

  /** Height of the tip at the last notification of clients. */
  get notifiedHeight(): number {
    return this.deps.reader.headers.height(this.notifiedTip);
  }

  private touchAll(keys: Iterable<string>): void {
    const { sessions } = this.deps;
    let isWanted = false;
    for (const key of keys) {
      if (!sessions.isWanted(key)) continue;
      sessions.touch(key);
      isWanted = true;
    }
    if (isWanted) this.schedule();
  }

  private addBlock({ id, raw, parsed }: ConnectedBlock): void {
    if (this.deps.sessions.subscriptionCount === 0) return;
    if (this.blocks.length === MAX_WAITING_BLOCKS) {
      this.blocks = [];
      this.isAllTouched = true;
    } else if (!this.isAllTouched) {
      this.blocks.push({ id, raw, parsed });
    }
    this.schedule();
  }

  private schedule(): void {
    if (this.timer !== null || this.isStopped) return;
    const isBusy = performance.now() - this.notifiedMs < BUSY_MS;
    this.timer = setTimeout(
      () => {
        this.timer = null;
        // If a round of notifications is running, it sends its own changes, and later changes wait for the next round.
        if (this.running !== null) this.schedule();
        else this.running = this.run().finally(() => (this.running = null));
      },
      isBusy ? BUSY_GATHER_MS : GATHER_MS,
    );
  }

  private async run(): Promise<void> {
    const { reader, sessions, failed } = this.deps;
    try {
      // Waits while a block is being connected or disconnected, so that clients are not notified of an intermediate tip.
      await reader.chain.exclusively(() => Promise.resolve());
      const { tip } = reader.chain;
      const blocks = this.blocks.splice(0);
      if (this.isAllTouched) {
        this.isAllTouched = false;
        await this.touchEverything();
      }
      for (const block of blocks) await this.lookThrough(block);
      await sessions.tell();
      this.notifiedTip = tip;
      this.notifiedMs = performance.now();
    } catch (error) {
      if (!this.isStopped) failed(error);
    }
  }

  private async touchEverything(): Promise<void> {
    const { sessions } = this.deps;
    let since = performance.now();
    for (const key of sessions.wantedKeys()) {
      sessions.touch(key);
      since = await yieldIfDue(since, SLICE_MS);
    }
  }

  /** Marks the scripts that a block pays to or spends from. */
  private async lookThrough({
    id,
    raw,
    parsed,
  }: Pick<ConnectedBlock, 'id' | 'raw' | 'parsed'>): Promise<void> {
    let looked = 0;
    let since = performance.now();
    for (const key of touchedKeys(parsed) ?? this.keysOf(id, raw, parsed)) {
      if (key !== null) this.deps.sessions.touch(key);
      if (++looked % SCRIPTS_A_LOOK === 0) since = await yieldIfDue(since, SLICE_MS);
    }
  }

  private *keysOf(id: number, raw: Buffer, parsed: ConnectedBlock['parsed']): Generator<string | null> {
    for (let tx = 0; tx < parsed.txCount; tx++) {
      const row = tx * TX_STRIDE;
      const first = parsed.txs[row + TX_FIRST_OUTPUT]!;
      for (let n = 0; n < parsed.txs[row + TX_OUTPUT_COUNT]!; n++)
        yield scriptKeyOf(outputScriptAt(raw, parsed, first + n));
    }
    for (const { script } of parseUndo(this.deps.reader.readUndo(id))) yield scriptKeyOf(script);
  }

  /** Stops the notifications. Resolves when no round is running. */
  async stop(): Promise<void> {
    this.isStopped = true;
    for (const off of this.offs) off();
    if (this.timer !== null) clearTimeout(this.timer);
    await this.running;
  }
}
