// Downloads and saves a stream repeatedly until it is killed. A folder stands for the network.
import { readFile } from 'node:fs/promises';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../../dist/daemon/base/clock.js';
import { BlobStore } from '../../../dist/daemon/blobs/blobStore.js';
import { BlobThreads } from '../../../dist/daemon/blobs/blobThreads.js';
import { openContentDatabase } from '../../../dist/daemon/content/contentDatabase.js';
import { FileManager } from '../../../dist/daemon/files/fileManager.js';

const [, , folder, network, sdHash] = process.argv;
const log = { warn: () => undefined, info: () => undefined };
const threads = new BlobThreads(2);
const database = openContentDatabase({ dataDir: folder, nowSec: systemClock.nowSec() }, () => undefined);
const store = new BlobStore({
  folder: join(folder, 'blobfiles'),
  database,
  threads,
  clock: systemClock,
  log,
});
await store.open();
const manager = new FileManager({
  database,
  blobs: store,
  fetcher: () => ({
    fetchBlob: async (hash) => {
      const there = await store.read(hash);
      if (there !== null) return there;
      const blob = await readFile(join(network, hash));
      await store.receive(hash, blob);
      return blob;
    },
    progressOf: () => null,
  }),
  reflector: () => null,
  clock: systemClock,
  log,
  settings: () => ({
    downloadDir: join(folder, 'saved'),
    savesFiles: true,
    downloadTimeoutMs: 60_000,
    blobTimeoutMs: 60_000,
    cachedBlobs: 0,
  }),
});
process.stdout.write('begun\n');
await manager.start();
const file = await manager.bySdHash(sdHash);
for (;;) {
  await file.settled();
  await file.save({ fileName: 'killed.bin' });
  await file.settled();
  rmSync(join(folder, 'saved'), { recursive: true, force: true });
  const blobs = await database.blobsOfStream(file.row.streamHash);
  await store.delete(blobs.flatMap(({ hash }) => (hash === null ? [] : [hash])));
}
