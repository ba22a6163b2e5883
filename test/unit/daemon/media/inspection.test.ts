import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inspectMedia } from '../../../../src/daemon/media/inspection.js';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'media-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const file = (name: string, bytes: Buffer): string => {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
};

/** A WAVE file with this number of seconds of silence. */
function wave(seconds: number): Buffer {
  const rate = 8000;
  const data = Buffer.alloc(rate * seconds, 0x80);
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + data.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write('data', 36);
  head.writeUInt32LE(data.length, 40);
  return Buffer.concat([head, data]);
}

/** One pixel. */
const GIF = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

describe('the inspection of media files', () => {
  it('finds durations and dimensions, of several files at once', async () => {
    const sound = file('sound.wav', wave(3));
    const picture = file('picture.gif', GIF);
    const [received, seen, again] = await Promise.all(
      [sound, picture, sound].map((path) => inspectMedia(path)),
    );
    expect(received).toEqual({ durationSec: 3 });
    expect(seen).toMatchObject({ width: 1, height: 1 });
    expect(again).toEqual(received);
  });

  it('finds nothing in other files, missing files, or if it takes too long', async () => {
    expect(await inspectMedia(file('text', Buffer.from('plain text')))).toEqual({});
    expect(await inspectMedia(file('empty.mp4', Buffer.alloc(0)))).toEqual({});
    expect(await inspectMedia(join(folder, 'missing'))).toEqual({});
    expect(await inspectMedia(file('late.wav', wave(1)), 0)).toEqual({});
  });
});
