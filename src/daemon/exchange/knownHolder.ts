/** The holders that a swarm knows, the blobs that it wants, and how long it waits for a holder. */
import type { Holder, Line } from './blobHolders.js';
import type { Urgency } from './ports.js';

/** The swarm waits so long for an answer before it asks another holder too. Arbitrary: a slow answer takes less. */
const SILENT_MS = 300;
/** A blob that came no further for so long is asked for elsewhere too; less when that happened before. Arbitrary. */
const STUCK_MS = 800;
const MIN_STUCK_MS = 200;
/** Below these rates, after a while, one more is asked for the blob, or as many as if nothing came. Bytes a millisecond. Arbitrary. */
const SLOW_AFTER_MS = 2000;
const SLOW_RATE = 32;
const STUCK_RATE = 2;
/** How long a holder is not asked again for a blob that it lacked, at first; doubled each time up to the second. Arbitrary. */
const LACKS_MS = 1000;
const MAX_LACKS_MS = 30_000;

export interface Wanted {
  readonly hash: string;
  readonly lengthBytes: number | null;
  readonly order: number;
  urgency: Urgency;
  /** How many wait for it. */
  waiters: number;
  /** Holders that lacked it, failed or got stuck. The more, the more are asked at the same time. */
  troubles: number;
  /** Holders that are asked and no reason to wait, when that was looked at last. */
  stuck: number;
  readonly asked: Set<Known>;
  readonly done: Promise<Uint8Array>;
  readonly resolve: (bytes: Uint8Array) => void;
  readonly reject: (error: unknown) => void;
}

export class Known {
  readonly holder: Holder;
  readonly order: number;
  state: 'new' | 'opening' | 'idle' | 'busy' = 'new';
  line: Line | null = null;
  /** Start of the present opening or busy phase. */
  sinceMs = 0;
  failures = 0;
  restsUntilMs = -Infinity;
  /** Bytes a second of the last blob; 0 unknown. */
  score = 0;
  /** Requests made while it is busy. */
  wanted: Wanted | null = null;
  /** Times of negative answers, by blob. */
  readonly lacks = new Map<string, { readonly untilMs: number; readonly pauseMs: number }>();

  constructor(holder: Holder, order: number) {
    this.holder = holder;
    this.order = order;
  }

  mayHave(hash: string, nowMs: number): boolean {
    return (this.lacks.get(hash)?.untilMs ?? nowMs) <= nowMs;
  }

  noteLacks(hash: string, nowMs: number): void {
    const before = this.lacks.get(hash);
    // A request for several blobs counts once.
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

/** Whether a busy holder takes too long, so that others are asked too. */
export function isStuck({ line, sinceMs, wanted }: Known, now: number): boolean {
  const troubles = wanted === null ? 0 : wanted.troubles + wanted.stuck;
  const received = line?.receivedBytes ?? 0;
  const took = now - sinceMs;
  if (received === 0) return took >= SILENT_MS;
  if (now - line!.lastBytesMs >= Math.max(MIN_STUCK_MS, STUCK_MS / (1 + troubles))) return true;
  return took > SLOW_AFTER_MS && received < took * STUCK_RATE;
}

/**
 * How many more to ask for a blob. None while someone brings it, one if that is slow; else the more the more often it
 * failed, so that many bad holders take little time.
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
