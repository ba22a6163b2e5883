/**
 * The library after the loss of its database: it is rebuilt from blobs and a hub, also over restarts, and without deleting a
 * blob.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { create } from '@bufbuild/protobuf';
import { systemClock } from '../../../../src/daemon/base/clock.js';
import { ledgerParams } from '../../../../src/daemon/base/ledgerParams.js';
import { BlobThreads } from '../../../../src/daemon/blobs/blobThreads.js';
import { DiskSpace } from '../../../../src/daemon/blobs/diskSpace.js';
import { makeStream, type MadeStream } from '../../../../src/daemon/blobs/makeStream.js';
import { blobHashOf, PIECE_BYTES } from '../../../../src/daemon/content/blobHash.js';
import { FileManager } from '../../../../src/daemon/files/fileManager.js';
import { LibraryRebuild, type ClaimFinder } from '../../../../src/daemon/files/libraryRebuild.js';
import { Txo } from '../../../../src/daemon/txo/txo.js';
import { encodeClaim } from '../../../../src/metadata/claim.js';
import { ClaimSchema } from '../../../../src/metadata/messages/claim_pb.js';
import { buildClaimPrefix } from '../../../../src/script/claimScript.js';
import { ContentFolder } from '../../../support/contentFolder.js';
import { keepDatabaseThread } from '../../../support/databaseThread.js';

keepDatabaseThread();

const threads = new BlobThreads(2);
let folder: ContentFolder;
let manager: FileManager;
let library: LibraryRebuild;
let stopping: AbortController;
/** Claims that the hub returns for a descriptor. */
let claims: Map<string, Txo[]>;
let questions: number;
let walletRuns: boolean;
let hubFails: boolean;
const reported: string[] = [];

const finder: ClaimFinder = {
  params: ledgerParams('lbc_regtest'),
  accountIds: [],
  resolver: {
    search: (query) => {
      questions++;
      if (hubFails) return Promise.reject(new Error('no hub'));
      const rows = (query['sd_hash'] as string[]).flatMap((sdHash) => claims.get(sdHash) ?? []);
      return Promise.resolve({ rows, offset: 0, total: rows.length, blocked: [], blockedTotal: 0 } as never);
    },
  },
};

async function start(): Promise<void> {
  await folder.open();
  stopping = new AbortController();
  const files = {
    database: folder.database,
    blobs: folder.store,
    fetcher: () => null,
    reflector: () => null,
    clock: { ...systemClock, after: (_: number, task: () => void) => systemClock.after(1, task) },
    log: { warn: (text: string) => reported.push(text), info: (text: string) => reported.push(text) },
    settings: () => ({
      downloadDir: join(folder.path, 'downloads'),
      savesFiles: false,
      downloadTimeoutMs: 60_000,
      blobTimeoutMs: 60_000,
      cachedBlobs: 0,
    }),
  };
  manager = new FileManager(files);
  await manager.start();
  library = new LibraryRebuild({
    manager,
    files,
    finder: () => (walletRuns ? finder : null),
    signal: stopping.signal,
  });
}

async function stop(): Promise<void> {
  stopping.abort(new Error('the daemon is stopping'));
  await library.close();
  await manager.close();
  await folder.close();
}

beforeEach(async () => {
  folder = new ContentFolder(threads);
  claims = new Map();
  questions = 0;
  [walletRuns, hubFails] = [true, false];
  reported.length = 0;
  await start();
});
afterEach(async () => {
  await stop();
  folder.remove();
});
afterAll(() => threads.close());

async function publish(name: string, size: number): Promise<MadeStream & { readonly bytes: Buffer }> {
  const bytes = randomBytes(size);
  const path = join(folder.path, name);
  writeFileSync(path, bytes);
  return { ...(await makeStream(path, folder.making)), bytes };
}

function claimOf(made: MadeStream, name: string, notes: Partial<Txo['notes']>): Txo {
  const source = {
    sdHash: Buffer.from(made.sdHash, 'hex'),
    hash: Buffer.from(made.fileHash, 'hex'),
    size: BigInt(made.sizeBytes),
    name,
  };
  const message = create(ClaimSchema, { type: { case: 'stream', value: { source } } });
  const value = encodeClaim({ claim: message, channelId: null, signature: null } as never);
  const payment = Buffer.from(`76a914${'11'.repeat(20)}88ac`, 'hex');
  const script = Buffer.concat([buildClaimPrefix(Buffer.from(name), value), payment]);
  const facts = {
    txid: randomBytes(32),
    nout: 0,
    height: 10,
    amountDewies: 1n,
    firstOutPoint: Buffer.alloc(36),
  };
  return new Txo({ ...facts, script }, notes);
}

/** Stops, deletes the files of the database, and starts again. */
async function lose(...names: string[]): Promise<void> {
  await stop();
  for (const name of names)
    for (const suffix of ['', '-wal', '-shm']) rmSync(join(folder.path, name + suffix), { force: true });
  await start();
}

const all = () => manager.find({ filter: {} });

describe('a lost library', () => {
  it.each([['lbrynet.sqlite'], ['lbrynet.sqlite', 'lbcnet.sqlite']])(
    'is restored from blobs and claims: %s',
    async (...lost: string[]) => {
      const own = await publish('own film.mp4', 2 * PIECE_BYTES + 7);
      const other = await publish('other.txt', 500);
      const unknown = await publish('unknown.txt', 600);
      const stray = randomBytes(3000);
      await folder.store.write(blobHashOf(stray), stray);
      const fake = Buffer.from('{"blobs": "none"}');
      await folder.store.write(blobHashOf(fake), fake);
      const before = readdirSync(folder.blobFolder).sort();
      claims.set(own.sdHash, [
        claimOf(own, 'copied', { meta: { creation_height: 1 } }),
        claimOf(own, 'own', { isMyOutput: true, meta: { creation_height: 9 } }),
      ]);
      claims.set(other.sdHash, [
        claimOf(other, 'late', { meta: { creation_height: 7 } }),
        claimOf(other, 'first', { meta: { creation_height: 5 } }),
      ]);
      mkdirSync(join(folder.path, 'downloads'));
      writeFileSync(join(folder.path, 'downloads', 'other.txt'), other.bytes);
      writeFileSync(join(folder.path, 'downloads', 'unknown.txt'), other.bytes);
      await lose(...lost);
      expect(await all()).toEqual([]);
      await library.start();
      const found = (await all()).map(({ row, place }) => [
        row.streamName,
        row.sdHash,
        row.claim?.name ?? null,
        row.status,
        place?.fileName ?? null,
      ]);
      expect(found.sort()).toEqual([
        ['other.txt', other.sdHash, 'first', 'finished', 'other.txt'],
        ['own film.mp4', own.sdHash, 'own', 'stopped', null],
        ['unknown.txt', unknown.sdHash, null, 'stopped', null],
      ]);
      const files = await all();
      expect(await Promise.all(files.map((file) => manager.blobsCompleted(file)))).toEqual(
        files.map(({ row }) => row.blobsInStream),
      );
      expect(reported.join('\n')).toContain(
        '3 streams and 3 files from their descriptors, 2 claims from the hub',
      );
      const missing = reported.find((text) => text.startsWith('Not restored'));
      expect(missing).toContain(`no claim was found for the streams ${unknown.sdHash}`);
      expect(missing).toContain(`the descriptors ${blobHashOf(fake)} could not be read`);
      expect(missing).toContain('2 blobs belong to no stream');
      // Cleaning with the default limits deletes nothing. A lower limit could delete only the two blobs that are known to be of
      // other publishers.
      const { database, store } = folder;
      const log = { info: () => undefined, warn: () => undefined };
      await new DiskSpace({ database, store, log, limits: () => ({ contentMib: 0, networkMib: 0 }) }).clean();
      expect(readdirSync(folder.blobFolder).sort()).toEqual(before);
      expect((await database.removableContent(100)).length).toBe(2);
      const asked = questions;
      await lose();
      await library.start();
      expect([questions, manager.count]).toEqual([asked, 3]);
    },
  );

  it('is rebuilt completely after the daemon was stopped meanwhile', async () => {
    const made = await publish('film.mp4', 100);
    claims.set(made.sdHash, [claimOf(made, 'film', { isMyOutput: true })]);
    walletRuns = false;
    await lose('lbrynet.sqlite');
    void library.start();
    while (manager.count === 0) await new Promise((next) => setImmediate(next));
    await lose();
    expect((await all()).map(({ row }) => row.claim)).toEqual([null]);
    hubFails = true;
    walletRuns = true;
    const rebuilt = library.start();
    while (questions < 3) await new Promise((next) => setImmediate(next));
    hubFails = false;
    await rebuilt;
    expect((await all()).map(({ row }) => row.claim?.name)).toEqual(['film']);
    expect(await folder.database.isLibraryLost()).toBe(false);
  });

  it('contains streams whose blobs are created from the published file', async () => {
    folder.keepsBlobs = false;
    const made = await publish('film.mp4', 3 * PIECE_BYTES);
    claims.set(made.sdHash, [claimOf(made, 'film', { isMyOutput: true })]);
    await lose('lbrynet.sqlite');
    await library.start();
    const [file] = await all();
    expect([file!.row.status, file!.place?.fileName, await manager.blobsCompleted(file!)]).toEqual([
      'finished',
      'film.mp4',
      3,
    ]);
    const { blobHash } = made.descriptor.blobs[1]!;
    expect(blobHashOf((await folder.store.read(blobHash!))!)).toBe(blobHash);
  });

  it('is rebuilt on demand in addition to existing rows', async () => {
    const kept = await publish('kept', 100);
    const added = await publish('added', 200);
    await folder.database.addFile({
      streamHash: kept.descriptor.streamHash,
      place: null,
      status: 'stopped',
      isSaved: false,
      contentFee: null,
      addedOn: 1,
    });
    await manager.reload(kept.descriptor.streamHash);
    claims.set(added.sdHash, [claimOf(added, 'added', {})]);
    expect(await library.run()).toEqual({
      streams: 0,
      files: 1,
      claims: 1,
      withoutClaim: [kept.sdHash],
      unreadable: [],
      blobsOfNoStream: 0,
    });
    // The database had the rows of these streams, so it is known that their blobs are own blobs.
    expect(await folder.database.removableContent(100)).toEqual([]);
  });

  it('contains no stream with a corrupt descriptor', async () => {
    const made = await publish('film.mp4', 100);
    truncateSync(folder.blobPath(made.sdHash), 300);
    await lose('lbrynet.sqlite');
    expect(await library.run()).toMatchObject({ streams: 0, files: 0 });
    expect(readFileSync(`${folder.blobPath(made.sdHash)}.damaged`).length).toBe(300);
  });
});
