/**
 * Compares the answers of our daemon about claims with those of lbry-sdk's, on the same hub and with the same wallet:
 * resolving, searching, collections; and tests fields that lbry-sdk does not return. LBRYNET names the program `lbrynet`;
 * without it nothing is tested.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDaemon, type TestDaemon } from './support/daemon.js';
import { PeerGroup } from './support/network.js';
import { freePort, type RegtestNode } from './support/node.js';
import { SdkDaemon } from './support/sdkDaemon.js';

const LBRYNET = process.env['LBRYNET'];
if (!LBRYNET) console.log('skipped: LBRYNET names no daemon');

interface Output {
  readonly claim_id: string;
  readonly txid: string;
  readonly height: number;
}
interface Tx {
  readonly txid: string;
  readonly outputs: readonly Output[];
}
type Json = Record<string, unknown>;

/** Height of the last claim trie fork. Source: src/params/regtest.ts. */
const FORKED_HEIGHT = 360;
/** LBC for a dollar. */
const RATE = 25;

describe.skipIf(!LBRYNET)('claims of all users, beside lbrynet', () => {
  const group = new PeerGroup();
  const ids: Record<string, string> = {};
  let address: string;
  let node: RegtestNode;
  let theirs: SdkDaemon;
  let hubPort: number;
  let our: TestDaemon;

  async function mine(blocks = 1): Promise<void> {
    await node.rpc('generatetoaddress', [blocks, address]);
    const tip = await node.rpc<number>('getblockcount');
    await theirs.until(`it is at ${tip}`, async () => {
      const { wallet } = await theirs.call<{ wallet: { blocks: number } }>('status');
      return wallet.blocks === tip;
    });
  }
  /** Calls a method, and waits until its transaction is in a block and its outputs can be spent. */
  async function make(label: string, method: string, params: object): Promise<string> {
    const { txid, outputs } = await theirs.call<Tx>(method, params);
    await mine();
    await theirs.until(`${label} is in a block`, async () => {
      const { height } = await theirs.call<{ height: number }>('transaction_show', { txid });
      return height > 0;
    });
    return (ids[label] = outputs[0]!.claim_id);
  }
  /** Calls both daemons and compares the answers without the parts that differ for a reason. */
  async function both(method: string, params: object, alike: (answer: Json) => Json = (answer) => answer) {
    const [wanted, answer] = [await theirs.call<Json>(method, params), await our.call<Json>(method, params)];
    expect(alike(answer), JSON.stringify(params)).toEqual(alike(wanted));
    return answer;
  }

  async function openOurs(): Promise<void> {
    const walletText = theirs.read(join(theirs.folder, 'wallet', 'wallets', 'default_wallet'));
    our = await startDaemon({ hubPorts: [hubPort], walletText, args: [`--exchange-rates=USD=${RATE}`] });
    const tip = await node.rpc<number>('getblockcount');
    const { total } = await theirs.call<{ total: string }>('wallet_balance');
    await theirs.until('ours knows the same wallet', async () => {
      const { wallet } = await our.call<{ wallet: { blocks: number } }>('status');
      const balance = await our.call<{ total: string }>('wallet_balance');
      expect([wallet.blocks, balance.total]).toEqual([tip, total]);
      return true;
    });
  }

  /** Makes the channels, streams, a repost, a list, the supports and a purchase. */
  async function publish(): Promise<void> {
    await make('room', 'channel_create', { name: '@room', bid: '1.0', title: 'A room', tags: ['History'] });
    await make('other', 'channel_create', { name: '@other', bid: '0.5' });
    await make('film', 'stream_create', {
      name: 'film',
      bid: '1.0',
      title: 'History of conspiracies',
      tags: ['history'],
      languages: ['en'],
      locations: ['US:NH'],
      channel_name: '@room',
      fee_currency: 'USD',
      fee_amount: '2.5',
      file_path: theirs.file('film.txt', 'a film'),
    });
    await make('song', 'stream_create', {
      name: 'Söng',
      bid: '0.5',
      title: 'Song',
      languages: ['de'],
      file_path: theirs.file('song.txt', 'a song'),
    });
    await make('cheap', 'stream_create', {
      name: 'film',
      bid: '0.1',
      fee_currency: 'LBC',
      fee_amount: '0.3',
      allow_duplicate_name: true,
      file_path: theirs.file('cheap.txt', 'cheap'),
    });
    await make('again', 'stream_repost', {
      name: 'again',
      bid: '0.1',
      claim_id: ids['film'],
      channel_name: '@other',
    });
    const missing = 'ab'.repeat(20);
    await make('list', 'collection_create', {
      name: 'list',
      bid: '0.1',
      claims: [ids['song'], missing, ids['film'], ids['room']],
    });
    const supports = [
      { claim_id: ids['film'], amount: '0.3', channel_id: ids['room'] },
      { claim_id: ids['film'], amount: '0.5', channel_id: ids['other'] },
      { claim_id: ids['film'], amount: '0.7' },
      { claim_id: ids['room'], amount: '0.2', channel_id: ids['other'], tip: true },
    ];
    for (const [n, support] of supports.entries()) await make(`support ${n}`, 'support_create', support);
    await make('bought', 'purchase_create', { claim_id: ids['cheap'], override_max_key_fee: true });
  }

  beforeAll(async () => {
    hubPort = await freePort();
    node = await group.start({
      args: [
        '-hub',
        `-hubport=${hubPort}`,
        `-hubudpport=${hubPort}`,
        '-fallbackfee=0.0002',
        '-supportdelay=proportional',
        '-maxtipage=100000000',
      ],
    });
    address = await node.rpc<string>('getnewaddress');
    // Names are normalized and supports carry data above the forks of regtest.
    await node.rpc('generatetoaddress', [FORKED_HEIGHT, address]);
    theirs = await SdkDaemon.start(LBRYNET!, [hubPort], ['exchange_rate_manager']);
    const own = await theirs.call<string>('address_unused');
    for (let payment = 0; payment < 10; payment++) await node.rpc('sendtoaddress', [own, 2]);
    await mine();
    await theirs.until('it is paid', async () => {
      const { available } = await theirs.call<{ available: string }>('wallet_balance');
      return Number(available) === 20;
    });
    await publish();
    // A value that cannot be decoded, and a name that normalization changes.
    await node.rpc('claimname', ['Odd', 'ffff', 0.1]);
    await mine(3);
    await openOurs();
    await theirs.until('the search has all', async () => {
      const { total_items } = await theirs.call<{ total_items: number }>('claim_search');
      return total_items >= 7;
    });
  });
  afterAll(async () => {
    await our?.stop();
    await theirs?.stop();
    await group.close();
  });

  it('resolves', async () => {
    const id = ids['film']!;
    const urls = [
      'film',
      'lbry://film',
      `film#${id}`,
      `film:${id.slice(0, 3)}`,
      `other-name#${id}`,
      'film$2',
      'FILM',
      '@room',
      '@room/film',
      `@room#${ids['room']!.slice(0, 2)}/film`,
      '@other/film',
      '@other/again',
      '@nobody/film',
      'again',
      'list',
      'söng',
      'SÖNG',
      'odd',
      'nothing',
      'not a url',
      '@',
      'a/b',
      '',
    ];
    const answer = await both('resolve', { urls });
    expect(Object.keys(answer)).toHaveLength(urls.length);
    expect(answer['@room/film']).toMatchObject({ claim_id: id, is_channel_signature_valid: true });
    await both('resolve', { urls: 'film' });
  });

  it('resolves with the data of the wallet', async () => {
    const urls = ['film', 'film$2', '@room', 'again', 'odd', 'nothing'];
    const includes = [
      'include_is_my_output',
      'include_sent_supports',
      'include_sent_tips',
      'include_purchase_receipt',
    ];
    for (const name of includes) await both('resolve', { urls, [name]: true });
    const all = Object.fromEntries([...includes, 'include_received_tips'].map((name) => [name, true]));
    const answer = await both('resolve', { urls, ...all });
    expect(answer['film']).toMatchObject({ is_my_output: true, sent_supports: '1.5', sent_tips: '0.0' });
    expect(answer['film$2']).toHaveProperty('purchase_receipt.claim_id', ids['cheap']);
    // QUIRK: without other URLs, lbry-sdk does not request the tips. Our daemon does.
    expect(await our.call('resolve', { urls: 'film', include_received_tips: true })).toHaveProperty(
      'film.received_tips',
      '0.0',
    );
  });

  it('searches', async () => {
    const searches: Json[] = [
      {},
      { name: 'film' },
      { name: 'FILM' },
      { text: 'conspiracy' },
      { claim_id: ids['film'] },
      { claim_id: ids['film']!.slice(0, 6) },
      { claim_ids: [ids['film'], ids['song'], 'ab'.repeat(20)] },
      { channel: '@room' },
      { channel: '@nobody' },
      { channel_ids: [ids['room'], ids['other']] },
      { not_channel_ids: [ids['room']] },
      { has_channel_signature: true },
      { has_channel_signature: true, valid_channel_signature: true },
      { invalid_channel_signature: true },
      { is_controlling: true },
      { claim_type: 'stream' },
      { claim_type: ['channel', 'repost'] },
      { stream_types: ['document'] },
      { media_types: ['text/plain'] },
      { any_tags: ['History'] },
      { not_tags: ['history'] },
      { any_languages: ['de'] },
      { all_languages: ['en'] },
      { fee_amount: '>1' },
      { fee_amount: '0.3' },
      { fee_currency: 'usd' },
      { height: '>5' },
      { height: ['>5', '<1000'] },
      { amount: '>=50000000' },
      { amount: 50000000 },
      { effective_amount: '>100000000' },
      { reposted_claim_id: ids['film'] },
      { reposted: '>0' },
      { remove_duplicates: true },
      { limit_claims_per_channel: 1 },
      { has_source: true },
      { has_no_source: true },
      { order_by: 'name' },
      { order_by: ['^amount', 'name'] },
      { order_by: ['trending_mixed', '^height'] },
      { page: 2, page_size: 3, order_by: '^name' },
      { page: -2, page_size: -3, order_by: '^name' },
      { page: 1, page_size: 100 },
      { no_totals: true, order_by: 'name' },
      { include_is_my_output: true, include_purchase_receipt: true, order_by: 'name' },
      { nothing_that_is_known: 5 },
    ];
    for (const search of searches) await both('claim_search', search);
    expect((await our.call<{ total_items: number }>('claim_search', { name: 'film' })).total_items).toBe(2);
  });

  it('refuses the same searches', async () => {
    const refused = [
      { claim_id: 'ab', claim_ids: ['ab'] },
      { order_by: ['no_such_field'] },
      { any_tags: Array<string>(3000).fill('a') },
    ];
    for (const search of refused) {
      await expect(theirs.call('claim_search', search)).rejects.toThrow();
      await expect(our.call('claim_search', search)).rejects.toThrow();
    }
  });

  it('resolves collections', async () => {
    for (const which of [{ url: 'list' }, { claim_id: ids['list'] }]) {
      const answer = await both('collection_resolve', which);
      const items = answer['items'] as ({ claim_id: string } | null)[];
      expect(items.map((item) => item?.claim_id)).toEqual([ids['song'], undefined, ids['film'], ids['room']]);
      await both('collection_resolve', { ...which, page: 2, page_size: 2 });
    }
    for (const which of [{}, { url: 'nothing' }, { claim_id: 'ab'.repeat(20) }]) {
      await expect(theirs.call('collection_resolve', which)).rejects.toThrow();
      await expect(our.call('collection_resolve', which)).rejects.toThrow();
    }
  });

  it('estimates the cost of a stream', async () => {
    expect(await our.call('stream_cost_estimate', { uri: '@room/film' })).toBe(2.5 * RATE);
    expect(await our.call('stream_cost_estimate', { uri: 'söng' })).toBe(0);
    await expect(our.call('stream_cost_estimate', { uri: 'nothing' })).rejects.toThrow('Could not find');
  });

  it('sums up supports by channel', async () => {
    const sum = async (claimId: string, content = false): Promise<unknown[]> => {
      const { items } = await our.call<{ items: Json[] }>('support_sum', {
        claim_id: claimId,
        new_sdk_server: 'http://localhost',
        include_channel_content: content,
      });
      return items.map(({ channel_name, channel_id, staked, supports }) => [
        channel_name,
        channel_id,
        staked,
        supports,
      ]);
    };
    const { room, other, film } = ids as Record<'room' | 'other' | 'film', string>;
    expect(await sum(film)).toEqual([
      ['@other', other, '0.5', 1],
      ['@room', room, '0.3', 1],
    ]);
    expect(await sum(room)).toEqual([['@other', other, '0.2', 1]]);
    expect(await sum(room, true)).toEqual([
      ['@other', other, '0.7', 2],
      ['@room', room, '0.3', 1],
    ]);
    await expect(sum('ab'.repeat(20))).rejects.toThrow('Could not find claim');
    expect(our.log).not.toMatch(/warning|error/i);
  });
});
