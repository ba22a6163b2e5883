/**
 * Uploads that end in the middle: the daemon, the reflector or the caller stops, or the stream is deleted. Afterwards they are
 * completed. One side is lbry-sdk (LBRYNET names the program `lbrynet` of a checkout that runs), the other side is lbcnet.
 */
import { randomBytes } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isBlobHash } from '../../src/daemon/content/blobHash.js';
import { PythonPeer } from '../support/pythonPeer.js';
import { CONTENT_SETTINGS, ContentWorld, filesOf } from './support/contentWorld.js';
import type { TestDaemon } from './support/daemon.js';
import { until } from './support/network.js';
import { freePort, HANG_MS } from './support/node.js';
import { SdkDaemon } from './support/sdkDaemon.js';

const LBRYNET = process.env['LBRYNET'];
if (!LBRYNET) console.log('skipped: LBRYNET names no lbry-sdk');

const FILM_BYTES = 21_000_000;
const BLOBS = 12;
/** Bytes a second of an upload that is stopped in the middle. */
const SLOW = 3_000_000;

interface Role {
  readonly blobs: number;
  readonly received_blobs: number;
  readonly upload_connections: number;
}

let world: ContentWorld;

/** Writes a film of random bytes, and returns its path. */
function film(name: string): string {
  const path = join(world.folder, `${name}.bin`);
  writeFileSync(path, randomBytes(FILM_BYTES));
  return path;
}

beforeAll(async () => {
  world = await ContentWorld.start();
}, HANG_MS);
afterAll(async () => {
  await world?.stop();
}, HANG_MS);

describe.skipIf(!LBRYNET)('an upload to the reflector of lbry-sdk', { timeout: HANG_MS }, () => {
  let creator: TestDaemon;
  let python: PythonPeer;
  let port: number;
  let sdHash: string;
  let hashes: readonly string[];

  const setRate = (bytes: number) =>
    creator.call('settings_set', { key: 'upload_bytes_per_second', value: bytes });
  const arrived = async (): Promise<number> =>
    (await python.call<boolean[]>('has', hashes)).filter(Boolean).length;
  const startReflector = async (): Promise<void> => {
    python = new PythonPeer(LBRYNET!);
    port = await freePort();
    await python.call('start', await freePort(), port, false);
  };
  const reflect = (): Promise<string[]> =>
    creator.call<string[]>('file_reflect', { sd_hash: sdHash, reflector: `127.0.0.1:${port}` });

  /** Begins an upload, and waits until some blobs are there. */
  async function begin(): Promise<void> {
    await setRate(SLOW);
    reflect().catch(() => undefined);
    await until('some blobs are there', async () => (await arrived()) >= 3);
    expect(await arrived()).toBeLessThan(BLOBS);
  }

  /** Completes the upload. The reflector refuses connections for 30 s after one that ended in a blob. */
  async function complete(): Promise<void> {
    await setRate(0);
    await until('the upload is complete', async () => {
      await reflect().catch((error: unknown) => {
        if (!/the connection to the reflector ended/.test((error as Error).message)) throw error;
      });
      return (await arrived()) === BLOBS;
    });
    expect(await reflect()).toEqual([]);
    expect((await filesOf(creator, { sd_hash: sdHash }))[0]).toMatchObject({
      is_fully_reflected: true,
      uploading_to_reflector: false,
    });
  }

  beforeAll(async () => {
    creator = await world.daemon('creator');
    await world.pay(creator, 5);
  }, HANG_MS);
  beforeEach(async () => {
    await startReflector();
    const name = `film-${randomBytes(4).toString('hex')}`;
    await creator.call('publish', { name, bid: '0.01', file_path: film(name), blocking: true });
    await world.mine(creator);
    sdHash = (await filesOf(creator, { claim_name: name }))[0]!.sd_hash;
    ({ items: hashes } = await creator.call<{ items: string[] }>('blob_list', {
      sd_hash: sdHash,
      page_size: 50,
    }));
    expect(hashes).toHaveLength(BLOBS);
    return () => python.close();
  }, HANG_MS);
  afterAll(async () => {
    await creator?.stop();
  }, HANG_MS);

  it.each(['stop', 'kill'] as const)('is completed after a %s of the daemon', async (how) => {
    await begin();
    await creator[how]();
    creator = await world.daemon('creator');
    await complete();
  });

  it('does not delay a stop of the daemon', async () => {
    await begin();
    await setRate(50_000);
    expect(await creator.stop()).toBe(0);
    creator = await world.daemon('creator');
    await complete();
  });

  it('continues when its caller disconnects', async () => {
    await setRate(SLOW);
    const ending = new AbortController();
    const body = JSON.stringify({
      method: 'file_reflect',
      params: { sd_hash: sdHash, reflector: `127.0.0.1:${port}` },
    });
    const call = fetch(`http://127.0.0.1:${creator.port}/`, { method: 'POST', body, signal: ending.signal });
    call.catch(() => undefined);
    await until('some blobs are there', async () => (await arrived()) >= 3);
    ending.abort();
    await expect(call).rejects.toThrow();
    await setRate(0);
    await until('all blobs are there', async () => (await arrived()) === BLOBS);
    await complete();
  });

  it('ends when the stream is deleted', async () => {
    await begin();
    expect(await creator.call('file_delete', { sd_hash: sdHash })).toBe(true);
    const { transfers } = await creator.call<{ transfers: unknown[] }>('status');
    expect(transfers).toEqual([]);
    expect(await arrived()).toBeLessThan(BLOBS);
  });

  it('is completed after a stop of the reflector', async () => {
    await begin();
    await python.close();
    await startReflector();
    await complete();
  });

  it('reports that single blobs are refused', async () => {
    const reflector_server = `127.0.0.1:${port}`;
    await expect(
      creator.call('blob_reflect', { blob_hashes: [hashes[1]], reflector_server }),
    ).rejects.toThrow(
      `Blobs could not be sent to ${reflector_server}: the connection to the reflector ended: the reflector closed it`,
    );
  });
});

describe.skipIf(!LBRYNET)('an upload of lbry-sdk to the reflector', { timeout: HANG_MS }, () => {
  let reflector: TestDaemon;
  let theirs: SdkDaemon;
  let reflectorArgs: string[];
  let sdHash: string;

  const startReflector = async (): Promise<void> => {
    reflector = await world.daemon('reflector', { settings: CONTENT_SETTINGS, args: reflectorArgs });
  };
  const setRate = (bytes: number) =>
    reflector.call('settings_set', { key: 'download_bytes_per_second', value: bytes });
  const role = async () => (await reflector.call<{ reflector: Role }>('status')).reflector;
  const startTheirs = async (): Promise<void> => {
    theirs = await SdkDaemon.start(LBRYNET!, [world.hubPort], [], {
      folder: join(world.folder, 'theirs'),
      settings: {
        reflect_streams: false,
        reflector_servers: [`127.0.0.1:${reflectorArgs[1]!.split('=')[1]}`],
      },
    });
  };
  const reflect = (): Promise<string[]> => theirs.call<string[]>('file_reflect', { sd_hash: sdHash });
  const folder = (): string[] => readdirSync(join(reflector.folder, 'data', 'reflector', 'blobfiles'));

  beforeAll(async () => {
    reflectorArgs = [
      '--reflector',
      `--reflector-port=${await freePort()}`,
      `--reflector-peer-port=${await freePort()}`,
      `--reflector-http-port=${await freePort()}`,
    ];
    await startReflector();
    await startTheirs();
    const address = await theirs.call<string>('address_unused');
    for (let n = 0; n < 10; n++) {
      await world.node.rpc('sendtoaddress', [address, 1]);
      await world.node.rpc('generate', [1]);
    }
    await until('it is paid', async () => {
      const { total } = await theirs.call<{ total: string }>('wallet_balance');
      return Number(total) === 10;
    });
  }, HANG_MS);
  beforeEach(async () => {
    const name = `film-${randomBytes(4).toString('hex')}`;
    await theirs.call('publish', { name, bid: '0.01', file_path: film(name) });
    await world.node.rpc('generate', [1]);
    await until('it is listed', async () => {
      const { items } = await theirs.call<{ items: { sd_hash: string }[] }>('file_list', {
        claim_name: name,
      });
      sdHash = items[0]?.sd_hash ?? '';
      return sdHash !== '';
    });
    await setRate(SLOW);
  }, HANG_MS);
  afterAll(async () => {
    await theirs?.stop();
    await reflector?.stop();
  }, HANG_MS);

  /** Begins an upload, and waits until some blobs are there. Returns the number of blobs that were there before. */
  async function begin(): Promise<number> {
    const { blobs } = await role();
    reflect().catch(() => undefined);
    await until('some blobs are there', async () => (await role()).blobs >= blobs + 3);
    expect((await role()).blobs).toBeLessThan(blobs + BLOBS);
    return blobs;
  }
  async function complete(before: number): Promise<void> {
    await setRate(0);
    await until('the upload is complete', async () => {
      await reflect();
      return (await role()).blobs === before + BLOBS;
    });
    expect(folder().filter((name) => !isBlobHash(name))).toEqual([]);
    expect(folder()).toHaveLength(before + BLOBS);
  }

  it('is completed after a kill of the client, and no blob is sent twice', async () => {
    const received = (await role()).received_blobs;
    const before = await begin();
    await theirs.kill();
    await startTheirs();
    await complete(before);
    expect((await role()).received_blobs - received).toBe(BLOBS);
  });

  it.each(['stop', 'kill'] as const)('is completed after a %s of the reflector', async (how) => {
    const before = await begin();
    await reflector[how]();
    await startReflector();
    await complete(before);
  });

  it('ends when the client deletes the stream', async () => {
    const before = await begin();
    expect(await theirs.call('file_delete', { sd_hash: sdHash })).toBe(true);
    await setRate(0);
    await until('the connection is closed', async () => (await role()).upload_connections === 0);
    const there = (await role()).blobs;
    expect(there).toBeLessThan(before + BLOBS);
    expect(folder().filter((name) => !isBlobHash(name))).toEqual([]);
  });
});
