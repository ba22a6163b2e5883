/**
 * Queue of messages that wait to be sent on a socket. Small waiting messages are copied into blocks. Otherwise a peer that
 * sends many small requests and does not read the responses would cost one object for each response.
 */
import type { Socket } from 'node:net';

const BLOCK_BYTES = 16 << 10;
/** Maximum size in bytes of a message that is copied into a block. */
const SMALL_BYTES = BLOCK_BYTES / 8;

export class SendQueue {
  private readonly socket: Socket;
  /** Block that collects small messages; not written to the socket yet. */
  private block: Buffer | null = null;
  private blockBytes = 0;

  constructor(socket: Socket) {
    this.socket = socket;
  }

  /** Number of bytes that wait to be sent. */
  get sizeBytes(): number {
    return this.socket.writableLength + this.blockBytes;
  }

  write(frame: Buffer): void {
    // If the socket accepts data, the block is empty, because the event `drain` calls `flush`.
    if (!this.socket.writableNeedDrain || frame.length > SMALL_BYTES) {
      this.flush();
      this.socket.write(frame);
      return;
    }
    if (this.blockBytes + frame.length > BLOCK_BYTES) this.flush();
    this.block ??= Buffer.allocUnsafeSlow(BLOCK_BYTES);
    this.blockBytes += frame.copy(this.block, this.blockBytes);
  }

  /** Writes the collected block to the socket. Must be called when the socket emits `drain`, and before the socket is ended. */
  flush(): void {
    if (this.block === null) return;
    const block = this.block.subarray(0, this.blockBytes);
    this.block = null;
    this.blockBytes = 0;
    this.socket.write(block);
  }
}
