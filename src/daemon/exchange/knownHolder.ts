/** State of a swarm (the download of one stream): its holders, its wanted blobs, and its timeouts for holders. */
import type { ReceivedBlob } from '../content/incomingBlob.js';
import type { Holder, Line } from './blobHolders.js';
import type { Urgency } from './ports.js';

/** Milliseconds without a response after which the swarm also asks another holder. Arbitrary: most responses take less time. */
const SILENT_MS = 300;
/**
 * Milliseconds without progress of a blob after which the swarm also asks another holder. After stalls the limit is reduced
 * down to `MIN_STUCK_MS`. Arbitrary.
 */
const STUCK_MS = 800;
const MIN_STUCK_MS = 200;
/**
 * Thresholds for slow transfers, which apply after `SLOW_AFTER_MS`. Below `SLOW_RATE`, a further holder is asked for the
 * blob. Below `STUCK_RATE`, the transfer counts as stalled. Rates are in bytes per millisecond. Arbitrary.
 */
const SLOW_AFTER_MS = 2000;
const SLOW_RATE = 32;
const STUCK_RATE = 2;
/**
 * Initial and maximum time in ms for which a holder that lacked a blob is not asked for it again. The time doubles with each
 * failure. Arbitrary.
 */
const LACKS_MS = 1000;
const MAX_LACKS_MS = 30_000;

export interface Wanted {
  readonly hash: string;
  readonly lengthBytes: number | null;
  readonly order: number;
  urgency: Urgency;
  /** Number of callers that wait for the blob. */
  waiters: number;
  /** Number of holders that lacked the blob, failed or stalled. A larger number makes the swarm ask more holders in parallel. */
  troubles: number;
  /** Number of holders that had stalled at the last check. */
  stuck: number;
  readonly asked: Set<Known>;
  /** The holder from which the blob was requested early; null if there is none, and after that holder begins with the blob. */
  early: Known | null;
  /** Each waiter is a user of the blob. */
  readonly done: Promise<ReceivedBlob>;
  readonly resolve: (blob: ReceivedBlob) => void;
  readonly reject: (error: unknown) => void;
}

export class Known {
  readonly holder: Holder;
  readonly order: number;
  /** Name of the source that named it. */
  readonly source: string;
  state: 'new' | 'opening' | 'idle' | 'busy' = 'new';
  line: Line | null = null;
  /** Time at which the current state (opening or busy) began. */
  sinceMs = 0;
  failures = 0;
  restsUntilMs = -Infinity;
  /** Transfer rate of the last blob in bytes per second; 0 if unknown. */
  score = 0;
  /** The blob that is requested while the holder is busy. */
  wanted: Wanted | null = null;
  /** The blob that was requested early, while `wanted` arrives. */
  next: Wanted | null = null;
  /** Blobs that the holder reported as missing, with the time until which it is not asked for them again. */
  readonly lacks = new Map<string, { readonly untilMs: number; readonly pauseMs: number }>();

  constructor(holder: Holder, order: number, source = 'settings') {
    this.holder = holder;
    this.order = order;
    this.source = source;
  }

  mayHave(hash: string, nowMs: number): boolean {
    return (this.lacks.get(hash)?.untilMs ?? nowMs) <= nowMs;
  }

  noteLacks(hash: string, nowMs: number): void {
    const before = this.lacks.get(hash);
    // A failed request for several blobs counts as one failure.
    if (before !== undefined && before.untilMs > nowMs) return;
    for (const [oldest, { untilMs }] of this.lacks) {
      if (untilMs + MAX_LACKS_MS > nowMs) break;
      this.lacks.delete(oldest);
    }
    const pauseMs = before === undefined ? LACKS_MS : Math.min(MAX_LACKS_MS, before.pauseMs * 2);
    this.lacks.delete(hash);
    this.lacks.set(hash, { untilMs: nowMs + pauseMs, pauseMs });
  }
}

/** Whether a busy holder has stalled, so that other holders are asked for the blob too. */
export function isStuck({ line, sinceMs, wanted }: Known, now: number): boolean {
  const troubles = wanted === null ? 0 : wanted.troubles + wanted.stuck;
  const received = line?.receivedBytes ?? 0;
  const took = now - sinceMs;
  if (received === 0) return took >= SILENT_MS;
  if (now - line!.lastBytesMs >= Math.max(MIN_STUCK_MS, STUCK_MS / (1 + troubles))) return true;
  return took > SLOW_AFTER_MS && received < took * STUCK_RATE;
}

/**
 * Number of further holders to ask for a blob: 0 while a transfer is fast, 1 while it is slow. Otherwise the number grows
 * with the failures, so that many bad holders take little time.
 */
export function holdersNeeded(wanted: Wanted, now: number): number {
  let [bringing, swift, waiting, stuck] = [0, 0, 0, 0];
  for (const one of wanted.asked) {
    const received = one.line?.receivedBytes ?? 0;
    const took = now - one.sinceMs;
    if (isStuck(one, now)) stuck++;
    else if (received === 0) waiting++;
    else {
      bringing++;
      if (took <= SLOW_AFTER_MS || received >= took * SLOW_RATE) swift++;
    }
  }
  wanted.stuck = stuck;
  if (swift > 0) return 0;
  if (bringing > 0) return Math.max(0, 2 - bringing - waiting);
  return Math.max(0, 1 + wanted.troubles + stuck - waiting);
}
