import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { writeHex } from '../../../../src/server/plain/hexBuffer.js';

/** A socket that keeps what is written, without a copy, until it is sent. */
class SlowSocket {
  private readonly waiting: { bytes: Buffer; sent: () => void }[] = [];

  write(bytes: Buffer, sent: () => void): boolean {
    this.waiting.push({ bytes, sent });
    return false;
  }

  /** Sends the oldest write. Returns its text and the memory that it lies in. */
  send(): { text: string; memory: ArrayBufferLike } {
    const { bytes, sent } = this.waiting.shift()!;
    const text = bytes.toString('latin1');
    sent();
    return { text, memory: bytes.buffer };
  }
}

const write = (socket: SlowSocket, bytes: Uint8Array): void => writeHex(socket as unknown as Socket, bytes);

describe('hex digits from the shared buffer', () => {
  it('are those of all bytes, also of a part of a buffer', () => {
    const socket = new SlowSocket();
    const bytes = Buffer.from(Array.from({ length: 257 }, (_, i) => i)).subarray(1);
    write(socket, bytes);
    expect(socket.send().text).toBe(bytes.toString('hex'));
  });

  it('use the same memory one after the other', () => {
    const socket = new SlowSocket();
    write(socket, randomBytes(30_000));
    const { memory } = socket.send();
    const next = randomBytes(40_000);
    write(socket, next);
    const sent = socket.send();
    expect(sent.text).toBe(next.toString('hex'));
    expect(sent.memory).toBe(memory);
  });

  it('do not overwrite digits that are not sent yet', () => {
    const socket = new SlowSocket();
    const parts = [1, 2, 3].map((n) => randomBytes(n * 50_000));
    for (const part of parts) write(socket, part);
    for (const part of parts) expect(socket.send().text).toBe(part.toString('hex'));
  });
});
