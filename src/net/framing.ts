/**
 * Splits a byte stream into P2P messages. A message has 4 bytes of magic, 12 of command, 4 of length, 4 of checksum, and the
 * payload. Stores received bytes until a message is complete; `messages/` parses the payloads. Source: Core net.cpp
 * `ReceiveMsgBytes`, `CNetMessage`, protocol.cpp `CMessageHeader::IsValid`.
 */
import { sha256d } from '../crypto/hash.js';
import { EMPTY_BYTES, asBuffer, type Bytes } from '../util/bytes.js';
import { MAX_PAYLOAD_BYTES } from './messages/codec.js';

const COMMAND_OFFSET = 4;
const COMMAND_SIZE = 12;
const LENGTH_OFFSET = 16;
const CHECKSUM_OFFSET = 20;
const CHECKSUM_SIZE = 4;
/** Checksum of an empty payload, computed once because many messages have no payload. */
const EMPTY_CHECKSUM = sha256d(EMPTY_BYTES);
const EMPTY_PAYLOAD = Buffer.alloc(0);
export const FRAME_HEAD_BYTES = 24;

/**
 * Received chunks of at least `KEEP_CHUNK_BYTES` are stored without a copy. Smaller chunks are copied into blocks of
 * `BLOCK_BYTES`, because each stored object costs memory.
 */
const KEEP_CHUNK_BYTES = 1024;
const BLOCK_BYTES = 8192;

/**
 * Thrown if the stream has the magic of another network or announces an invalid payload size. The caller must close the
 * connection.
 */
export class FrameError extends Error {
  override readonly name = 'FrameError';
  readonly reason: 'magic' | 'oversize';

  constructor(reason: FrameError['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

export interface Frame {
  /**
   * The command without trailing zeros, latin1. QUIRK: a malformed command (unprintable bytes, or bytes after a zero) is not
   * an error. The command then equals no known command, so the message is ignored like a message with an unknown command.
   * Source: `ProcessMessages`. Test: test/unit/net/framing.test.ts.
   */
  readonly command: string;
  /** The payload, in a buffer that is not shared with other data. */
  readonly payload: Buffer;
  /** Whether the checksum matches the payload. The caller must ignore a message with a wrong checksum. */
  readonly checksumOk: boolean;
}

/** Queue of received bytes. Memory is allocated for bytes that were received, not for the size that a header announces. */
class ByteQueue {
  length = 0;
  private readonly pieces: Bytes[] = [];
  /** Number of bytes already read from the first chunk of the queue. */
  private taken = 0;
  /** Block that collects small chunks. The bytes from `blockStart` on are not queued in `pieces` yet. */
  private block = EMPTY_BYTES;
  private blockStart = 0;
  private blockEnd = 0;

  push(chunk: Bytes): void {
    if (chunk.length === 0) return;
    if (this.length === 0 || chunk.length >= KEEP_CHUNK_BYTES) {
      this.seal();
      this.pieces.push(chunk);
    } else {
      this.pushCopy(chunk);
    }
    this.length += chunk.length;
  }

  private pushCopy(chunk: Bytes): void {
    if (this.block.length - this.blockEnd < chunk.length) {
      this.seal();
      this.block = new Uint8Array(BLOCK_BYTES);
      this.blockStart = 0;
      this.blockEnd = 0;
    }
    this.block.set(chunk, this.blockEnd);
    this.blockEnd += chunk.length;
  }

  private seal(): void {
    if (this.blockEnd === this.blockStart) return;
    this.pieces.push(this.block.subarray(this.blockStart, this.blockEnd));
    this.blockStart = this.blockEnd;
  }

  /** Fills `target` with the first bytes of the queue and removes them. The queue must have enough bytes. */
  take(target: Buffer): void {
    this.seal();
    let done = 0;
    let spent = 0;
    while (done < target.length) {
      const piece = asBuffer(this.pieces[spent]!);
      const copied = piece.copy(target, done, this.taken);
      done += copied;
      this.taken += copied;
      if (this.taken < piece.length) break;
      this.taken = 0;
      spent++;
    }
    if (spent > 0) this.pieces.splice(0, spent);
    this.length -= target.length;
  }
}

export class FrameReader {
  private readonly magic: Buffer;
  private queue = new ByteQueue();
  private readonly head = Buffer.alloc(FRAME_HEAD_BYTES);
  /** Payload length in bytes from the last header read; −1 while no header is read. */
  private announced = -1;

  constructor(magic: Buffer) {
    this.magic = magic;
  }

  /** Number of received bytes of messages that `next` has not returned yet. */
  get bufferedBytes(): number {
    return this.queue.length + (this.announced >= 0 ? FRAME_HEAD_BYTES : 0);
  }

  /** Discards all received bytes. */
  clear(): void {
    this.queue = new ByteQueue();
    this.announced = -1;
  }

  /** Adds bytes from the socket. The buffer is stored and must not change. */
  push(chunk: Buffer): void {
    this.queue.push(chunk);
  }

  /** Whether `next` would return a message or throw. Cheap: no payload is read. */
  get hasNext(): boolean {
    return this.readHead() && (this.queue.length >= this.announced || this.headError() !== null);
  }

  /**
   * Returns the next complete message, or null if it is not complete yet. Throws `FrameError` for an invalid stream; all
   * later calls throw too.
   */
  next(): Frame | null {
    if (!this.readHead()) return null;
    const error = this.headError();
    if (error) throw error;
    if (this.queue.length < this.announced) return null;
    // Allocated outside the buffer pool of Node.js, because a small payload that is stored would keep a whole slab of the
    // pool in memory.
    const payload = this.announced === 0 ? EMPTY_PAYLOAD : Buffer.allocUnsafeSlow(this.announced);
    this.queue.take(payload);
    this.announced = -1;
    const checksum = payload.length === 0 ? EMPTY_CHECKSUM : sha256d(payload);
    const checksumOk = checksum.compare(this.head, CHECKSUM_OFFSET, FRAME_HEAD_BYTES, 0, CHECKSUM_SIZE) === 0;
    return { command: readCommand(this.head), payload, checksumOk };
  }

  /** Reads the header of the next message if all its bytes were received. Returns whether a header is read. */
  private readHead(): boolean {
    if (this.announced >= 0) return true;
    if (this.queue.length < FRAME_HEAD_BYTES) return false;
    this.queue.take(this.head);
    this.announced = this.head.readUInt32LE(LENGTH_OFFSET);
    return true;
  }

  private headError(): FrameError | null {
    if (this.head.compare(this.magic, 0, COMMAND_OFFSET, 0, COMMAND_OFFSET) !== 0)
      return new FrameError(
        'magic',
        `magic ${this.head.toString('hex', 0, COMMAND_OFFSET)} of another network`,
      );
    if (this.announced > MAX_PAYLOAD_BYTES)
      return new FrameError('oversize', `oversized message of ${this.announced} bytes`);
    return null;
  }
}

function readCommand(head: Buffer): string {
  let end = COMMAND_OFFSET + COMMAND_SIZE;
  while (end > COMMAND_OFFSET && head[end - 1] === 0) end--;
  return head.toString('latin1', COMMAND_OFFSET, end);
}

/** Returns the 24-byte header of a message. */
export function formatFrameHead(magic: Buffer, command: string, payload: Bytes): Buffer {
  const head = Buffer.alloc(FRAME_HEAD_BYTES);
  writeFrameHead(head, magic, command, payload);
  return head;
}

/**
 * Returns header and payload as one buffer. The payload is copied; callers that can write header and payload separately use
 * `formatFrameHead`.
 */
export function formatFrame(magic: Buffer, command: string, payload: Bytes): Buffer {
  const frame = Buffer.allocUnsafe(FRAME_HEAD_BYTES + payload.length);
  writeFrameHead(frame, magic, command, payload);
  frame.set(payload, FRAME_HEAD_BYTES);
  return frame;
}

function writeFrameHead(head: Buffer, magic: Buffer, command: string, payload: Bytes): void {
  magic.copy(head, 0);
  head.fill(0, COMMAND_OFFSET, LENGTH_OFFSET);
  head.write(command, COMMAND_OFFSET, COMMAND_SIZE, 'latin1');
  head.writeUInt32LE(payload.length, LENGTH_OFFSET);
  sha256d(asBuffer(payload)).copy(head, CHECKSUM_OFFSET, 0, CHECKSUM_SIZE);
}
