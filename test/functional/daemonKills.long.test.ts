/**
 * Kills a daemon at random times during a publication, a download, a deletion and a change of settings. After the restart it has
 * everything that it acknowledged, and it offers only blobs that it has. `LBCNODE_FULL=1` kills 20 times in each case.
 */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blobHashOf, isBlobHash } from '../../src/daemon/content/blobHash.js';
import { ContentWorld, filesOf, type ListedFile } from './support/contentWorld.js';
import type { TestDaemon } from './support/daemon.js';
import { until } from './support/network.js';
import { freePort, HANG_MS } from './support/node.js';

const KILLS = process.env['LBCNODE_FULL'] === '1' ? 20 : 4;
const SEED = Number(process.env['LBCNODE_SEED'] ?? Date.now() % 1_000_000);
const FILM_BYTES = 9_000_000;

/** A number from 0 to 1 that depends only on the seed and the arguments. */
function fraction(...of: readonly (string | number)[]): number {
  return (
    createHash('sha256')
      .update([SEED, ...of].join())
      .digest()
      .readUInt32BE() /
    2 ** 32
  );
}

let world: ContentWorld;
let creator: TestDaemon;
let target: TestDaemon;
let film: Buffer;
let peerPort: number;

const blobFolder = (): string => join(target.folder, 'data', 'blobfiles');
const startTarget = () =>
  world.daemon('target', { settings: { fixed_peers: [`127.0.0.1:${peerPort}`], fixed_peer_delay: 0 } });

beforeAll(async () => {
  console.log(`LBCNODE_SEED=${SEED}`);
  world = await ContentWorld.start();
  peerPort = await freePort();
  creator = await world.daemon('creator', { args: [`--tcp-port=${peerPort}`] });
  target = await startTarget();
  await world.pay(creator, 5);
  await world.pay(target);
  film = randomBytes(FILM_BYTES);
  const path = join(world.folder, 'film.bin');
  writeFileSync(path, film);
  await creator.call('publish', { name: 'film', bid: '0.01', file_path: path, blocking: true });
  await world.mine(creator, target);
}, HANG_MS);

afterAll(async () => {
  await target?.stop();
  await creator?.stop();
  await world?.stop();
}, HANG_MS);

/** Compares the blobs that the killed daemon lists with its folder. Returns its listed files. */
async function checked(): Promise<readonly ListedFile[]> {
  const listed = await target.call<{ items: string[] }>('blob_list', { page_size: 1000 });
  const onDisk = readdirSync(blobFolder()).filter(isBlobHash);
  expect(listed.items.filter((hash) => !onDisk.includes(hash))).toEqual([]);
  for (const name of onDisk) expect(blobHashOf(readFileSync(join(blobFolder(), name)))).toBe(name);
  // A download that continues has temporary files.
  expect(readdirSync(blobFolder()).filter((name) => !name.endsWith('.part') && !isBlobHash(name))).toEqual(
    [],
  );
  for (const { download_path, status } of await filesOf(target))
    if (status === 'finished') expect(download_path === null || existsSync(download_path)).toBe(true);
  return filesOf(target);
}

async function bytesOf({ streaming_url }: ListedFile): Promise<Buffer> {
  return Buffer.from(await (await fetch(streaming_url)).arrayBuffer());
}

/** Runs a call, kills the daemon after a time and starts it again. Returns whether the call was acknowledged. */
async function killedDuring(call: () => Promise<unknown>, afterMs: number): Promise<boolean> {
  let isAcknowledged = false;
  const asked = call().then(
    () => (isAcknowledged = true),
    () => undefined,
  );
  await sleep(afterMs);
  await target.kill();
  await asked;
  target = await startTarget();
  return isAcknowledged;
}

/** Milliseconds of a call. */
async function durationOf(call: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await call();
  return performance.now() - from;
}

/** A moment during the call, or soon after it. */
const momentOf = (durationMs: number, ...of: readonly (string | number)[]): number =>
  durationMs * 1.2 * fraction(...of);

describe(`a daemon that is killed ${KILLS} times`, () => {
  it(
    'while it publishes has each acknowledged stream, and the blobs of each claim',
    { timeout: HANG_MS * KILLS },
    async () => {
      const publish = (n: number) => {
        const path = join(world.folder, `own-${n}.bin`);
        writeFileSync(path, randomBytes(FILM_BYTES));
        return target.call('publish', { name: `own-${n}`, bid: '0.001', file_path: path, blocking: true });
      };
      const ms = await durationOf(() => publish(-1));
      const acknowledged: string[] = ['own--1'];
      for (let n = 0; n < KILLS; n++) {
        if (await killedDuring(() => publish(n), momentOf(ms, 'publish', n))) acknowledged.push(`own-${n}`);
        await world.mine(target);
        const files = await checked();
        const names = files.map(({ claim_name }) => claim_name);
        expect(acknowledged.filter((name) => !names.includes(name))).toEqual([]);
        // A claim that was sent, acknowledged or not, has its stream.
        const { items } = await target.call<{
          items: { name: string; value: { source: { sd_hash: string } } }[];
        }>('stream_list', { page_size: 100 });
        for (const { name, value } of items) {
          const file = files.find(({ sd_hash }) => sd_hash === value.source.sd_hash);
          expect(file, name).toMatchObject({ status: 'finished', blobs_completed: 5, completed: true });
        }
        for (const file of files) {
          expect(file.blobs_completed).toBe(file.blobs_in_stream);
          const path = file.download_path!;
          expect((await bytesOf(file)).equals(readFileSync(path))).toBe(true);
        }
        // A publication without acknowledgement leaves no blob, unless it is listed as a file.
        await target.call('blob_clean');
        expect(readdirSync(blobFolder()).length).toBe(6 * files.length);
      }
      for (const { sd_hash } of await filesOf(target)) await target.call('file_delete', { sd_hash });
    },
  );

  it(
    'while it downloads finishes the file, and plays no wrong byte',
    { timeout: HANG_MS * KILLS },
    async () => {
      const get = () => target.call('get', { uri: 'film', save_file: true, timeout: 60 });
      const done = async () => {
        await until('the file is saved', async () => (await filesOf(target))[0]?.status === 'finished');
        return (await filesOf(target))[0]!;
      };
      const ms = await durationOf(async () => {
        await get();
        await done();
      });
      for (let n = 0; n < KILLS; n++) {
        for (const { sd_hash } of await filesOf(target))
          await target.call('file_delete', { sd_hash, delete_from_download_dir: true });
        const isAcknowledged = await killedDuring(get, momentOf(ms, 'get', n));
        const files = await checked();
        if (isAcknowledged) expect(files.length).toBe(1);
        // An acknowledged download continues by itself.
        if (!isAcknowledged) await get();
        const file = await done();
        expect(readFileSync(file.download_path!).equals(film)).toBe(true);
        expect(readdirSync(join(target.folder, 'files'))).toEqual(['film.bin']);
        expect(readdirSync(blobFolder()).filter((name) => !isBlobHash(name))).toEqual([]);
        expect((await bytesOf(file)).equals(film)).toBe(true);
      }
    },
  );

  it('while it deletes a file has all of it or nothing', { timeout: HANG_MS * KILLS }, async () => {
    const get = () => target.call('get', { uri: 'film', save_file: true, timeout: 60 });
    const remove = () => target.call('file_delete', { claim_name: 'film', delete_from_download_dir: true });
    const whole = async () => {
      await get();
      await until('the file is saved', async () => (await filesOf(target))[0]?.status === 'finished');
    };
    await whole();
    const ms = await durationOf(remove);
    for (let n = 0; n < KILLS; n++) {
      await whole();
      const isAcknowledged = await killedDuring(remove, momentOf(ms, 'delete', n));
      const files = await checked();
      const saved = readdirSync(join(target.folder, 'files'));
      if (isAcknowledged) expect(files).toEqual([]);
      if (files.length === 0) expect([saved, readdirSync(blobFolder())]).toEqual([[], []]);
      else expect((await bytesOf(files[0]!)).equals(film)).toBe(true);
    }
  });

  it(
    'while it replaces the file of a stream has one file of the claim',
    { timeout: HANG_MS * KILLS },
    async () => {
      const fileOf = (n: number): string => {
        const path = join(world.folder, `edition-${n}.bin`);
        writeFileSync(path, randomBytes(FILM_BYTES));
        return path;
      };
      const { outputs } = await target.call<{ outputs: { claim_id: string }[] }>('publish', {
        ...{ name: 'editions', bid: '0.001', file_path: fileOf(-2), blocking: true },
      });
      await world.mine(target);
      const claim_id = outputs[0]!.claim_id;
      const update = (file_path: string) =>
        target.call('stream_update', { claim_id, file_path, blocking: true });
      const ms = await durationOf(() => update(fileOf(-1)));
      for (let n = 0; n < KILLS; n++) {
        await world.mine(target);
        const path = fileOf(n);
        const isAcknowledged = await killedDuring(() => update(path), momentOf(ms, 'update', n));
        await world.mine(target);
        await checked();
        const { items } = await target.call<{
          items: { value: { source: { sd_hash: string; name: string } } }[];
        }>('stream_list', { claim_id });
        const { sd_hash, name } = items[0]!.value.source;
        if (isAcknowledged) expect(name).toBe(`edition-${n}.bin`);
        const files = await filesOf(target, { claim_id });
        expect(files).toMatchObject([{ sd_hash, status: 'finished', completed: true }]);
        expect((await bytesOf(files[0]!)).equals(readFileSync(join(world.folder, name)))).toBe(true);
        await target.call('blob_clean');
        // An update that was not sent leaves no blob, unless it is listed as a file without a claim.
        const all = await filesOf(target);
        expect(readdirSync(blobFolder()).length).toBe(6 * all.length);
        for (const file of all)
          if (file.sd_hash !== sd_hash) await target.call('file_delete', { sd_hash: file.sd_hash });
      }
      await target.call('file_delete', { claim_id });
    },
  );

  it(
    'while it saves a file has the whole file or says that it has none',
    { timeout: HANG_MS * KILLS },
    async () => {
      await target.call('get', { uri: 'film', save_file: false, timeout: 60 });
      expect((await bytesOf((await filesOf(target))[0]!)).equals(film)).toBe(true);
      const save = (file_name: string) => target.call('file_save', { claim_name: 'film', file_name });
      const done = async () => {
        await until('the file is saved', async () => (await filesOf(target))[0]?.status === 'finished');
        return (await filesOf(target))[0]!;
      };
      const ms = await durationOf(async () => {
        await save('first.bin');
        await done();
      });
      for (let n = 0; n < KILLS; n++) {
        const isAcknowledged = await killedDuring(() => save(`copy-${n}.bin`), momentOf(ms, 'save', n));
        const [file] = await checked();
        // A save that was acknowledged continues after the restart.
        if (isAcknowledged || file!.status === 'running') {
          const { download_path } = await done();
          expect(readFileSync(download_path!).equals(film)).toBe(true);
        } else if (file!.download_path !== null)
          expect(readFileSync(file!.download_path).equals(film)).toBe(true);
      }
      await target.call('file_delete', { claim_name: 'film', delete_from_download_dir: true });
    },
  );

  it('while it changes settings has the acknowledged value', { timeout: HANG_MS * KILLS }, async () => {
    const set = (value: number) => target.call('settings_set', { key: 'blob_storage_limit', value });
    const ms = await durationOf(() => set(999));
    let last = 999;
    for (let n = 0; n < KILLS; n++) {
      let sent = last;
      let acknowledged = last;
      const setMany = async () => {
        for (;;) {
          sent++;
          await set(sent);
          acknowledged = sent;
        }
      };
      await killedDuring(setMany, ms * 20 * fraction('settings', n));
      const { blob_storage_limit } = await target.call<{ blob_storage_limit: number }>('settings_get');
      expect([acknowledged, sent]).toContain(blob_storage_limit);
      last = blob_storage_limit;
    }
    await set(0);
  });
});
