import { describe, expect, it } from 'vitest';
import { sha256d } from '../../../src/crypto/hash.js';
import {
  FrameError,
  FrameReader,
  formatFrame,
  formatFrameHead,
  type Frame,
} from '../../../src/net/framing.js';
import { memoryOf } from '../../support/memory.js';

const MAGIC = Buffer.from('fae4aad1', 'hex');
const NO_CHECKSUM = Buffer.from('5df6e0e2', 'hex');

function framesOf(chunks: Iterable<Buffer>): Frame[] {
  const reader = new FrameReader(MAGIC);
  const frames: Frame[] = [];
  for (const chunk of chunks) {
    reader.push(chunk);
    for (let frame = reader.next(); frame !== null; frame = reader.next()) frames.push(frame);
  }
  return frames;
}

function chunksOf(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length]!;
    chunks.push(Buffer.from(bytes.subarray(at, at + size)));
    at += size;
  }
  return chunks;
}

/** A message header with any fields and the checksum of an empty payload. */
function head(command: string, length: number, magic = MAGIC): Buffer {
  const bytes = Buffer.alloc(24);
  magic.copy(bytes);
  bytes.write(command, 4, 'latin1');
  bytes.writeUInt32LE(length, 16);
  NO_CHECKSUM.copy(bytes, 20);
  return bytes;
}

const pattern = (length: number): Buffer => Buffer.from(Uint8Array.from({ length }, (_, i) => i % 251));

describe('a frame', () => {
  it('has magic, command, length and checksum before the payload', () => {
    expect(formatFrame(MAGIC, 'verack', Buffer.alloc(0)).toString('hex')).toBe(
      'fae4aad1' + '76657261636b000000000000' + '00000000' + '5df6e0e2',
    );
    const frame = formatFrame(MAGIC, 'sendheaders0'.slice(0, 12), Buffer.from('0102', 'hex'));
    expect(frame.toString('latin1', 4, 16)).toBe('sendheaders0');
    expect(frame.readUInt32LE(16)).toBe(2);
    expect(frame.subarray(20, 24)).toEqual(sha256d(Buffer.from('0102', 'hex')).subarray(0, 4));
    expect(formatFrameHead(MAGIC, 'ping', Buffer.from('0102', 'hex'))).toEqual(
      formatFrame(MAGIC, 'ping', Buffer.from('0102', 'hex')).subarray(0, 24),
    );
  });

  it('written over used memory has zeros after the command', () => {
    for (let i = 0; i < 100; i++) Buffer.allocUnsafe(40).fill(0xff);
    expect(formatFrame(MAGIC, 'tx', Buffer.alloc(3)).subarray(6, 16)).toEqual(Buffer.alloc(10));
  });
});

describe('FrameReader', () => {
  const sent = [
    ['verack', pattern(0)],
    ['ping', pattern(8)],
    ['inv', pattern(1025)],
    ['verack', pattern(0)],
    ['block', pattern(300_000)],
    ['tx', pattern(23)],
    ['addr', pattern(1024)],
    ['headers', pattern(9000)],
  ] as const;
  const stream = Buffer.concat(sent.map(([command, payload]) => formatFrame(MAGIC, command, payload)));

  it.each([
    [[stream.length]],
    [[1]],
    [[23]],
    [[24]],
    [[25]],
    [[1023, 1]],
    [[1024]],
    [[65_536]],
    [[1, 5000]],
    [[5000, 1, 1, 1]],
    [[8191, 3, 700]],
  ])('finds the same messages in chunks of %j', (sizes) => {
    const frames = framesOf(chunksOf(stream, sizes));
    expect(frames.map(({ command }) => command)).toEqual(sent.map(([command]) => command));
    for (const [i, [, payload]] of sent.entries()) expect(frames[i]!.payload.equals(payload)).toBe(true);
    expect(frames.every(({ checksumOk }) => checksumOk)).toBe(true);
  });

  it('accepts chunks before a reader waits', () => {
    const reader = new FrameReader(MAGIC);
    for (const chunk of chunksOf(stream, [7, 2000, 1])) reader.push(chunk);
    expect(reader.bufferedBytes).toBe(stream.length);
    for (const [command, payload] of sent) {
      const frame = reader.next()!;
      expect(frame.command).toBe(command);
      expect(frame.payload.equals(payload)).toBe(true);
    }
    expect(reader.next()).toBeNull();
    expect(reader.bufferedBytes).toBe(0);
  });

  it('returns payloads that own their memory', () => {
    const chunk = Buffer.concat([formatFrame(MAGIC, 'tx', pattern(100)), Buffer.alloc(1000)]);
    const { payload } = framesOf([chunk.subarray(0, 124)])[0]!;
    expect(payload.buffer.byteLength).toBe(100);
    chunk.fill(0);
    expect(payload.equals(pattern(100))).toBe(true);
  });

  it('reports a wrong checksum and continues', () => {
    const wrong = formatFrame(MAGIC, 'ping', pattern(8));
    wrong[20]! ^= 1;
    const frames = framesOf([Buffer.concat([wrong, formatFrame(MAGIC, 'pong', pattern(8))])]);
    expect(frames.map(({ command, checksumOk }) => [command, checksumOk])).toEqual([
      ['ping', false],
      ['pong', true],
    ]);
  });

  it.each(['ping\0x', '\0ping', 'pi\tng', 'ping\x7f', 'ping\xe9'])(
    'reads %j as an unknown command',
    (command) => {
      const frames = framesOf([head(command, 0), formatFrame(MAGIC, 'verack', Buffer.alloc(0))]);
      expect(frames.map((frame) => frame.command)).toEqual([command, 'verack']);
      expect(frames[0]!.checksumOk).toBe(true);
    },
  );

  it('reads a command of twelve characters', () => {
    expect(framesOf([head('abcdefghijkl', 0)])[0]!.command).toBe('abcdefghijkl');
  });

  it('fails permanently at another magic', () => {
    const reader = new FrameReader(MAGIC);
    reader.push(formatFrame(MAGIC, 'verack', Buffer.alloc(0)));
    reader.push(head('ping', 0, Buffer.from('fae4aaf1', 'hex')).subarray(0, 23));
    expect(reader.next()!.command).toBe('verack');
    expect(reader.next()).toBeNull();
    reader.push(Buffer.of(0xe2));
    for (let i = 0; i < 2; i++) expect(() => reader.next()).toThrow(FrameError);
    reader.push(formatFrame(MAGIC, 'verack', Buffer.alloc(0)));
    expect(() => reader.next()).toThrow(expect.objectContaining({ reason: 'magic' }) as Error);
  });

  it('fails at the header of a message above 4,000,000 bytes', () => {
    const reader = new FrameReader(MAGIC);
    reader.push(head('block', 4_000_000));
    expect(reader.next()).toBeNull();
    for (const length of [4_000_001, 0x02000000, 0xffffffff]) {
      const other = new FrameReader(MAGIC);
      other.push(head('block', length));
      expect(() => other.next()).toThrow(expect.objectContaining({ reason: 'oversize' }) as Error);
    }
  });

  it('reads the longest message', () => {
    const payload = Buffer.alloc(4_000_000, 7);
    const frames = framesOf(chunksOf(formatFrame(MAGIC, 'block', payload), [65_536]));
    expect(frames[0]!.payload.equals(payload) && frames[0]!.checksumOk).toBe(true);
  });

  it('allocates memory for received bytes, not for the announced length', async () => {
    const readers: FrameReader[] = [];
    const use = await memoryOf(() => {
      for (let i = 0; i < 1000; i++) {
        const reader = new FrameReader(MAGIC);
        reader.push(head('block', 4_000_000));
        reader.next();
        for (let k = 0; k < 10; k++) reader.push(Buffer.alloc(1, k));
        reader.next();
        readers.push(reader);
      }
    });
    // Each reader allocates one block for small chunks and no more, although the messages announce 4 GB in total.
    expect(use.keptBytes).toBeLessThan(32 << 20);
    expect(readers.every((reader) => reader.bufferedBytes === 24 + 10)).toBe(true);
  });

  it('allocates no object for each byte of a slow message', async () => {
    const reader = new FrameReader(MAGIC);
    const bytes = formatFrame(MAGIC, 'block', Buffer.alloc(1_000_000));
    const use = await memoryOf(() => {
      for (let at = 0; at < bytes.length - 1; at++) {
        reader.push(bytes.subarray(at, at + 1));
        reader.next();
      }
    });
    expect(use.keptBytes).toBeLessThan(8 << 20);
    reader.push(bytes.subarray(-1));
    expect(reader.next()!.checksumOk).toBe(true);
  });
});
