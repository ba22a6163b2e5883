/**
 * Monitors whether a required peer or server can be reached. After a minute without contact it logs one line with advice.
 * The line is repeated at long intervals. The end of the outage is logged too.
 */
import type { Logger } from '../logging.js';

const MINUTE_MS = 60_000;
/**
 * Milliseconds without contact after which the outage is reported (`OUTAGE_AFTER_MS`), and until the first repetition
 * (`FIRST_REPEAT_MS`).
 */
const OUTAGE_AFTER_MS = MINUTE_MS;
const FIRST_REPEAT_MS = 10 * MINUTE_MS;
const REPEAT_MS = 60 * MINUTE_MS;

export interface OutageOptions {
  /** Noun phrase for the peer or server that cannot be reached, with its article, for messages: `a peer`. */
  readonly what: string;
  /** Returns advice for the operator, in whole sentences. */
  readonly advice: () => string;
}

export interface OutageDeps {
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** Returns the time of a monotonic clock in milliseconds. */
  readonly nowMs: () => number;
}

/** Formats a duration in whole minutes or hours. */
function durationText(ms: number): string {
  const minutes = Math.max(1, Math.floor(ms / MINUTE_MS));
  if (minutes < 120) return minutes === 1 ? '1 minute' : `${minutes} minutes`;
  return `${Math.floor(minutes / 60)} hours`;
}

export class OutageWatch {
  private readonly options: OutageOptions;
  private readonly deps: OutageDeps;
  /** Time at which contact was lost or the monitoring started. Null during contact, or while no contact is wanted. */
  private sinceMs: number | null = null;
  private nextReportMs = 0;
  private isReported = false;

  constructor(options: OutageOptions, deps: OutageDeps) {
    this.options = options;
    this.deps = deps;
  }

  /** Describes the outage in one line, with advice. Empty without an outage. */
  get warning(): string {
    const { sinceMs } = this;
    if (!this.isReported || sinceMs === null) return '';
    const lasted = durationText(this.deps.nowMs() - sinceMs);
    return `No connection to ${this.options.what} for ${lasted}. ${this.options.advice()}`;
  }

  /** Must be called every few seconds. `isReached`: whether there is contact; null if the node does not seek contact. */
  check(isReached: boolean | null): void {
    const { deps } = this;
    const now = deps.nowMs();
    if (isReached !== false) {
      if (this.isReported && isReached)
        deps.log.info(`Connected to ${this.options.what} again, after ${durationText(now - this.sinceMs!)}.`);
      this.sinceMs = null;
      this.isReported = false;
      return;
    }
    this.sinceMs ??= now;
    const lasted = now - this.sinceMs;
    if (lasted < OUTAGE_AFTER_MS || (this.isReported && now < this.nextReportMs)) return;
    this.nextReportMs = now + (this.isReported ? REPEAT_MS : FIRST_REPEAT_MS);
    this.isReported = true;
    deps.log.warn(this.warning);
  }
}
