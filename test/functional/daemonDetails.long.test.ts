/**
 * Compares details of our daemon with those of lbry-sdk's, with one wallet and one hub. The answers to each call must be equal,
 * or differ as `docs/lbcnet.md` says. LBRYNET names the program `lbrynet`; the tests are skipped without it.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectFile } from '../../src/util/project.js';
import { startDaemon, type TestDaemon } from './support/daemon.js';
import { PeerGroup, until } from './support/network.js';
import { freePort } from './support/node.js';
import { SdkDaemon } from './support/sdkDaemon.js';

const LBRYNET = process.env['LBRYNET'];
if (!LBRYNET) console.log('skipped: LBRYNET names no daemon');

type Json = Record<string, unknown>;
interface Verdict {
  readonly result?: unknown;
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data?: { readonly name?: string };
  };
}

interface Detail {
  readonly method: string;
  readonly params: Json;
  /** Whether the whole answers are compared. */
  readonly isWhole?: boolean;
  /** Words of `docs/lbcnet.md` that describe the difference; absent if the answers must be equal. */
  readonly row?: string;
}

const many = (count: number): string[] =>
  Array.from({ length: count }, (_, n) => String(n).padStart(40, '0'));

/** Calls with placeholders for ids of the wallet: `film`, `list`, `channel`, `account`, `txid`, `FILM` (in capitals). */
const DETAILS: readonly Detail[] = [
  { method: 'claim_search', params: { claim_ids: many(2049) } },
  { method: 'claim_search', params: { not_channel_ids: many(2049) } },
  { method: 'stream_list', params: { is_spent: false }, row: '`is_spent: false` of `stream_list`' },
  { method: 'support_list', params: { is_spent: false } },
  { method: 'channel_list', params: { is_spent: false } },
  { method: 'claim_list', params: { is_spent: false } },
  { method: 'utxo_list', params: { is_spent: true } },
  { method: 'utxo_list', params: { is_spent: false } },
  { method: 'claim_list', params: { claim_id: 'FILM' } },
  { method: 'claim_search', params: { claim_id: 'FILM' } },
  { method: 'txo_list', params: { txid: 'TXID' }, row: 'Transaction ids in capitals are found' },
  { method: 'stream_update', params: { claim_id: 'FILM', preview: true } },
  { method: 'support_create', params: { claim_id: 'FILM', amount: '0.1', preview: true } },
  { method: 'collection_resolve', params: { claim_id: 'film' } },
  { method: 'collection_resolve', params: { claim_id: 'channel' } },
  { method: 'collection_resolve', params: { claim_id: '' } },
  { method: 'collection_resolve', params: {} },
  {
    method: 'collection_resolve',
    params: { claim_id: 'list', page: 0 },
    row: 'A page of 0 means the first page',
  },
  {
    method: 'collection_resolve',
    params: { claim_id: 'list', page_size: 0 },
    row: 'A page of 0 means the first page',
  },
  {
    method: 'collection_resolve',
    params: { claim_id: 'list', page: -1 },
    row: 'A page of 0 means the first page',
  },
  { method: 'txo_list', params: { type: 'nothing' } },
  { method: 'txo_sum', params: { type: 'nothing' } },
  { method: 'claim_list', params: { claim_type: 'nothing' } },
  { method: 'channel_sign', params: { channel_id: 'channel', hexdata: 'xx' } },
  { method: 'channel_sign', params: { channel_id: 'channel', hexdata: 'abc' } },
  { method: 'channel_sign', params: { channel_id: 'channel', hexdata: '' } },
  { method: 'channel_sign', params: { channel_id: 'channel' } },
  { method: 'stream_create', params: { name: 'a', bid: null, preview: true } },
  { method: 'stream_update', params: { claim_id: 'film', bid: null, preview: true } },
  { method: 'channel_create', params: { name: '@a', bid: null, preview: true } },
  {
    method: 'publish',
    params: { name: 'a', bid: null, preview: true },
    row: 'A null for an optional parameter means that it is omitted',
  },
  { method: 'support_create', params: { claim_id: 'film', amount: null, preview: true } },
  {
    method: 'stream_create',
    params: { name: '@a', bid: 'x', preview: true },
    row: 'Amounts are checked first',
  },
  { method: 'stream_create', params: { name: 'a', bid: 'x', account_id: 'none', preview: true } },
  { method: 'stream_create', params: { name: 'a', bid: 'x', channel_id: 'none', preview: true } },
  {
    method: 'channel_create',
    params: { name: 'a', bid: 'x', preview: true },
    row: 'Amounts are checked first',
  },
  { method: 'channel_create', params: { name: '@a', bid: 'x', account_id: 'none', preview: true } },
  {
    method: 'collection_create',
    params: { name: '@a', bid: 'x', claims: ['film'], preview: true },
    row: 'Amounts are checked first',
  },
  {
    method: 'collection_create',
    params: { name: 'a', bid: 'x', claims: [], channel_id: 'none', preview: true },
  },
  {
    method: 'stream_repost',
    params: { name: '@a', bid: 'x', claim_id: 'film', preview: true },
    row: 'Amounts are checked first',
  },
  { method: 'stream_repost', params: { name: 'a', bid: 'x', claim_id: 'zz', preview: true } },
  {
    method: 'stream_update',
    params: { claim_id: 'none', bid: 'x', preview: true },
    row: 'Amounts are checked first',
  },
  {
    method: 'channel_update',
    params: { claim_id: 'none', bid: 'x', preview: true },
    row: 'Amounts are checked first',
  },
  { method: 'support_create', params: { claim_id: 'film', amount: 'x', account_id: 'none', preview: true } },
  { method: 'support_create', params: { claim_id: 'film', amount: 'x', channel_id: 'none', preview: true } },
  { method: 'account_fund', params: { to_account: 'none', amount: 'x' } },
  { method: 'wallet_send', params: { amount: 'x', addresses: ['none'], preview: true } },
  { method: 'publish', params: { name: '@a', bid: 'x', preview: true }, row: 'Amounts are checked first' },
  { method: 'transaction_list', params: {}, isWhole: true },
  { method: 'purchase_list', params: {}, isWhole: true },
  { method: 'transaction_list', params: { page: 0, page_size: 0 } },
  { method: 'txo_list', params: { page: 0 } },
  { method: 'txo_list', params: { page: -1, page_size: -1 } },
  { method: 'claim_search', params: { page: 0 }, row: 'A page of 0 means the first page' },
  { method: 'claim_search', params: { page_size: 0 }, row: 'A page of 0 means the first page' },
  { method: 'claim_search', params: { page: -1, page_size: -2 } },
  { method: 'purchase_list', params: { page: 0 } },
  { method: 'account_list', params: { page: 0 } },
  { method: 'collection_list', params: { page: 0 } },
  {
    method: 'support_sum',
    params: { claim_id: 'film', new_sdk_server: 'x', page: 0 },
    row: '`support_sum` asks our hub',
  },
  { method: 'claim_list', params: { account_id: '' } },
  { method: 'claim_list', params: { wallet_id: '' } },
  { method: 'claim_list', params: { claim_id: '' } },
  { method: 'claim_list', params: { name: '' } },
  { method: 'claim_list', params: { channel_id: '' } },
  {
    method: 'txo_list',
    params: { txid: '' },
    row: 'For text that is not a transaction id, the error says so',
  },
  { method: 'purchase_list', params: { claim_id: '' } },
  { method: 'claim_search', params: { claim_id: '' } },
  { method: 'claim_search', params: { channel: '' } },
  { method: 'claim_search', params: { name: '' } },
  { method: 'claim_search', params: { text: '' } },
  { method: 'channel_export', params: { channel_id: '' } },
  { method: 'stream_abandon', params: { claim_id: '', preview: true } },
  { method: 'support_abandon', params: { claim_id: '', preview: true } },
  { method: 'stream_update', params: { claim_id: '', preview: true } },
  { method: 'purchase_create', params: { claim_id: '', preview: true } },
  {
    method: 'transaction_show',
    params: { txid: '' },
    row: '`transaction_show` of text that is not a transaction id',
  },
  { method: 'address_is_mine', params: { address: '' } },
  { method: 'account_balance', params: { account_id: '' } },
  { method: 'settings_clear', params: {}, row: '`settings_clear` without a key' },
  { method: 'settings_clear', params: { key: 'nothing' } },
  { method: 'settings_set', params: { key: 'nothing', value: 1 } },
  ...(
    [
      ['tcp_port', -1],
      ['tcp_port', 70_000],
      ['prometheus_port', 70_000],
      ['download_timeout', -1],
      ['blob_lru_cache_size', -1],
      ['blob_storage_limit', -1],
      ['hub_timeout', 0],
      ['hub_timeout', -5],
      ['node_rpc_timeout', 0],
      ['concurrent_hub_requests', 0],
      ['concurrent_blob_announcers', -1],
      ['api', 'x'],
      ['streaming_server', 'x'],
    ] as const
  ).map(([key, value]): Detail => ({
    method: 'settings_set',
    params: { key, value },
    row: 'A value that a setting cannot work with is refused',
  })),
  ...(
    [
      ['udp_port', 'x'],
      ['network_storage_limit', 'x'],
      ['max_key_fee', { currency: 'DOGE', amount: '1' }],
      ['max_key_fee', { currency: 'USD', amount: 'x' }],
      ['max_key_fee', null],
      ['coin_selection_strategy', 'nothing'],
      ['lbryum_servers', 'x'],
      ['save_blobs', 'yes'],
      ['save_blobs', 1],
      ['jurisdiction', 5],
      ['components_to_skip', 'x'],
      ['wallets', null],
    ] as const
  ).map(([key, value]): Detail => ({ method: 'settings_set', params: { key, value } })),
];

async function ask(port: number, method: string, params: Json): Promise<Verdict> {
  const response = await fetch(`http://127.0.0.1:${port}/`, {
    method: 'POST',
    body: JSON.stringify({ method, params }),
  });
  const text = await response.text();
  return response.ok ? (JSON.parse(text) as Verdict) : { error: { code: response.status, message: text } };
}

/** The compared part of an answer: the class of an error; the ids and the page of a list; otherwise the answer itself. */
function essence({ result, error }: Verdict): unknown {
  if (error) return `${error.code} ${error.data?.name}`;
  const page = result as { items?: Json[] } & Json;
  if (Array.isArray(page?.items))
    return {
      ...page,
      blocked: undefined,
      items: page.items.map(({ txid, nout, id, claim_id }) => `${txid ?? id ?? claim_id}:${nout}`).sort(),
    };
  if (typeof page === 'object' && page !== null && 'txid' in page)
    return { outputs: (page['outputs'] as Json[]).map(({ name, type }) => [name, type]) };
  if (typeof page === 'object' && page !== null && 'signature' in page) return 'a signature';
  return result;
}

describe.skipIf(!LBRYNET)('ours and lbrynet', () => {
  const group = new PeerGroup();
  let theirs: SdkDaemon;
  let our: TestDaemon;
  const ids: Record<string, string> = {};

  beforeAll(async () => {
    const hubPort = await freePort();
    const node = await group.start({
      args: ['-hub', `-hubport=${hubPort}`, '-hubudpport=0', '-fallbackfee=0.0002'],
    });
    const address = await node.rpc<string>('getnewaddress');
    await node.rpc('generatetoaddress', [360, address]);
    theirs = await SdkDaemon.start(LBRYNET!, [hubPort], ['exchange_rate_manager']);
    const own = await theirs.call<string>('address_unused');
    // One payment a block: lbrynet may keep no positions of transactions within a block (see docs/lbcnet.md).
    for (let n = 0; n < 10; n++) {
      await node.rpc('sendtoaddress', [own, 1]);
      await node.rpc('generatetoaddress', [1, address]);
    }
    await until('it is paid', async () => {
      const { total } = await theirs.call<{ total: string }>('wallet_balance');
      return Number(total) === 10;
    });
    const make = async (method: string, params: object): Promise<{ claim: string; txid: string }> => {
      const made = await theirs.call<{ txid: string; outputs: { claim_id: string }[] }>(method, params);
      await node.rpc('generatetoaddress', [1, address]);
      await until('it is in a block', async () => {
        const { items } = await theirs.call<{ items: { height: number }[] }>('txo_list', { txid: made.txid });
        return items.length > 0 && items.every(({ height }) => height > 0);
      });
      return { claim: made.outputs[0]!.claim_id, txid: made.txid };
    };
    const film = await make('stream_create', {
      name: 'film',
      bid: '0.1',
      file_path: theirs.file('film.txt', 'film'),
    });
    Object.assign(ids, { film: film.claim, txid: film.txid });
    ids['list'] = (await make('collection_create', { name: 'list', bid: '0.1', claims: [film.claim] })).claim;
    await make('support_create', { claim_id: film.claim, amount: '0.1' });
    ids['channel'] = (await make('channel_create', { name: '@shop', bid: '0.1' })).claim;
    const price = { fee_currency: 'LBC', fee_amount: '0.02', fee_address: await node.rpc('getnewaddress') };
    const sold = await make('stream_create', {
      name: 'sold',
      bid: '0.1',
      ...price,
      file_path: theirs.file('sold.txt', 'sold'),
    });
    await make('purchase_create', { claim_id: sold.claim, override_max_key_fee: true });
    // Spent states of a stream and a support.
    await make('stream_update', { claim_id: film.claim, title: 'New' });
    const walletText = await theirs.call<string>('wallet_export');
    our = await startDaemon({ hubPorts: [hubPort], walletText });
    const balance = JSON.stringify(await theirs.call('wallet_balance'));
    await until('ours has it too', async () => JSON.stringify(await our.call('wallet_balance')) === balance);
    const accounts = await our.call<{ items: { id: string }[] }>('account_list');
    ids['account'] = accounts.items[0]!.id;
  });
  afterAll(async () => {
    await our?.stop();
    await theirs?.stop();
    await group.close();
  });

  function withIds(params: Json): Json {
    const put = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(put);
      if (typeof value !== 'string') return value;
      const id = ids[value.toLowerCase()];
      return id === undefined ? value : /^[A-Z]+$/.test(value) ? id.toUpperCase() : id;
    };
    return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, put(value)]));
  }

  it('give the same answers, or the documented differences', async () => {
    const docs = readFileSync(projectFile('docs', 'lbcnet.md'), 'utf8').replaceAll(/\s+/g, ' ');
    const problems: string[] = [];
    for (const { method, params, row, isWhole } of DETAILS) {
      const compared = (verdict: Verdict): unknown => (isWhole ? verdict.result : essence(verdict));
      const given = withIds(params);
      const ours = await ask(our.port, method, given);
      let other: Verdict = {};
      await until('lbrynet has its hub', async () => {
        other = await ask(theirs.port, method, given);
        return other.error?.data?.name !== 'ConnectionError';
      });
      const isAlike = JSON.stringify(compared(ours)) === JSON.stringify(compared(other));
      const asked = `${method} ${JSON.stringify(params).slice(0, 100)}`;
      const shown = (verdict: Verdict): string =>
        `${JSON.stringify(compared(verdict))?.slice(0, isWhole ? 5000 : 160)} ${verdict.error?.message.slice(0, 100) ?? ''}`;
      if (row !== undefined && !docs.includes(row)) problems.push(`${asked}: docs/lbcnet.md lacks “${row}”`);
      if (isAlike && row !== undefined) problems.push(`${asked}: no difference any more`);
      if (!isAlike && row === undefined)
        problems.push(`${asked}:\n   ours   ${shown(ours)}\n   theirs ${shown(other)}`);
    }
    expect(problems.join('\n')).toBe('');
  });
});
