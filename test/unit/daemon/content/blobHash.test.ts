import { createCipheriv, createHash, randomBytes, randomInt } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stampText } from '../../../../src/daemon/blobs/blobWork.js';
import { BlobBuffers, blobBuffers } from '../../../../src/daemon/content/blobBuffers.js';
import { BlobThreads } from '../../../../src/daemon/blobs/blobThreads.js';
import { blobHashesOf, HASH_BYTES, MAX_BLOB_BYTES } from '../../../../src/daemon/content/blobHash.js';
import { CHUNK_BYTES, chunkTableOf, KEY_BYTES } from '../../../../src/daemon/content/chunkTable.js';
import { IncomingBlob } from '../../../../src/daemon/content/incomingBlob.js';
import { loadNative } from '../../../../src/native/binding.js';

const hashOf = (bytes: Uint8Array): string => createHash('sha384').update(bytes).digest('hex');
const native = loadNative();

/** The table of a blob with the key at the start of `keys`, by the definition of GMAC. */
function tableOf(blob: Uint8Array, keys: Uint8Array): Buffer {
  const key = keys.subarray(0, KEY_BYTES);
  const codes: Uint8Array[] = [key];
  for (let at = 0; at < blob.length; at += CHUNK_BYTES) {
    const nonce = Buffer.alloc(12);
    nonce.writeUInt32BE(at / CHUNK_BYTES, 8);
    const cipher = createCipheriv('aes-128-gcm', key, nonce);
    cipher.setAAD(blob.subarray(at, at + CHUNK_BYTES));
    cipher.final();
    codes.push(cipher.getAuthTag());
  }
  return Buffer.concat(codes);
}

test('several blobs have the hashes that OpenSSL computes for each, whatever their lengths', () => {
  const lengths = [...Array(300).keys()].map(() => randomInt(2) * randomInt(130) + 128 * randomInt(3));
  for (let at = 0; at < lengths.length;) {
    const blobs = lengths.slice(at, (at += 1 + randomInt(9))).map((length) => randomBytes(length));
    expect(blobHashesOf(blobs)).toEqual(blobs.map(hashOf));
  }
});

test.skipIf(native?.sha384Lanes === undefined)('the lanes hash messages of every length near a block', () => {
  for (const lanes of [4, 8].filter((count) => count <= native!.sha384LaneCount!)) {
    for (const length of [...Array(400).keys(), 65_535, 65_536, 70_001, randomInt(500_000)]) {
      const messages = Array.from({ length: 1 + randomInt(lanes) }, () => randomBytes(length));
      expect(native!.sha384Lanes!(messages, lanes).toString('hex')).toBe(messages.map(hashOf).join(''));
    }
    expect(() => native!.sha384Lanes!([], lanes)).toThrow('at least one');
    expect(() => native!.sha384Lanes!(Array(lanes + 1).fill(randomBytes(1)), lanes)).toThrow('at most one');
    expect(() => native!.sha384Lanes!([randomBytes(1), randomBytes(2)], lanes)).toThrow('equally long');
  }
  for (const lanes of [0, 3, 16])
    expect(() => native!.sha384Lanes!([randomBytes(1)], lanes)).toThrow('does not have these lanes');
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

test.skipIf(native?.writeDirect === undefined)(
  'files are stored with direct I/O, or not at all',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'direct-files-'));
    try {
      const bytes = new BlobBuffers().take();
      randomBytes(MAX_BLOB_BYTES).copy(bytes);
      const write = (name: string, data: Uint8Array) =>
        native!.writeDirect!(Buffer.from(join(folder, name)), data);
      const keep = (files: readonly (number | null)[], names: readonly string[], place = folder) =>
        native!.keepFiles!(
          Buffer.from(place),
          files as readonly number[],
          Buffer.from(names.map((name) => `${name}\0`).join('')),
          Buffer.from('.old'),
        );
      expect(write('one.part', bytes.subarray(1, 4097))).toBeNull();
      expect(write('one.part', bytes.subarray(0, 4095))).toBeNull();
      expect(await write(join('missing', 'one.part'), bytes)).toBe(-1);
      expect(readdirSync(folder)).toEqual([]);
      writeFileSync(join(folder, 'one.old'), 'old');
      const files = [await write('one.part', bytes), await write('two.part', bytes.subarray(0, 8192))];
      // Some file systems, such as older versions of tmpfs, do not support direct I/O.
      if (files.includes(-1)) return expect(readdirSync(folder)).toEqual(['one.old']);
      expect(await write('one.part', bytes)).toBe(-1);
      const stamps = await keep(files, ['one.part', 'one', 'two.part', 'two']);
      expect(stamps).toEqual(
        ['one', 'two'].map((name) => stampText(statSync(join(folder, name), { bigint: true }))),
      );
      expect(readFileSync(join(folder, 'one')).equals(bytes)).toBe(true);
      expect(readFileSync(join(folder, 'two')).equals(bytes.subarray(0, 8192))).toBe(true);
      expect(readdirSync(folder)).toEqual(['one', 'two']);
      // A file that cannot be renamed is removed, and the others are kept.
      const more = [await write('three.part', bytes), await write('four.part', bytes)];
      const results = await keep(more, ['three.part', join('missing', 'three'), 'four.part', 'four']);
      expect(results[0]).toBe(-constants.errno.ENOENT);
      expect(results[1]).toBe(stampText(statSync(join(folder, 'four'), { bigint: true })));
      expect(readdirSync(folder)).toEqual(['four', 'one', 'two']);
      expect(() => keep([], ['one'])).toThrow('two names');
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);

test.skipIf(native?.digestBlobs === undefined)(
  'a thread of the pool computes hashes and chunk tables',
  async () => {
    const lengths = [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, 2 * CHUNK_BYTES + 17];
    for (const [length, count] of lengths.flatMap((one) =>
      Array.from({ length: native!.sha384LaneCount! }, (_, at) => [one, at + 1] as const),
    )) {
      const blobs = Array.from({ length: count }, () => randomBytes(length));
      const keys = randomBytes(blobs.length * KEY_BYTES);
      const found = await native!.digestBlobs!(blobs, keys);
      const stride = found.length / blobs.length;
      for (const [at, blob] of blobs.entries()) {
        const own = found.subarray(at * stride, (at + 1) * stride);
        expect(own.toString('hex', 0, HASH_BYTES)).toBe(hashOf(blob));
        expect(own.subarray(HASH_BYTES).equals(tableOf(blob, keys.subarray(at * KEY_BYTES)))).toBe(true);
      }
    }
    expect(() => native!.digestBlobs!([randomBytes(1)], randomBytes(KEY_BYTES - 1))).toThrow('16 bytes');
    expect(() => native!.digestBlobs!([], randomBytes(0))).toThrow('at least one');
  },
);

test('blobs of several sizes are verified together, and those with another hash get no table', async () => {
  const blobs = Array.from({ length: 12 }, (_, at) => {
    const bytes = randomBytes([70_000, 5, 130_000][at % 3]!);
    return { hash: at % 4 === 1 ? hashOf(Buffer.from('other')) : hashOf(bytes), bytes };
  });
  const threads = new BlobThreads(1);
  const tables = await threads.verify(blobs);
  await threads.close();
  for (const [at, { bytes }] of blobs.entries()) {
    const table = tables[at]!;
    if (at % 4 === 1) expect(table).toBeNull();
    else expect(tableOf(bytes, table!.subarray(0, KEY_BYTES)).equals(table!)).toBe(true);
  }
});

test.skipIf(native?.chunksMatch === undefined)(
  'the addon finds each changed bit of a table or of its chunks',
  () => {
    const blob = randomBytes(3 * CHUNK_BYTES + 100);
    const table = chunkTableOf(blob);
    expect(native!.chunksMatch!(table, 0, blob)).toBe(true);
    for (const chunk of [0, 1, 2, 3]) {
      const bytes = Buffer.from(blob.subarray(chunk * CHUNK_BYTES, (chunk + 1) * CHUNK_BYTES));
      expect(native!.chunksMatch!(table, chunk, bytes)).toBe(true);
      expect(native!.chunksMatch!(table, (chunk + 1) % 4, bytes)).toBe(false);
      bytes[randomInt(bytes.length)]! ^= 1 << randomInt(8);
      expect(native!.chunksMatch!(table, chunk, bytes)).toBe(false);
    }
    for (let at = 0; at < table.length; at++) {
      const changed = Buffer.from(table);
      changed[at]! ^= 1 << randomInt(8);
      expect(native!.chunksMatch!(changed, 0, blob)).toBe(false);
    }
    expect(() => native!.chunksMatch!(table, 4, randomBytes(1))).toThrow('no codes');
    expect(() => native!.chunksMatch!(table.subarray(1), 3, randomBytes(1))).toThrow('no codes');
    expect(() => native!.chunksMatch!(new Uint8Array(3), 0, new Uint8Array(0))).toThrow('no codes');
  },
);
