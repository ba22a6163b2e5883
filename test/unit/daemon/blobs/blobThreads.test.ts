import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { BlobThreads } from '../../../../src/daemon/blobs/blobThreads.js';
import { blobHashOf } from '../../../../src/daemon/content/blobHash.js';
import { encryptPiece } from '../../../../src/daemon/blobs/cipher.js';
import { daemonThread } from '../../../../src/daemon/base/threadCalls.js';
import { systemClock } from '../../../../src/daemon/base/clock.js';
import type { CallThread } from '../../../../src/threads/callThread.js';

const folder = mkdtempSync(join(tmpdir(), 'lbcnet-threads-'));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('starts threads for work, ends them when there is none for a while, and starts them again', async () => {
  let due: (() => void) | null = null;
  const clock = {
    after: (_delayMs: number, task: () => void) => {
      due = task;
      return { cancel: () => (due = null) };
    },
  };
  const threads = new BlobThreads(2, clock);
  const cipher = { key: Buffer.alloc(16, 1), iv: Buffer.alloc(16, 2) };
  const piece = Buffer.from('the piece of a file');
  const blob = encryptPiece(piece, cipher.key, cipher.iv);
  const wanted = { hash: blobHashOf(blob), length: blob.length };
  expect(threads.count).toBe(0);
  const hash = threads.hashFile();
  await hash.add(piece);
  expect(await threads.measure(piece, cipher)).toMatchObject(wanted);
  // A file is still being hashed.
  expect([threads.count, due]).toEqual([1, null]);
  expect(await hash.end()).toBe(blobHashOf(piece));
  due!();
  expect(threads.count).toBe(0);
  const path = join(folder, 'original');
  writeFileSync(path, piece);
  const original = { path, sizeBytes: piece.length };
  const made = await threads.make(original, 0, cipher, wanted.hash, 'piece');
  expect([made.kind, threads.count]).toEqual(['whole', 1]);
  await threads.close();
  expect([threads.count, due]).toEqual([0, null]);
});

it('replaces a thread that ended', async () => {
  const started: CallThread[] = [];
  const threads = new BlobThreads(1, systemClock, (options) => {
    started.push(daemonThread(options));
    return started.at(-1)!;
  });
  const cipher = { key: Buffer.alloc(16, 1), iv: Buffer.alloc(16, 2) };
  const piece = Buffer.from('the piece of a file');
  const first = await threads.measure(piece, cipher);
  const hash = threads.hashFile();
  await started.at(-1)!.terminate();
  await expect(hash.add(piece)).rejects.toThrow('The work on a blob is closed');
  await expect(hash.end()).rejects.toThrow('The work on a blob is closed');
  expect((await threads.measure(piece, cipher)).hash).toBe(first.hash);
  expect(threads.count).toBe(1);
  await threads.close();
});
