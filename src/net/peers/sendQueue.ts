/**
 * What waits to be sent on a socket. Small messages that wait behind others are assembled: a peer that asks a hundred
 * thousand small questions and reads no answer must not cost us an object for each.
 */
import type { Socket } from 'node:net';

const BLOCK_BYTES = 16 << 10;
/** Larger ones are worth an object of their own. */
const SMALL_BYTES = BLOCK_BYTES / 8;

export class SendQueue {
  private readonly socket: Socket;
  /** What was assembled last and is not given to the socket yet. */
  private block: Buffer | null = null;
  private blockBytes = 0;

  constructor(socket: Socket) {
    this.socket = socket;
  }

  /** Bytes that wait. */
  get sizeBytes(): number {
    return this.socket.writableLength + this.blockBytes;
  }

  write(frame: Buffer): void {
    // Without need to wait there is nothing in the block either: `drain` has come, and with it `flush`.
    if (!this.socket.writableNeedDrain || frame.length > SMALL_BYTES) {
      this.flush();
      this.socket.write(frame);
      return;
    }
    if (this.blockBytes + frame.length > BLOCK_BYTES) this.flush();
    this.block ??= Buffer.allocUnsafeSlow(BLOCK_BYTES);
    this.blockBytes += frame.copy(this.block, this.blockBytes);
  }

  /** Must be called when the socket has drained, and before it is ended. */
  flush(): void {
    if (this.block === null) return;
    const block = this.block.subarray(0, this.blockBytes);
    this.block = null;
    this.blockBytes = 0;
    this.socket.write(block);
  }
}
