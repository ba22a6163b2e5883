/**
 * Writes bytes as hex digits to a socket from a buffer that all sockets share. Otherwise the C library would map new memory at each
 * call, for the text of the digits and for its copy, and the kernel would clear this memory.
 */
import type { Socket } from 'node:net';
import type { Bytes } from '../../util/bytes.js';

/** Time after the last use until the memory of the shared buffer is freed. */
const KEPT_MS = 5000;
/** The size of the shared buffer in bytes is a multiple of this number, so that blocks of similar sizes use the same buffer. */
const STEP_BYTES = 1 << 18;

/** The two digits of each byte, in the byte order of the processor. */
const DIGITS = new Uint16Array(256);
new Uint8Array(DIGITS.buffer).set(
  Buffer.from(Buffer.from(Array.from(DIGITS.keys())).toString('hex'), 'latin1'),
);

/** The shared buffer; null while a socket sends from it, or if there is none. */
let spare: Buffer | null = null;
let timer: NodeJS.Timeout | null = null;

/** Writes `bytes` as hex digits. The bytes may change after the call. */
export function writeHex(socket: Socket, bytes: Bytes): void {
  const length = bytes.length * 2;
  const buffer = take(length);
  const digits = new Uint16Array(buffer.buffer, buffer.byteOffset, bytes.length);
  for (let i = 0; i < bytes.length; i++) digits[i] = DIGITS[bytes[i]!]!;
  socket.write(buffer.subarray(0, length), () => release(buffer));
}

function take(length: number): Buffer {
  const kept = spare;
  spare = null;
  if (kept !== null && kept.length >= length) return kept;
  return Buffer.allocUnsafeSlow(Math.ceil(length / STEP_BYTES) * STEP_BYTES);
}

function release(buffer: Buffer): void {
  if (spare === null || spare.length < buffer.length) spare = buffer;
  if (timer === null) timer = setTimeout(free, KEPT_MS).unref();
  else timer.refresh();
}

function free(): void {
  timer = null;
  spare = null;
}
