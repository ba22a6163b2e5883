import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, fstatSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openBlobFile } from '../../../../src/daemon/blobs/blobFile.js';
import { loadNative } from '../../../../src/native/binding.js';

const native = loadNative();
const folder = mkdtempSync(join(tmpdir(), 'blob-file-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const path = join(folder, 'blob');
const BYTES = randomBytes(100_000);
writeFileSync(path, BYTES);

test('a file is read from any position, and not after it was closed', async () => {
  const file = await openBlobFile(path);
  const into = Buffer.alloc(BYTES.length);
  const { fd } = file;
  expect([
    await file.read(into, 1000, 500),
    into.subarray(0, 1000).equals(BYTES.subarray(500, 1500)),
  ]).toEqual([1000, true]);
  expect(await file.read(into, 1000, BYTES.length)).toBe(0);
  const reading = file.read(into, BYTES.length, 0);
  await file.close();
  expect([await reading, into.equals(BYTES)]).toEqual([BYTES.length, true]);
  expect(() => fstatSync(fd)).toThrow('EBADF');
  const other = openSync(path, 'r');
  await expect(file.read(into, 1, 0)).rejects.toThrow();
  await file.close().catch(() => undefined);
  expect(fstatSync(other).size).toBe(BYTES.length);
  closeSync(other);
});

test('a missing file has the error of the system', async () => {
  await expect(openBlobFile(join(folder, 'missing'))).rejects.toThrow('ENOENT');
});

test.skipIf(native?.openCached === undefined)(
  'the addon opens files that are in memory, and no others',
  () => {
    const open = (name: string) => native!.openCached!(Buffer.from(name));
    const fd = open(path);
    // Old systems cannot open a file without waiting.
    if (fd >= 0) {
      expect(fstatSync(fd).size).toBe(BYTES.length);
      closeSync(fd);
    }
    expect(open(join(folder, 'missing'))).toBe(-1);
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    const pipe = open(join(folder, 'pipe'));
    if (pipe >= 0) closeSync(pipe);
  },
);
