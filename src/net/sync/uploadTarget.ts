/**
 * The bound on what is sent within a day (`-maxuploadtarget`): counts, and tells when old blocks, and when more than
 * blocks, are no longer given. Source: Core net.cpp `OutboundTargetReached`, `RecordBytesSent`.
 */
import { MAX_BLOCK_SERIALIZED_SIZE } from '../../consensus/limits.js';

export interface UploadTargetOptions {
  /** Bytes within the timeframe; 0 for no bound. */
  targetBytes: number;
}

/** Source: `MAX_UPLOAD_TIMEFRAME`. */
const TIMEFRAME_SEC = 24 * 60 * 60;
/** One block of the upload budget is reserved for each such time that is left. */
const SECONDS_PER_RESERVED_BLOCK = 600;

export class UploadTarget {
  readonly timeframeSec = TIMEFRAME_SEC;
  readonly targetBytes: number;
  private readonly nowSec: () => number;
  private cycleStartSec = 0;
  private sentBytes = 0;

  constructor(options: UploadTargetOptions, deps: { nowSec: () => number }) {
    this.targetBytes = options.targetBytes;
    this.nowSec = deps.nowSec;
  }

  /** Notified of everything that goes out to any peer. */
  recordSent(bytes: number): void {
    const now = this.nowSec();
    if (this.cycleStartSec + this.timeframeSec < now) {
      this.cycleStartSec = now;
      this.sentBytes = 0;
    }
    this.sentBytes += bytes;
  }

  /** Whether this much was sent that mempools are not told any more and filtered blocks not made. */
  get isReached(): boolean {
    return this.targetBytes > 0 && this.sentBytes >= this.targetBytes;
  }

  /** Whether what is left should be kept for new blocks. */
  get refusesHistoricalBlocks(): boolean {
    if (this.targetBytes === 0) return false;
    const blocksToCome = Math.floor(this.timeLeftSec / SECONDS_PER_RESERVED_BLOCK);
    return this.sentBytes >= this.targetBytes - blocksToCome * MAX_BLOCK_SERIALIZED_SIZE;
  }

  get bytesLeft(): number {
    return Math.max(0, this.targetBytes - this.sentBytes);
  }

  get timeLeftSec(): number {
    if (this.targetBytes === 0) return 0;
    if (this.cycleStartSec === 0) return this.timeframeSec;
    return Math.max(0, this.cycleStartSec + this.timeframeSec - this.nowSec());
  }
}
