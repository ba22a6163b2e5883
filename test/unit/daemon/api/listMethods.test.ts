/**
 * List methods on the ledger's database with a few transactions: claims, sent and received tips, an update, an abandonment, a
 * purchase.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hash160 } from '../../../../src/crypto/hash.js';
import type { DaemonServices } from '../../../../src/daemon/api/context.js';
import { claimListMethods } from '../../../../src/daemon/api/methods/claimLists.js';
import { transactionMethods } from '../../../../src/daemon/api/methods/transaction.js';
import { txoMethods } from '../../../../src/daemon/api/methods/txo.js';
import { systemClock, systemRandom } from '../../../../src/daemon/base/clock.js';
import { HubRefusal } from '../../../../src/daemon/ledger/hub/hubErrors.js';
import type { DaemonLedger } from '../../../../src/daemon/ledger/ledger.js';
import { LedgerStore } from '../../../../src/daemon/ledger/store/ledgerStore.js';
import { storeInThread } from '../../../../src/daemon/ledger/store/openStore.js';
import { Txo } from '../../../../src/daemon/txo/txo.js';
import { claimOutput, updateOutput, type NewOutput } from '../../../../src/daemon/wallet/tx/newOutputs.js';
import { DaemonWallets } from '../../../../src/daemon/wallet/wallets.js';
import type { ResolvePort } from '../../../../src/daemon/lists/resolvePort.js';
import type { Resolver } from '../../../../src/daemon/resolve/resolver.js';
import { encodeClaim } from '../../../../src/metadata/claim.js';
import { ClaimSchema } from '../../../../src/metadata/messages/claim_pb.js';
import type { OutPoint } from '../../../../src/primitives/transaction.js';
import { claimIdOf } from '../../../../src/script/claimScript.js';
import { loadSqlite } from '../../../../src/sqlite/sqliteProvider.js';
import { hashToHex } from '../../../../src/util/bytes.js';
import { callMethod } from '../../../support/daemonMethods.js';
import { FakeLedger } from '../../../support/fakeLedger.js';
import {
  claimTo,
  claimValue,
  foreignOutPoint,
  made,
  payTo,
  purchaseOutput,
  signedSupportTo,
  supportTo,
  testKey,
  transactionOf,
  type TestKey,
} from '../../../support/ledgerTransactions.js';

const METHODS = [claimListMethods, transactionMethods, txoMethods].flat();
const LBC = 100_000_000n;
const stranger = testKey('stranger');
const BOUGHT = Buffer.alloc(20, 9);

let folder: string;
let store: LedgerStore;
let services: Partial<DaemonServices>;
let mine: TestKey[];
let fake: FakeLedger;
let height = 0;
let channelId: Buffer;
let streamId: Buffer;
const txids: Record<string, string> = {};

/** Stores a transaction in the next block. Returns its outputs. */
function mined(name: string, inputs: readonly OutPoint[], outputs: readonly NewOutput[]): OutPoint[] {
  const { txid, raw } = made(transactionOf(inputs, outputs));
  store.saveTransactions([{ txid, raw, height: ++height, position: 1, isVerified: true }]);
  txids[name] = hashToHex(txid);
  return outputs.map((_, index) => ({ hash: txid, index }));
}

/** Adds the transactions of the lists. `key` is the key of the channel. */
function mineTransactions(key: { readonly publicKey: Uint8Array }): void {
  const channel = create(ClaimSchema, {
    type: { case: 'channel', value: { publicKey: key.publicKey } },
  });
  const [paid] = mined('paid', [foreignOutPoint('start')], [payTo(mine[0]!, 10n * LBC)]);
  const channelValue = encodeClaim({ channelId: null, signature: null, claim: channel });
  const [claimed, rest] = mined(
    'channel',
    [paid!],
    [claimOutput(LBC, '@c', channelValue, mine[1]!.hash), payTo(mine[2]!, 8n * LBC)],
  );
  channelId = claimIdOf(claimed!.hash, 0);
  const [stream, rest2] = mined(
    'stream',
    [rest!],
    [claimTo(mine[3]!, LBC, 'note', 'stream', { channelId }), payTo(mine[4]!, 6n * LBC)],
  );
  streamId = claimIdOf(stream!.hash, 0);
  mined('tip', [foreignOutPoint('tip')], [supportTo(mine[5]!, LBC / 2n, streamId)]);
  const [staked, , , rest3] = mined(
    'supports',
    [rest2!],
    [
      signedSupportTo(mine[6]!, LBC / 4n, streamId, channelId),
      supportTo(stranger, LBC / 5n, BOUGHT),
      payTo(stranger, LBC),
      payTo(mine[7]!, 4n * LBC),
    ],
  );
  mined(
    'update',
    [stream!, rest3!],
    [
      updateOutput(LBC / 2n, 'note', streamId, claimValue('stream'), mine[3]!.hash),
      payTo(mine[8]!, 4n * LBC),
    ],
  );
  mined(
    'collection',
    [foreignOutPoint('gift')],
    [claimTo(mine[9]!, LBC, 'list', 'collection'), claimTo(mine[9]!, LBC, 'again', 'repost')],
  );
  mined('abandon', [staked!], [payTo(mine[10]!, LBC / 5n)]);
  const coin = mined('coin', [foreignOutPoint('coin')], [payTo(mine[11]!, 3n * LBC)])[0]!;
  mined('bought', [coin], [payTo(stranger, 2n * LBC), purchaseOutput(BOUGHT), payTo(mine[12]!, LBC / 2n)]);
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lbcnet-lists-'));
  store = new LedgerStore(await loadSqlite(), { path: join(folder, 'ledger'), ledgerId: 'lbc_regtest' });
  fake = new FakeLedger();
  const ledger = Object.assign(
    fake.ledger as { -readonly [Field in keyof DaemonLedger]: DaemonLedger[Field] },
    {
      database: storeInThread(store),
    },
  );
  const wallets = await DaemonWallets.open(['default_wallet'], {
    folder,
    ledger,
    tools: { clock: systemClock, random: systemRandom },
    warn: (text) => expect.unreachable(text),
  });
  await fake.add(wallets.default.account());
  const account = wallets.default.account();
  mine = fake.rows.map(({ publicKey, chainCode, address }) => ({
    publicKey,
    chainCode,
    address,
    hash: hash160(publicKey),
  }));
  for (const chain of [0, 1])
    store.addKeys(
      account.id,
      chain,
      fake.rows.filter((row) => row.chain === chain),
    );
  mineTransactions(await account.channelKeys.next());
  fake.height = height;
  const resolved = (id: string) => new Txo(row(id), { meta: { found: id } });
  services = {
    ledger,
    wallets,
    resolver: {
      resolveTxos: (_, txos) =>
        Promise.resolve(
          txos.map((txo) => (txo.isClaim ? new Txo(txo, { ...txo.notes, shortUrl: 'lbry://short' }) : txo)),
        ),
      claimsById: (ids) => Promise.resolve(ids.map((id) => (id.startsWith('09') ? resolved(id) : null))),
    } satisfies ResolvePort as Partial<Resolver> as Resolver,
  };
});

/** An output that belongs to no wallet. */
const row = (label: string) => ({
  txid: Buffer.alloc(32, 3),
  nout: 0,
  height: 1,
  amountDewies: 1n,
  script: claimTo(testKey(label), 1n, 'bought', 'stream').script,
  firstOutPoint: null,
});

afterAll(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

type Item = Record<string, unknown>;
const call = async (name: string, params: object = {}): Promise<unknown> => {
  const { result, error } = await callMethod(METHODS, services, name, params);
  if (error) throw new Error(`${error.name}: ${error.message}`);
  return result;
};
const page = (name: string, params: object = {}) =>
  call(name, params) as Promise<{ items: Item[]; total_items?: number; total_pages?: number }>;
const names = async (name: string, params: object = {}) =>
  (await page(name, params)).items.map((item) => item['name'] ?? item['type']);

describe('lists of outputs', () => {
  it('contain unspent outputs of the wallet, with the channel and whether its key is available', async () => {
    expect(await names('claim_list')).toEqual(['list', 'again', 'note', '@c']);
    expect(await names('claim_list', { claim_type: ['stream', 'repost'] })).toEqual(['again', 'note']);
    expect(await names('claim_list', { is_spent: true })).toEqual(['note']);
    expect(await names('stream_list')).toEqual(['note']);
    const [channel] = (await page('channel_list')).items;
    expect(channel).toMatchObject({ has_signing_key: true, is_my_output: true, is_spent: false, meta: {} });
    const [spent] = (await page('stream_list', { is_spent: true })).items;
    expect(spent).toMatchObject({
      signing_channel: { name: '@c', claim_id: hashToHex(channelId), has_signing_key: true },
      is_channel_signature_valid: false,
      is_my_input: true,
    });
    expect((spent!['signing_channel'] as Item)['is_spent']).toBeUndefined();
  });

  it('distinguish own supports and tips', async () => {
    const amounts = async (params: object) =>
      (await page('support_list', params)).items.map((item) => item['amount']);
    expect(await amounts({})).toEqual(['0.5']);
    expect(await amounts({ received: true })).toEqual(['0.5']);
    expect(await amounts({ sent: true })).toEqual(['0.2']);
    expect(await amounts({ staked: true })).toEqual([]);
    expect(await amounts({ staked: true, is_spent: true })).toEqual(['0.25']);
  });

  it('are paged and sorted, with totals unless these are turned off', async () => {
    const all = await page('txo_list', { page_size: 4 });
    expect(all).toMatchObject({ page: 1, page_size: 4, total_items: 15, total_pages: 4 });
    const second = await page('txo_list', { page_size: 4, page: 2, no_totals: true });
    expect(second.total_items).toBeUndefined();
    expect(second.items).toHaveLength(4);
    expect(await names('claim_list', { order_by: 'name' })).toEqual(['@c', 'again', 'list', 'note']);
    await expect(call('txo_list', { order_by: 'size' })).rejects.toThrow(/ValueError: 'size' is not a valid/);
    await expect(call('txo_list', { account_id: 'nope' })).rejects.toThrow(/Couldn't find account: nope/);
  });

  it('add received tips and data of the claim index', async () => {
    const [note] = (await page('stream_list', { include_received_tips: true, resolve: true })).items;
    expect(note).toMatchObject({ received_tips: '0.5', short_url: 'lbry://short', is_my_output: true });
    const [list] = (await page('collection_list', { resolve_claims: 2 })).items;
    expect(list).toMatchObject({ name: 'list', claims: [] });
    expect(list!['is_spent']).toBeUndefined();
  });

  it('contain purchases with the bought claim', async () => {
    const bought = hashToHex(BOUGHT);
    const plain = await page('purchase_list');
    expect(plain).toMatchObject({
      total_items: 1,
      items: [{ type: 'purchase', claim_id: bought, amount: '2.0' }],
    });
    const [item] = (await page('purchase_list', { resolve: true, claim_id: bought })).items;
    expect(item).toMatchObject({ claim: { name: 'bought', meta: { found: bought } } });
    expect((await page('purchase_list', { claim_id: '00'.repeat(20) })).items).toEqual([]);
  });

  it('sum up, plot and release', async () => {
    expect(await call('txo_sum', { type: 'support', is_not_spent: true })).toBe(50_000_000);
    const [day] = (await call('txo_plot', { days_back: 1 })) as Item[];
    expect(day).toMatchObject({ day: '2016-06-23' });
    expect(await call('txo_plot', { start_day: '2017-01-01' })).toEqual([]);
    const { ledger } = services;
    const [coin] = await ledger!.database.spendable([services.wallets!.default.account().id]);
    expect(await ledger!.database.reserveCoins([coin!.number])).toHaveLength(1);
    const before = (await page('utxo_list')).total_items!;
    expect(await call('utxo_release')).toBeNull();
    expect((await page('utxo_list')).total_items).toBe(before + 1);
  });
});

describe('the history', () => {
  const itemOf = async (name: string) => {
    const { items } = await page('transaction_list', { page_size: 50 });
    return items.find((item) => item['txid'] === txids[name])!;
  };
  const entry = { claim_name: 'supported', is_spent: false };

  it('reports received payments', async () => {
    expect(await itemOf('paid')).toMatchObject({
      value: '10.0',
      fee: '0.0',
      claim_info: [],
      confirmations: height,
    });
  });

  it('reports new and updated claims', async () => {
    expect(await itemOf('channel')).toMatchObject({
      value: '0.0',
      fee: '-1.0',
      claim_info: [{ amount: '1.0', balance_delta: '-1.0', claim_name: '@c', nout: 0, is_spent: false }],
    });
    const update = await itemOf('update');
    expect(update).toMatchObject({
      fee: '-0.5',
      value: '0.0',
      abandon_info: [],
      update_info: [
        { amount: '0.5', balance_delta: '0.5', claim_id: hashToHex(streamId), claim_name: 'note' },
      ],
    });
  });

  it('distinguishes tips from supports, sent and received', async () => {
    expect(await itemOf('tip')).toMatchObject({
      value: '0.5',
      support_info: [{ ...entry, balance_delta: '0.5', is_tip: true }],
    });
    expect(await itemOf('supports')).toMatchObject({
      value: '-1.2',
      fee: '-0.55',
      support_info: [
        { ...entry, balance_delta: '-0.25', is_tip: false, is_spent: true },
        { ...entry, balance_delta: '-0.2', is_tip: true, claim_id: hashToHex(BOUGHT) },
      ],
    });
  });

  it('reports abandons and purchases', async () => {
    expect(await itemOf('abandon')).toMatchObject({
      fee: '-0.05',
      value: '0.0',
      abandon_info: [{ amount: '0.25', balance_delta: '0.25', nout: 0, claim_id: hashToHex(streamId) }],
    });
    expect(await itemOf('bought')).toMatchObject({
      value: '-2.0',
      purchase_info: [{ amount: '2.0', balance_delta: '-2.0', claim_id: hashToHex(BOUGHT), nout: 0 }],
    });
  });
});

describe('a transaction', () => {
  it('of the wallet is returned with its spent outputs', async () => {
    expect(await call('transaction_show', { txid: txids['supports'] })).toMatchObject({
      total_input: '6.0',
      total_fee: '0.55',
      inputs: [{ amount: '6.0', type: 'payment' }],
      outputs: [{ type: 'support' }, { type: 'support' }, { type: 'payment' }, { type: 'payment' }],
    });
    const bought = (await call('transaction_show', { txid: txids['bought'] })) as { outputs: Item[] };
    expect(bought.outputs[0]).toMatchObject({ type: 'purchase', claim_id: hashToHex(BOUGHT) });
  });

  it('that a hub refuses to return fails with the error of the hub', async () => {
    const ledger = Object.assign(Object.create(services.ledger!) as DaemonLedger, {
      transaction: () => Promise.reject(new HubRefusal(-32600, 'too many of them')),
    });
    const params = { txid: '00'.repeat(32) };
    expect(await callMethod(METHODS, { ...services, ledger }, 'transaction_show', params)).toEqual({
      result: { success: false, code: -32600, message: 'too many of them' },
    });
  });

  it.each([
    ['in no block', 0, -1],
    ['in a block', 3, 3],
  ])('of others is returned as a hub has it: %s', async (_, at, shown) => {
    const { tx } = made(transactionOf([foreignOutPoint('other')], [payTo(stranger, LBC)]));
    fake.known = () => ({ tx, height: at, position: at > 0 ? 1 : -1, isVerified: at > 0 });
    const answer = await call('transaction_show', { txid: 'ab'.repeat(32) });
    fake.known = () => null;
    const confirmations = at > 0 ? height + 1 - at : -1;
    expect(answer).toMatchObject({
      height: shown,
      outputs: [{ height: shown, confirmations, amount: '1.0' }],
    });
  });

  it.each(['00'.repeat(32), 'zz', ''])('of the id %j is not found', async (txid) => {
    expect(await call('transaction_show', { txid })).toEqual({
      success: false,
      code: 404,
      message: 'transaction not found',
    });
  });
});
