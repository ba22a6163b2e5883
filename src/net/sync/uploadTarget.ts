/**
 * Daily upload limit (`-maxuploadtarget`). Counts sent bytes, and decides when old blocks, mempool responses and filtered
 * blocks are not served. Source: Core net.cpp `OutboundTargetReached`, `RecordBytesSent`.
 */
import { MAX_BLOCK_SERIALIZED_SIZE } from '../../consensus/limits.js';

export interface UploadTargetOptions {
  /** Upload limit per day in bytes; 0 for no limit. */
  targetBytes: number;
}

/** Source: `MAX_UPLOAD_TIMEFRAME`. */
const TIMEFRAME_SEC = 24 * 60 * 60;
/** Length of a period in seconds. For each remaining period, upload for one new block is reserved. */
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

  /** Counts sent bytes. Must be called for all bytes sent to any peer. */
  recordSent(bytes: number): void {
    const now = this.nowSec();
    if (this.cycleStartSec + this.timeframeSec < now) {
      this.cycleStartSec = now;
      this.sentBytes = 0;
    }
    this.sentBytes += bytes;
  }

  /** Whether the upload limit is reached. If so, `mempool` requests and requests for filtered blocks are not served. */
  get isReached(): boolean {
    return this.targetBytes > 0 && this.sentBytes >= this.targetBytes;
  }

  /** Whether the remaining bytes of the limit are reserved for new blocks, so that old blocks are not served. */
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
