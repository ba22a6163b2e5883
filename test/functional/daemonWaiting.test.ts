/** Claims in the mempool: the daemon of another user resolves, buys and downloads them. */
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDaemon, type TestDaemon } from './support/daemon.js';
import { freePort, HANG_MS, startRegtest, type RegtestNode } from './support/node.js';

const SKIPPED = ['dht', 'hash_announcer', 'upnp', 'tracker_announcer_component', 'background_downloader'];
const LENGTH = 100_000;

interface Item {
  readonly name: string;
  readonly claim_id: string;
  readonly txid: string;
  readonly height: number;
  readonly confirmations: number;
  readonly timestamp: number | null;
  readonly is_channel_signature_valid?: boolean;
  readonly meta: Record<string, unknown>;
  readonly error?: { readonly name: string };
}
interface Page {
  readonly items: readonly Item[];
  readonly total_items: number;
}
interface File {
  readonly download_path: string;
  readonly status: string;
  readonly confirmations: number;
  readonly content_fee: { readonly outputs: readonly { readonly amount: string }[] } | null;
  readonly error?: string;
}

let node: RegtestNode;
let creator: TestDaemon;
let viewer: TestDaemon;
let folder: string;
let bytes: Buffer;
let made: { readonly outputs: readonly { readonly claim_id: string }[]; readonly txid: string };

async function paid(daemon: TestDaemon, amount: number): Promise<void> {
  await node.rpc('sendtoaddress', [await daemon.call('address_unused'), amount]);
  await node.rpc('generate', [1]);
  await expect
    .poll(async () => (await daemon.call<{ available: string }>('account_balance')).available, {
      timeout: HANG_MS,
    })
    .not.toBe('0.0');
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lbcnet-waiting-'));
  const [hubPort, peerPort] = [await freePort(), await freePort()];
  node = await startRegtest({ args: ['-hub', `-hubport=${hubPort}`] });
  await node.rpc('generate', [120]);
  const settings = { components_to_skip: SKIPPED, http_blob_servers: [], reflector_servers: [] };
  [creator, viewer] = await Promise.all([
    startDaemon({
      hubPorts: [hubPort],
      settings: { ...settings, fixed_peers: [] },
      args: [`--tcp-port=${peerPort}`, '--network-interface=127.0.0.1'],
    }),
    startDaemon({
      hubPorts: [hubPort],
      settings: {
        ...settings,
        fixed_peers: [`127.0.0.1:${peerPort}`],
        max_key_fee: { currency: 'LBC', amount: '1.0' },
      },
      args: ['--tcp-port=0', '--network-interface=127.0.0.1'],
    }),
  ]);
}, HANG_MS);

afterAll(async () => {
  await viewer?.stop();
  await creator?.stop();
  await node?.stop();
  if (folder) rmSync(folder, { recursive: true, force: true });
}, HANG_MS);

const resolved = async (url: string): Promise<Item> =>
  (await viewer.call<Record<string, Item>>('resolve', { urls: [url] }))[url]!;
const search = (constraints: object): Promise<Page> => viewer.call<Page>('claim_search', constraints);

describe('an unconfirmed stream', { timeout: HANG_MS }, () => {
  it('is resolved and found with its channel, without heights', async () => {
    await paid(creator, 5);
    await paid(viewer, 5);
    bytes = randomBytes(LENGTH);
    writeFileSync(join(folder, 'film.mp4'), bytes);
    const channel = await creator.call<typeof made>('channel_create', { name: '@lab', bid: '0.1' });
    made = await creator.call('publish', {
      name: 'film',
      bid: '0.1',
      file_path: join(folder, 'film.mp4'),
      channel_id: channel.outputs[0]!.claim_id,
      fee_amount: '0.5',
      fee_currency: 'LBC',
      width: 300,
      height: 400,
      duration: 60,
    });
    const waiting = { name: 'film', txid: made.txid, height: 0, confirmations: 0, timestamp: null };
    const film = await resolved('@lab/film');
    expect(film).toMatchObject({ ...waiting, is_channel_signature_valid: true });
    expect(film.meta).toMatchObject({
      creation_height: 0,
      activation_height: 0,
      expiration_height: 0,
      take_over_height: 0,
      is_controlling: true,
      effective_amount: '0.1',
    });
    expect(film.meta).not.toHaveProperty('creation_timestamp');
    expect(await resolved('@lab')).toMatchObject({ height: 0, meta: { claims_in_channel: 1 } });
    const found = await search({ name: 'film' });
    expect(found.items).toMatchObject([waiting]);
    expect(found.total_items).toBe(1);
    expect((await search({ channel: '@lab' })).items.map(({ name }) => name)).toEqual(['film']);
  });

  it('is found by its size, and excluded as a short', async () => {
    const names = async (constraints: object): Promise<string[]> =>
      (await search({ claim_type: 'stream', ...constraints })).items.map(({ name }) => name);
    expect(await names({ content_aspect_ratio: '<=0.95' })).toEqual(['film']);
    expect(await names({ content_aspect_ratio: '>0.95' })).toEqual([]);
    expect(await names({ content_width: '300', content_height: '>=400' })).toEqual(['film']);
    expect(await names({ exclude_shorts: true })).toEqual([]);
    expect(await names({ exclude_shorts: true, exclude_shorts_duration_lte: 59 })).toEqual(['film']);
    expect(await names({ exclude_shorts: true, exclude_shorts_aspect_ratio_lte: 0.7 })).toEqual(['film']);
    expect(await names({ has_no_source: true })).toEqual([]);
    // A parameter that the hub does not know does not count.
    expect(await names({ parameter_of_tomorrow: 'x' })).toEqual(['film']);
  });

  it('is bought and downloaded', async () => {
    const file = await viewer.call<File>('get', { uri: '@lab/film', save_file: true });
    expect(file.error).toBeUndefined();
    expect(file.confirmations).toBe(0);
    expect(file.content_fee!.outputs[0]!.amount).toBe('0.5');
    const files = async (): Promise<File> =>
      (await viewer.call<{ items: File[] }>('file_list', { claim_name: 'film' })).items[0]!;
    await expect.poll(async () => (await files()).status, { timeout: HANG_MS }).toBe('finished');
    const hash = (of: Buffer): string => createHash('sha256').update(of).digest('hex');
    expect(hash(readFileSync((await files()).download_path))).toBe(hash(bytes));
    expect(await viewer.call('purchase_list', { resolve: true })).toMatchObject({
      items: [{ claim_id: made.outputs[0]!.claim_id, claim: { name: 'film', height: 0 } }],
    });
  });

  it('is an ordinary claim after its confirmation', async () => {
    await node.rpc('generate', [1]);
    const height = await node.rpc<number>('getblockcount');
    await expect
      .poll(() => resolved('film'), { timeout: HANG_MS })
      .toMatchObject({ height, confirmations: 1, txid: made.txid });
    await expect
      .poll(() => search({ name: 'film', order_by: 'height' }), { timeout: HANG_MS })
      .toMatchObject({ items: [{ height, meta: { creation_height: height } }], total_items: 1 });
    expect(await viewer.call('purchase_list', { resolve: true })).toMatchObject({
      items: [{ claim: { height } }],
    });
  });

  it('is shown with its unconfirmed update, if the owner signed it', async () => {
    const [{ claim_id }] = made.outputs as [{ claim_id: string }];
    const { txid } = await creator.call<{ txid: string }>('stream_update', {
      claim_id,
      title: 'Longer film',
    });
    expect(txid).not.toBe(made.txid);
    for (const url of ['film', `film#${claim_id}`, '@lab/film'])
      expect(await resolved(url)).toMatchObject({
        txid,
        claim_id,
        height: 0,
        is_channel_signature_valid: true,
        value: { title: 'Longer film' },
      });
    expect((await search({ claim_ids: [claim_id] })).items).toMatchObject([{ txid, height: 0 }]);
  });
});
