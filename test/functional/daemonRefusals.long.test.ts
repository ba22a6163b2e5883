/**
 * Compares the errors of our daemon and of lbry-sdk's for invalid parameters of many forms, with one wallet on one hub. Both
 * must refuse the same calls, except for a list of differences with reasons. LBRYNET names the program `lbrynet`; without it
 * nothing is tested.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MethodDeclaration, ParamDeclaration } from '../../src/daemon/api/declaration.js';
import { DECLARATIONS } from '../../src/daemon/api/declarations/table.js';
import { startDaemon, type TestDaemon } from './support/daemon.js';
import { PeerGroup, until } from './support/network.js';
import { freePort } from './support/node.js';
import { SdkDaemon } from './support/sdkDaemon.js';

const LBRYNET = process.env['LBRYNET'];
if (!LBRYNET) console.log('skipped: LBRYNET names no daemon');

/** Methods whose parameters are all tested. They change nothing, or only return a preview. */
const TRIED = [
  ...['collection_list', 'collection_update', 'publish', 'purchase_list', 'resolve', 'stream_abandon'],
  ...['stream_create', 'stream_list', 'stream_repost', 'stream_update', 'support_abandon', 'support_list'],
  ...['txo_list', 'txo_plot', 'txo_spend', 'txo_sum', 'utxo_list', 'wallet_balance', 'wallet_send'],
  ...['sync_hash', 'transaction_list', 'utxo_release', 'wallet_list', 'wallet_status'],
];
/**
 * Methods that change wallets, or return channels and claims of others, with the minimum valid parameters. Placeholders stand for
 * values of `given`.
 */
const WORKING: readonly (readonly [method: string, params: Readonly<Record<string, string>>])[] = [
  ['account_list', {}],
  ['account_balance', {}],
  ['account_max_address_gap', { account_id: 'account' }],
  ['account_send', { amount: 'amount', addresses: 'addresses', preview: 'true' }],
  ['account_fund', { amount: 'amount' }],
  ['address_is_mine', { address: 'address' }],
  ['address_list', {}],
  ['address_unused', {}],
  ['channel_abandon', { claim_id: 'channel', preview: 'true' }],
  ['channel_create', { name: '"@x"', bid: 'bid', preview: 'true' }],
  ['channel_export', { channel_id: 'channel' }],
  ['channel_import', { channel_data: '"x"' }],
  ['channel_list', {}],
  ['channel_sign', { channel_id: 'channel', hexdata: '"ab"' }],
  ['channel_update', { claim_id: 'channel', preview: 'true' }],
  ['claim_list', {}],
  ['claim_search', {}],
  ['collection_create', { name: '"x"', bid: 'bid', claims: 'claims', preview: 'true' }],
  ['collection_resolve', { claim_id: 'list' }],
  ['preference_get', {}],
  ['purchase_create', { claim_id: 'claim_id', preview: 'true' }],
  ['support_create', { claim_id: 'claim_id', amount: 'amount', preview: 'true' }],
  ['transaction_show', { txid: 'txid' }],
  ['wallet_export', {}],
  ['wallet_import', { data: '"{}"' }],
  ['wallet_add', { wallet_id: '"none"' }],
  ['wallet_create', { wallet_id: '"again"' }],
  ['wallet_remove', { wallet_id: '"none"' }],
  ['wallet_unlock', { password: '"x"' }],
  ['sync_apply', { password: '"x"' }],
  ['preference_set', { key: '"k"', value: '"v"' }],
  ['account_set', { account_id: 'account' }],
  ['account_create', { account_name: '"one more"' }],
  ['account_add', { account_name: '"added"' }],
];
/** Parameters that select how a call runs, or that name files of the daemon's machine. */
const LEFT_OUT = ['preview', 'blocking', 'file_path', 'validate_file', 'optimize_file'];

const TEXTS = ['""', '" "', '"nothing"', '"a\\u0000b"', '"é%&=:#"', '"-1"'];
const OTHERS = ['null', '-1', '1.5', '[]', '{}', '[null]'];
const AMOUNTS = [
  ...['"0.0"', '"1"', '"1.123456789"', '"-1.0"', '"1e2"', '"nan"', '"99999999.0"', '" 0.1"', '"0,1"'],
  ...['"12345678901.0"', '".5"', '"5."', '"0.1\\n"', '"0_0.1"', '0.1', '0', '1.123456789', 'true'],
];
/** Each parameter name is only tried with this number of methods, because lists share their parameters. */
const METHODS_A_PARAM = 2;

interface Verdict {
  readonly result?: unknown;
  readonly error?: { readonly message: string; readonly data?: { readonly name?: string } };
}

interface Case {
  readonly method: string;
  readonly param: string;
  readonly value: string;
}

const isNumber = (value: string): boolean => /^-?\d/.test(value);

/** Calls whose results differ for a reason. */
const REASONED: readonly { readonly why: string; readonly applies: (one: Case) => boolean }[] = [
  {
    why: 'lbcnet converts a number to text, because the command line sends digits as numbers. lbrynet refuses it or finds nothing.',
    applies: ({ param, value }) => isNumber(value) && !['bid', 'amount'].includes(param),
  },
  {
    why: 'lbcnet refuses a text that is not a transaction id. lbrynet finds nothing.',
    applies: ({ param }) => param === 'txid',
  },
  {
    why: 'lbcnet treats null as an omitted argument. In lbrynet Python fails to calculate with it.',
    applies: ({ param, value }) =>
      value === 'null' &&
      [
        ...['resolve_claims', 'page', 'page_size', 'days_back', 'batch_size'],
        ...['confirmations', 'outputs', 'order_by'],
      ].includes(param),
  },
  {
    why: 'The argument is declared, but in lbrynet its only effect is a Python error.',
    applies: ({ param, method }) =>
      ['cover_url', 'new_sdk_server'].includes(param) || (method === 'publish' && param === 'clear_channel'),
  },
  {
    why: 'lbrynet looks for the file name on the disk.',
    applies: ({ param, value }) => param === 'file_name' && value.includes('u0000'),
  },
  {
    why: 'lbrynet keeps a wallet open although its file could not be created.',
    applies: ({ param, value }) => param === 'wallet_id' && value.includes('u0000'),
  },
  {
    why: 'lbcnet refuses a payment without addresses.',
    applies: ({ method, param, value }) =>
      ['wallet_send', 'account_send'].includes(method) &&
      param === 'addresses' &&
      ['""', '[]'].includes(value),
  },
];

const bodyOf = (method: string, params: Readonly<Record<string, string>>): string =>
  `{"method": "${method}", "params": {${Object.entries(params)
    .map(([name, value]) => `"${name}": ${value}`)
    .join(', ')}}}`;

async function ask(port: number, body: string): Promise<Verdict> {
  const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body });
  const text = await response.text();
  // lbrynet answers with a server error if its error cannot be serialized.
  return response.ok ? (JSON.parse(text) as Verdict) : { error: { message: text } };
}

/** Some calls make lbrynet disconnect from its hub. The call is repeated when it is connected again. */
async function askPatiently(port: number, body: string): Promise<Verdict> {
  let verdict: Verdict = {};
  await until('lbrynet has its hub', async () => {
    verdict = await ask(port, body);
    return verdict.error?.data?.name !== 'ConnectionError';
  });
  return verdict;
}

const shown = ({ result, error }: Verdict): string =>
  (error ? `${error.data?.name}: ${error.message}` : JSON.stringify(result)).slice(0, 120);

describe.skipIf(!LBRYNET)('ours and lbrynet', () => {
  const group = new PeerGroup();
  let theirs: SdkDaemon;
  let our: TestDaemon;
  /** Placeholders and their values. */
  const given: Record<string, string> = {};

  beforeAll(async () => {
    const hubPort = await freePort();
    const node = await group.start({
      args: ['-hub', `-hubport=${hubPort}`, '-hubudpport=0', '-fallbackfee=0.0002'],
    });
    const address = await node.rpc<string>('getnewaddress');
    // Above the last fork of regtest.
    await node.rpc('generatetoaddress', [360, address]);
    theirs = await SdkDaemon.start(LBRYNET!, [hubPort], ['exchange_rate_manager']);
    const own = await theirs.call<string>('address_unused');
    for (let n = 0; n < 10; n++) await node.rpc('sendtoaddress', [own, 1]);
    await node.rpc('generatetoaddress', [1, address]);
    await until('it is paid', async () => {
      const { total } = await theirs.call<{ total: string }>('wallet_balance');
      return Number(total) === 10;
    });
    const make = async (method: string, params: object): Promise<string> => {
      const made = await theirs.call<{ txid: string; outputs: { claim_id: string }[] }>(method, params);
      await node.rpc('generatetoaddress', [1, address]);
      await until('it is in a block', async () => {
        const { items } = await theirs.call<{ items: { height: number }[] }>('txo_list', { txid: made.txid });
        return items.length > 0 && items.every(({ height }) => height > 0);
      });
      return made.outputs[0]!.claim_id;
    };
    const stream = await make('stream_create', {
      name: 'film',
      bid: '0.1',
      file_path: theirs.file('film.txt', 'film'),
    });
    const list = await make('collection_create', { name: 'list', bid: '0.1', claims: [stream] });
    await make('support_create', { claim_id: stream, amount: '0.1' });
    const channel = await make('channel_create', { name: '@shop', bid: '0.1' });
    const walletText = await theirs.call<string>('wallet_export');
    our = await startDaemon({ hubPorts: [hubPort], walletText });
    const balance = JSON.stringify(await theirs.call('wallet_balance'));
    await until('ours has it too', async () => JSON.stringify(await our.call('wallet_balance')) === balance);
    const accounts = await our.call<{ items: { id: string }[] }>('account_list');
    Object.assign(given, {
      preview: 'true',
      name: '"x"',
      bid: '"0.01"',
      amount: '"0.01"',
      sd_hash: `"${'ab'.repeat(48)}"`,
      claim_id: `"${stream}"`,
      list: `"${list}"`,
      urls: '"film"',
      claims: `["${stream}"]`,
      channel: `"${channel}"`,
      account: JSON.stringify(accounts.items[0]!.id),
      address: `"${own}"`,
      txid: `"${await node.rpc<string>('sendtoaddress', [own, 1])}"`,
      addresses: `["${own}"]`,
    });
  });
  afterAll(async () => {
    await our?.stop();
    await theirs?.stop();
    await group.close();
  });

  /** The minimum valid parameters of the method. */
  function baseOf({ name, params }: MethodDeclaration): Record<string, string> {
    const base: Record<string, string> = {};
    for (const { name: param, required } of params) {
      const isNeeded =
        required === true ||
        param === 'preview' ||
        (param === 'claim_id' && name.endsWith('_abandon')) ||
        (['bid', 'sd_hash'].includes(param) && ['publish', 'stream_create'].includes(name));
      if (isNeeded) base[param] = given[param]!;
    }
    if (name === 'collection_update') base['claim_id'] = given['list']!;
    // The wallet has no purchases, so nothing is spent.
    if (name === 'txo_spend') base['type'] = '"purchase"';
    return base;
  }

  const valuesOf = ({ type }: ParamDeclaration): readonly string[] =>
    type === 'lbc' || type === 'positiveLbc' ? [...AMOUNTS, ...OTHERS] : [...TEXTS, ...OTHERS];

  it('refuse the same calls', async () => {
    const timesTried = new Map<string, number>();
    const differences: string[] = [];
    let count = 0;
    for (const name of TRIED) {
      const method = DECLARATIONS.find((one) => one.name === name)!;
      const base = baseOf(method);
      const cases: [Case, Record<string, string>][] = [[{ method: name, param: '', value: '' }, base]];
      for (const param of method.params) {
        const times = timesTried.get(param.name) ?? 0;
        timesTried.set(param.name, times + 1);
        if (LEFT_OUT.includes(param.name) || times >= METHODS_A_PARAM) continue;
        for (const value of valuesOf(param))
          cases.push([
            { method: name, param: param.name, value },
            { ...base, [param.name]: value },
          ]);
      }
      for (const [one, params] of cases) {
        if (REASONED.some(({ applies }) => applies(one))) continue;
        count++;
        const body = bodyOf(name, params);
        const [ours, other] = [await ask(our.port, body), await askPatiently(theirs.port, body)];
        // Our daemon checks types by the declaration, while Python accepts other types too.
        if (ours.error?.data?.name === 'TypeError' || !ours.error === !other.error) continue;
        differences.push(`${body}: ${shown(ours)} / ${shown(other)}`);
      }
    }
    expect(count).toBeGreaterThan(500);
    expect(differences).toEqual([]);
  });

  it('refuse the same calls that change wallets', async () => {
    const differences: string[] = [];
    for (const [name, least] of WORKING) {
      const method = DECLARATIONS.find((one) => one.name === name)!;
      const base = Object.fromEntries(
        Object.entries(least).map(([param, value]) => [param, given[value] ?? value]),
      );
      const cases: [Case, Record<string, string>][] = [[{ method: name, param: '', value: '' }, base]];
      for (const param of method.params) {
        if (LEFT_OUT.includes(param.name)) continue;
        for (const value of valuesOf(param))
          cases.push([
            { method: name, param: param.name, value },
            { ...base, [param.name]: value },
          ]);
      }
      for (const [one, params] of cases) {
        if (REASONED.some(({ applies }) => applies(one))) continue;
        const body = bodyOf(name, params);
        const ours = await ask(our.port, body);
        // lbrynet stores values of a wrong type. Its wallet could not be used after that.
        if (['TypeError', 'InputValueIsNoneError'].includes(ours.error?.data?.name ?? '')) continue;
        const other = await askPatiently(theirs.port, body);
        if (!ours.error === !other.error) continue;
        differences.push(`${body}: ${shown(ours)} / ${shown(other)}`);
      }
    }
    expect(differences).toEqual([]);
  });

  it('refuse the same calls while the wallet is locked', async () => {
    const said: Record<string, string>[] = [];
    for (const daemon of [our, theirs]) {
      await daemon.call('wallet_encrypt', { new_password: 'secret' });
      await daemon.call('wallet_lock');
      const answers: Record<string, string> = {};
      // lbrynet needs no key for `txo_spend` if there is nothing to spend.
      for (const name of TRIED.filter((one) => one !== 'txo_spend')) {
        const body = bodyOf(name, baseOf(DECLARATIONS.find((one) => one.name === name)!));
        const { error } = await askPatiently(daemon.port, body);
        if (error) answers[name] = String(error.data?.name);
      }
      for (const password of ['"wrong"', 'null', '""', '{}']) {
        const { error } = await ask(daemon.port, bodyOf('wallet_unlock', { password }));
        answers[`wallet_unlock ${password}`] = error ? 'refused' : 'done';
      }
      said.push(answers);
    }
    const [ours, others] = said;
    expect(Object.keys(ours!).length).toBeGreaterThan(8);
    expect(ours).toEqual(others);
  });
});
