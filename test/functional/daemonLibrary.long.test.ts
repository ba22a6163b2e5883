/**
 * A daemon that loses its databases while some blobs of own and downloaded files are corrupt. The contents of blobs and hub are
 * restored, and corrupt blobs are downloaded again.
 */
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blobHashOf, isBlobHash } from '../../src/daemon/content/blobHash.js';
import { ContentWorld, filesOf, type ListedFile } from './support/contentWorld.js';
import type { TestDaemon } from './support/daemon.js';
import { until } from './support/network.js';
import { freePort, HANG_MS } from './support/node.js';

const FILM_BYTES = 7_000_000;
const BLOBS = 4;
const OWN = ['own', 'own-damaged'] as const;
const FOREIGN = ['saved', 'played', 'damaged', 'truncated', 'headless', 'torn'] as const;

let world: ContentWorld;
let publisher: TestDaemon;
let owner: TestDaemon;
let peerPort: number;
const films = new Map<string, Buffer>();
let before: readonly (ListedFile & { channel_name: string | null })[];

const startOwner = (): Promise<TestDaemon> =>
  world.daemon('owner', {
    settings: {
      fixed_peers: [`127.0.0.1:${peerPort}`],
      fixed_peer_delay: 0,
      save_files: false,
      blob_lru_cache_size: 0,
    },
  });
const dataFolder = (): string => join(owner.folder, 'data');
const blobPath = (hash: string): string => join(dataFolder(), 'blobfiles', hash);

async function publish(daemon: TestDaemon, name: string): Promise<void> {
  const [path, bytes] = [join(world.folder, `${name}.bin`), randomBytes(FILM_BYTES)];
  films.set(name, bytes);
  writeFileSync(path, bytes);
  const params = {
    name,
    bid: '0.01',
    file_path: path,
    channel_name: daemon === owner ? '@owner' : '@publisher',
  };
  await daemon.call('publish', { ...params, blocking: true });
}

const fileOf = (files: readonly ListedFile[], name: string): ListedFile =>
  files.find(({ claim_name: claimName }) => claimName === name)!;
const hashesOf = async (name: string): Promise<string[]> => {
  const { sd_hash } = fileOf(before, name);
  return (await owner.call<{ items: string[] }>('blob_list', { sd_hash, page_size: 50 })).items;
};
const played = async ({ streaming_url: url }: ListedFile): Promise<Buffer> =>
  Buffer.from(await (await fetch(url)).arrayBuffer());

/** Flips a bit in the middle of the file. */
function flip(path: string): void {
  const bytes = readFileSync(path);
  bytes[bytes.length >> 1]! ^= 4;
  writeFileSync(path, bytes);
}

beforeAll(async () => {
  world = await ContentWorld.start();
  peerPort = await freePort();
  publisher = await world.daemon('publisher', { args: [`--tcp-port=${peerPort}`] });
  owner = await startOwner();
  await world.pay(publisher, 20);
  await world.pay(owner, 20);
  await publisher.call('channel_create', { name: '@publisher', bid: '0.01' });
  await owner.call('channel_create', { name: '@owner', bid: '0.01' });
  await world.mine(publisher, owner);
  for (const name of FOREIGN) await publish(publisher, name);
  for (const name of OWN) await publish(owner, name);
  await world.mine(publisher, owner);
  for (const name of FOREIGN) {
    const { error } = await owner.call<ListedFile>('get', {
      uri: `@publisher/${name}`,
      save_file: true,
      timeout: 60,
    });
    expect(error).toBeUndefined();
  }
  await until('all are saved', async () =>
    (await filesOf(owner)).every(({ status }) => status === 'finished'),
  );
  const { download_path: path } = fileOf(await filesOf(owner), 'played');
  unlinkSync(path!);
  before = (await filesOf(owner)) as typeof before;
  expect(before).toHaveLength(OWN.length + FOREIGN.length);
}, HANG_MS);

afterAll(async () => {
  await owner?.stop();
  await publisher?.stop();
  await world?.stop();
}, HANG_MS);

describe('a daemon that lost its databases, and blobs', () => {
  it('restores its files, claims, channels and paths', { timeout: HANG_MS }, async () => {
    const [corrupt, truncated, ownCorrupt] = [
      await hashesOf('damaged'),
      await hashesOf('truncated'),
      await hashesOf('own-damaged'),
    ];
    await owner.kill();
    for (const name of readdirSync(dataFolder())) if (/sqlite/.test(name)) rmSync(join(dataFolder(), name));
    flip(blobPath(corrupt[2]!));
    truncateSync(blobPath(truncated[1]!), 1000);
    flip(blobPath(ownCorrupt[BLOBS]!));
    unlinkSync(blobPath(fileOf(before, 'headless').sd_hash));
    flip(blobPath(fileOf(before, 'torn').sd_hash));
    owner = await startOwner();
    await until('the library is rebuilt', () =>
      Promise.resolve(owner.log.includes('The library was rebuilt')),
    );
    const files = (await filesOf(owner)) as typeof before;
    for (const name of [...OWN, 'saved', 'played', 'damaged', 'truncated']) {
      const was = fileOf(before, name);
      expect(fileOf(files, name), name).toMatchObject({
        sd_hash: was.sd_hash,
        stream_hash: was.stream_hash,
        claim_id: was.claim_id,
        channel_name: (was as (typeof before)[0]).channel_name,
      });
    }
    for (const name of ['saved', 'damaged', 'truncated'])
      expect(fileOf(files, name), name).toMatchObject({
        status: 'finished',
        download_path: fileOf(before, name).download_path,
      });
    expect(fileOf(files, 'played').download_path).toBeNull();
    // Streams without a readable descriptor are reported, and their blobs stay.
    expect(files).toHaveLength(before.length - 2);
    expect(owner.log).toContain(fileOf(before, 'torn').sd_hash);
    expect(owner.log).toContain(`${2 * BLOBS} blobs belong to no stream; they are kept`);
  });

  it('plays and serves no corrupt byte, and downloads corrupt blobs again', async () => {
    for (const name of ['saved', 'played', 'damaged', 'truncated', 'own'])
      expect((await played(fileOf(await filesOf(owner), name))).equals(films.get(name)!), name).toBe(true);
    // The last blob of an own file exists nowhere else, so no response can be complete.
    await owner.call('settings_set', { key: 'download_timeout', value: 2 });
    await owner.call('settings_set', { key: 'blob_download_timeout', value: 2 });
    const [{ streaming_url: url }] = (await filesOf(owner, { claim_name: 'own-damaged' })) as readonly [
      ListedFile,
    ];
    const answer = await fetch(url);
    await expect(answer.arrayBuffer()).rejects.toThrow();
    const blobs = readdirSync(join(dataFolder(), 'blobfiles')).filter(isBlobHash);
    const wrong = blobs.filter((hash) => blobHashOf(readFileSync(blobPath(hash))) !== hash);
    expect(wrong).toEqual([]);
  });

  it('completes streams without a descriptor by `get`, from the blobs that it has', async () => {
    for (const name of ['headless', 'torn']) {
      const { error } = await owner.call<ListedFile>('get', { uri: `@publisher/${name}`, save_file: false });
      expect(error).toBeUndefined();
      const file = fileOf(await filesOf(owner), name);
      expect([file.blobs_completed, file.claim_id]).toEqual([BLOBS, fileOf(before, name).claim_id]);
      expect((await played(file)).equals(films.get(name)!)).toBe(true);
    }
    expect(existsSync(fileOf(before, 'headless').download_path!)).toBe(true);
  });

  it('restores nothing twice, also after a restart', async () => {
    const files = await filesOf(owner);
    expect(await owner.call('file_rebuild')).toMatchObject({ streams: 0, files: 0, claims: 0 });
    await owner.stop();
    owner = await startOwner();
    expect((await filesOf(owner)).map(({ sd_hash }) => sd_hash).sort()).toEqual(
      files.map(({ sd_hash }) => sd_hash).sort(),
    );
    expect(owner.log).not.toContain('The library was rebuilt');
  });
});
