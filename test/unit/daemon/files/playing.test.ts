/** Reads streams as players do. The blobs are on disk, or the test provides them. */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { create } from '@bufbuild/protobuf';
import { systemClock } from '../../../../src/daemon/base/clock.js';
import { BlobThreads } from '../../../../src/daemon/blobs/blobThreads.js';
import { BlobParts } from '../../../../src/daemon/blobs/blobParts.js';
import { makeStream, type MadeStream } from '../../../../src/daemon/blobs/makeStream.js';
import type { BlobFetcher, FetchOptions } from '../../../../src/daemon/exchange/ports.js';
import { DATABASE_NAME } from '../../../../src/daemon/content/openDatabases.js';
import { FileManager } from '../../../../src/daemon/files/fileManager.js';
import type { FilesDeps } from '../../../../src/daemon/files/ports.js';
import { Playing, type PlayableStream } from '../../../../src/daemon/files/playing.js';
import { dataBlobs } from '../../../../src/daemon/files/streamReader.js';
import { encodeClaim } from '../../../../src/metadata/claim.js';
import { ClaimSchema } from '../../../../src/metadata/messages/claim_pb.js';
import { loadSqlite } from '../../../../src/sqlite/sqliteProvider.js';
import { ContentFolder, NOW_SEC } from '../../../support/contentFolder.js';
import { FakeClock } from '../../../support/fakeClock.js';
import { keepDatabaseThread } from '../../../support/databaseThread.js';

keepDatabaseThread();

const PIECE_BYTES = 2_097_151;
const SIZE_BYTES = 3 * PIECE_BYTES + 1000;
/** Number of data blobs of the stream. */
const BLOB_COUNT = 4;
const bytes = randomBytes(SIZE_BYTES);
const threads = new BlobThreads(2);
const signal = new AbortController().signal;

/** The stream as its publisher has it. */
let source: ContentFolder;
let made: MadeStream;
/** All blobs of the stream by their hash. */
const network = new Map<string, Buffer>();
let hashes: string[];

let folder: ContentFolder;
let files: FilesDeps;
let manager: FileManager;
let playing: Playing;
let fetched: { hash: string; urgency: string; signal: AbortSignal }[];
/** Blobs that do not come. */
let held: Set<string>;
let cachedBlobs: number;

const fetcher: BlobFetcher = {
  async fetchBlob(hash: string, _lengthBytes: number | null, options: FetchOptions) {
    const there = await folder.store.read(hash);
    if (there !== null) return there;
    fetched.push({ hash, urgency: options.urgency ?? 'reader', signal: options.signal });
    if (held.has(hash))
      await new Promise((_resolve, reject) => {
        const onAbort = (): void => reject(options.signal.reason as Error);
        if (options.signal.aborted) onAbort();
        options.signal.addEventListener('abort', onAbort);
      });
    options.signal.throwIfAborted();
    const blob = network.get(hash)!;
    expect(await folder.store.receive(hash, blob)).toBe(true);
    return blob;
  },
  progressOf: () => null,
};

beforeAll(async () => {
  source = new ContentFolder(threads);
  await source.open();
  const path = join(source.path, 'film.mp4');
  writeFileSync(path, bytes);
  made = await makeStream(path, source.making);
  hashes = dataBlobs(made.descriptor).map(({ blobHash }) => blobHash!);
  for (const hash of [made.sdHash, ...hashes]) network.set(hash, readFileSync(source.blobPath(hash)));
});
afterAll(async () => {
  await source.close();
  source.remove();
  await threads.close();
});

beforeEach(async () => {
  fetched = [];
  held = new Set();
  cachedBlobs = 0;
  folder = new ContentFolder(threads);
  await folder.open();
  files = {
    database: folder.database,
    blobs: folder.store,
    fetcher: () => fetcher,
    reflector: () => null,
    clock: systemClock,
    log: { warn: (text: string) => folder.warnings.push(text), info: () => undefined },
    settings: () => ({
      downloadDir: folder.path,
      savesFiles: false,
      downloadTimeoutMs: 60_000,
      blobTimeoutMs: 60_000,
      cachedBlobs,
    }),
  };
  manager = new FileManager(files);
  playing = new Playing({ manager, files });
});
afterEach(async () => {
  await manager.close();
  await folder.close();
  folder.remove();
});

/** Adds the stream to the database, with these of its blobs on disk. */
async function list(onDisk: readonly string[]): Promise<void> {
  const { descriptor, sdHash } = made;
  await folder.database.addStream({
    descriptor,
    sdHash,
    sdLengthBytes: network.get(sdHash)!.length,
    addedOn: NOW_SEC,
    isMine: false,
  });
  for (const hash of onDisk) await folder.store.write(hash, network.get(hash)!);
  await manager.add({
    streamHash: descriptor.streamHash,
    place: null,
    status: 'stopped',
    isSaved: false,
    contentFee: null,
    addedOn: NOW_SEC,
  });
}

/** Adds a claim to the file that states this size. */
async function claimSays(size: number): Promise<void> {
  const outpoint = `${'01'.repeat(32)}:0`;
  const sdHash = Buffer.from(made.sdHash, 'hex');
  const message = create(ClaimSchema, {
    type: { case: 'stream', value: { source: { sdHash, size: BigInt(size), name: 'film.mp4' } } },
  });
  const claim = { claim: message, channelId: null, signature: null };
  await folder.database.saveClaims([
    {
      outpoint,
      claimId: 'aa'.repeat(20),
      name: 'film',
      amountDewies: 1n,
      height: 1,
      value: encodeClaim(claim as unknown as Parameters<typeof encodeClaim>[0]).toString('hex'),
      channelClaimId: null,
      address: '',
    },
  ]);
  expect(await folder.database.tieClaim(made.descriptor.streamHash, outpoint)).toBeNull();
  await manager.reload(made.descriptor.streamHash);
}

const open = async (mayDownload = true): Promise<PlayableStream> =>
  (await playing.open(made.sdHash, { mayDownload, signal }))!;

async function read(stream: PlayableStream, from: number, to: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of stream.read(from, to, signal)) pieces.push(piece);
  return Buffer.concat(pieces);
}

describe('a stream whose blobs are all stored', () => {
  it('returns exact bytes at every offset, near each end of a blob too', async () => {
    await list([made.sdHash, ...hashes]);
    const stream = await open();
    expect([stream.sizeBytes, stream.mimeType]).toEqual([SIZE_BYTES, 'video/mp4']);
    cachedBlobs = 4;
    const ranges: [number, number][] = [
      [0, SIZE_BYTES],
      [SIZE_BYTES - 1, SIZE_BYTES],
      [PIECE_BYTES - 1, 2 * PIECE_BYTES + 2],
    ];
    for (let blob = 0; blob <= 3; blob++)
      for (let by = -4; by <= 4; by++) {
        const at = Math.max(0, blob * PIECE_BYTES + by);
        ranges.push([at, at + 1], [at, at + 10], [Math.max(0, at - 10), at + 1]);
      }
    for (const [from, to] of ranges)
      expect([from, to, (await read(stream, from, to)).equals(bytes.subarray(from, to))]).toEqual([
        from,
        to,
        true,
      ]);
    expect(fetched).toEqual([]);
  });

  it.each([
    ['the chunk of its first byte', PIECE_BYTES + 70_000, 2 * 65_536 - 70_000],
    ['one chunk more if the first has few bytes', PIECE_BYTES + 65_536 - 100, 65_636],
  ])('reads for a seek %s, then more chunks, and each chunk once', async (_what, from, firstBytes) => {
    await list([made.sdHash, ...hashes]);
    const stream = await open();
    // The length of the last blob is known afterwards.
    await read(stream, 0, 1);
    const parts = vi.spyOn(BlobParts.prototype, 'read');
    const sizes: number[] = [];
    for await (const piece of stream.read(from, 2 * PIECE_BYTES, signal)) sizes.push(piece.length);
    expect(sizes.slice(0, 4)).toEqual([firstBytes, 131_072, 262_144, 262_144]);
    // The first read begins with the block before its first byte.
    const inOrder = parts.mock.calls.filter(([, count]) => count > 16);
    parts.mockRestore();
    const ends = inOrder.map(([at, count]) => at + count);
    expect(inOrder.slice(1).map(([at]) => at)).toEqual(ends.slice(0, -1));
  });

  it('is opened by its rows, and by its descriptor if the rows differ from it', async () => {
    await playing.warmUp();
    await list([made.sdHash, ...hashes]);
    const rows = (await folder.database.playable(made.sdHash))!;
    expect(rows.descriptor).toEqual(made.descriptor);
    expect([rows.sdLengthBytes, rows.sizeBytes]).toEqual([network.get(made.sdHash)!.length, null]);
    await folder.database.setStreamSize(made.descriptor.streamHash, SIZE_BYTES);
    expect((await folder.database.playable(made.sdHash))!.sizeBytes).toBe(SIZE_BYTES);
    expect(await folder.database.playable(hashes[0]!)).toBeNull();
    const database = (await loadSqlite()).open(join(folder.path, DATABASE_NAME));
    database.exec('update stream_blob set position = 1 - position where position < 2');
    database.close();
    expect(await folder.database.playable(made.sdHash)).toBeNull();
    expect((await read(await open(), 0, SIZE_BYTES)).equals(bytes)).toBe(true);
  });

  it('is running while it is read', async () => {
    await list([made.sdHash, ...hashes]);
    const file = (await manager.bySdHash(made.sdHash))!;
    const reading = (await open()).read(0, SIZE_BYTES, signal);
    await reading.next();
    await expect.poll(() => file.row.status).toBe('running');
    await reading.return(undefined);
  });

  it('does not change its row for a reader that leaves at once', async () => {
    await list([made.sdHash, ...hashes]);
    const file = (await manager.bySdHash(made.sdHash))!;
    const clock = new FakeClock();
    const briefly = new Playing({ manager, files: { ...files, clock } });
    const begin = async () => {
      const stream = (await briefly.open(made.sdHash, { mayDownload: false, signal }))!;
      const reading = stream.read(0, SIZE_BYTES, signal);
      await reading.next();
      return reading;
    };
    await (await begin()).return(undefined);
    await clock.advance(10_000);
    expect(file.row.status).toBe('stopped');
    const longer = await begin();
    await clock.advance(49);
    expect(file.row.status).toBe('stopped');
    await clock.advance(1);
    expect(file.row.status).toBe('running');
    await longer.return(undefined);
  });

  it('repairs a blob that is corrupt on disk, and returns none of its bytes', async () => {
    await list([made.sdHash, ...hashes]);
    const stream = await open();
    const [, second, third] = hashes;
    const corrupt = Buffer.from(network.get(second!)!);
    corrupt[1_000_000]! ^= 1;
    writeFileSync(folder.blobPath(second!), corrupt);
    truncateSync(folder.blobPath(third!), 100_000);
    expect((await read(stream, 0, SIZE_BYTES)).equals(bytes)).toBe(true);
    const wanted = fetched.filter(({ urgency }) => urgency === 'reader').map(({ hash }) => hash);
    expect(wanted).toEqual([second, third]);
    expect(readFileSync(folder.blobPath(second!)).equals(network.get(second!)!)).toBe(true);
  });

  it('is not listed under another hash', async () => {
    await list([]);
    expect(await playing.open(hashes[0]!, { mayDownload: true, signal })).toBeNull();
  });
});

describe('the size of a stream', () => {
  it('is that of the claim, without a blob', async () => {
    await list([]);
    await claimSays(SIZE_BYTES);
    expect((await open(false)).sizeBytes).toBe(SIZE_BYTES);
    expect((await open()).sizeBytes).toBe(SIZE_BYTES);
    expect(fetched).toEqual([]);
  });

  it.each([0, 1, SIZE_BYTES - 100, SIZE_BYTES + 100, 2 ** 40])(
    'is that of the last blob, if that of the claim is impossible: %i',
    async (size) => {
      await list([]);
      await claimSays(size);
      expect((await open(false)).sizeBytes).toBeNull();
      expect(fetched).toEqual([]);
      expect((await open()).sizeBytes).toBe(SIZE_BYTES);
      expect(fetched.map(({ hash }) => hash)).toEqual([hashes[3]]);
      // Later requests know the size.
      expect((await open(false)).sizeBytes).toBe(SIZE_BYTES);
    },
  );

  it('is determined if the claim is wrong by less than the padding', async () => {
    await list([made.sdHash, ...hashes]);
    await claimSays(SIZE_BYTES - 1);
    const stream = await open();
    expect(stream.sizeBytes).toBe(SIZE_BYTES - 1);
    await expect(read(stream, SIZE_BYTES - 10, SIZE_BYTES - 1)).rejects.toThrow('does not match its claim');
    expect((await open()).sizeBytes).toBe(SIZE_BYTES);
  });
});

describe('a stream that is not stored', () => {
  it('is downloaded in the order of its reader', async () => {
    await list([]);
    await claimSays(SIZE_BYTES);
    const stream = await open();
    const from = 2 * PIECE_BYTES + 5;
    expect((await read(stream, from, SIZE_BYTES)).equals(bytes.subarray(from))).toBe(true);
    expect(fetched.find(({ urgency }) => urgency === 'reader')!.hash).toBe(hashes[2]);
    expect(fetched.find(({ hash }) => hash === hashes[3])!.urgency).toBe('ahead');
    expect(fetched.some(({ hash }) => hash === hashes[0] || hash === hashes[1])).toBe(false);
    expect((await read(stream, 0, SIZE_BYTES)).equals(bytes)).toBe(true);
  });

  it('is not downloaded any more after its reader disconnected, while another reader continues', async () => {
    await list([]);
    await claimSays(SIZE_BYTES);
    held.add(hashes[0]!);
    const stream = await open();
    const leaving = new AbortController();
    const first = stream.read(0, 10, leaving.signal).next();
    const both = [first, stream.read(0, 10, signal).next()] as const;
    while (!fetched.some(({ hash }) => hash === hashes[0])) await new Promise((next) => setImmediate(next));
    const before = fetched.filter(({ hash }) => hash === hashes[0]);
    held.clear();
    leaving.abort(new Error('the player disconnected'));
    await expect(both[0]).rejects.toThrow('the player disconnected');
    const got = await both[1];
    expect(Buffer.from(got.value as Uint8Array).equals(bytes.subarray(0, 10))).toBe(true);
    expect(before[0]!.signal.aborted).toBe(true);
  });

  it('is not downloaded any more after it was deleted during the reading', async () => {
    await manager.start();
    for (const remove of [
      async () => manager.delete((await manager.bySdHash(made.sdHash))!, false),
      () => folder.store.deleteStream(made.descriptor.streamHash),
    ]) {
      fetched = [];
      await list([made.sdHash, hashes[0]!]);
      await claimSays(SIZE_BYTES);
      const reading = (await open()).read(0, SIZE_BYTES, signal);
      expect((await reading.next()).done).toBe(false);
      await remove();
      const rest = async (): Promise<void> => {
        for await (const _piece of reading);
      };
      await expect(rest()).rejects.toThrow('The file was deleted.');
      expect(fetched.every((request) => request.signal.aborted)).toBe(true);
      expect([...folder.store.finished]).toEqual([]);
      expect(await playing.open(made.sdHash, { mayDownload: true, signal })).toBeNull();
    }
  });

  it('ends its readers when it is stopped, and is read again afterwards', async () => {
    await list([]);
    await claimSays(SIZE_BYTES);
    held.add(hashes[1]!);
    const reading = (await open()).read(0, SIZE_BYTES, signal);
    expect((await reading.next()).done).toBe(false);
    const file = (await manager.bySdHash(made.sdHash))!;
    const rest = async (): Promise<void> => {
      for await (const _piece of reading);
    };
    const ended = expect(rest()).rejects.toThrow('The download was stopped.');
    await file.stop();
    await ended;
    expect(file.row.status).toBe('stopped');
    expect(fetched.filter(({ hash }) => hash === hashes[1]).every((one) => one.signal.aborted)).toBe(true);
    held.clear();
    expect((await read(await open(), 0, SIZE_BYTES)).equals(bytes)).toBe(true);
  });

  it('rejects with the reason when the reader disconnects during a download', async () => {
    await list([]);
    await claimSays(SIZE_BYTES);
    for (const hash of hashes) held.add(hash);
    const leaving = new AbortController();
    const reading = (await open()).read(0, SIZE_BYTES, leaving.signal).next();
    while (fetched.length < 4) await new Promise((next) => setImmediate(next));
    leaving.abort(new Error('the player disconnected'));
    await expect(reading).rejects.toThrow('the player disconnected');
    expect(fetched.every((one) => one.signal.aborted)).toBe(true);
  });

  it('is played and saved without blobs on disk if blobs are not saved', async () => {
    folder.savesBlobs = false;
    await list([]);
    await claimSays(SIZE_BYTES);
    expect((await read(await open(), 0, SIZE_BYTES)).equals(bytes)).toBe(true);
    const file = (await manager.bySdHash(made.sdHash))!;
    await file.save({ directory: folder.path, fileName: 'saved' });
    await file.settled();
    expect(readFileSync(join(folder.path, 'saved')).equals(bytes)).toBe(true);
    expect([file.row.status, file.isCompleted, await manager.blobsCompleted(file)]).toEqual([
      'finished',
      true,
      0,
    ]);
    expect([readdirSync(folder.blobFolder), folder.store.finished.size]).toEqual([[], 0]);
    expect(folder.store.heldCount).toBeLessThanOrEqual(hashes.length);
    const { totalBytes } = await folder.database.diskUsage();
    expect([totalBytes, await folder.database.dueForAnnouncement(false, 9, NOW_SEC + 1)]).toEqual([0, []]);
    // From now on, blobs are saved.
    folder.savesBlobs = true;
    expect((await read(await open(), 0, SIZE_BYTES)).equals(bytes)).toBe(true);
    await Promise.all([...hashes].map((hash) => folder.store.kept(hash)));
    expect(readdirSync(folder.blobFolder).sort()).toEqual([...hashes].sort());
    expect(await manager.blobsCompleted(file)).toBe(hashes.length);
  });

  // Mirrors `test_range_requests_with_blob_lru_cache` of lbry-sdk.
  it.each([
    [BLOB_COUNT, 0],
    [0, BLOB_COUNT],
  ])('is played again from a cache of %i blobs with %i downloads', async (cached, downloads) => {
    folder.savesBlobs = false;
    cachedBlobs = cached;
    await list([]);
    await claimSays(SIZE_BYTES);
    expect((await read(await open(), 0, SIZE_BYTES)).equals(bytes)).toBe(true);
    fetched = [];
    expect((await read(await open(), 0, SIZE_BYTES)).equals(bytes)).toBe(true);
    expect(new Set(fetched.map(({ hash }) => hash)).size).toBe(downloads);
  });

  it('creates its descriptor again from the rows, or downloads it', async () => {
    await list([made.sdHash, ...hashes]);
    unlinkSync(folder.blobPath(made.sdHash));
    const stream = await open();
    expect((await read(stream, 5, 500)).equals(bytes.subarray(5, 500))).toBe(true);
    expect(fetched).toEqual([]);
  });
});
