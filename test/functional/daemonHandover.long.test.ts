/**
 * A data folder that lbry-sdk's daemon and ours use alternately. Its files are finished, stopped or running, or lack blobs or the
 * descriptor. Each daemon lists and completes the files, and adds one. LBRYNET names the program `lbrynet` of a checkout that can
 * run.
 */
import { createHash } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDaemon, walletOfSeed, type TestDaemon } from './support/daemon.js';
import { freePort, HANG_MS, startRegtest, type RegtestNode } from './support/node.js';
import { SdkDaemon } from './support/sdkDaemon.js';

const LBRYNET = process.env['LBRYNET'];
if (!LBRYNET) console.log('skipped: LBRYNET names no lbry-sdk');

const SEED = 'carbon smart garage balance margin twelve chest sword toast envelope bottom stomach absent';
const FILE_BYTES = 6_000_000;
/** Upload rate of the publisher for the download that is interrupted. A file takes 40 s at this rate. */
const SLOW_BYTES_PER_SECOND = 150_000;
/** The files that each daemon finds in the folder. */
const TITLES = ['finished', 'stopped', 'running', 'partial', 'headless'] as const;

interface File {
  readonly sd_hash: string;
  readonly stream_hash: string;
  readonly claim_name: string;
  readonly status: string;
  readonly completed: boolean;
  readonly blobs_remaining: number;
  readonly blobs_in_stream: number;
  readonly download_path: string | null;
  readonly streaming_url: string;
}
type Kind = 'ours' | 'theirs';

let node: RegtestNode;
let hubPort: number;
let publisher: TestDaemon;
const base = mkdtempSync(join(tmpdir(), 'lbcnode-handover-'));
const contents = new Map<string, Buffer>();

function bytesOf(name: string): Buffer {
  const bytes = Buffer.alloc(FILE_BYTES);
  for (let at = 0, n = 0; at < FILE_BYTES; at += 32)
    createHash('sha256').update(`${name} ${n++}`).digest().copy(bytes, at);
  contents.set(name, bytes);
  return bytes;
}

const isBytesOf = (name: string, bytes: Uint8Array): boolean => contents.get(name)!.equals(bytes);

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + HANG_MS;
  while (!(await isSo().catch(() => false))) {
    if (Date.now() > end) throw new Error(`timeout: ${what}`);
    await sleep(50);
  }
}

/** The daemon that currently uses the folder. */
class Holder {
  readonly kind: Kind;
  readonly daemon: TestDaemon | SdkDaemon;

  private constructor(kind: Kind, daemon: TestDaemon | SdkDaemon) {
    this.kind = kind;
    this.daemon = daemon;
  }

  static async start(kind: Kind, folder: string): Promise<Holder> {
    const settings = {
      fixed_peers: [`127.0.0.1:${publisherPort}`],
      fixed_peer_delay: 0,
      reflect_streams: false,
      tracker_servers: [],
      save_files: false,
    };
    const skipped = ['dht', 'hash_announcer', 'upnp', 'peer_protocol_server', 'background_downloader'];
    const daemon =
      kind === 'ours'
        ? await startDaemon({
            hubPorts: [hubPort],
            folder,
            settings: { ...settings, http_blob_servers: [], components_to_skip: skipped },
          })
        : await SdkDaemon.start(LBRYNET!, [hubPort], ['exchange_rate_manager'], { folder, settings });
    return new Holder(kind, daemon);
  }

  call<T>(method: string, params: object = {}): Promise<T> {
    return this.daemon.call<T>(method, params);
  }

  async file(name: string): Promise<File | undefined> {
    const { items } = await this.call<{ items: readonly File[] }>('file_list', { claim_name: name });
    return items[0];
  }

  async names(): Promise<string[]> {
    const { items } = await this.call<{ items: readonly File[] }>('file_list', { page_size: 50 });
    return items.map(({ claim_name: name }) => name).sort();
  }

  /** Waits until a file is saved, and compares it. */
  async expectSaved(name: string): Promise<void> {
    await until(`${name} is finished`, async () => {
      const file = await this.file(name);
      return file?.status === 'finished' && file.completed && file.download_path !== null;
    });
    const { download_path: path, blobs_remaining: remaining } = (await this.file(name))!;
    expect(remaining).toBe(0);
    expect(isBytesOf(name, readFileSync(path!)), `${name} by ${this.kind}`).toBe(true);
  }

  async expectPlayed(name: string): Promise<void> {
    const { streaming_url: url } = (await this.file(name))!;
    const response = await fetch(url);
    const bytes = Buffer.from(await response.arrayBuffer());
    // QUIRK: lbrynet appends zeros if the claim has no size. These claims have one.
    expect(isBytesOf(name, bytes), `${name} by ${this.kind}`).toBe(true);
  }

  async publish(name: string): Promise<void> {
    const path = join(base, `${name}.bin`);
    writeFileSync(path, bytesOf(name));
    await this.call('stream_create', { name, bid: '0.01', file_path: path });
    await node.rpc('generate', [1]);
    await until(`${name} is listed`, async () => (await this.file(name))?.completed === true);
  }

  stop(): Promise<unknown> {
    return this.daemon.stop();
  }
}

let publisherPort: number;

beforeAll(async () => {
  if (!LBRYNET) return;
  hubPort = await freePort();
  publisherPort = await freePort();
  node = await startRegtest({ args: ['-hub', `-hubport=${hubPort}`] });
  await node.rpc('generate', [130]);
  publisher = await startDaemon({
    hubPorts: [hubPort],
    walletText: walletOfSeed(SEED),
    settings: {
      reflect_streams: false,
      fixed_peers: [],
      tracker_servers: [],
      components_to_skip: ['dht', 'upnp'],
    },
    args: [`--tcp-port=${publisherPort}`],
  });
  await fund(publisher);
  for (const name of TITLES) {
    const path = join(base, `${name}.bin`);
    writeFileSync(path, bytesOf(name));
    await publisher.call('stream_create', { name, bid: '0.01', file_path: path });
  }
  await node.rpc('generate', [1]);
}, HANG_MS);

afterAll(async () => {
  await publisher?.stop();
  await node?.stop();
  rmSync(base, { recursive: true, force: true });
}, HANG_MS);

type Asked = Pick<TestDaemon, 'call'> | Pick<SdkDaemon, 'call'>;

async function fund(daemon: Asked): Promise<void> {
  for (let n = 0; n < 5; n++)
    await node.rpc('sendtoaddress', [await daemon.call<string>('address_unused'), 1]);
  await node.rpc('generate', [1]);
  await until('the coins are there', async () => {
    const { available } = await daemon.call<{ available: string }>('account_balance');
    return Number(available) >= 4;
  });
}

const sendAtMost = (bytesPerSecond: number) =>
  publisher.call('settings_set', { key: 'upload_bytes_per_second', value: bytesPerSecond });

/** Creates files in all states by one daemon. After its end, the blobs of some files are deleted. */
async function fill(kind: Kind, folder: string): Promise<void> {
  mkdirSync(join(folder, 'wallet', 'wallets'), { recursive: true });
  const holder = await Holder.start(kind, folder);
  await fund(holder);
  const own = `own-of-${kind}`;
  await holder.publish(own);
  for (const name of ['finished', 'partial', 'headless']) {
    await holder.call('get', { uri: name, save_file: true });
    await holder.expectSaved(name);
  }
  await holder.call('get', { uri: 'stopped', save_file: false });
  await until('it is stopped', async () => (await holder.file('stopped'))?.status === 'stopped');
  await sendAtMost(SLOW_BYTES_PER_SECOND);
  await holder.call('get', { uri: 'running', save_file: true, timeout: 60 });
  await until('it runs', async () => (await holder.file('running'))?.status === 'running');
  const partial = (await holder.file('partial'))!;
  const headless = (await holder.file('headless'))!;
  const { items: hashes } = await holder.call<{ items: readonly string[] }>('blob_list', {
    sd_hash: partial.sd_hash,
  });
  await holder.stop();
  const blobs = join(folder, 'data', 'blobfiles');
  unlinkSync(join(blobs, hashes[1]!));
  unlinkSync(join(blobs, headless.sd_hash));
  for (const { download_path: path } of [partial, headless]) unlinkSync(path!);
  await sendAtMost(0);
}

/** Starts a daemon on the folder of the other: all files are present, and incomplete ones are completed. */
async function complete(kind: Kind, folder: string, names: readonly string[]): Promise<void> {
  const holder = await Holder.start(kind, folder);
  try {
    expect(await holder.names()).toEqual([...names].sort());
    // It continues to save the file that was being saved.
    await holder.expectSaved('running');
    await holder.expectSaved('finished');
    for (const name of ['partial', 'headless', 'stopped']) {
      await holder.call('get', { uri: name, save_file: true });
      await holder.expectSaved(name);
      await holder.expectPlayed(name);
    }
    await holder.publish(`further-of-${kind}`);
  } finally {
    await holder.stop();
  }
}

/** Starts a daemon on the folder again: all files are still complete, one is deleted, and another one is downloaded again. */
async function useAgain(kind: Kind, folder: string, names: readonly string[]): Promise<void> {
  const holder = await Holder.start(kind, folder);
  try {
    expect(await holder.names()).toEqual([...names].sort());
    for (const name of names) {
      expect(await holder.file(name)).toMatchObject({ completed: true, blobs_remaining: 0 });
      await holder.expectPlayed(name);
    }
    expect(await holder.call('file_delete', { claim_name: 'finished', delete_from_download_dir: true })).toBe(
      true,
    );
    expect(await holder.names()).not.toContain('finished');
    await holder.call('get', { uri: 'finished', save_file: true });
    await holder.expectSaved('finished');
  } finally {
    await holder.stop();
  }
}

const noLeftovers = (folder: string): void =>
  expect(
    readdirSync(join(folder, 'data', 'blobfiles')).filter((name) => !/^[0-9a-f]{96}$/.test(name)),
  ).toEqual([]);

describe.skipIf(!LBRYNET)('a data folder', () => {
  const other = { ours: 'theirs', theirs: 'ours' } as const;
  it.each(['theirs', 'ours'] as const)(
    'created by %s can be used by the other one, back, and again',
    async (txBuilder) => {
      const folder = join(base, `folder-${txBuilder}`);
      const taker = other[txBuilder];
      await fill(txBuilder, folder);
      const names = [...TITLES, `own-of-${txBuilder}`];
      await complete(taker, folder, names);
      noLeftovers(folder);
      const all = [...names, `further-of-${taker}`];
      await useAgain(txBuilder, folder, all);
      await useAgain(taker, folder, all);
      noLeftovers(folder);
    },
  );
});
