/** The whole lbcnet: a built daemon with a regtest node and its hub, called over HTTP and by the command line. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DECLARATIONS } from '../../src/daemon/api/declarations/table.js';
import { checkResult } from '../../src/schema/schemaCheck.js';
import { projectFile } from '../../src/util/project.js';
import { startDaemon, walletOfSeed, type TestDaemon } from './support/daemon.js';
import { examplesOf } from './support/docExamples.js';
import { freePort, HANG_MS, program, startRegtest, type RegtestNode } from './support/node.js';

const SEED = 'carbon smart garage balance margin twelve chest sword toast envelope bottom stomach absent';
const ACCOUNT = 'n4ZRwP4QjKwsmXCfqUPqnx133i83Ha7GbW';

/** Number of blocks. Enough coinbases are mature for all payments of this file. */
const BLOCKS = 130;

let node: RegtestNode;
let daemon: TestDaemon;

beforeAll(async () => {
  const hubPort = await freePort();
  node = await startRegtest({ args: ['-hub', `-hubport=${hubPort}`] });
  await node.rpc('generate', [BLOCKS]);
  daemon = await startDaemon({ hubPorts: [hubPort], walletText: walletOfSeed(SEED) });
}, HANG_MS);

afterAll(async () => {
  await daemon?.stop();
  await node?.stop();
}, HANG_MS);

/** The output of the program, and its exit code. */
function run(args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [program('lbcnet'), ...args], (error, out, err) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err }),
    );
  });
}

interface Page<Item> {
  readonly items: readonly Item[];
  readonly total_items: number;
}
interface Output {
  readonly claim_id: string;
  readonly name: string;
  readonly value_type: string;
}
interface Made {
  readonly txid: string;
  readonly outputs: readonly Output[];
}

interface ExampleCall {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}
interface ExampleAnswer {
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data: { readonly name?: string };
  };
}

/** Errors of a call whose parameters the daemon could not read, and of a method that is not implemented. */
const UNREADABLE: readonly unknown[] = [
  'TypeError',
  'InputValueIsNoneError',
  'NotImplementedError',
  undefined,
];

/** Polls until the answer satisfies the condition. Fails at the time limit. */
async function until<Answer>(
  ask: () => Promise<Answer>,
  holds: (answer: Answer) => boolean,
): Promise<Answer> {
  for (;;) {
    const answer = await ask();
    if (holds(answer)) return answer;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe('the first session with a hub', { timeout: HANG_MS }, () => {
  it('opens the existing wallet', async () => {
    const { items } = await daemon.call<Page<{ id: string }>>('account_list');
    expect(items.map(({ id }) => id)).toEqual([ACCOUNT]);
    const status = await daemon.call<Record<string, Record<string, unknown>>>('status');
    expect(status['is_running']).toBe(true);
    expect(status['wallet']).toMatchObject({ blocks: BLOCKS, is_locked: false });
    expect(status['connection_status']).toMatchObject({ code: 'connected' });
  });

  it('receives a payment, creates a channel with a stream, supports it, and finds all of them', async () => {
    const address = await daemon.call<string>('address_unused');
    await node.rpc('sendtoaddress', [address, 10]);
    await node.rpc('generate', [1]);
    await until(
      () => daemon.call<{ available: string }>('account_balance', { confirmations: 1 }),
      ({ available }) => available === '10.0',
    );
    const channel = await daemon.call<Made>('channel_create', { name: '@room', bid: '1.0', blocking: true });
    const channelId = channel.outputs[0]!.claim_id;
    await node.rpc('generate', [1]);
    await until(
      () => daemon.call<Page<{ confirmations: number }>>('channel_list'),
      ({ items }) => items[0]!.confirmations > 0,
    );
    const stream = await daemon.call<Made>('stream_create', {
      name: 'film',
      bid: '0.5',
      title: 'A film',
      tags: ['one', 'two'],
      sd_hash: 'ab'.repeat(48),
      file_name: 'film.mp4',
      file_size: 1000,
      channel_id: channelId,
      blocking: true,
    });
    const streamId = stream.outputs[0]!.claim_id;
    await node.rpc('generate', [1]);
    await until(
      () => daemon.call<Page<Output>>('claim_search', { claim_ids: [streamId] }),
      ({ total_items }) => total_items === 1,
    );
    await daemon.call('support_create', { claim_id: streamId, amount: '0.25', blocking: true });
    await node.rpc('generate', [1]);
    const found = await until(
      () => daemon.call<Page<Output>>('claim_search', { channel_ids: [channelId], any_tags: ['two'] }),
      ({ total_items }) => total_items === 1,
    );
    expect(found.items[0]).toMatchObject({ claim_id: streamId, is_channel_signature_valid: true });
    const resolved = await daemon.call<Record<string, Output>>('resolve', {
      urls: ['@room/film', 'nothing'],
    });
    expect(resolved['@room/film']).toMatchObject({ claim_id: streamId, name: 'film' });
    expect(resolved['nothing']).toMatchObject({ error: { name: 'NOT_FOUND' } });
    const claims = await daemon.call<Page<Output>>('claim_list');
    expect(claims.items.map(({ value_type }) => value_type).sort()).toEqual(['channel', 'stream']);
    expect((await daemon.call<Page<Output>>('support_list')).total_items).toBe(1);
    const balance = await daemon.call<{ reserved_subtotals: object }>('wallet_balance');
    expect(balance.reserved_subtotals).toEqual({ claims: '1.5', supports: '0.25', tips: '0.0' });
  });

  it('answers in the declared shapes', async () => {
    const calls: Readonly<Record<string, object>> = {
      account_balance: {},
      account_list: { show_seed: true },
      account_max_address_gap: { account_id: ACCOUNT },
      address_list: {},
      address_unused: {},
      channel_list: { resolve: true },
      claim_list: { resolve: true },
      claim_search: { name: 'film' },
      ffmpeg_find: {},
      preference_get: {},
      resolve: { urls: ['@room', '@room/film', 'nothing'] },
      settings_get: {},
      settings_set: { key: 'save_files', value: true },
      settings_clear: { key: 'save_files' },
      status: {},
      stream_list: {},
      support_list: {},
      sync_hash: {},
      transaction_list: {},
      txo_list: {},
      txo_plot: { start_day: '2000-01-01', days_after: 1 },
      txo_sum: {},
      utxo_list: {},
      version: {},
      wallet_balance: {},
      wallet_list: {},
      wallet_status: {},
    };
    const problems: string[] = [];
    for (const [method, params] of Object.entries(calls)) {
      const { result } = DECLARATIONS.find(({ name }) => name === method)!;
      for (const problem of await checkResult(result, await daemon.call(method, params)))
        problems.push(`${method}: ${problem}`);
    }
    expect(problems).toEqual([]);
  });

  it('can be called from the command line', async () => {
    const asked = await run([`--api=127.0.0.1:${daemon.port}`, 'account', 'balance']);
    expect(asked.code).toBe(0);
    expect(JSON.parse(asked.out)).toHaveProperty('reserved_subtotals');
    const refused = await run([`--api=127.0.0.1:${daemon.port}`, 'claim', 'list', '--nope']);
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toMatch(/^The option '--nope' does not exist\..*\n\nUsage:\n {4}lbcnet claim list/);
  });

  it('refuses a second daemon in its folder', async () => {
    const second = await run([
      'start',
      `--config=${join(daemon.folder, 'conf.yml')}`,
      `--data-dir=${join(daemon.folder, 'data')}`,
      `--wallet-dir=${join(daemon.folder, 'wallet')}`,
      `--download-dir=${join(daemon.folder, 'files')}`,
      `--api=127.0.0.1:${await freePort()}`,
    ]);
    expect(second.code).toBe(1);
    expect(second.err).toContain('Another lbcnet is running in');
  });

  /** The last test of this daemon, because the examples change its wallets and settings. */
  it('reads every example of docs/lbcnet-api.md', async () => {
    const reference = readFileSync(projectFile('docs', 'lbcnet-api.md'), 'utf8');
    const problems: string[] = [];
    for (const { line, body } of examplesOf(reference, 'lbcnet')) {
      const { method, params } = JSON.parse(body) as ExampleCall;
      if (method === 'stop') continue;
      // No peer has the blob, so the example ends at its time limit.
      const given = 'timeout' in params ? { ...params, timeout: 1 } : params;
      const { error } = (await daemon.ask({ method, params: given })) as ExampleAnswer;
      // The example has a placeholder, so the call may be refused for its value, such as the id of a claim that does not exist.
      if (error && (error.code !== -32500 || UNREADABLE.includes(error.data.name)))
        problems.push(`${line}: ${error.code} ${error.data.name} ${error.message}`);
      // The example names a hub that does not run here.
      if (method === 'settings_set') await daemon.call('settings_clear', { key: params['key'] });
    }
    expect(problems).toEqual([]);
    expect(daemon.log).not.toContain('ERROR');
  });
});

describe('an invalid start is refused with the reason', { timeout: HANG_MS }, () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'lbcnode-lbcnet-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const start = async (
    name: string,
    { args = [], file }: { args?: readonly string[]; file?: string } = {},
  ): Promise<string> => {
    const home = join(folder, name);
    mkdirSync(home);
    if (file !== undefined) writeFileSync(join(home, 'conf.yml'), file);
    const { code, err } = await run([
      'start',
      `--config=${join(home, 'conf.yml')}`,
      `--data-dir=${join(home, 'data')}`,
      `--wallet-dir=${join(home, 'wallet')}`,
      `--download-dir=${join(home, 'files')}`,
      '--components-to-skip=wallet',
      ...args,
    ]);
    expect(code).not.toBe(0);
    return err;
  };

  it('a port that is taken', async () => {
    const taken = createServer();
    const port = await freePort();
    await new Promise<void>((resolve) => taken.listen(port, '127.0.0.1', resolve));
    const said = await start('port', { args: [`--api=127.0.0.1:${port}`] });
    taken.close();
    expect(said).toContain(
      `The API cannot listen at 127.0.0.1:${port}: the port is in use, possibly by another daemon.`,
    );
  });

  it('a settings file that is not YAML, with the line', async () => {
    expect(await start('yaml', { file: 'save_files: true\nwallets: [a, b\n' })).toMatch(
      /The settings file .*conf\.yml is not valid YAML, line [23]:/,
    );
  });

  it('a value that a setting cannot have', async () => {
    expect(await start('value', { file: 'udp_port: many\n' })).toMatch(
      /Settings file .*conf\.yml: Setting 'udp_port' must be an integer, not 'many'\./,
    );
  });

  it('an option that does not exist, with the nearest one', async () => {
    // An unknown option only causes a warning. The start fails because the port of the API is in use.
    const taken = createServer();
    const port = await freePort();
    await new Promise<void>((resolve) => taken.listen(port, '127.0.0.1', resolve));
    const said = await start('option', { args: ['--save-fils', `--api=127.0.0.1:${port}`] });
    taken.close();
    expect(said).toContain(
      "the option '--save-fils' does not exist and is ignored. Did you mean --save-files?",
    );
  });

  it('a folder that cannot be used', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    expect(await start('folder', { args: [`--download-dir=${file}`] })).toContain(
      `The folder ${file} is not writable`,
    );
  });

  it('a chain that does not exist', async () => {
    const home = join(folder, 'chain');
    mkdirSync(home);
    const { code, err } = await run([
      'start',
      `--config=${join(home, 'conf.yml')}`,
      `--data-dir=${join(home, 'data')}`,
      `--wallet-dir=${join(home, 'wallet')}`,
      `--download-dir=${join(home, 'files')}`,
      '--blockchain-name=bitcoin',
    ]);
    expect(code).toBe(1);
    expect(err).toContain("Setting 'blockchain_name' value must be one of: lbrycrd_main");
  });

  it('an unknown setting in the file is only a warning', async () => {
    const home = join(folder, 'stranger');
    mkdirSync(home);
    writeFileSync(join(home, 'conf.yml'), 'save_fils: true\n');
    const one = await startDaemon({ hubPorts: [], folder: home, args: ['--components-to-skip=wallet'] });
    expect(await one.call('stop')).toBe('Shutting down');
    expect(await one.ended()).toBe(0);
    const log = readFileSync(join(home, 'data', 'lbcnet.log'), 'utf8');
    expect(log).toContain("contains 'save_fils', which is not a setting. Did you mean 'save_files'?");
  });
});
