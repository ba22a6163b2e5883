import { createHash, randomBytes, randomInt } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stampText } from '../../../../src/daemon/blobs/blobWork.js';
import { BlobBuffers, blobBuffers } from '../../../../src/daemon/content/blobBuffers.js';
import { blobHashesOf, MAX_BLOB_BYTES } from '../../../../src/daemon/content/blobHash.js';
import { IncomingBlob } from '../../../../src/daemon/content/incomingBlob.js';
import { loadNative } from '../../../../src/native/binding.js';

const hashOf = (bytes: Uint8Array): string => createHash('sha384').update(bytes).digest('hex');
const native = loadNative();

test('several blobs have the hashes that OpenSSL computes for each, whatever their lengths', () => {
  const lengths = [...Array(300).keys()].map(() => randomInt(2) * randomInt(130) + 128 * randomInt(3));
  for (let at = 0; at < lengths.length;) {
    const blobs = lengths.slice(at, (at += 1 + randomInt(9))).map((length) => randomBytes(length));
    expect(blobHashesOf(blobs)).toEqual(blobs.map(hashOf));
  }
});

test.skipIf(native?.sha384Lanes === undefined)('the lanes hash messages of every length near a block', () => {
  for (const length of [...Array(400).keys(), 65_535, 65_536, 70_001]) {
    const messages = Array.from({ length: 1 + randomInt(4) }, () => randomBytes(length));
    expect(native!.sha384Lanes!(messages).toString('hex')).toBe(messages.map(hashOf).join(''));
  }
  expect(() => native!.sha384Lanes!([])).toThrow('one to four');
  expect(() => native!.sha384Lanes!([randomBytes(1), randomBytes(2)])).toThrow('equally long');
});

test('the buffer of a received blob is reused when its last user has released it, unless one keeps it', () => {
  blobBuffers.clear();
  const receive = () => {
    const blob = new IncomingBlob(100_000);
    blob.add(randomBytes(100_000));
    return blob.end();
  };
  const blob = receive();
  blob.use();
  blob.release();
  expect(blobBuffers.freeCount).toBe(0);
  blob.release();
  expect(blobBuffers.freeCount).toBe(1);
  const kept = receive();
  const bytes = kept.keep();
  kept.release();
  expect(bytes.buffer).toBe(blob.bytes.buffer);
  expect(blobBuffers.freeCount).toBe(0);
});

test.skipIf(native?.storeFile === undefined)('a file is stored with direct I/O, or not at all', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'store-file-'));
  try {
    const bytes = new BlobBuffers().take();
    randomBytes(MAX_BLOB_BYTES).copy(bytes);
    const [temporary, path] = [join(folder, 'one.part'), join(folder, 'one')];
    const store = (data: Uint8Array, to: string) =>
      native!.storeFile!(Buffer.from(temporary), Buffer.from(to), data);
    const stamp = await store(bytes, path);
    // A file system without direct access, such as an older tmpfs, refuses.
    if (stamp !== '') {
      expect(stamp).toBe(stampText(statSync(path, { bigint: true })));
      expect(readFileSync(path).equals(bytes)).toBe(true);
    }
    expect(await store(bytes.subarray(1, 4097), path)).toBe('');
    expect(await store(bytes, join(folder, 'missing', 'one'))).toBe('');
    expect(readdirSync(folder)).toEqual(stamp === '' ? [] : ['one']);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
