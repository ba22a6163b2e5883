// Writes blobs into a folder until it is killed, and prints a line for each acknowledged blob. Half of the blobs come from
// streams. With `made`, the blobs of streams are made from their files, and every other stream is restored.
import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BlobStore } from '../../../dist/daemon/blobs/blobStore.js';
import { BlobThreads } from '../../../dist/daemon/blobs/blobThreads.js';
import { makeStream } from '../../../dist/daemon/blobs/makeStream.js';
import { openContentDatabase } from '../../../dist/daemon/content/contentDatabase.js';

const [, , folder, mode] = process.argv;
const isMade = mode === 'made';
let number = 0;
const clock = { nowSec: () => Math.floor(Date.now() / 1000) };
const log = { warn: (text) => process.stderr.write(`${text}\n`), info: () => undefined };
const threads = new BlobThreads(2);
const database = openContentDatabase({ dataDir: folder, nowSec: clock.nowSec() }, () => undefined);
const store = new BlobStore({ folder: join(folder, 'blobfiles'), database, threads, clock, log });
await store.open();
await store.settled;

async function writeOne() {
  const bytes = randomBytes(300_000);
  const hash = createHash('sha384').update(bytes).digest('hex');
  await store.write(hash, bytes);
  process.stdout.write(`${JSON.stringify({ hashes: [hash] })}\n`);
}

async function writeStream() {
  const path = join(folder, isMade ? `source-${process.pid}-${number++}.bin` : 'source.bin');
  writeFileSync(path, randomBytes(5_000_000));
  const random = { bytes: randomBytes };
  const keepsBlobs = () => !isMade;
  // The next start removes a stream without a file.
  const onStored = ({ descriptor: { streamHash } }) =>
    database.addFile({
      streamHash,
      place: null,
      status: 'finished',
      isSaved: false,
      contentFee: null,
      addedOn: clock.nowSec(),
    });
  const { descriptor, sdHash } = await makeStream(path, {
    store,
    threads,
    database,
    clock,
    random,
    keepsBlobs,
    onStored,
  });
  const hashes = [sdHash, ...descriptor.blobs.slice(0, -1).map(({ blobHash }) => blobHash)];
  process.stdout.write(`${JSON.stringify({ hashes, stream: descriptor.streamHash })}\n`);
  if (isMade && number % 2 === 0) await store.restore(sdHash);
}

for (;;) {
  await Promise.all([writeOne(), writeOne(), writeOne()]);
  await writeStream();
}
