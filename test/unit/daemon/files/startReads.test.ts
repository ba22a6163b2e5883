/** A start reads no descriptor and no other blob, for any number of files. */
import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { systemClock } from '../../../../src/daemon/base/clock.js';
import { BlobFiles } from '../../../../src/daemon/blobs/blobFiles.js';
import { BlobThreads } from '../../../../src/daemon/blobs/blobThreads.js';
import { makeStream } from '../../../../src/daemon/blobs/makeStream.js';
import { FileManager } from '../../../../src/daemon/files/fileManager.js';
import { LibraryRebuild } from '../../../../src/daemon/files/libraryRebuild.js';
import { Playing } from '../../../../src/daemon/files/playing.js';
import { ContentFolder, NOW_SEC } from '../../../support/contentFolder.js';
import { keepDatabaseThread } from '../../../support/databaseThread.js';

keepDatabaseThread();

const FILES = 60;

/** Number of times that a blob was read, checked or made. */
let reads = 0;

class CountingFiles extends BlobFiles {
  override open(...args: Parameters<BlobFiles['open']>): ReturnType<BlobFiles['open']> {
    reads++;
    return super.open(...args);
  }

  override read(...args: Parameters<BlobFiles['read']>): ReturnType<BlobFiles['read']> {
    reads++;
    return super.read(...args);
  }
}

class CountingThreads extends BlobThreads {
  override make(...args: Parameters<BlobThreads['make']>): ReturnType<BlobThreads['make']> {
    reads++;
    return super.make(...args);
  }
}

const threads = new CountingThreads(2);
const folder = new ContentFolder(threads);
folder.files = new CountingFiles();
afterEach(async () => {
  await folder.close();
  await threads.close();
  folder.remove();
});

it(`reads no blob at a start with ${FILES} files, and one to play one of them`, async () => {
  await folder.open();
  const sdHashes: string[] = [];
  for (let n = 0; n < FILES; n++) {
    const path = join(folder.path, `file ${n}`);
    writeFileSync(path, randomBytes(100 + n));
    // For some streams the blobs are made from the file.
    folder.keepsBlobs = n % 3 !== 0;
    const { descriptor, sdHash } = await makeStream(path, folder.making);
    sdHashes.push(sdHash);
    const isSaved = n % 2 === 0;
    await folder.database.addFile({
      streamHash: descriptor.streamHash,
      place: isSaved ? { fileName: `file ${n}`, directory: folder.path } : null,
      status: isSaved ? 'finished' : 'stopped',
      isSaved,
      contentFee: null,
      addedOn: NOW_SEC,
    });
  }
  // Missing descriptors are not searched for either.
  rmSync(folder.blobPath(sdHashes[5]!));
  await folder.close();
  reads = 0;
  await folder.open();
  const files = {
    database: folder.database,
    blobs: folder.store,
    fetcher: () => null,
    reflector: () => null,
    clock: systemClock,
    log: { warn: (text: string) => folder.warnings.push(text), info: () => undefined },
    settings: () => ({
      downloadDir: folder.path,
      savesFiles: false,
      downloadTimeoutMs: 60_000,
      blobTimeoutMs: 60_000,
      cachedBlobs: 0,
    }),
  };
  const manager = new FileManager(files);
  await manager.start();
  const { signal } = new AbortController();
  await new LibraryRebuild({ manager, files, finder: () => null, signal }).start();
  await folder.store.originals.check();
  expect([manager.count, reads, folder.warnings]).toEqual([FILES, 0, []]);
  const playing = new Playing({ manager, files });
  for (const [n, wanted] of [
    [1, 1],
    [3, 2],
  ] as const) {
    const stream = (await playing.open(sdHashes[n]!, { mayDownload: false, signal }))!;
    let length = 0;
    for await (const piece of stream.read(0, 100 + n, signal)) length += piece.length;
    expect([length, reads]).toEqual([100 + n, wanted]);
  }
  await manager.close();
});
