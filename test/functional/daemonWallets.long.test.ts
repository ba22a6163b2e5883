/**
 * Wallets of whole daemons with a regtest node and its hub: several wallets, encryption, two synchronised devices, kills, and
 * unusable files.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDaemon, walletOfSeed, type DaemonOptions, type TestDaemon } from './support/daemon.js';
import { until } from './support/network.js';
import { freePort, HANG_MS, startRegtest, type RegtestNode } from './support/node.js';

const SEED = 'carbon smart garage balance margin twelve chest sword toast envelope bottom stomach absent';
/** Rewards of a coin each that are mature, enough for all payments here. */
const BLOCKS = 130;

let node: RegtestNode;
let hubPort: number;
const folders: string[] = [];
const running = new Set<TestDaemon>();

beforeAll(async () => {
  hubPort = await freePort();
  node = await startRegtest({ args: ['-hub', `-hubport=${hubPort}`] });
  await node.rpc('generate', [BLOCKS]);
}, HANG_MS);

afterAll(async () => {
  for (const daemon of running) await daemon.stop();
  await node?.stop();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}, HANG_MS);

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'lbcnode-wallets-'));
  folders.push(folder);
  return folder;
}

async function start(folder: string, more: Partial<DaemonOptions> = {}): Promise<TestDaemon> {
  const daemon = await startDaemon({ hubPorts: [hubPort], folder, ...more });
  running.add(daemon);
  return daemon;
}

async function end(daemon: TestDaemon, how: 'stop' | 'kill' = 'stop'): Promise<void> {
  running.delete(daemon);
  await daemon[how]();
}

const walletFile = (folder: string, id = 'default_wallet'): string => join(folder, 'wallet', 'wallets', id);

interface Page {
  readonly items: readonly Record<string, unknown>[];
  readonly total_items: number;
}

const page = (daemon: TestDaemon, method: string, params: object = {}): Promise<Page> =>
  daemon.call<Page>(method, params);

async function fund(daemon: TestDaemon, lbc: number): Promise<void> {
  const before = await daemon.call<{ total: string }>('wallet_balance');
  await node.rpc('sendtoaddress', [await daemon.call<string>('address_unused'), lbc]);
  await node.rpc('generate', [1]);
  await until(
    'the payment is confirmed',
    async () =>
      Number((await daemon.call<{ total: string }>('wallet_balance', { confirmations: 1 })).total) >=
      Number(before.total) + lbc,
  );
}

describe('wallets of a daemon', () => {
  it(
    'spend another coin when the chain of unconfirmed transactions of the first one is at the limit',
    async () => {
      const daemon = await start(newFolder());
      for (const lbc of [1, 2]) await fund(daemon, lbc);
      const addresses = await node.rpc<string>('getnewaddress');
      const pay = (): Promise<unknown> => daemon.call('wallet_send', { amount: '0.01', addresses });
      for (let n = 0; n < 50; n++) await pay();
      await expect(pay()).rejects.toThrow(
        /too-long-mempool-chain.*\nWait for the next block, and try again\./,
      );
      await node.rpc('generate', [1]);
      await until('another payment is possible', () =>
        pay().then(
          () => true,
          () => false,
        ),
      );
      await end(daemon);
    },
    HANG_MS,
  );

  it(
    'start once settings_set names a hub, if none was set; wallet_reconnect works before that',
    async () => {
      const noHub = await freePort();
      const daemon = await startDaemon({
        hubPorts: [],
        args: ['--hub-timeout=1'],
        settings: { lbryum_servers: [`127.0.0.1:${noHub}`] },
        waits: false,
      });
      running.add(daemon);
      expect(await daemon.call('status')).toMatchObject({ startup_status: { wallet: false } });
      await expect(daemon.call('wallet_balance')).rejects.toMatchObject({
        errorName: 'ComponentsNotStartedError',
      });
      await until('the wallet has a ledger', () =>
        daemon.call('wallet_reconnect').then(
          () => true,
          () => false,
        ),
      );
      await until('the wallet file is open', () =>
        daemon.call<object>('preference_get').then(
          (all) => Object.keys(all).length === 0,
          () => false,
        ),
      );
      await daemon.call('preference_set', { key: 'theme', value: 'dark' });
      expect(await daemon.call('preference_get', { key: 'theme' })).toEqual({ theme: 'dark' });
      expect(await daemon.call('wallet_status')).toMatchObject({ is_locked: false, is_syncing: true });
      expect(await daemon.call('status')).toMatchObject({ startup_status: { wallet: false } });
      await daemon.call('settings_set', { key: 'lbryum_servers', value: [`127.0.0.1:${hubPort}`] });
      await until(
        'the wallet is up',
        async () => (await daemon.call<{ is_running: boolean }>('status')).is_running,
      );
      expect(await daemon.call('preference_get')).toEqual({ theme: 'dark' });
      expect(await daemon.call('wallet_balance')).toMatchObject({ total: '0.0' });
      await end(daemon);
    },
    HANG_MS,
  );

  it(
    'are opened again according to the settings, accept only file names, and lock',
    async () => {
      const folder = newFolder();
      let daemon = await start(folder);
      await daemon.call('wallet_create', { wallet_id: 'second', create_account: true, single_key: true });
      await daemon.call('wallet_create', { wallet_id: 'aside', skip_on_startup: true });
      await expect(daemon.call('wallet_create', { wallet_id: '../out' })).rejects.toThrow(
        /not a valid name of a wallet/,
      );
      expect(existsSync(join(folder, 'wallet', 'out'))).toBe(false);
      const { items: before } = await page(daemon, 'account_list', { wallet_id: 'second' });
      await daemon.call('preference_set', { wallet_id: 'second', key: 'k', value: '{"a": [1.0, null]}' });
      await daemon.call('wallet_encrypt', { wallet_id: 'second', new_password: 'pass' });
      await end(daemon);

      daemon = await start(folder);
      expect((await page(daemon, 'wallet_list')).items.map(({ id }) => id)).toEqual([
        'default_wallet',
        'second',
      ]);
      expect(await daemon.call('wallet_status', { wallet_id: 'second' })).toEqual({
        is_encrypted: true,
        is_locked: true,
        is_syncing: false,
      });
      expect(readFileSync(walletFile(folder, 'second'), 'utf8')).not.toContain('prv');
      const locked = { wallet_id: 'second', amount: '0.1', addresses: 'mfWxJ45yp2SFn7UciZyNpvDKrzbhyfKrY8' };
      await expect(daemon.call('wallet_send', locked)).rejects.toMatchObject({ errorName: 'AssertionError' });
      expect(await daemon.call('wallet_unlock', { wallet_id: 'second', password: 'no' })).toBe(false);
      expect(await daemon.call('wallet_unlock', { wallet_id: 'second', password: 'pass' })).toBe(true);
      await expect(daemon.call('wallet_send', locked)).rejects.toMatchObject({
        errorName: 'InsufficientFundsError',
      });
      expect((await page(daemon, 'account_list', { wallet_id: 'second' })).items).toEqual(before);
      expect(await daemon.call('preference_get', { wallet_id: 'second', key: 'k' })).toEqual({
        k: { a: [1, null] },
      });
      await daemon.call('wallet_add', { wallet_id: 'aside' });
      await daemon.call('wallet_reconnect');
      await fund(daemon, 1);
      await end(daemon);
    },
    HANG_MS,
  );

  it(
    'on two devices become equal by sync_apply, with channels that both can sign for',
    async () => {
      const one = await start(newFolder(), { walletText: walletOfSeed(SEED) });
      const two = await start(newFolder());
      await fund(one, 5);
      await one.call('channel_create', { name: '@both', bid: '1.0', blocking: true });
      await node.rpc('generate', [1]);
      await one.call('preference_set', { key: 'app', value: 'x' });
      await one.call('wallet_encrypt', { new_password: 'first' });
      const sent = await one.call<{ data: string; hash: string }>('sync_apply', { password: 'first' });
      const got = await two.call<{ data: string; hash: string }>('sync_apply', {
        password: 'first',
        data: sent.data,
        blocking: true,
      });
      expect((await page(two, 'account_list')).total_items).toBe(2);
      const [channel] = (await page(two, 'channel_list')).items;
      expect(channel).toMatchObject({ name: '@both', has_signing_key: true, is_my_output: true });
      await two.call('wallet_encrypt', { new_password: 'second' });
      const changed = await two.call<{ data: string }>('sync_apply', { password: 'second' });
      await expect(one.call('sync_apply', { password: 'first', data: changed.data })).rejects.toMatchObject({
        errorName: 'InvalidPasswordError',
      });
      const back = await one.call<{ hash: string }>('sync_apply', {
        password: 'second',
        data: changed.data,
        blocking: true,
      });
      expect(back.hash).toBe(await two.call('sync_hash'));
      expect(back.hash).not.toBe(got.hash);
      expect(await one.call('wallet_balance')).toEqual(await two.call('wallet_balance'));
      await end(one);
      await end(two);
    },
    HANG_MS,
  );

  it(
    'keep acknowledged changes when the daemon is killed, and give out no used address',
    async () => {
      const folder = newFolder();
      let daemon = await start(folder);
      const used = new Set<string>();
      for (let kill = 0; kill < 3; kill++) {
        const done = new Map<string, string>();
        const { id } = await daemon.call<{ id: string }>('account_create', { account_name: `A${kill}` });
        const address = await daemon.call<string>('address_unused');
        expect(used.has(address)).toBe(false);
        used.add(address);
        await node.rpc('sendtoaddress', [address, 0.25]);
        const writes = Array.from({ length: 40 }, async (_, n) => {
          await daemon.call('preference_set', { key: `k${n}`, value: `${kill}` });
          done.set(`k${n}`, `${kill}`);
        });
        await Promise.race(writes.slice(-20));
        await end(daemon, 'kill');
        await Promise.allSettled(writes);
        daemon = await start(folder);
        const preferences = await daemon.call<Record<string, string>>('preference_get');
        expect(preferences).toMatchObject(Object.fromEntries(done));
        expect(
          (await page(daemon, 'account_list', { page_size: 50 })).items.map((one) => one['id']),
        ).toContain(id);
        expect(await daemon.call('address_is_mine', { address })).toBe(true);
        await until(
          'the payment is seen',
          async () => (await page(daemon, 'address_list', { address })).items[0]!['used_times'] === 1,
        );
      }
      expect((await page(daemon, 'utxo_list')).total_items).toBe(3);
      await end(daemon);
    },
    HANG_MS,
  );

  it(
    'with a corrupt file are kept with a copy, and the daemon reports what to do',
    async () => {
      const folder = newFolder();
      const corrupt = walletOfSeed(SEED).slice(0, 100);
      await expect(start(folder, { walletText: corrupt })).rejects.toThrow(
        /cannot be read.*was not changed, and a copy was saved as.*Restore a backup/s,
      );
      expect(readFileSync(walletFile(folder), 'utf8')).toBe(corrupt);
      expect(readFileSync(walletFile(folder, 'default_wallet.damaged.1'), 'utf8')).toBe(corrupt);
    },
    HANG_MS,
  );

  it(
    'stop while they wait for a hub that does not exist',
    async () => {
      const daemon = await start(newFolder(), { hubPorts: [await freePort()], waits: false });
      await expect(daemon.call('address_unused')).rejects.toMatchObject({
        errorName: 'ComponentsNotStartedError',
      });
      running.delete(daemon);
      expect(await daemon.stop()).toBe(0);
      expect(daemon.log).not.toMatch(/ERROR|did not stop/);
    },
    HANG_MS,
  );
});

describe('accounts of other wallets', () => {
  const WORDS = `${'abandon '.repeat(11)}about`;

  async function totalOf(daemon: TestDaemon, { id }: { id: string }): Promise<number> {
    const params = { account_id: id, confirmations: 1 };
    return Number((await daemon.call<{ total: string }>('account_balance', params)).total);
  }

  it(
    'are added from BIP39 seeds, receive and send payments, and exist after a restart',
    { timeout: HANG_MS },
    async () => {
      const folder = newFolder();
      let daemon = await start(folder);
      const add = (path: string) =>
        daemon.call<{ id: string; form: string; address_type?: string }>('account_add', {
          account_name: path,
          seed: WORDS,
          path,
        });
      const plain = await add("m/44'/140'/0'");
      const witness = await add("m/84'/140'/0'");
      expect([plain.form, witness.form, plain.address_type, witness.address_type]).toEqual([
        "BIP39 seed with path m/44'/140'/0'",
        "BIP39 seed with path m/84'/140'/0'",
        undefined,
        'p2wpkh',
      ]);
      await expect(daemon.call('account_add', { account_name: 'none', seed: WORDS })).rejects.toThrow(
        /BIP39 seed. Pass the path/,
      );
      const addressOf = ({ id }: { id: string }) => daemon.call<string>('address_unused', { account_id: id });
      for (const one of [plain, witness]) await node.rpc('sendtoaddress', [await addressOf(one), 3]);
      const toWitness = await addressOf(witness);
      expect(toWitness).toMatch(/^rlbc1q/);
      await node.rpc('sendtoaddress', [toWitness, 2]);
      await node.rpc('generate', [1]);
      await until(
        'both are paid',
        async () => (await totalOf(daemon, plain)) === 3 && (await totalOf(daemon, witness)) === 5,
      );

      // Blocks hold transactions with a witness once segwit is active, on regtest after three periods of 144 blocks.
      await node.rpc('generate', [3 * 144 + 1 - (await node.rpc<number>('getblockcount', []))]);
      const target = await node.rpc<string>('getnewaddress', []);
      const send = (from: { id: string }, amount: string, address: string) =>
        daemon.call<{ txid: string; hex: string }>('account_send', {
          account_id: from.id,
          amount,
          addresses: [address],
        });
      // The payment has two inputs with witnesses, and its change goes to a witness program.
      const paid = await send(witness, '4.5', target);
      const decoded = await node.rpc<{
        vin: { txinwitness?: string[]; scriptSig: { hex: string } }[];
        vsize: number;
      }>('getrawtransaction', [paid.txid, true]);
      expect(decoded.vin.map(({ txinwitness, scriptSig }) => [txinwitness?.length, scriptSig.hex])).toEqual([
        [2, ''],
        [2, ''],
      ]);
      await send(plain, '1.0', await addressOf(witness));
      await node.rpc('generate', [1]);
      await until('change and payment are there', async () => (await totalOf(daemon, witness)) > 1.4);
      const before = await totalOf(daemon, witness);
      expect(before).toBeLessThan(1.5);
      await expect(
        daemon.call('channel_create', { name: '@w', bid: '0.1', account_id: witness.id }),
      ).rejects.toThrow(/witness address, which cannot hold a claim/);
      // The account pays for a claim of another account.
      await daemon.call('channel_create', {
        name: '@w',
        bid: '0.1',
        account_id: plain.id,
        funding_account_ids: [witness.id],
      });
      await node.rpc('generate', [1]);
      await until('the claim is paid', async () => {
        const now = await totalOf(daemon, witness);
        return now < before - 0.1 && now > before - 0.11 && (await totalOf(daemon, plain)) > 2;
      });
      const rest = [await totalOf(daemon, plain), await totalOf(daemon, witness)];

      await end(daemon, 'kill');
      daemon = await start(folder);
      expect([await totalOf(daemon, plain), await totalOf(daemon, witness)]).toEqual(rest);
      const listed = await page(daemon, 'account_list');
      expect(listed.items.map(({ address_type: type }) => type)).toContain('p2wpkh');
      await end(daemon);
    },
  );
});
