/**
 * Pool of orphans: transactions with unknown parents, stored for a while in case the parents arrive. Count and size are
 * limited. A new orphan evicts a random one, so that an attacker cannot choose which. Other modules decide whether an orphan
 * is accepted. Source: Core net_processing.cpp `AddOrphanTx`, `LimitOrphanTxSize`, `EraseOrphansFor`, `BlockConnected`.
 */
import type { ChainEvents, ConnectedBlock } from '../../chain/chainEvents.js';
import { MAX_STANDARD_TX_WEIGHT } from '../../mempool/policy.js';
import { spentKeysOf } from '../../mempool/poolEntry.js';
import { INPUT_STRIDE } from '../../primitives/blockLayout.js';
import { prevoutAt } from '../../primitives/blockView.js';
import { fromLatin1, hashToHex, toLatin1 } from '../../util/bytes.js';
import type { Logger } from '../../util/logging.js';
import type { Peer, RandomSource } from '../messageHandler.js';

export interface OrphanPoolOptions {
  /** `-maxorphantx`. */
  readonly maxCount: number;
}

export interface OrphanPoolDeps {
  readonly events: Pick<ChainEvents, 'on'>;
  readonly random: RandomSource;
  readonly nowSec: () => number;
  readonly log: Logger;
}

export interface Orphan {
  /** Txid in wire order, as a latin1 string. */
  readonly key: string;
  /** Transaction serialized with witness, in a separate buffer. Serialized bytes use less memory than parsed objects. */
  readonly bytes: Buffer;
  readonly weight: number;
  /** Peer that sent the orphan. The orphan is removed when this peer disconnects. */
  readonly peer: Peer;
}

interface Kept extends Orphan {
  readonly expiresSec: number;
  /** Position in the list from which random orphans are drawn. */
  place: number;
}

const EXPIRY_SEC = 20 * 60;
/** Minimum interval in seconds between searches for expired orphans. */
const SWEEP_INTERVAL_SEC = 5 * 60;

export class OrphanPool {
  private readonly options: OrphanPoolOptions;
  private readonly deps: OrphanPoolDeps;
  private readonly byKey = new Map<string, Kept>();
  private readonly list: Kept[] = [];
  /** Orphans that spend an outpoint, by outpoint. */
  private readonly spenders = new Map<string, readonly Kept[]>();
  private nextSweepSec = 0;
  /** Removes the listener from the chain's events. */
  readonly close: () => void;

  constructor(options: OrphanPoolOptions, deps: OrphanPoolDeps) {
    this.options = options;
    this.deps = deps;
    this.close = deps.events.on('blockConnected', (block) => this.blockConnected(block));
  }

  get size(): number {
    return this.byKey.size;
  }

  has(key: string): boolean {
    return this.byKey.has(key);
  }

  /** Adds an orphan and applies the limits. Returns false if the orphan is already stored or too large. */
  add(orphan: Orphan): boolean {
    const { log, nowSec } = this.deps;
    if (this.byKey.has(orphan.key)) return false;
    if (orphan.weight > MAX_STANDARD_TX_WEIGHT) {
      log.debug('mempool', `ignoring large orphan tx (size: ${orphan.weight}, hash: ${printed(orphan.key)})`);
      return false;
    }
    const kept: Kept = { ...orphan, expiresSec: nowSec() + EXPIRY_SEC, place: this.list.length };
    this.byKey.set(kept.key, kept);
    this.list.push(kept);
    for (const outPoint of new Set(spentKeysOf(kept.bytes))) {
      this.spenders.set(outPoint, [...(this.spenders.get(outPoint) ?? []), kept]);
    }
    log.debug(
      'mempool',
      () => `stored orphan tx ${printed(kept.key)} (mapsz ${this.byKey.size} outsz ${this.spenders.size})`,
    );
    this.limit();
    return true;
  }

  /** Removes expired orphans, then random orphans until the number is within the limit. */
  private limit(): void {
    const { log, nowSec, random } = this.deps;
    if (this.nextSweepSec <= nowSec()) this.sweep(nowSec());
    let evicted = 0;
    while (this.list.length > Math.max(0, this.options.maxCount)) {
      this.remove(this.list[random.int(this.list.length)]!.key);
      evicted++;
    }
    if (evicted > 0) log.debug('mempool', `mapOrphan overflow, removed ${evicted} tx`);
  }

  private sweep(nowSec: number): void {
    const expired = this.list.filter(({ expiresSec }) => expiresSec <= nowSec);
    for (const { key } of expired) this.remove(key);
    let firstSec = nowSec + EXPIRY_SEC - SWEEP_INTERVAL_SEC;
    for (const { expiresSec } of this.list) firstSec = Math.min(firstSec, expiresSec);
    this.nextSweepSec = firstSec + SWEEP_INTERVAL_SEC;
    if (expired.length > 0)
      this.deps.log.debug('mempool', `Erased ${expired.length} orphan tx due to expiration`);
  }

  /**
   * Returns the orphans that spend an output of the transaction `key`, without duplicates. `outputCount` is the
   * transaction's number of outputs.
   */
  spendersOf(key: string, outputCount: number): Orphan[] {
    const found = new Set<Orphan>();
    const index = Buffer.alloc(4);
    for (let n = 0; n < outputCount && this.spenders.size > 0; n++) {
      index.writeUInt32LE(n);
      for (const orphan of this.spenders.get(key + toLatin1(index)) ?? []) found.add(orphan);
    }
    return [...found];
  }

  remove(key: string): boolean {
    const kept = this.byKey.get(key);
    if (!kept) return false;
    this.byKey.delete(key);
    const last = this.list.pop()!;
    if (last !== kept) {
      last.place = kept.place;
      this.list[kept.place] = last;
    }
    for (const outPoint of new Set(spentKeysOf(kept.bytes))) {
      const rest = this.spenders.get(outPoint)!.filter((other) => other !== kept);
      if (rest.length > 0) this.spenders.set(outPoint, rest);
      else this.spenders.delete(outPoint);
    }
    return true;
  }

  /** Removes all orphans that the peer sent. */
  removeOf(peer: Peer): void {
    const sent = this.list.filter((kept) => kept.peer === peer);
    for (const { key } of sent) this.remove(key);
    if (sent.length > 0)
      this.deps.log.debug('mempool', `Erased ${sent.length} orphan tx from peer=${peer.id}`);
  }

  /** Removes orphans that a connected block contains or makes invalid. */
  private blockConnected({ raw, parsed }: ConnectedBlock): void {
    let erased = 0;
    const inputCount = parsed.inputs.length / INPUT_STRIDE;
    for (let input = 0; input < inputCount && this.spenders.size > 0; input++) {
      for (const { key } of this.spenders.get(toLatin1(prevoutAt(raw, parsed, input))) ?? []) {
        if (this.remove(key)) erased++;
      }
    }
    if (erased > 0)
      this.deps.log.debug('mempool', `Erased ${erased} orphan tx included or conflicted by block`);
  }
}

function printed(key: string): string {
  return hashToHex(fromLatin1(key));
}
