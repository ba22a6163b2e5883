/** Claims that a built daemon creates and then reads from the hub of a regtest node. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DECLARATIONS } from '../../src/daemon/api/declarations/table.js';
import { checkResult } from '../../src/schema/schemaCheck.js';
import type { JsonOut } from '../../src/util/json/jsonWrite.js';
import { startDaemon, type TestDaemon } from './support/daemon.js';
import { freePort, HANG_MS, startRegtest, type RegtestNode } from './support/node.js';

/** Height above the last fork of regtest, so that supports can have data. All coinbases except the last hundred are mature. */
const BLOCKS = 360;
const PAYMENTS = 12;
const MISSING = 'ab'.repeat(20);

interface Made {
  readonly outputs: readonly { readonly claim_id: string }[];
}
interface Item {
  readonly claim_id: string;
  readonly name: string;
}
interface Page {
  readonly items: readonly Item[];
  readonly total_items: number;
}

let node: RegtestNode;
let daemon: TestDaemon;
const ids: Record<string, string> = {};

/** The result of a call, which must match its declaration. */
async function call<Result>(method: string, params: object = {}): Promise<Result> {
  const answer = await daemon.call<JsonOut>(method, params);
  const { result } = DECLARATIONS.find(({ name }) => name === method)!;
  expect(await checkResult(result, answer)).toEqual([]);
  return answer as Result;
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20));
}

async function mine(): Promise<void> {
  await node.rpc('generate', [1]);
  const tip = await node.rpc<number>('getblockcount');
  await until(async () => {
    const { wallet } = await daemon.call<{ wallet: { blocks: number } }>('status');
    return wallet.blocks === tip;
  });
}

async function make(label: string, method: string, params: object): Promise<void> {
  const { outputs } = await daemon.call<Made>(method, { ...params, blocking: true });
  ids[label] = outputs[0]!.claim_id;
}

/** Checks the names that a search finds, in any order. The search index may be behind the last block. */
async function finds(constraints: object, names: readonly string[]): Promise<void> {
  await until(async () => (await daemon.call<Page>('claim_search')).total_items === 6);
  const { items } = await call<Page>('claim_search', constraints);
  expect(items.map(({ name }) => name).sort(), JSON.stringify(constraints)).toEqual(names);
}

beforeAll(async () => {
  const hubPort = await freePort();
  node = await startRegtest({ args: ['-hub', `-hubport=${hubPort}`] });
  await node.rpc('generate', [BLOCKS]);
  daemon = await startDaemon({ hubPorts: [hubPort], args: ['--exchange-rates=USD=25'] });
  const own = await daemon.call<string>('address_unused');
  for (let payment = 0; payment < PAYMENTS; payment++) await node.rpc('sendtoaddress', [own, 1]);
  await mine();
  await until(async () => {
    const { available } = await daemon.call<{ available: string }>('account_balance', { confirmations: 1 });
    return available === `${PAYMENTS}.0`;
  });
  await make('room', 'channel_create', { name: '@room', bid: '0.5' });
  await make('other', 'channel_create', { name: '@other', bid: '0.5' });
  await mine();
  const source = { sd_hash: 'ab'.repeat(48), file_name: 'a.mp4', file_size: 10 };
  const film = { name: 'Film', bid: '0.5', fee_currency: 'USD', fee_amount: '2.5', tags: ['one'], ...source };
  await make('film', 'stream_create', { ...film, channel_id: ids['room'] });
  const song = { name: 'song', bid: '0.1', languages: ['fr', 'de'], locations: ['FR'], ...source };
  await make('song', 'stream_create', song);
  await mine();
  await make('again', 'stream_repost', { name: 'again', bid: '0.1', claim_id: ids['film'] });
  const claims = [ids['song'], MISSING, ids['film']];
  await make('list', 'collection_create', { name: 'list', bid: '0.1', claims });
  for (const [channel, amount] of [
    ['room', '0.1'],
    ['other', '0.2'],
    [null, '0.3'],
  ] as const)
    await make('support', 'support_create', {
      claim_id: ids['film'],
      amount,
      ...(channel ? { channel_id: ids[channel] } : {}),
    });
  await mine();
}, HANG_MS);

afterAll(async () => {
  await daemon?.stop();
  await node?.stop();
}, HANG_MS);

describe('claims of all users', { timeout: HANG_MS }, () => {
  it('are resolved, one or several, with the data of the wallet', async () => {
    const id = ids['film']!;
    const urls = ['@room/film', `lbry://x#${id}`, 'FILM', 'again', 'list', '@other/film', 'nothing', 'a b'];
    const answer = await call<Record<string, unknown>>('resolve', {
      urls,
      include_is_my_output: true,
      include_sent_supports: true,
    });
    expect(Object.keys(answer).sort()).toEqual(urls.toSorted());
    for (const url of urls.slice(0, 3))
      expect(answer[url]).toMatchObject({
        claim_id: id,
        is_channel_signature_valid: true,
        signing_channel: { claim_id: ids['room'], meta: { claims_in_channel: 1 } },
        is_my_output: true,
        sent_supports: '0.6',
        canonical_url: `lbry://@room#${ids['room']![0]}/Film#${id[0]}`,
        meta: { support_amount: '0.6', is_controlling: true },
      });
    expect(answer['again']).toMatchObject({ reposted_claim: { claim_id: id } });
    expect(answer['list']).toMatchObject({ value_type: 'collection' });
    expect(answer['@other/film']).toEqual({
      error: { name: 'NOT_FOUND', text: 'Could not find claim at "@other/film".' },
    });
    expect(answer['nothing']).toHaveProperty('error.name', 'NOT_FOUND');
    expect(answer['a b']).toEqual({ error: 'a b is not a valid url' });
    const long = 'a b'.repeat(1000);
    const refused = await call<Record<string, { error: string }>>('resolve', { urls: long });
    expect(refused[long]!.error).toHaveLength(1000);
    expect(Object.keys(await call<object>('resolve', { urls: 'song' }))).toEqual(['song']);
  });

  it('are searched', async () => {
    await finds({}, ['@other', '@room', 'Film', 'again', 'list', 'song']);
    await finds({ channel: '@room' }, ['Film']);
    await finds({ channel: '@nobody' }, []);
    await finds({ name: 'film', claim_type: 'stream' }, ['Film']);
    await finds({ claim_ids: [ids['song'], MISSING] }, ['song']);
    await finds({ amount: ['>=50000000', '<60000000'] }, ['@other', '@room', 'Film']);
    await finds({ fee_currency: 'usd', fee_amount: '2.5', has_source: true }, ['Film', 'again']);
    await finds({ any_languages: ['fr', 'it'] }, ['song']);
    await finds({ all_languages: ['fr', 'de'] }, ['song']);
    await finds({ all_languages: ['fr', 'it'] }, []);
    await finds({ not_languages: 'fr' }, ['@other', '@room', 'Film', 'again', 'list']);
    await finds({ any_locations: ['US', 'FR'] }, ['song']);
    await finds({ any_locations: 'FR:Normandie' }, []);
    await finds({ all_locations: ['FR', '{"country": "US"}'] }, []);
    await finds({ not_locations: ['FR'], claim_type: 'stream' }, ['Film']);
    const paged = await call<Page>('claim_search', { order_by: '^name', page: 2, page_size: 4 });
    expect(paged).toMatchObject({ page: 2, page_size: 4, total_items: 6, total_pages: 2 });
    expect(paged.items).toHaveLength(2);
    expect(await call<Page>('claim_search', { no_totals: true })).not.toHaveProperty('total_items');
    const refusal = daemon.call('claim_search', { claim_id: 'ab', claim_ids: ['ab'] });
    await expect(refusal).rejects.toMatchObject({ errorName: 'ConflictingInputValueError' });
  });

  it('are listed in the order of their collection', async () => {
    for (const which of [{ url: 'list' }, { claim_id: ids['list'] }]) {
      const { items, total_items } = await call<Page>('collection_resolve', which);
      expect(items.map((item) => (item as Item | null)?.claim_id)).toEqual([
        ids['song'],
        undefined,
        ids['film'],
      ]);
      expect(total_items).toBe(3);
    }
    await expect(daemon.call('collection_resolve', { url: 'song' })).rejects.toThrow('is not a collection');
    await expect(daemon.call('collection_resolve')).rejects.toThrow('Missing argument claim_id or url.');
  });

  it('cost the value of their fee', async () => {
    expect(await call('stream_cost_estimate', { uri: 'film' })).toBe(62.5);
    expect(await call('stream_cost_estimate', { uri: 'song' })).toBe(0);
  });

  it('have sums of supports by channel', async () => {
    const sums = async (claim_id: string | undefined, include_channel_content = false) => {
      const params = { claim_id, new_sdk_server: 'x', include_channel_content };
      const { items } = await call<{ items: Record<string, unknown>[] }>('support_sum', params);
      return items.map(({ channel_id, channel_name, staked, supports }) => [
        channel_id,
        channel_name,
        staked,
        supports,
      ]);
    };
    const ofFilm = [
      [ids['other'], '@other', '0.2', 1],
      [ids['room'], '@room', '0.1', 1],
    ];
    expect(await sums(ids['film'])).toEqual(ofFilm);
    expect(await sums(ids['room'])).toEqual([]);
    expect(await sums(ids['room'], true)).toEqual(ofFilm);
    await expect(sums(MISSING)).rejects.toThrow('Could not find claim');
    await expect(sums('short')).rejects.toMatchObject({ errorName: 'ValueError' });
  });
});
