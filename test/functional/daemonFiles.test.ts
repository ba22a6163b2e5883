/** Files of a running daemon: publishing, listing, saving, replacing, deleting, and the state after restarts and a kill. */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDaemon, walletOfSeed, type TestDaemon } from './support/daemon.js';
import { freePort, HANG_MS, startRegtest, type RegtestNode } from './support/node.js';
import { longIt } from '../support/long.js';

const SEED = 'carbon smart garage balance margin twelve chest sword toast envelope bottom stomach absent';
const LONG_BYTES = 5_000_000;

let node: RegtestNode;
let daemon: TestDaemon;
let hubPort: number;
let folder: string;

interface File {
  readonly sd_hash: string;
  readonly stream_hash: string;
  readonly claim_id: string | null;
  readonly claim_name: string | null;
  readonly outpoint: string;
  readonly status: string;
  readonly completed: boolean;
  readonly download_path: string | null;
  readonly file_name: string | null;
  readonly blobs_completed: number;
  readonly blobs_in_stream: number;
  readonly blobs_remaining: number;
  readonly total_bytes: number;
  readonly total_bytes_lower_bound: number;
  readonly written_bytes: number;
  readonly streaming_url: string;
  readonly mime_type: string;
  readonly added_on: number;
  readonly height: number;
  readonly confirmations: number;
  readonly is_fully_reflected: boolean;
  readonly uploading_to_reflector: boolean;
  readonly reflector_progress: number;
  readonly reflector_error?: string;
  readonly metadata: { readonly source: { readonly name: string } } | null;
}
interface Page<Item> {
  readonly items: readonly Item[];
  readonly total_items: number;
}
interface Source {
  readonly name: string;
  readonly size: string;
  readonly media_type: string;
  readonly hash: string;
  readonly sd_hash: string;
}
interface Made {
  readonly txid: string;
  readonly outputs: readonly {
    readonly claim_id: string;
    readonly value: {
      readonly source: Source;
      readonly stream_type: string;
      readonly audio?: { readonly duration: number };
    };
  }[];
}

const options = () => ({ hubPorts: [hubPort], folder, walletText: walletOfSeed(SEED) });

beforeAll(async () => {
  hubPort = await freePort();
  folder = mkdtempSync(join(tmpdir(), 'lbcnet-files-'));
  node = await startRegtest({ args: ['-hub', `-hubport=${hubPort}`] });
  await node.rpc('generate', [130]);
  daemon = await startDaemon(options());
  for (let n = 0; n < 12; n++) await node.rpc('sendtoaddress', [await daemon.call('address_unused'), 2]);
  await node.rpc('generate', [1]);
  const balance = () => daemon.call<{ available: string }>('account_balance');
  while ((await balance()).available !== '24.0') await sleep(20);
}, HANG_MS);

afterAll(async () => {
  await daemon?.stop();
  await node?.stop();
  if (folder) rmSync(folder, { recursive: true, force: true });
}, HANG_MS);

const blobNames = (): string[] => readdirSync(join(folder, 'data', 'blobfiles')).sort();
const files = (filter: object = {}) => daemon.call<Page<File>>('file_list', filter);

/** Bytes that do not repeat. */
function written(name: string, length: number, start = 'abc'): { path: string; bytes: Buffer } {
  const path = join(folder, name);
  const bytes = Buffer.alloc(length);
  for (let at = 0, n = 0; at < length; at += 32)
    createHash('sha256').update(`${name} ${start} ${n++}`).digest().copy(bytes, at);
  bytes.write(start, 0, 'latin1');
  writeFileSync(path, bytes);
  return { path, bytes };
}

describe('files', () => {
  it('are published with the metadata of their content', async () => {
    const { path, bytes } = written('a long film', LONG_BYTES, '\x1a\x45\xdf\xa3\x42\x82\x84webm');
    const before = blobNames();
    const preview = await daemon.call<Made>('stream_create', {
      name: 'film',
      bid: '1.0',
      file_path: path,
      preview: true,
    });
    const hash = createHash('sha384').update(bytes).digest('hex');
    expect(preview.outputs[0]!.value.source).toMatchObject({ hash, sd_hash: '0'.repeat(96) });
    expect(blobNames()).toEqual(before);
    const made = await daemon.call<Made>('stream_create', { name: 'film', bid: '1.0', file_path: path });
    const { value, claim_id: claimId } = made.outputs[0]!;
    expect(value).toMatchObject({
      source: { name: 'a long film', size: `${LONG_BYTES}`, media_type: 'video/webm', hash },
      stream_type: 'video',
    });
    const [file] = (await files({ claim_id: claimId })).items;
    expect(file).toMatchObject({
      sd_hash: value.source.sd_hash,
      claim_name: 'film',
      status: 'finished',
      completed: true,
      download_path: path,
      file_name: 'a long film',
      blobs_completed: 3,
      blobs_in_stream: 3,
      blobs_remaining: 0,
      total_bytes: 5_000_014,
      total_bytes_lower_bound: 4_999_998,
      written_bytes: LONG_BYTES,
      metadata: { source: { name: 'a long film' } },
    });
    expect(blobNames().length).toBe(before.length + 4);
    expect(await daemon.call('blob_list', { sd_hash: value.source.sd_hash })).toMatchObject({
      total_items: 4,
    });
    await node.rpc('generate', [1]);
  });

  it('are saved again, byte for byte, next to existing files', async () => {
    const foreign = join(folder, 'files', 'a long film');
    writeFileSync(foreign, 'of somebody else');
    let saved = await daemon.call<File>('file_save', {
      claim_name: 'film',
      download_directory: join(folder, 'files'),
    });
    while (!(saved.completed && saved.status === 'finished'))
      saved = (await files({ claim_name: 'film' })).items[0]!;
    expect(saved.download_path).toBe(join(folder, 'files', 'a long film_1'));
    expect(readFileSync(saved.download_path!).equals(readFileSync(join(folder, 'a long film')))).toBe(true);
    expect(readFileSync(foreign, 'utf8')).toBe('of somebody else');
  });

  it('are played from any position, by hash and by name', async () => {
    const bytes = readFileSync(join(folder, 'a long film'));
    const [film] = (await files({ claim_name: 'film' })).items;
    const ask = async (url: string, range?: string) => {
      const response = await fetch(url, { headers: range === undefined ? {} : { Range: range } });
      return { response, body: Buffer.from(await response.arrayBuffer()) };
    };
    const ends = [1, 2].map((blob) => blob * 2_097_151);
    for (const from of [0, ...ends.flatMap((end) => [end - 2, end - 1, end, end + 1]), LONG_BYTES - 1]) {
      const { response, body } = await ask(film!.streaming_url, `bytes=${from}-${from + 9}`);
      const to = Math.min(from + 10, LONG_BYTES);
      expect([response.status, response.headers.get('content-range')]).toEqual([
        206,
        `bytes ${from}-${to - 1}/${LONG_BYTES}`,
      ]);
      expect(body.equals(bytes.subarray(from, to))).toBe(true);
    }
    const byName = new URL('/get/film', film!.streaming_url).href;
    let found = await ask(byName);
    // The hub may not have the claim in its index yet.
    while (found.response.status === 404) found = await ask(byName);
    expect([found.response.status, found.response.url]).toEqual([200, film!.streaming_url]);
    expect(found.body.equals(bytes)).toBe(true);
    expect((await fetch(film!.streaming_url, { method: 'HEAD' })).headers.get('content-length')).toBe(
      `${LONG_BYTES}`,
    );
    expect((await ask(film!.streaming_url)).body.equals(bytes)).toBe(true);
    const nowhere = await ask(new URL('/get/nowhere', film!.streaming_url).href);
    expect([nowhere.response.status, nowhere.body.toString().slice(0, 17)]).toEqual([
      404,
      'Failed to resolve',
    ]);
    expect((await files({ claim_name: 'film' })).items[0]!.status).toBe('finished');
  });

  it('are found by filters, sorted, page by page', async () => {
    for (let n = 0; n < 3; n++) {
      const { path } = written(`small ${n}.txt`, 100 + n, `text ${n}`);
      await daemon.call('publish', { name: `small${n}`, bid: '0.1', file_path: path });
    }
    const page = await files({ sort: 'claim_name', reverse: true, page_size: 2 });
    expect(page.items.map(({ claim_name: name }) => name)).toEqual(['small2', 'small1']);
    expect(page.total_items).toBe(4);
    expect(
      (await files({ blobs_in_stream: 1, comparison: 'g' })).items.map(({ claim_name: name }) => name),
    ).toEqual(['film']);
    expect((await files({ claim_name: 'small1' })).items[0]).toMatchObject({ mime_type: 'text/plain' });
    const ids = (await files({})).items.map(({ claim_id: id }) => id);
    expect((await files({ claim_id: ids.slice(0, 2) })).total_items).toBe(2);
    // An empty list and a null are filters, so that neither chooses all files.
    for (const filter of [{ claim_id: [] }, { claim_id: null }, { rowid: null }]) {
      expect((await files(filter)).total_items).toBe(0);
      expect(await daemon.call('file_delete', { ...filter, delete_all: true })).toBe(false);
    }
    expect((await files({ channel_claim_id: null })).total_items).toBe(4);
    expect((await files({ claim_id: ids.slice(0, 1), comparison: 'le' })).total_items).toBe(1);
    await expect(files({ comparison: 'like' })).rejects.toThrow("'like' is not a valid comparison");
    await node.rpc('generate', [1]);
  });

  it('are pinned by filters and by channel, and stay pinned over a restart', async () => {
    interface Pins {
      readonly streams: readonly string[];
      readonly channels: readonly string[];
    }
    const pinned = async () =>
      (await files({ is_pinned: true })).items.map(({ claim_name: name }) => name).sort();
    const [film, small] = ['film', 'small1'].map(
      async (name) => (await files({ claim_name: name })).items[0]!,
    );
    const channel = 'ab'.repeat(20);
    expect(await daemon.call<Pins>('file_pin')).toEqual({ streams: [], channels: [] });
    expect(await daemon.call<Pins>('file_pin', { claim_id: (await film)!.claim_id })).toEqual({
      streams: [(await film)!.sd_hash],
      channels: [],
    });
    await daemon.call('file_pin', { sd_hash: (await small)!.sd_hash, channel_id: [channel] });
    expect(await pinned()).toEqual(['film', 'small1']);
    await expect(daemon.call('file_pin', { channel_id: ['@me'] })).rejects.toThrow(
      "'@me' is not the claim id of a channel",
    );
    await daemon.stop();
    daemon = await startDaemon(options());
    expect(await daemon.call<Pins>('file_unpin', { claim_name: 'film' })).toEqual({
      streams: [(await small)!.sd_hash],
      channels: [channel],
    });
    expect(await daemon.call<Pins>('file_unpin', { channel_id: [channel], claim_name: 'small1' })).toEqual({
      streams: [],
      channels: [],
    });
    expect(await pinned()).toEqual([]);
  });

  it('are replaced by the files of an update when that is sent', async () => {
    const [old] = (await files({ claim_name: 'small0' })).items;
    const { path } = written('better.txt', 3_000, 'better');
    await expect(
      daemon.call('stream_update', { claim_id: old!.claim_id, file_path: path, bid: '100000.0' }),
    ).rejects.toMatchObject({ errorName: 'InsufficientFundsError' });
    expect((await files({ claim_name: 'small0' })).items[0]!.sd_hash).toBe(old!.sd_hash);
    const made = await daemon.call<Made>('stream_update', { claim_id: old!.claim_id, file_path: path });
    const { source } = made.outputs[0]!.value;
    expect(source).toMatchObject({ name: 'better.txt', size: '3000' });
    const now = (await files({ claim_name: 'small0' })).items;
    expect(now.map(({ sd_hash: hash }) => hash)).toEqual([source.sd_hash]);
    expect(blobNames()).not.toContain(old!.sd_hash);
    await node.rpc('generate', [1]);
    const titled = await daemon.call<Made>('stream_update', { claim_id: old!.claim_id, title: 'Better' });
    expect((await files({ txid: titled.txid })).total_items).toBe(1);
    await node.rpc('generate', [1]);
  });

  it('stay if another claim with the same stream gets a new file', async () => {
    const [kept] = (await files({ claim_name: 'small1' })).items;
    const other = await daemon.call<Made>('stream_create', {
      name: 'other',
      bid: '0.1',
      sd_hash: kept!.sd_hash,
      file_name: kept!.file_name,
    });
    const [{ claim_id: claimId }] = other.outputs as [Made['outputs'][0]];
    expect((await files({ sd_hash: kept!.sd_hash })).items[0]).toMatchObject({ claim_id: kept!.claim_id });
    const { path } = written('others own.txt', 100, 'own');
    await daemon.call('stream_update', { claim_id: claimId, file_path: path });
    expect((await files({ claim_id: claimId })).items[0]).toMatchObject({ file_name: 'others own.txt' });
    expect((await files({ sd_hash: kept!.sd_hash })).total_items).toBe(1);
    expect(blobNames()).toContain(kept!.sd_hash);
    await node.rpc('generate', [1]);
  });

  it('are sent to a reflector at once, and published if no reflector answers', async () => {
    const sockets = new Set<Socket>();
    const silent = createServer((socket) => sockets.add(socket));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const placeOf = (server: Server): string => `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const reflector = await startDaemon({
      hubPorts: [],
      settings: { components_to_skip: ['wallet', 'dht', 'upnp'] },
      args: ['--reflector', '--reflector-port=0', '--reflector-peer-port=0', '--reflector-http-port=0'],
    });
    try {
      const ports = (await reflector.call<{ reflector: Record<string, number> }>('status')).reflector;
      const place = `127.0.0.1:${ports['upload_port']}`;
      const one = async (name: string) => (await files({ claim_name: name })).items[0]!;
      await daemon.call('settings_set', { key: 'reflector_servers', value: ['127.0.0.1:1'] });
      const { path } = written('reflected.txt', 2_500_000, 'reflected');
      await daemon.call('publish', { name: 'refused', bid: '0.1', file_path: path });
      expect(await one('refused')).toMatchObject({ is_fully_reflected: false });
      await daemon.call('settings_set', { key: 'reflector_servers', value: [placeOf(silent)] });
      await daemon.call('publish', { name: 'lonely', bid: '0.1', file_path: path });
      let lonely = await one('lonely');
      // The upload starts in the background. It waits for seconds for the answer of the server.
      while (!lonely.uploading_to_reflector) lonely = await one('lonely');
      expect(lonely).toMatchObject({ is_fully_reflected: false });
      await daemon.call('settings_set', { key: 'reflector_servers', value: [place] });
      await daemon.call('stream_create', { name: 'reflected', bid: '0.1', file_path: path });
      let reflected = await one('reflected');
      while (!reflected.is_fully_reflected) reflected = await one('reflected');
      const there = `http://127.0.0.1:${ports['http_port']}/blob?hash=${reflected.sd_hash}`;
      expect((await fetch(there, { method: 'HEAD' })).status).toBe(204);
      expect(
        await daemon.call('file_reflect', {
          claim_name: 'reflected',
          channel_claim_id: null,
          reflector: place,
        }),
      ).toEqual([]);
      expect(await daemon.call('file_reflect', { claim_name: 'nothing', reflector: place })).toEqual([]);
      expect((await files({ is_fully_reflected: true })).items.map(({ sd_hash: hash }) => hash)).toEqual([
        reflected.sd_hash,
      ]);
      expect((await files({ is_fully_reflected: true, comparison: 'ne', sort: 'rowid' })).total_items).toBe(
        (await files()).total_items - 1,
      );
      // The blobs of an update are uploaded too.
      const again = written('again.txt', 1000, 'again').path;
      await daemon.call('stream_update', { claim_id: reflected.claim_id, file_path: again });
      const before = reflected.sd_hash;
      while (!reflected.is_fully_reflected || reflected.sd_hash === before)
        reflected = await one('reflected');
      // `blob_delete` with the hash of a descriptor ends the upload of the stream, too.
      const [gone] = (await files({ claim_name: 'again' })).items;
      expect(gone).toBeUndefined();
      const upload = daemon.call('file_reflect', { claim_name: 'reflected', reflector: placeOf(silent) });
      while (!(await one('reflected')).uploading_to_reflector);
      const deleted = daemon.call('blob_delete', { blob_hash: reflected.sd_hash });
      await expect(upload).rejects.toThrow(/could not be reflected to .*: stopped/);
      expect(await deleted).toBe(`Deleted ${reflected.sd_hash}`);
      expect(await daemon.call('file_delete', { claim_name: 'lonely' })).toBe(true);
      lonely = await one('lonely');
      expect(lonely).toBeUndefined();
      expect(await daemon.call('file_delete', { claim_name: 'refused' })).toBe(true);
      await daemon.call('settings_clear', { key: 'reflector_servers' });
      await node.rpc('generate', [1]);
    } finally {
      for (const socket of sockets) socket.destroy();
      silent.close();
      await reflector.stop();
    }
  });

  it('are refused without content, and leave nothing behind', async () => {
    const before = blobNames();
    const create = (path: string) =>
      daemon.call('stream_create', { name: 'nothing', bid: '1.0', file_path: path });
    writeFileSync(join(folder, 'empty'), '');
    await expect(create(join(folder, 'empty'))).rejects.toMatchObject({
      errorName: 'EmptyPublishedFileError',
    });
    for (const path of [join(folder, 'missing'), folder])
      await expect(create(path)).rejects.toMatchObject({ errorName: 'MissingPublishedFileError' });
    const { path } = written('expensive', 100);
    await expect(
      daemon.call('stream_create', { name: 'expensive', bid: '100000.0', file_path: path }),
    ).rejects.toMatchObject({ errorName: 'InsufficientFundsError' });
    // The address of the price is checked before the name and before the file is read.
    await expect(
      daemon.call('stream_create', { name: 'film', bid: '0.1', file_path: path, fee_address: 'x' }),
    ).rejects.toThrow("'x' is not a valid address");
    expect(blobNames()).toEqual(before);
  });

  it('and blobs are neither sent nor downloaded with wrong ports and times', async () => {
    const [film] = (await files({ claim_name: 'film' })).items;
    for (const [args, message] of [
      [{ port: 5566 }, 'port must be given together with reflector'],
      [{ reflector: '127.0.0.1', port: 65_536 }, '65536 is not a port of a reflector.'],
      [{ server: '127.0.0.1', port: 0 }, '0 is not a port of a reflector.'],
    ] as const)
      await expect(daemon.call('file_reflect', { rowid: -1, ...args })).rejects.toMatchObject({
        errorName: 'ValueError',
        message: `file_reflect: ${message}`,
      });
    await expect(daemon.call('blob_get', { blob_hash: film!.sd_hash, timeout: -1 })).rejects.toMatchObject({
      errorName: 'ValueError',
      message: 'blob_get: timeout must not be negative',
    });
    await daemon.call('settings_set', { key: 'blob_download_timeout', value: 1 });
    // 0 stands for the setting.
    await expect(daemon.call('blob_get', { blob_hash: 'ab'.repeat(48), timeout: 0 })).rejects.toMatchObject({
      errorName: 'DownloadDataTimeoutError',
      message: expect.stringContaining('within 1 seconds') as string,
    });
    await daemon.call('settings_clear', { key: 'blob_download_timeout' });
  });

  it('are stopped if no blob arrives in time', async () => {
    const { path } = written('lost.bin', 100, 'lost');
    await daemon.call('stream_create', { name: 'lost', bid: '0.1', file_path: path });
    const [lost] = (await files({ claim_name: 'lost' })).items;
    const { items } = await daemon.call<Page<string>>('blob_list', { sd_hash: lost!.sd_hash });
    await daemon.call('blob_delete', { blob_hash: items[1] });
    unlinkSync(path);
    await daemon.call('settings_set', { key: 'download_timeout', value: 1 });
    const late = {
      errorName: 'DownloadDataTimeoutError',
      message: expect.stringContaining(`for sd hash ${lost!.sd_hash} within timeout.`) as string,
    };
    await expect(daemon.call('file_save', { claim_name: 'lost' })).rejects.toMatchObject(late);
    await expect(
      daemon.call('file_set_status', { status: 'start', claim_name: 'lost' }),
    ).rejects.toMatchObject(late);
    expect((await files({ claim_name: 'lost' })).items[0]).toMatchObject({
      status: 'stopped',
      download_path: null,
    });
    await daemon.call('settings_clear', { key: 'download_timeout' });
    await expect(
      daemon.call('file_set_status', { status: 'stop', rowid: 999, comparison: 'g' }),
    ).rejects.toThrow("Unable to find a file for {'rowid': 999, 'comparison': 'g'}");
    expect(await daemon.call('file_delete', { claim_name: 'lost' })).toBe(true);
    await node.rpc('generate', [1]);
  });

  longIt('exist after a restart, and after a kill', async () => {
    const before = (await files()).items.map(({ sd_hash: hash, status }) => [hash, status]);
    await daemon.stop();
    unlinkSync(join(folder, 'files', 'a long film_1'));
    daemon = await startDaemon(options());
    expect((await files()).items.map(({ sd_hash: hash, status }) => [hash, status])).toEqual(before);
    expect((await files({ claim_name: 'film' })).items[0]).toMatchObject({
      download_path: null,
      blobs_completed: 3,
    });
    await daemon.kill();
    daemon = await startDaemon(options());
    expect((await files()).total_items).toBe(before.length);
    const [film] = (await files({ claim_name: 'film' })).items;
    expect(film!.confirmations).toBeGreaterThan(0);
  });

  it('are deleted with their blobs, and on request with the saved files', async () => {
    const [film] = (await files({ claim_name: 'film' })).items;
    await daemon.call('file_set_status', { status: 'start', claim_name: 'film' });
    let saved = film!;
    while (!saved.completed) saved = (await files({ claim_name: 'film' })).items[0]!;
    while (saved.status !== 'finished') saved = (await files({ claim_name: 'film' })).items[0]!;
    const path = saved.download_path!;
    expect(existsSync(path)).toBe(true);
    expect(await daemon.call('file_delete', {})).toBe(false);
    // LBRY Desktop deletes files by outpoint. lbry-sdk accepts all filters in all methods of files.
    const others = { status: 'running', comparison: 'eq', delete_all: true };
    expect(await daemon.call('file_delete', others)).toBe(false);
    expect(await daemon.call('file_save', { outpoint: `${film!.outpoint}0` })).toBe(false);
    await expect(daemon.call('file_delete', { seems: 'old' })).rejects.toMatchObject({
      errorName: 'ValueError',
      message: "file_delete: 'seems' is not a valid search operation",
    });
    const chosen = { outpoint: film!.outpoint };
    expect(await daemon.call('file_set_status', { status: 'stop', ...chosen })).toBe(
      'File was already stopped',
    );
    expect(await daemon.call('file_delete', { ...chosen, delete_from_download_dir: true })).toBe(true);
    expect([existsSync(path), (await files({ claim_name: 'film' })).total_items]).toEqual([false, 0]);
    expect(blobNames()).not.toContain(film!.sd_hash);
    expect(await daemon.call('file_delete', { delete_all: true })).toBe(true);
    expect([(await files()).total_items, blobNames()]).toEqual([0, []]);
  });

  it('are not downloaded from unresolved URLs or claims without content', async () => {
    const get = (uri: string, more = {}) => daemon.call<{ error: string }>('get', { uri, ...more });
    expect((await get('@channel')).error).toBe("Invalid LBRY stream URL: '@channel'");
    expect((await get('nowhere')).error).toMatch(
      /^Failed to resolve 'Failed to resolve stream at 'nowhere': \{'error'/,
    );
    await daemon.call('stream_create', { name: 'sourceless', bid: '0.1', title: 'Nothing yet' });
    await node.rpc('generate', [1]);
    await node.rpc('waitforblockheight', [await node.rpc('getblockcount', [])]);
    let answer = await get('sourceless');
    while (answer.error.includes('NOT_FOUND')) answer = await get('sourceless');
    expect(answer.error).toBe(
      "Failed to resolve 'There is nothing to download at sourceless - Source is unknown or unset'.",
    );
    expect((await get('sourceless', { download_directory: join(folder, 'no folder') })).error).toBe(
      `specified download directory "${join(folder, 'no folder')}" does not exist`,
    );
  });
});
