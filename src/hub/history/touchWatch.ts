/**
 * Watches chain and mempool for what happens to scripts that clients subscribed to, and notifies clients. Blocks are looked
 * through in slices beside the chain's work; when too many wait, every subscriber is told as if all was touched.
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

/** Events within this time are sent together. */
const GATHER_MS = 40;
/** While something was sent within the last second. Source: the reference looks ten times a second. */
const BUSY_GATHER_MS = 100;
const BUSY_MS = 1000;
/** Blocks that may wait to be looked through, with their bytes. */
const MAX_WAITING_BLOCKS = 16;
/** Scripts looked at without a glance at the clock. */
const SCRIPTS_A_LOOK = 32;
/** The longest that the event loop is held. */
const SLICE_MS = 4;

/** The subscribers. */
export interface TouchedSessions {
  readonly subscriptionCount: number;
  isWanted(scriptKey: string): boolean;
  wantedKeys(): Iterable<string>;
  touch(scriptKey: string): void;
  /** Tells what was touched, and the tip where it moved. */
  tell(): Promise<void>;
}

export interface TouchWatchDeps {
  readonly reader: ChainReader;
  readonly addresses: Pick<AddressService, 'onMempool'>;
  readonly sessions: TouchedSessions;
  readonly log: Logger;
  /** Notified of each block disconnected, before anyone is told. */
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
  /** The tip that all subscribers know. */
  private toldTip: number;
  private toldMs = -Infinity;

  constructor(deps: TouchWatchDeps) {
    this.deps = deps;
    this.toldTip = deps.reader.chain.tip;
    const { events } = deps.reader.chain;
    this.offs = [
      events.on('blockConnected', (block) => this.addBlock(block)),
      events.on('blockDisconnected', (block) => {
        deps.disconnected(block.height);
        this.addBlock(block);
        // Where a branch proves wrong no one is notified of the tip, which is the one from before.
        this.schedule();
      }),
      events.on('tipChanged', () => this.schedule()),
      deps.addresses.onMempool((keys) => this.touchAll(keys)),
    ];
  }

  /** Height of the last block announced to clients. */
  get toldHeight(): number {
    return this.deps.reader.headers.height(this.toldTip);
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
    const isBusy = performance.now() - this.toldMs < BUSY_MS;
    this.timer = setTimeout(
      () => {
        this.timer = null;
        // What comes while one round is under way waits for the next.
        if (this.running !== null) this.schedule();
        else this.running = this.run().finally(() => (this.running = null));
      },
      isBusy ? BUSY_GATHER_MS : GATHER_MS,
    );
  }

  private async run(): Promise<void> {
    const { reader, sessions, failed } = this.deps;
    try {
      // No one is notified of a step that is under way.
      await reader.chain.exclusively(() => Promise.resolve());
      const { tip } = reader.chain;
      const blocks = this.blocks.splice(0);
      if (this.isAllTouched) {
        this.isAllTouched = false;
        await this.touchEverything();
      }
      for (const block of blocks) await this.lookThrough(block);
      await sessions.tell();
      this.toldTip = tip;
      this.toldMs = performance.now();
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

  /** Touches what a block paid to and spent from. */
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

  /** Resolves when nothing is under way any more. */
  async stop(): Promise<void> {
    this.isStopped = true;
    for (const off of this.offs) off();
    if (this.timer !== null) clearTimeout(this.timer);
    await this.running;
  }
}
