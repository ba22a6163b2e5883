/**
 * Two daemons with one node and its hub. Everything that a daemon can create is read by both. Balances must add up exactly, and
 * the outputs must equal those of the node. Also tests processes that end during a call.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeKey } from '../../src/client/keys.js';
import { hash160 } from '../../src/crypto/hash.js';
import { parseLbc } from '../../src/metadata/amounts.js';
import { startDaemon, type TestDaemon } from './support/daemon.js';
import { until } from './support/network.js';
import { freePort, startRegtest, type RegtestNode } from './support/node.js';
import { DEATHS, WalletProcess, type Death } from './support/walletProcess.js';

interface Output {
  readonly txid: string;
  readonly nout: number;
  readonly amount: string;
  readonly claim_id: string;
  readonly has_signing_key?: boolean;
  readonly is_channel_signature_valid?: boolean;
  readonly value: { readonly title?: string; readonly claims?: string[]; readonly public_key?: string };
}

interface Made {
  readonly txid: string;
  readonly outputs: readonly Output[];
  readonly total_fee: string;
}

/** A daemon or a process that owns a wallet. */
type Owner = Pick<TestDaemon, 'call'>;

type Page = { readonly items: readonly Output[]; readonly total_items: number };

const COIN = 100_000_000n;
const SD_HASH = 'ab'.repeat(48);

let node: RegtestNode;
let hubPort: number;
const folders: string[] = [];
const processes: WalletProcess[] = [];

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'lbcnet-making-'));
  folders.push(folder);
  return folder;
}

async function open(folder: string, dieAt: Death | '' = ''): Promise<WalletProcess> {
  const wallet = await WalletProcess.start(folder, hubPort, dieAt);
  processes.push(wallet);
  return wallet;
}

async function totalOf(wallet: Owner): Promise<bigint> {
  const { total } = await wallet.call<{ total: string }>('wallet_balance');
  return parseLbc(total);
}

/** Pays this number of coins of one LBC each to the wallet, and waits until it has them. */
async function fund(wallet: Owner, count: number): Promise<void> {
  const before = await totalOf(wallet);
  for (let n = 0; n < count; n++) {
    const address = await wallet.call<string>('address_unused');
    await node.rpc('sendtoaddress', [address, 1]);
    await node.rpc('generate', [1]);
    await until(
      'the payment is there',
      async () => (await totalOf(wallet)) === before + BigInt(n + 1) * COIN,
    );
  }
}

/** A script that the key can spend after the block at this height. The height has two bytes. */
function lockedTo(height: number, publicKey: Buffer): string {
  const number = Buffer.alloc(2);
  number.writeInt16LE(height);
  return `02${number.toString('hex')}b17576a914${hash160(publicKey).toString('hex')}88ac`;
}

/** Mines a block with the unconfirmed transactions, and waits until the wallets have it. */
async function mine(...wallets: readonly Owner[]): Promise<void> {
  await node.rpc('generate', [1]);
  for (const wallet of wallets)
    await until('all is in blocks', async () => {
      const { total } = await wallet.call<{ total: string }>('wallet_balance', { confirmations: 1 });
      return parseLbc(total) === (await totalOf(wallet));
    });
}

beforeAll(async () => {
  hubPort = await freePort();
  node = await startRegtest({ args: ['-hub', `-hubport=${hubPort}`] });
  await node.rpc('generate', [130]);
});

afterAll(async () => {
  for (const wallet of processes) await wallet.stop();
  await node.stop();
  for (const folder of folders) rmSync(folder, { recursive: true });
});

describe('two wallets', () => {
  let ours: TestDaemon;
  let theirs: TestDaemon;
  /** The expected sum of both balances. */
  let sum = 0n;

  /** Creates something. Then the sum of both balances is lower by the fee, and the node has the same outputs as the wallets. */
  async function make(wallet: Owner, method: string, params: object): Promise<Made> {
    const made = await wallet.call<Made>(method, { ...params, blocking: true });
    sum -= parseLbc(made.total_fee);
    await until(
      `both know of ${method}`,
      async () => (await totalOf(ours)) + (await totalOf(theirs)) === sum,
    );
    return made;
  }

  async function checkWithNode(wallet: Owner): Promise<void> {
    const { items } = await wallet.call<Page>('txo_list', { is_not_spent: true, page_size: 500 });
    let total = 0n;
    for (const { txid, nout, amount } of items) {
      const found = await node.rpc<{ value: number } | null>('gettxout', [txid, nout, true]);
      expect(found, `${txid}:${nout}`).not.toBeNull();
      expect(BigInt(Math.round(found!.value * 1e8))).toBe(parseLbc(amount));
      total += parseLbc(amount);
    }
    expect(total).toBe(await totalOf(wallet));
  }

  beforeAll(async () => {
    [ours, theirs] = await Promise.all([
      startDaemon({ hubPorts: [hubPort] }),
      startDaemon({ hubPorts: [hubPort] }),
    ]);
    await fund(ours, 6);
    await fund(theirs, 3);
    sum = (await totalOf(ours)) + (await totalOf(theirs));
  });

  afterAll(async () => {
    await Promise.all([ours.stop(), theirs.stop()]);
  });

  async function abandonAll(
    claimId: string,
    channelId: string,
    repostId: string,
    collectionId: string,
  ): Promise<void> {
    await make(theirs, 'support_abandon', { claim_id: claimId, keep: '0.2' });
    await make(ours, 'stream_abandon', { claim_id: claimId });
    await make(ours, 'channel_abandon', { claim_id: channelId });
    await make(theirs, 'stream_abandon', { claim_id: repostId });
    await make(theirs, 'collection_abandon', { claim_id: collectionId });
    for (const wallet of [ours, theirs]) {
      const spent = await wallet.call<Made[]>('txo_spend', {
        type: 'support',
        include_full_tx: true,
        blocking: true,
      });
      expect(spent).toHaveLength(1);
      sum -= parseLbc(spent[0]!.total_fee);
    }
  }

  it('create, support, buy, repost and collect, and abandon everything again', async () => {
    const before = await totalOf(ours);
    await ours.call('channel_create', { name: '@lab', bid: '1.0', preview: true });
    expect(await totalOf(ours)).toBe(before);
    const channel = await make(ours, 'channel_create', { name: '@lab', bid: '1.0', title: 'Lab' });
    const channelId = channel.outputs[0]!.claim_id;
    // Signatures count where the channel comes before its stream on the chain.
    await mine(ours);
    const stream = await make(ours, 'publish', {
      name: 'note',
      bid: '2.0',
      sd_hash: SD_HASH,
      file_name: 'note.mp4',
      title: 'Note',
      channel_name: '@lab',
      fee_currency: 'lbc',
      fee_amount: '0.5',
    });
    const claimId = stream.outputs[0]!.claim_id;
    expect(stream.outputs[0]!.is_channel_signature_valid).toBe(true);
    await mine(ours, theirs);

    // The other daemon finds the claim through the hub.
    await until('the hub knows the claim', async () => {
      await theirs.call('support_create', { claim_id: claimId, amount: '0.1', preview: true });
      return true;
    });
    const tip = await make(theirs, 'support_create', { claim_id: claimId, amount: '1.5', tip: true });
    await make(theirs, 'support_create', { claim_id: claimId, amount: '0.5', comment: 'fine' });
    // The limit is in USD, and no rate is set.
    await expect(theirs.call('purchase_create', { url: 'lbry://@lab/note' })).rejects.toMatchObject({
      errorName: 'CurrencyConversionError',
    });
    await make(theirs, 'purchase_create', { url: 'lbry://@lab/note', override_max_key_fee: true });
    await expect(theirs.call('purchase_create', { claim_id: claimId })).rejects.toMatchObject({
      errorName: 'AlreadyPurchasedError',
    });
    const repost = await make(theirs, 'stream_repost', { name: 'again', bid: '0.1', claim_id: claimId });
    const collection = await make(theirs, 'collection_create', {
      name: 'list',
      bid: '0.1',
      claims: [claimId, channelId],
    });
    expect(tip.outputs[0]!.amount).toBe('1.5');
    await mine(ours, theirs);
    await checkWithNode(ours);
    await checkWithNode(theirs);

    const updated = await make(ours, 'stream_update', {
      claim_id: claimId,
      title: 'Better',
      clear_fee: true,
    });
    expect([updated.outputs[0]!.value.title, updated.outputs[0]!.is_channel_signature_valid]).toEqual([
      'Better',
      true,
    ]);
    const renewed = await make(ours, 'channel_update', { claim_id: channelId, new_signing_key: true });
    expect(renewed.outputs[0]!.value.public_key).not.toBe(channel.outputs[0]!.value.public_key);
    const listed = await make(theirs, 'collection_update', {
      claim_id: collection.outputs[0]!.claim_id,
      clear_claims: true,
      claims: [channelId],
    });
    expect(listed.outputs[0]!.value.claims).toEqual([channelId]);
    await abandonAll(claimId, channelId, repost.outputs[0]!.claim_id, collection.outputs[0]!.claim_id);
    await mine(ours, theirs);
    expect((await totalOf(ours)) + (await totalOf(theirs))).toBe(sum);
    for (const wallet of [ours, theirs]) {
      const { total, available } = await wallet.call<Record<string, string>>('wallet_balance');
      expect(available).toBe(total);
      await checkWithNode(wallet);
    }
  });

  it('spend a time-locked output when its height is reached', async () => {
    const key = makeKey('regtest');
    const height = (await node.rpc<number>('getblockcount')) + 2;
    const lock = lockedTo(height, Buffer.from(key.publicKey, 'hex'));
    const { p2sh } = await node.rpc<{ p2sh: string }>('decodescript', [lock]);
    const txid = await node.rpc<string>('sendtoaddress', [p2sh, 1.5]);
    await mine(ours, theirs);
    const { vout } = await node.rpc<{ vout: { n: number; value: number }[] }>('getrawtransaction', [
      txid,
      true,
    ]);
    const nout = vout.find(({ value }) => value === 1.5)!.n;
    const deposit = { txid, nout, redeem_script: lock, private_key: key.privateKey };
    await expect(ours.call('account_deposit', { ...deposit, redeem_script: '51' })).rejects.toMatchObject({
      errorName: 'ValueError',
    });
    // The lock time is one block above the tip.
    await expect(ours.call('account_deposit', deposit)).rejects.toThrow(/non-final/);
    expect((await totalOf(ours)) + (await totalOf(theirs))).toBe(sum);
    await mine(ours, theirs);
    sum += (COIN * 3n) / 2n;
    const { txid: spending } = await make(ours, 'account_deposit', deposit);
    expect(await node.rpc<string[]>('getrawmempool')).toContain(spending);
    await mine(ours, theirs);
    expect(await node.rpc('gettxout', [txid, nout])).toBeNull();
    await checkWithNode(ours);
  });

  it('spend each coin only once in concurrent calls', async () => {
    const [{ items }, address] = await Promise.all([
      ours.call<Page>('utxo_list', { page_size: 100 }),
      theirs.call<string>('address_unused'),
    ]);
    const calls = items.map(() =>
      ours.call<Made>('wallet_send', { amount: '0.01', addresses: [address], blocking: false }),
    );
    const made = await Promise.all(calls);
    expect(new Set(made.map(({ txid }) => txid)).size).toBe(items.length);
    for (const { total_fee: fee } of made) sum -= parseLbc(fee);
    await until('all is known', async () => (await totalOf(ours)) + (await totalOf(theirs)) === sum);
  });
});

describe('a process that is killed', () => {
  it('loses neither keys nor coins at any step of creating a channel', async () => {
    const folder = newFolder();
    let wallet = await open(folder);
    await fund(wallet, 2);
    let total = await totalOf(wallet);
    await wallet.stop();
    const sent = new Set<string>();
    for (const death of DEATHS) {
      wallet = await open(folder, death);
      expect(await totalOf(wallet), death).toBe(total);
      const name = `@${death.replaceAll(/[^a-z]/g, '-')}`;
      await expect(wallet.call('channel_create', { name, bid: '0.1' })).rejects.toThrow('it died');
      expect(await wallet.exited).toBe('SIGKILL');
      const mempool = await node.rpc<Record<string, { fee: number }>>('getrawmempool', [true]);
      for (const { fee } of Object.values(mempool)) total -= BigInt(Math.round(fee * 1e8));
      if (Object.keys(mempool).length > 0) sent.add(name);
      await node.rpc('generate', [1]);
    }
    wallet = await open(folder);
    expect(await totalOf(wallet)).toBe(total);
    const { items } = await wallet.call<{ items: (Output & { name: string })[] }>('channel_list');
    expect(new Set(items.map(({ name }) => name))).toEqual(sent);
    expect(sent).toEqual(new Set(['@sent--not-in-the-database', '@in-the-database--not-answered']));
    expect(new Set(items.map(({ value }) => value.public_key)).size).toBe(2);
    for (const { name } of items)
      await wallet.call('channel_sign', { channel_name: name, hexdata: '00', salt: '1' });
    // No coin remains reserved: everything except the channel can be sent.
    const all = await wallet.call<Made>('account_fund', { everything: true });
    expect(parseLbc(all.outputs[0]!.amount) + parseLbc(all.total_fee)).toBe(total - COIN / 5n);
  });
});
