/** Files whose names have 255 bytes, the most that a file system allows: published, downloaded, saved again and played. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ContentWorld } from './support/contentWorld.js';
import type { TestDaemon } from './support/daemon.js';
import { until } from './support/network.js';
import { freePort, HANG_MS } from './support/node.js';

const NAME = `${'ü'.repeat(120)}${'b'.repeat(11)}.mp4`;
const film = randomBytes(300_000);

interface Saved {
  readonly file_name: string;
  readonly download_path: string;
  readonly stream_name: string;
  readonly suggested_file_name: string;
  readonly streaming_url: string;
  readonly sd_hash: string;
}

let world: ContentWorld;
let creator: TestDaemon;
let viewer: TestDaemon;
let folder: string;

beforeAll(async () => {
  world = await ContentWorld.start();
  const peerPort = await freePort();
  creator = await world.daemon('creator', { args: [`--tcp-port=${peerPort}`] });
  viewer = await world.daemon('viewer', {
    settings: { fixed_peers: [`127.0.0.1:${peerPort}`], fixed_peer_delay: 0 },
  });
  await world.pay(creator, 10);
  const source = join(world.folder, NAME);
  writeFileSync(source, film);
  await creator.call('publish', { name: 'long', bid: '0.01', file_path: source, blocking: true });
  await world.mine(creator, viewer);
  folder = join(world.folder, 'saved');
  mkdirSync(folder);
}, HANG_MS);

afterAll(async () => {
  await viewer?.stop();
  await creator?.stop();
  await world?.stop();
}, HANG_MS);

const sizeOf = (name: string): number => Buffer.byteLength(name);
/** Calls `file_save` and resolves to the answer when the whole file is written. */
async function save(params: object): Promise<Saved> {
  const saved = await viewer.call<Saved>('file_save', {
    claim_name: 'long',
    download_directory: folder,
    ...params,
  });
  await until('the file is saved', () => {
    return Promise.resolve(readFileSync(saved.download_path).equals(film));
  });
  return saved;
}

describe('a file name of 255 bytes', () => {
  it('is kept by publish and get', async () => {
    expect(sizeOf(NAME)).toBe(255);
    const file = await viewer.call<Saved>('get', {
      uri: 'long',
      save_file: true,
      download_directory: folder,
    });
    expect(file).toMatchObject({ file_name: NAME, stream_name: NAME, suggested_file_name: NAME });
    await until('the file is saved', () => Promise.resolve(readFileSync(join(folder, NAME)).equals(film)));
  });

  it('is shortened for the number of a second copy, and keeps its extension', async () => {
    const { file_name: second } = await save({});
    expect(sizeOf(second)).toBeLessThanOrEqual(255);
    expect(second).toMatch(/^ü+b*_1\.mp4$/);
    const { file_name: third } = await save({});
    expect(third).toMatch(/^ü+b*_2\.mp4$/);
    expect(readdirSync(folder).sort()).toEqual([NAME, second, third].sort());
  });

  it('can be given to file_save, and a longer one is shortened', async () => {
    const given = `${'é'.repeat(100)}${'c'.repeat(51)}.bin`;
    expect(sizeOf(given)).toBe(255);
    expect((await save({ file_name: given })).file_name).toBe(given);
    const { file_name: shortened } = await save({ file_name: `${'ö'.repeat(200)}.bin` });
    expect(shortened).toMatch(/^ö+\.bin$/);
    expect(sizeOf(shortened)).toBeLessThanOrEqual(255);
  });

  it('is played by the media server with the type of its extension', async () => {
    const { streaming_url: url } = await viewer.call<Saved>('get', { uri: 'long' });
    const answer = await fetch(url, { headers: { Range: 'bytes=1000-1999' } });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([206, 'video/mp4']);
    expect(Buffer.from(await answer.arrayBuffer()).equals(film.subarray(1000, 2000))).toBe(true);
  });
});
