/**
 * The calls that programs of 2026 send to lbcnet, and the answer fields that they read: LBRY Desktop at its start, the extension of
 * ReviveL, nova-web in a browser, and the companion of ReviveL (docs/who-uses-it.md). One daemon on a node with a hub serves all of them; the last program
 * stops it. Source: LBRYFoundation/lbry-daemon (its test of Desktop's start), realrouse/revivel, LBRYFoundation/lbry-nova-web.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDaemon, walletOfSeed, type TestDaemon } from './support/daemon.js';
import { until } from './support/network.js';
import { freePort, HANG_MS, program, startRegtest, type RegtestNode } from './support/node.js';

const SEED = 'carbon smart garage balance margin twelve chest sword toast envelope bottom stomach absent';
/** Names are normalized and supports carry data above the last fork of the claim trie. */
const HEIGHT = 365;
const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const hasChromium = existsSync(CHROMIUM);
if (!hasChromium) console.log(`skipped: there is no Chromium at ${CHROMIUM}`);

const TEXT = expect.any(String);
const NUMBER = expect.any(Number);
const PAGE = { items: expect.any(Array), page: 1, page_size: 20, total_items: NUMBER, total_pages: NUMBER };

let node: RegtestNode;
let hubPort: number;
let daemon: TestDaemon;
let pages: Server;
let origin: string;

beforeAll(async () => {
  pages = createServer((_request, response) => response.end('<!doctype html><title>a page</title>'));
  await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
  hubPort = await freePort();
  node = await startRegtest({ args: ['-hub', `-hubport=${hubPort}`, '-claimsearch', '-fallbackfee=0.0002'] });
  await node.rpc('generate', [HEIGHT]);
  daemon = await startDaemon({
    hubPorts: [hubPort],
    walletText: walletOfSeed(SEED),
    settings: { allowed_origin: origin },
  });
  const address = await daemon.call<string>('address_unused');
  for (let i = 0; i < 8; i++) await node.rpc('sendtoaddress', [address, 1]);
  await mine();
  await until(
    'the daemon has its coins',
    async () => (await daemon.call<{ total: string }>('wallet_balance')).total === '8.0',
  );
}, HANG_MS);
afterAll(async () => {
  await daemon?.stop();
  await node?.stop();
  pages?.close();
}, HANG_MS);

/** Mines a block, and waits until the daemon has it. */
async function mine(): Promise<void> {
  await node.rpc('generate', [1]);
  const height = await node.rpc<number>('getblockcount');
  await until(
    'the daemon follows',
    async () => (await daemon.call<{ wallet: { blocks: number } }>('status')).wallet.blocks === height,
  );
}

describe('LBRY Desktop at its start', () => {
  it('polls status and version until the daemon runs', async () => {
    const status = await daemon.call<{ ffmpeg_status: { available: boolean } }>('status');
    expect(status).toMatchObject({
      is_running: true,
      installation_id: TEXT,
      startup_status: { wallet: true, database: true, file_manager: true },
      skipped_components: expect.any(Array),
      wallet: { connected: TEXT, blocks: NUMBER, blocks_behind: 0, best_blockhash: TEXT },
      ffmpeg_status: {
        available: expect.any(Boolean),
        which: status.ffmpeg_status.available ? TEXT : null,
        analyze_audio_volume: expect.anything(),
      },
    });
    expect(await daemon.call('version')).toMatchObject({
      lbrynet_version: TEXT,
      platform: TEXT,
      os_system: TEXT,
      python_version: TEXT,
      build: TEXT,
    });
  });

  it('reads the wallet, the library and the settings', async () => {
    expect(await daemon.call('wallet_status')).toEqual({
      is_encrypted: false,
      is_syncing: expect.any(Boolean),
      is_locked: false,
    });
    expect(await daemon.call('resolve', { urls: ['lbry://one', 'lbry://@two'] })).toMatchObject({
      'lbry://one': { error: { name: 'NOT_FOUND', text: TEXT } },
      'lbry://@two': { error: { name: 'NOT_FOUND' } },
    });
    expect(await daemon.call('wallet_balance')).toEqual({
      available: '8.0',
      reserved: '0.0',
      reserved_subtotals: { claims: '0.0', supports: '0.0', tips: '0.0' },
      total: '8.0',
    });
    for (const method of ['file_list', 'channel_list', 'collection_list'])
      expect(await daemon.call(method, { page: 1, page_size: 20 }), method).toMatchObject({
        ...PAGE,
        items: [],
      });
    expect(await daemon.call('settings_get')).toMatchObject({
      download_dir: TEXT,
      data_dir: TEXT,
      wallet_dir: TEXT,
      lbryum_servers: [[TEXT, NUMBER]],
      share_usage_data: expect.any(Boolean),
      max_key_fee: expect.anything(),
      save_files: expect.any(Boolean),
      streaming_server: TEXT,
    });
    expect(await daemon.call('ffmpeg_find')).toMatchObject({ available: expect.any(Boolean) });
  });
});

describe('the extension of ReviveL', () => {
  it('publishes, searches and pays', async () => {
    const channel = await daemon.call<{ outputs: { claim_id: string; permanent_url: string }[] }>(
      'channel_create',
      {
        name: '@revivel',
        bid: '0.1',
      },
    );
    await mine();
    const file = join(daemon.folder, 'file.txt');
    writeFileSync(file, 'some text');
    const stream = await daemon.call<{ txid: string; outputs: { claim_id: string }[] }>('stream_create', {
      name: 'hello',
      bid: '0.1',
      file_path: file,
      title: 'Hello',
      channel_id: channel.outputs[0]!.claim_id,
    });
    await mine();
    const { claim_id: claimId } = stream.outputs[0]!;
    await until('the claim is found', async () => {
      const { items } = await daemon.call<{ items: unknown[] }>('claim_search', { claim_ids: [claimId] });
      return items.length === 1;
    });
    expect(await daemon.call('claim_search', { claim_ids: [claimId], no_totals: true })).toMatchObject({
      items: [
        {
          claim_id: claimId,
          name: 'hello',
          value: { title: 'Hello' },
          signing_channel: { name: '@revivel' },
        },
      ],
    });
    expect(await daemon.call('resolve', { urls: ['lbry://hello'] })).toMatchObject({
      'lbry://hello': {
        claim_id: claimId,
        permanent_url: TEXT,
        canonical_url: TEXT,
        meta: {},
        timestamp: NUMBER,
      },
    });
    for (const method of ['channel_list', 'claim_list', 'txo_list'])
      expect((await daemon.call<{ items: unknown[] }>(method)).items.length, method).toBeGreaterThan(0);
    expect(await daemon.call('account_list')).toMatchObject({
      items: [{ id: TEXT, name: TEXT, is_default: true, ledger: 'lbc_regtest' }],
    });
    expect(await daemon.call('account_balance')).toMatchObject({
      available: TEXT,
      reserved: TEXT,
      total: TEXT,
    });
    const to = await node.rpc<string>('getnewaddress', ['', 'legacy']);
    expect(await daemon.call('wallet_send', { amount: '0.5', addresses: [to] })).toMatchObject({
      txid: TEXT,
      outputs: expect.any(Array),
    });
    await mine();
    expect(await node.rpc('getreceivedbyaddress', [to])).toBe(0.5);
  });

  it('makes and removes wallets', async () => {
    expect(await daemon.call('wallet_create', { wallet_id: 'second', create_account: true })).toMatchObject({
      id: 'second',
    });
    expect(await daemon.call('wallet_status', { wallet_id: 'second' })).toMatchObject({
      is_encrypted: false,
    });
    expect(await daemon.call('wallet_remove', { wallet_id: 'second' })).toMatchObject({ id: 'second' });
  });

  it("gets lbrynet's error for the missing method wallet_seed", async () => {
    expect(await daemon.ask({ jsonrpc: '2.0', id: 1, method: 'wallet_seed', params: {} })).toMatchObject({
      error: { code: -32601, message: expect.stringContaining('wallet_seed') },
    });
    // `account_list` contains the seed only if `show_seed` is set.
    expect(await daemon.call('account_list', { show_seed: true })).toMatchObject({ items: [{ seed: SEED }] });
  });
});

describe.skipIf(!hasChromium)('nova-web in a browser', () => {
  it('can call with JSON and an Authorization header from the allowed origin only', async () => {
    const { chromium } = await import('playwright-core');
    const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
    try {
      const page = await browser.newPage();
      await page.goto(`${origin}/`);
      const call = (
        method: string,
        params: object = {},
      ): Promise<{ result?: unknown; error?: { message: string } }> =>
        page.evaluate(
          async ([url, body]) => {
            const headers = { 'Content-Type': 'application/json', Authorization: 'Basic dXNlcjpwYXNz' };
            const response = await fetch(url!, { method: 'POST', headers, body: body! });
            return (await response.json()) as { result?: unknown };
          },
          [`http://127.0.0.1:${daemon.port}/`, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })],
        );
      expect((await call('status')).result).toMatchObject({ is_running: true });
      expect((await call('version')).result).toMatchObject({ lbrynet_version: TEXT });
      expect((await call('settings_get')).result).toMatchObject({ download_dir: TEXT });
      expect((await call('wallet_balance')).result).toMatchObject({ available: TEXT });
      expect((await call('claim_search', { text: 'hello', page_size: 20 })).result).toMatchObject(PAGE);
      expect((await call('resolve', { urls: ['lbry://hello'] })).result).toMatchObject({
        'lbry://hello': { name: 'hello' },
      });
      expect((await call('get', { uri: 'lbry://hello' })).result).toMatchObject({
        streaming_url: TEXT,
        claim_name: 'hello',
      });
      expect((await call('txo_list', { page_size: 5 })).result).toMatchObject({ items: expect.any(Array) });
      expect((await call('preference_get', { key: 'shared' })).result).toBeNull();
      expect(await call('file_reflect', { claim_name: 'hello', reflector: '127.0.0.1:1' })).toEqual(
        expect.objectContaining({ jsonrpc: '2.0' }),
      );
      // The same page from another origin.
      await page.goto(`${origin.replace('127.0.0.1', 'localhost')}/`);
      await expect(call('status')).rejects.toThrow('Failed to fetch');
    } finally {
      await browser.close();
    }
  });
});

describe('the companion of ReviveL', () => {
  it('starts the daemon with its command line, and the extension calls it', async () => {
    const home = mkdtempSync(join(tmpdir(), 'companion-'));
    const [api, extension] = [`127.0.0.1:${await freePort()}`, 'chrome-extension://abc/'];
    const config = join(home, 'daemon_settings.yml');
    // Its settings file has entries that no version of lbrynet knows. Environment: regtest, and no packet leaves the machine.
    writeFileSync(config, 'blockchain_name: lbrycrd_regtest\nrpc_user: user\nrpc_password: pass\n');
    const child = spawn(
      process.execPath,
      [
        ...[program('lbcnet'), 'start', '--data-dir', join(home, 'data'), '--config', config, '--api', api],
        ...['--rpcuser', 'user', '--rpcpass', 'pass', '--lbryum-server', `127.0.0.1:${hubPort}`],
        ...['--lbryum-server', '127.0.0.1:1', '--allowed-origin', extension],
      ],
      {
        stdio: 'ignore',
        env: {
          ...process.env,
          HOME: home,
          XDG_DATA_HOME: join(home, 'share'),
          LBRY_NETWORK_INTERFACE: '127.0.0.1',
          LBRY_TCP_PORT: '0',
          LBRY_UDP_PORT: '0',
          LBRY_STREAMING_SERVER: `127.0.0.1:${await freePort()}`,
        },
      },
    );
    const ended = once(child, 'close');
    try {
      const headers = {
        'Content-Type': 'application/json',
        Authorization: 'Basic dXNlcjpwYXNz',
        Origin: extension,
      };
      const call = async <Result>(method: string, params = {}): Promise<Result> => {
        const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
        const response = await fetch(`http://${api}/`, { method: 'POST', headers, body });
        return ((await response.json()) as { result: Result }).result;
      };
      await until('the daemon runs', () =>
        call<{ is_running: boolean }>('status').then(
          ({ is_running: isRunning }) => isRunning,
          () => {
            if (child.exitCode !== null) throw new Error(`lbcnet ended with ${child.exitCode}`);
            return false;
          },
        ),
      );
      expect(await call('status')).toMatchObject({ wallet: { connected: `127.0.0.1:${hubPort}` } });
      expect(await call('account_list')).toMatchObject({ items: [{ is_default: true }] });
      const preflight = await fetch(`http://${api}/`, { method: 'OPTIONS', headers: { Origin: extension } });
      expect(preflight.headers.get('Access-Control-Allow-Headers')).toContain('Authorization');
      child.kill('SIGTERM');
      expect(await ended).toEqual([0, null]);
    } finally {
      child.kill('SIGKILL');
      await ended;
      rmSync(home, { recursive: true, force: true });
    }
  });
});

describe('LBRY Desktop when it quits', () => {
  it('stops the daemon', async () => {
    expect(await daemon.call('stop')).toBe('Shutting down');
    expect(await daemon.ended()).toBe(0);
  });
});
