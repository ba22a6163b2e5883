/**
 * Announces local transactions that no peer has requested yet again every ten to fifteen minutes, to all peers that do not
 * have them. So a transaction that was sent while no suitable peer was connected is still relayed. The mempool holds the
 * list of these transactions. Source: Core 0.21 net_processing.cpp `ReattemptInitialBroadcast`, `ProcessGetData`.
 */
import type { UnbroadcastSource } from '../../mempool/mempoolReader.js';
import { fromLatin1, toLatin1, type Bytes } from '../../util/bytes.js';
import type { InvItem } from '../inventory.js';
import type { MessageHandler, Peer, RandomSource } from '../messageHandler.js';
import type { InventoryServer } from '../sync/getData.js';

export interface RebroadcastDeps {
  readonly mempool: UnbroadcastSource;
  readonly announcer: InventoryServer & { announce(txid: Bytes): void };
  readonly random: RandomSource;
  readonly nowMs: () => number;
}

const INTERVAL_MS = 10 * 60_000;
/** Maximum random addition to the interval in ms, which makes the time unpredictable. */
const INTERVAL_SPREAD_MS = 5 * 60_000;

/** Wraps the transaction announcer: forwards requests of peers to it, and records which local transactions were requested. */
export class Rebroadcast implements MessageHandler, InventoryServer {
  readonly handlers = {};
  private readonly deps: RebroadcastDeps;
  private nextMs: number;

  constructor(deps: RebroadcastDeps) {
    this.deps = deps;
    this.nextMs = this.drawNext(deps.nowMs());
  }

  private drawNext(nowMs: number): number {
    return nowMs + INTERVAL_MS + this.deps.random.int(INTERVAL_SPREAD_MS);
  }

  onTick(_peer: Peer, nowMs: number): void {
    if (nowMs < this.nextMs) return;
    this.nextMs = this.drawNext(nowMs);
    for (const key of this.deps.mempool.unbroadcastKeys()) this.deps.announcer.announce(fromLatin1(key));
  }

  handles(type: number): boolean {
    return this.deps.announcer.handles(type);
  }

  serve(peer: Peer, item: InvItem): boolean | Promise<boolean> {
    const { announcer, mempool } = this.deps;
    const served = announcer.serve(peer, item);
    if (served === true && mempool.unbroadcastCount > 0) mempool.noteRequested(toLatin1(item.hash));
    return served;
  }
}
