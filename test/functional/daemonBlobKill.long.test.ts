/**
 * Kills a process repeatedly while it writes blobs. Each acknowledged blob is complete, and no incomplete file counts as a blob.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { blobHashOf, isBlobHash } from '../../src/daemon/content/blobHash.js';
import { ContentFolder } from '../support/contentFolder.js';

const WRITER = fileURLToPath(new URL('support/blobWriter.mjs', import.meta.url));
const KILLS = 6;
/** Number of lines after which the writer is killed, different for each kill. */
const linesBefore = (kill: number): number => 2 + ((kill * 5) % 9);

interface Done {
  readonly hashes: readonly string[];
  readonly stream?: string;
}

let folder: ContentFolder;
beforeEach(() => {
  folder = new ContentFolder();
});
afterEach(async () => {
  await folder.threads.close();
  folder.remove();
});

/** The blobs that were acknowledged before the kill. */
async function writeUntilKilled(lines: number, ...mode: string[]): Promise<Done[]> {
  const child = spawn(process.execPath, [WRITER, folder.path, ...mode], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const done: Done[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    done.push(JSON.parse(line) as Done);
    if (done.length === lines) child.kill('SIGKILL');
  }
  const [, signal] = (await exited) as [number | null, NodeJS.Signals | null];
  expect(signal).toBe('SIGKILL');
  return done;
}

it('loses no acknowledged blob, and never treats a partial blob as complete', async () => {
  const acknowledged = new Set<string>();
  const streams = new Set<string>();
  for (let kill = 0; kill < KILLS; kill++) {
    for (const { hashes, stream } of await writeUntilKilled(linesBefore(kill))) {
      for (const hash of hashes) acknowledged.add(hash);
      if (stream !== undefined) streams.add(stream);
    }
    const blobNames = (): string[] => readdirSync(folder.blobFolder).filter(isBlobHash);
    for (const name of blobNames()) expect(blobHashOf(readFileSync(folder.blobPath(name))), name).toBe(name);
    await folder.open();
    // The start removes the blobs of a stream whose making was interrupted.
    expect([...folder.store.finished].sort()).toEqual(blobNames().sort());
    expect([...acknowledged].filter((hash) => !folder.store.finished.has(hash))).toEqual([]);
    for (const stream of streams)
      expect((await folder.database.blobsOfStream(stream)).map(({ isFinished }) => isFinished)).toEqual([
        true,
        true,
        true,
        false,
      ]);
    expect(readdirSync(folder.blobFolder).filter((name) => !isBlobHash(name))).toEqual([]);
    expect(folder.warnings).toEqual([]);
    await folder.close();
  }
  expect(streams.size).toBeGreaterThan(2);
});

it('creates each acknowledged blob from its file, and offers no blob that it cannot create', async () => {
  const acknowledged = new Set<string>();
  for (let kill = 0; kill < KILLS / 2; kill++) {
    for (const { hashes } of await writeUntilKilled(linesBefore(kill) + 2, 'made'))
      for (const hash of hashes) acknowledged.add(hash);
    await folder.open();
    expect([...acknowledged].filter((hash) => !folder.store.finished.has(hash))).toEqual([]);
    for (const hash of folder.store.finished) expect(blobHashOf((await folder.store.read(hash))!)).toBe(hash);
    expect(folder.warnings).toEqual([]);
    await folder.close();
  }
  await folder.open();
  expect(folder.store.originals.size).toBeGreaterThan(0);
  await folder.store.restore(null);
  expect([folder.store.originals.size, folder.store.originals.madeBytes]).toEqual([0, 0]);
  const names = new Set(readdirSync(folder.blobFolder));
  expect([...acknowledged].filter((hash) => !names.has(hash))).toEqual([]);
  await folder.close();
});
