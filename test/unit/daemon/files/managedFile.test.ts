/** States of files: saved, stopped, read, interrupted, and continued at the next start. The test decides when blobs arrive. */
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { create } from '@bufbuild/protobuf';
import { BlobThreads } from '../../../../src/daemon/blobs/blobThreads.js';
import { makeStream, type MadeStream } from '../../../../src/daemon/blobs/makeStream.js';
import type { FileStatus } from '../../../../src/daemon/content/rows.js';
import type { BlobFetcher, FetchOptions } from '../../../../src/daemon/exchange/ports.js';
import { FileManager } from '../../../../src/daemon/files/fileManager.js';
import type { ManagedFile } from '../../../../src/daemon/files/managedFile.js';
import type * as outputs from '../../../../src/daemon/files/outputs.js';
import { dataBlobs } from '../../../../src/daemon/files/streamReader.js';
import { encodeClaim } from '../../../../src/metadata/claim.js';
import { ClaimSchema } from '../../../../src/metadata/messages/claim_pb.js';
import { ContentFolder, NOW_SEC } from '../../../support/contentFolder.js';
import { FakeClock } from '../../../support/fakeClock.js';
import { keepDatabaseThread } from '../../../support/databaseThread.js';

keepDatabaseThread();

/** While this is set, reading the sizes of saved files does not complete. */
const slowLooks = vi.hoisted(() => ({ until: null as Promise<void> | null }));
vi.mock('../../../../src/daemon/files/outputs.js', async (importOriginal) => {
  const original = await importOriginal<typeof outputs>();
  const outputSize: typeof outputs.outputSize = async (place) => {
    const { until: end } = slowLooks;
    const size = await original.outputSize(place);
    await end;
    return size;
  };
  return { ...original, outputSize };
});

const PIECE_BYTES = 2_097_151;
const bytes = randomBytes(PIECE_BYTES + 1000);
const BLOB_TIMEOUT_MS = 3000;
const DOWNLOAD_TIMEOUT_MS = 20_000;
const threads = new BlobThreads(2);

let source: ContentFolder;
let made: MadeStream;
let hashes: string[];
const network = new Map<string, Buffer>();

let folder: ContentFolder;
let clock: FakeClock;
let manager: FileManager;
/** Blobs that do not arrive until the test releases them. */
let held: Map<string, () => void>;
let wanted: string[];
let downloadDir: string;

const fetcher: BlobFetcher = {
  async fetchBlob(hash: string, _lengthBytes: number | null, { signal }: FetchOptions) {
    wanted.push(hash);
    if (held.has(hash))
      await new Promise<void>((resolve, reject) => {
        held.set(hash, resolve);
        signal.addEventListener('abort', () => reject(signal.reason as Error));
        if (signal.aborted) reject(signal.reason as Error);
      });
    signal.throwIfAborted();
    const blob = network.get(hash)!;
    await folder.store.write(hash, blob);
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

function openManager(): FileManager {
  return new FileManager({
    database: folder.database,
    blobs: folder.store,
    fetcher: () => fetcher,
    reflector: () => null,
    clock,
    log: { warn: (text: string) => folder.warnings.push(text), info: () => undefined },
    settings: () => ({
      downloadDir,
      savesFiles: false,
      downloadTimeoutMs: DOWNLOAD_TIMEOUT_MS,
      blobTimeoutMs: BLOB_TIMEOUT_MS,
      cachedBlobs: 0,
    }),
  });
}

beforeEach(async () => {
  [held, wanted] = [new Map(), []];
  folder = new ContentFolder(threads);
  await folder.open();
  downloadDir = join(folder.path, 'films');
  clock = new FakeClock(NOW_SEC);
  manager = openManager();
});
afterEach(async () => {
  await manager.close();
  await folder.close();
  folder.remove();
});

/** Adds a file of the stream without any of its blobs. */
async function add(status: FileStatus = 'stopped'): Promise<ManagedFile> {
  const { descriptor, sdHash } = made;
  const sdLengthBytes = network.get(sdHash)!.length;
  await folder.database.addStream({ descriptor, sdHash, sdLengthBytes, addedOn: NOW_SEC, isMine: false });
  await folder.store.write(sdHash, network.get(sdHash)!);
  return manager.add({
    streamHash: descriptor.streamHash,
    place: null,
    status,
    isSaved: false,
    contentFee: null,
    addedOn: NOW_SEC,
  });
}

const hold = (hash: string): void => void held.set(hash, () => undefined);
/** The row of the file in the database. */
async function stored() {
  const row = await folder.database.file(made.descriptor.streamHash);
  const { status, fileName, directory, isSaved } = row!;
  return { status, fileName, directory, isSaved };
}
const NOWHERE = { fileName: null, directory: null, isSaved: false };
const names = (): string[] => (existsSync(downloadDir) ? readdirSync(downloadDir).sort() : []);
/** Puts a folder in the place of a saved file. It cannot be removed like a file. */
function makeUnremovable(name: string): string {
  const path = join(downloadDir, name);
  rmSync(path);
  mkdirSync(path);
  return path;
}
/** Waits for work on disk and in threads until the condition is true. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

describe('a file that is saved', () => {
  it('is running until its last byte is on disk, then finished', async () => {
    const file = await add();
    hold(hashes[1]!);
    await file.save({});
    expect(await stored()).toEqual({
      status: 'running',
      fileName: 'film.mp4',
      directory: downloadDir,
      isSaved: false,
    });
    expect([file.isRunning, file.isSaving, file.isCompleted, file.writtenBytes]).toEqual([
      true,
      true,
      false,
      PIECE_BYTES,
    ]);
    await until(() => wanted.includes(hashes[1]!));
    held.get(hashes[1]!)!();
    await file.settled();
    expect(await stored()).toMatchObject({ status: 'finished', fileName: 'film.mp4', isSaved: true });
    expect([file.isRunning, file.isSaving, file.isCompleted]).toEqual([false, false, true]);
    expect(readFileSync(join(downloadDir, 'film.mp4')).equals(bytes)).toBe(true);
  });

  it('is written to the given name and folder, next to existing files', async () => {
    const file = await add();
    const elsewhere = join(folder.path, 'deep', 'down');
    for (const wantedName of ['a.mp4', 'a_1.mp4', 'a_2.mp4']) {
      await file.save({ fileName: 'a.mp4', directory: elsewhere });
      await file.settled();
      expect(file.place).toEqual({ fileName: wantedName, directory: elsewhere });
    }
    expect(readdirSync(elsewhere).sort()).toEqual(['a.mp4', 'a_1.mp4', 'a_2.mp4']);
    // Without a new folder and name, the present ones are used.
    await file.save({});
    await file.settled();
    expect(file.place).toEqual({ fileName: 'a_2_1.mp4', directory: elsewhere });
  });

  it('stays in its folder, whatever the name is', async () => {
    const file = await add();
    await file.save({ fileName: '../../outside.mp4' });
    await file.settled();
    expect(names()).toEqual(['outside.mp4']);
  });

  it('is deleted when it is stopped, and its blobs are kept', async () => {
    const file = await add();
    hold(hashes[1]!);
    await file.save({});
    await file.stop();
    expect(await stored()).toEqual({ status: 'stopped', ...NOWHERE });
    expect([names(), file.writtenBytes, file.isSaving]).toEqual([[], null, false]);
    expect(folder.store.finished.has(hashes[0]!)).toBe(true);
    held.clear();
    wanted = [];
    await file.save({});
    await file.settled();
    expect([names(), wanted.includes(hashes[0]!)]).toEqual([['film.mp4'], false]);
  });

  it('is saved once if several saves begin at the same time', async () => {
    const file = await add();
    const outcomes = await Promise.allSettled(
      ['a.mp4', 'b.mp4', 'c.mp4'].map((fileName) => file.save({ fileName })),
    );
    await file.settled();
    expect(outcomes.at(-1)!.status).toBe('fulfilled');
    expect(names()).toEqual(['c.mp4']);
    expect(await stored()).toMatchObject({ status: 'finished', fileName: 'c.mp4', isSaved: true });
    expect(file.isCompleted).toBe(true);
  });

  it('leaves nothing if it is deleted while a save begins', async () => {
    const file = await add();
    const saves = [file.save({}), file.save({ fileName: 'b.mp4' })];
    await Promise.all([manager.delete(file, true), Promise.allSettled(saves)]);
    await expect(file.save({ fileName: 'c.mp4' })).rejects.toThrow('The file was deleted.');
    expect(names()).toEqual([]);
    expect(readdirSync(folder.blobFolder)).toEqual([]);
  });

  it('is replaced by a later save', async () => {
    const file = await add();
    hold(hashes[1]!);
    await file.save({ fileName: 'first.mp4' });
    held.clear();
    await file.save({ fileName: 'second.mp4' });
    await file.settled();
    expect([names(), await stored()]).toEqual([
      ['second.mp4'],
      { status: 'finished', fileName: 'second.mp4', directory: downloadDir, isSaved: true },
    ]);
  });

  it('is stopped if a later blob does not arrive in time', async () => {
    const file = await add();
    hold(hashes[1]!);
    await file.save({});
    await until(() => wanted.filter((hash) => hash === hashes[1]).length > 0);
    // The time limit of a blob starts when the previous blob is on disk.
    await until(() => file.writtenBytes === PIECE_BYTES);
    while (file.isSaving) await clock.advance(10 * BLOB_TIMEOUT_MS);
    await file.settled();
    await until(() => file.row.status === 'stopped');
    expect(await stored()).toEqual({ status: 'stopped', ...NOWHERE });
    expect([names(), folder.warnings.join()]).toEqual([
      [],
      expect.stringContaining('did not arrive in time') as string,
    ]);
  });

  it('is stopped if its caller aborts before the first blob', async () => {
    const file = await add();
    hold(hashes[0]!);
    const caller = new AbortController();
    const saving = file.save({}, caller.signal);
    await until(() => wanted.includes(hashes[0]!));
    caller.abort(new Error('too late'));
    await expect(saving).rejects.toThrow('too late');
    await until(() => file.row.status === 'stopped');
    expect([await stored(), names()]).toEqual([{ status: 'stopped', ...NOWHERE }, []]);
  });

  it('is stopped if its first blob does not arrive in time, before the caller gets the error', async () => {
    const file = await add();
    hold(hashes[0]!);
    const saving = file.saveInTime({});
    await until(() => wanted.includes(hashes[0]!));
    await clock.advance(BLOB_TIMEOUT_MS);
    expect(file.isSaving).toBe(true);
    const states: unknown[] = [];
    const outcome = saving.catch((error: Error) => {
      states.push(file.isSaving, file.row.status, names());
      return error;
    });
    await clock.advance(DOWNLOAD_TIMEOUT_MS - BLOB_TIMEOUT_MS);
    expect(await outcome).toMatchObject({
      name: 'DownloadDataTimeoutError',
      message: `Failed to download data blobs for sd hash ${made.sdHash} within timeout.`,
    });
    expect(states).toEqual([false, 'stopped', []]);
    held.clear();
    await file.saveInTime({});
    await file.settled();
    expect(await stored()).toMatchObject({ status: 'finished', isSaved: true });
  });

  it('is not started if its caller has aborted before', async () => {
    const file = await add();
    hold(hashes[0]!);
    await expect(file.save({}, AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late');
    expect([file.isSaving, await stored(), names()]).toEqual([false, { status: 'stopped', ...NOWHERE }, []]);
  });

  it('is not started if the folder cannot be created', async () => {
    const file = await add();
    writeFileSync(join(folder.path, 'plain'), '');
    await expect(file.save({ directory: join(folder.path, 'plain', 'films') })).rejects.toMatchObject({
      name: 'EnvironmentError',
    });
    expect([await stored(), file.isSaving]).toEqual([{ status: 'stopped', ...NOWHERE }, false]);
  });

  it('continues at the next start after the daemon was stopped', async () => {
    const file = await add();
    hold(hashes[1]!);
    await file.save({ fileName: 'later.mp4' });
    await manager.close();
    expect([names(), await stored()]).toEqual([
      [],
      { status: 'running', fileName: 'later.mp4', directory: downloadDir, isSaved: false },
    ]);
    held.clear();
    manager = openManager();
    await manager.start();
    const again = (await manager.bySdHash(made.sdHash))!;
    await until(() => again.isSaving || again.row.status === 'finished');
    await again.settled();
    expect([names(), (await stored()).status]).toEqual([['later.mp4'], 'finished']);
  });

  it.each<[string, Buffer, string[]]>([
    ['what a killed daemon left', bytes.subarray(0, 100_000), ['film.mp4']],
    ['an empty file', Buffer.alloc(0), ['film.mp4']],
    [
      'a file whose first blob was not written before the kill',
      Buffer.concat([Buffer.alloc(PIECE_BYTES), bytes.subarray(PIECE_BYTES, PIECE_BYTES + 500)]),
      ['film.mp4'],
    ],
    ['a file of zeros', Buffer.alloc(PIECE_BYTES + 10), ['film.mp4', 'film_1.mp4']],
    [
      'a film that differs in the middle of its first blob',
      Buffer.concat([bytes.subarray(0, 70_000), Buffer.from('other'), bytes.subarray(70_005)]),
      ['film.mp4', 'film_1.mp4'],
    ],
    ['a film of somebody else', Buffer.from('my own film'), ['film.mp4', 'film_1.mp4']],
    [
      'a film that begins alike',
      Buffer.concat([bytes.subarray(0, 5000), Buffer.from('!')]),
      ['film.mp4', 'film_1.mp4'],
    ],
    ['a longer film', Buffer.concat([bytes, Buffer.from('!')]), ['film.mp4', 'film_1.mp4']],
  ])('is written next to or over an existing file: %s', async (_what, content, wantedNames) => {
    const file = await add();
    await file.save({});
    await file.settled();
    // The state that a kill leaves.
    await folder.database.setFilePlace(file.row.streamHash, file.place, false, 'running');
    writeFileSync(join(downloadDir, 'film.mp4'), content);
    manager = openManager();
    await manager.start();
    const again = (await manager.bySdHash(made.sdHash))!;
    await until(() => again.row.status === 'finished');
    expect(names()).toEqual(wantedNames);
    expect(readFileSync(join(downloadDir, wantedNames.at(-1)!)).equals(bytes)).toBe(true);
    if (wantedNames.length > 1)
      expect(readFileSync(join(downloadDir, 'film.mp4')).equals(content)).toBe(true);
  });
});

describe('a saved file that may not be on disk', () => {
  /** Makes the state that a crash leaves before the sync has ended. */
  async function crash(content: Buffer): Promise<void> {
    const file = await add();
    await file.save({});
    await file.settled();
    await manager.close();
    await folder.database.noteUnsynced(file.row.streamHash);
    writeFileSync(join(downloadDir, 'film.mp4'), content);
    manager = openManager();
  }
  const saved = (): Buffer => readFileSync(join(downloadDir, 'film.mp4'));

  it('is marked until it is on disk', async () => {
    const file = await add();
    hold(hashes[1]!);
    await file.save({});
    expect(await folder.database.unsynced()).toEqual([made.descriptor.streamHash]);
    held.get(hashes[1]!)!();
    await file.settled();
    await manager.close();
    expect(await folder.database.unsynced()).toEqual([]);
  });

  it.each<[string, Buffer]>([
    ['cut off', bytes.subarray(0, 1_000_000)],
    ['empty', Buffer.alloc(0)],
    ['zero at its end', Buffer.concat([bytes.subarray(0, bytes.length - 900), Buffer.alloc(900)])],
    ['too long', Buffer.concat([bytes, Buffer.alloc(5)])],
  ])('is saved again if a crash left it %s', async (_what, content) => {
    await crash(content);
    await manager.start();
    await manager.settled;
    const file = (await manager.bySdHash(made.sdHash))!;
    await file.settled();
    await manager.close();
    expect(saved().equals(bytes)).toBe(true);
    expect([names(), (await stored()).isSaved, await folder.database.unsynced()]).toEqual([
      ['film.mp4'],
      true,
      [],
    ]);
    expect(folder.warnings).toEqual([expect.stringContaining('It is saved again')]);
  });

  it('is not changed if it is complete, and if its blobs are missing', async () => {
    await crash(bytes);
    await manager.start();
    await manager.settled;
    expect([saved().equals(bytes), await folder.database.unsynced(), folder.warnings]).toEqual([
      true,
      [],
      [],
    ]);
    await folder.database.noteUnsynced(made.descriptor.streamHash);
    await folder.store.delete([hashes[0]!]);
    writeFileSync(join(downloadDir, 'film.mp4'), 'mine');
    await manager.close();
    manager = openManager();
    await manager.start();
    await manager.settled;
    expect(saved().toString()).toBe('mine');
  });

  it('keeps its blobs until it is on disk', async () => {
    let isThere: () => void = () => undefined;
    const settled = new Promise<void>((resolve) => (isThere = resolve));
    await add();
    folder.store.keepUntil(settled);
    const deleted = folder.store.delete([made.sdHash]);
    await folder.database.fileCount();
    expect(folder.store.finished.has(made.sdHash)).toBe(true);
    isThere();
    await deleted;
    expect(folder.store.finished.has(made.sdHash)).toBe(false);
  });
});

describe('a file that is read', () => {
  it('is running, and stopped two seconds after its last reader disconnected', async () => {
    const file = await add();
    const ends: (() => void)[] = [];
    const reader = (n: number) =>
      file.withReader(
        () =>
          new Promise<void>((resolve) => {
            ends[n] = resolve;
          }),
      );
    const reading = [reader(0), reader(1)];
    await until(() => ends[0] !== undefined && ends[1] !== undefined);
    expect(file.row.status).toBe('running');
    ends[0]!();
    await reading[0];
    await clock.advance(10_000);
    expect(file.row.status).toBe('running');
    ends[1]!();
    await reading[1];
    await clock.advance(1999);
    expect(file.row.status).toBe('running');
    const next = reader(2);
    await until(() => ends[2] !== undefined);
    await clock.advance(5000);
    expect(file.row.status).toBe('running');
    ends[2]!();
    await next;
    await clock.advance(2000);
    await until(() => file.row.status === 'stopped');
    expect((await stored()).status).toBe('stopped');
  });

  it('remains finished', async () => {
    const file = await add();
    await file.save({});
    await file.settled();
    await file.withReader(() => Promise.resolve());
    await clock.advance(10_000);
    expect([file.row.status, (await stored()).status]).toEqual(['finished', 'finished']);
  });

  it('remains running while it is being saved', async () => {
    const file = await add();
    hold(hashes[1]!);
    await file.save({});
    await file.withReader(() => Promise.resolve());
    await clock.advance(10_000);
    expect([file.row.status, file.isSaving]).toEqual(['running', true]);
  });

  it('is not running any more after its reader failed', async () => {
    const file = await add();
    await expect(file.withReader(() => Promise.reject(new Error('left')))).rejects.toThrow('left');
    await clock.advance(2000);
    await until(() => file.row.status === 'stopped');
  });
});

describe('a saved file', () => {
  it('has no name once it is deleted from the disk, and keeps its status', async () => {
    const file = await add();
    await file.save({});
    await file.settled();
    unlinkSync(join(downloadDir, 'film.mp4'));
    await file.lookAtOutput();
    expect([await stored(), file.place, file.isCompleted]).toEqual([
      { status: 'finished', ...NOWHERE },
      null,
      false,
    ]);
  });

  it('is complete after a save that began and ended during a check of its former path', async () => {
    const file = await add();
    let endLook = (): void => undefined;
    slowLooks.until = new Promise((resolve) => (endLook = resolve));
    const look = file.lookAtOutput();
    slowLooks.until = null;
    await file.save({});
    await file.settled();
    endLook();
    await look;
    expect([file.isCompleted, file.place?.fileName]).toEqual([true, 'film.mp4']);
  });

  it('is not complete if it is truncated', async () => {
    const file = await add();
    await file.save({});
    await file.settled();
    const { lower, upper } = file.bounds;
    expect([lower <= bytes.length && bytes.length < upper, upper - lower]).toEqual([true, 16]);
    truncateSync(join(downloadDir, 'film.mp4'), lower - 1);
    await file.lookAtOutput();
    expect([file.writtenBytes, file.isCompleted]).toEqual([lower - 1, false]);
  });

  it('is deleted with its entry only on request', async () => {
    const file = await add();
    await file.save({});
    await file.settled();
    await manager.delete(file, false);
    expect([names(), manager.count, folder.store.finished.size]).toEqual([['film.mp4'], 0, 0]);
    const again = await add();
    await again.save({ fileName: 'other.mp4' });
    await again.settled();
    await manager.delete(again, true);
    expect(names()).toEqual(['film.mp4']);
  });

  it('stays usable if its saved file cannot be removed', async () => {
    const file = await add();
    await file.save({});
    await file.settled();
    const path = makeUnremovable('film.mp4');
    await expect(manager.delete(file, true)).rejects.toThrow(
      `${path}: it is a folder where a file should be`,
    );
    rmSync(path, { recursive: true });
    writeFileSync(path, bytes);
    const again = (await manager.bySdHash(made.sdHash))!;
    expect([again.row.status, again.place?.fileName, manager.count]).toEqual(['finished', 'film.mp4', 1]);
    expect(folder.store.finished.size).toBe(hashes.length + 1);
    await again.save({ fileName: 'other.mp4' });
    await again.settled();
    expect(readFileSync(join(downloadDir, 'other.mp4')).equals(bytes)).toBe(true);
    await manager.delete(again, true);
    expect([names(), manager.count]).toEqual([['film.mp4'], 0]);
  });

  it('is stopped if its partial file cannot be removed, and the next save has a free name', async () => {
    const file = await add();
    hold(hashes[1]!);
    await file.save({});
    const path = makeUnremovable('film.mp4');
    await file.stop();
    expect(await stored()).toEqual({ status: 'stopped', ...NOWHERE });
    expect(folder.warnings.some((line) => line.includes(path))).toBe(true);
    held.clear();
    await file.save({});
    await file.settled();
    expect(names()).toEqual(['film.mp4', 'film_1.mp4']);
    expect(readFileSync(join(downloadDir, 'film_1.mp4')).equals(bytes)).toBe(true);
  });

  it('is not deleted while its claim is being sent', async () => {
    await manager.start();
    const file = await add('finished');
    const order: string[] = [];
    const release = manager.keepWhilePublishing(made.descriptor.streamHash);
    const deletions = [
      manager.delete(file, false),
      folder.store.deleteStream(made.descriptor.streamHash),
    ].map((deletion) => deletion.then(() => order.push('deleted')));
    for (let turn = 0; turn < 20; turn++) await folder.database.fileCount();
    expect(await folder.database.fileCount()).toBe(1);
    order.push('sent');
    release();
    await Promise.all(deletions);
    expect([order, manager.count]).toEqual([['sent', 'deleted', 'deleted'], 0]);
  });

  it('is deleted on request although its save was completed during the deletion', async () => {
    const file = await add();
    let written = 0;
    let deletion: Promise<void> | null = null;
    Object.defineProperty(file, 'writtenBytes', {
      get: () => written,
      set: (value: number) => {
        written = value;
        if (value === bytes.length) deletion = manager.delete(file, true);
      },
    });
    await file.save({});
    await file.settled();
    await deletion!;
    expect(names()).toEqual([]);
  });
});

describe('names', () => {
  it('equal those of the claim if the descriptor has none, and are safe on any disk', async () => {
    const file = await add();
    expect([file.streamName, file.suggestedFileName]).toEqual(['film.mp4', 'film.mp4']);
    const message = create(ClaimSchema, {
      type: { case: 'stream', value: { source: { name: ' CON/of:the*claim.mp4' } } },
    });
    const claim = { claim: message, channelId: null, signature: null };
    const value = encodeClaim(claim as unknown as Parameters<typeof encodeClaim>[0]).toString('hex');
    const tied = { outpoint: '', claimId: '', name: '', amountDewies: 1n, height: 1, address: '' };
    file.row = {
      ...file.row,
      streamName: ' ',
      suggestedFileName: '',
      claim: { ...tied, value, channelClaimId: null },
    };
    expect(file.streamName).toBe(' CON/of:the*claim.mp4');
    expect(file.suggestedFileName).not.toMatch(/[/:*]/);
    file.row = { ...file.row, claim: { ...file.row.claim!, value: 'ff' } };
    expect([file.streamName, file.suggestedFileName.length > 0]).toEqual(['', true]);
  });
});

describe('the start', () => {
  it('stops files that were running without being saved', async () => {
    await add('running');
    manager = openManager();
    await manager.start();
    expect([(await manager.bySdHash(made.sdHash))!.row.status, (await stored()).status]).toEqual([
      'stopped',
      'stopped',
    ]);
  });
});
