/**
 * Monitors whether a required peer or server can be reached. After a minute without contact it reports the outage in one
 * line with advice, repeats that rarely, and reports the end of the outage.
 */
import type { Logger } from '../logging.js';

const MINUTE_MS = 60_000;
/** Time without contact after which the outage is reported. */
export const OUTAGE_AFTER_MS = MINUTE_MS;
const FIRST_REPEAT_MS = 10 * MINUTE_MS;
const REPEAT_MS = 60 * MINUTE_MS;

export interface OutageOptions {
  /** The missing contact, with its article: `a peer`. */
  readonly what: string;
  /** Advice for the operator, in sentences. */
  readonly advice: () => string;
}

export interface OutageDeps {
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** A monotonic clock in milliseconds. */
  readonly nowMs: () => number;
}

/** A duration in whole minutes or hours. */
function durationText(ms: number): string {
  const minutes = Math.max(1, Math.floor(ms / MINUTE_MS));
  if (minutes < 120) return minutes === 1 ? '1 minute' : `${minutes} minutes`;
  return `${Math.floor(minutes / 60)} hours`;
}

export class OutageWatch {
  private readonly options: OutageOptions;
  private readonly deps: OutageDeps;
  /** Time at which contact was lost, or the monitoring started; null during contact, or if no contact is wanted. */
  private sinceMs: number | null = null;
  private nextReportMs = 0;
  private isReported = false;

  constructor(options: OutageOptions, deps: OutageDeps) {
    this.options = options;
    this.deps = deps;
  }

  /** The outage in one line, with advice; empty if there is none. */
  get warning(): string {
    const { sinceMs } = this;
    if (!this.isReported || sinceMs === null) return '';
    const lasted = durationText(this.deps.nowMs() - sinceMs);
    return `No contact to ${this.options.what} for ${lasted}. ${this.options.advice()}`;
  }

  /** Must be called every few seconds. `isReached` is null if no contact is wanted. */
  check(isReached: boolean | null): void {
    const { deps } = this;
    const now = deps.nowMs();
    if (isReached !== false) {
      if (this.isReported && isReached)
        deps.log.info(
          `There is contact to ${this.options.what} again, after ${durationText(now - this.sinceMs!)}.`,
        );
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
