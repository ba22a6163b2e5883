/**
 * Messages that wait to be sent on a socket. Small waiting messages are copied into blocks, so that a peer that sends many
 * small requests and does not read the responses does not cost an object for each.
 */
import type { Socket } from 'node:net';

const BLOCK_BYTES = 16 << 10;
/** Maximum size of a message that is copied into a block. */
const SMALL_BYTES = BLOCK_BYTES / 8;

export class SendQueue {
  private readonly socket: Socket;
  /** The current block, which is not passed to the socket yet. */
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
    // If the socket needs no drain, the block is empty, because `drain` has called `flush`.
    if (!this.socket.writableNeedDrain || frame.length > SMALL_BYTES) {
      this.flush();
      this.socket.write(frame);
      return;
    }
    if (this.blockBytes + frame.length > BLOCK_BYTES) this.flush();
    this.block ??= Buffer.allocUnsafeSlow(BLOCK_BYTES);
    this.blockBytes += frame.copy(this.block, this.blockBytes);
  }

  /** Call it when the socket has drained, and before it is ended. */
  flush(): void {
    if (this.block === null) return;
    const block = this.block.subarray(0, this.blockBytes);
    this.block = null;
    this.blockBytes = 0;
    this.socket.write(block);
  }
}
