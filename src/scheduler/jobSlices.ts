/** Time slices of one long job of a `JobQueue`. */
import { nextSlice, yieldIfDue } from './yield.js';

/** Interface to the slices of the process. Tests replace it. */
export interface ProcessSlices {
  /** See `yieldIfDue`. */
  yieldIfDue(sinceMs: number): Promise<number> | number;
  /** See `nextSlice`. */
  next(): Promise<number>;
}

const PROCESS_SLICES: ProcessSlices = { yieldIfDue, next: nextSlice };

export class JobSlices {
  private readonly giveWay: () => Promise<void> | null;
  private readonly process: ProcessSlices;
  private sinceMs: number;

  /**
   * `giveWay` passes the job's turn to another job, and returns null if no other job waits (`JobQueue.giveWay`). `sinceMs` is
   * the start time of the job's first slice (`performance.now()`).
   */
  constructor(giveWay: () => Promise<void> | null, sinceMs: number, process = PROCESS_SLICES) {
    this.giveWay = giveWay;
    this.sinceMs = sinceMs;
    this.process = process;
  }

  /** Starts a slice now, because the job has got a turn after a wait. */
  restart(nowMs: number): void {
    this.sinceMs = nowMs;
  }

  /**
   * Returns null if the current slice may continue. Otherwise resolves at the start of the job's next slice. Must be called
   * often during long work.
   */
  pauseIfDue(): Promise<void> | null {
    const slice = this.process.yieldIfDue(this.sinceMs);
    return typeof slice === 'number' ? null : this.pause(slice);
  }

  private async pause(slice: Promise<number>): Promise<void> {
    this.sinceMs = await slice;
    const turn = this.giveWay();
    if (turn === null) return;
    await turn;
    // Other jobs have used that slice.
    this.sinceMs = await this.process.next();
  }
}
