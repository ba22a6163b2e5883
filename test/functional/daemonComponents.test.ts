/** Components that are skipped, and components that do not start. */
import { spawn } from 'node:child_process';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMPONENT_NAMES } from '../../src/daemon/api/declaration.js';
import { DECLARATIONS } from '../../src/daemon/api/declarations/table.js';
import { startDaemon, type TestDaemon } from './support/daemon.js';
import { HANG_MS, program } from './support/node.js';

interface Status {
  readonly is_running: boolean;
  readonly skipped_components: readonly string[];
  readonly startup_status: Readonly<Record<string, boolean>>;
  readonly component_failures?: Readonly<Record<string, string>>;
}

const statusOf = (daemon: TestDaemon) => daemon.call<Status>('status');

/** The output of the command line, and its exit code. */
function commandLine(daemon: TestDaemon, ...args: string[]): Promise<{ code: number | null; said: string }> {
  const child = spawn(process.execPath, [program('lbcnet'), `--api=127.0.0.1:${daemon.port}`, ...args]);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += String(text)));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, said })));
}

describe('a daemon that skips all components', () => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startDaemon({ hubPorts: [], settings: { components_to_skip: COMPONENT_NAMES } });
  }, HANG_MS);
  afterAll(() => daemon?.stop());

  it('runs, and lists them by the names of lbry-sdk', async () => {
    expect(await statusOf(daemon)).toMatchObject({
      is_running: true,
      startup_status: {},
      skipped_components: COMPONENT_NAMES,
    });
    expect(await daemon.call('version')).toMatchObject({ lbrynet_version: '0.113.0' });
  });

  it('names the skipped component in the error of each method', async () => {
    const needing = DECLARATIONS.filter(({ needs }) => needs.length > 0);
    expect(needing.length).toBeGreaterThan(70);
    const needed = new Set<string>();
    for (const { name, needs, params } of needing) {
      const given = params.filter((param) => param.required).map((param) => [param.name, 'x'] as const);
      const asked = daemon.ask({ method: name, params: Object.fromEntries(given) });
      const { error } = (await asked) as { error: { message: string; data: { name: string } } };
      expect([name, error.message, error.data.name]).toEqual([
        name,
        `${needs[0]} is not a known Component: it is skipped`,
        'NameError',
      ]);
      for (const component of needs) needed.add(component);
    }
    // The method requires an open wallet but no component. The wallet component opens the wallets.
    await expect(daemon.call('preference_get')).rejects.toMatchObject({
      errorName: 'NameError',
      message: 'preference_get: wallet is not a known Component: it is skipped',
    });
    expect([...needed]).toEqual(expect.arrayContaining(['wallet', 'blob_manager', 'file_manager', 'dht']));
  });

  it('reports that on the command line in one sentence, with exit code 1', async () => {
    const { code, said } = await commandLine(daemon, 'file', 'list');
    const { message } = JSON.parse(said) as { message: string };
    expect([code, message]).toEqual([1, 'file_manager is not a known Component: it is skipped']);
  });
});

describe('a daemon whose ports are taken', () => {
  let other: Server;
  let port: number;
  let daemon: TestDaemon;
  beforeAll(async () => {
    other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    port = (other.address() as AddressInfo).port;
    daemon = await startDaemon({
      hubPorts: [],
      settings: { components_to_skip: ['wallet', 'dht', 'hash_announcer', 'upnp'] },
      args: [`--tcp-port=${port}`],
      waits: false,
    });
  }, HANG_MS);
  afterAll(async () => {
    await daemon?.stop();
    other.close();
  });

  it('runs all other components, and reports in status and log which did not start and why', async () => {
    await expect.poll(async () => (await statusOf(daemon)).component_failures).toBeDefined();
    await expect.poll(() => daemon.log).toContain('Not all components run');
    const {
      is_running: isRunning,
      startup_status: startup,
      component_failures: failures,
    } = await statusOf(daemon);
    expect(isRunning).toBe(false);
    expect(startup).toMatchObject({
      database: true,
      blob_manager: true,
      file_manager: true,
      disk_space: true,
      background_downloader: true,
      peer_protocol_server: false,
    });
    expect(Object.keys(failures!)).toEqual(['peer_protocol_server']);
    expect(failures!['peer_protocol_server']).toContain('the port is in use');
    expect(daemon.log).toContain(
      'The component peer_protocol_server did not start: The blob exchange cannot',
    );
    expect(daemon.log).toContain(`127.0.0.1:${port}: the port is in use`);
    expect(await daemon.call('file_list')).toMatchObject({ total_items: 0 });
    expect(await daemon.call('blob_clean')).toBeNull();
  });

  it('shows the background downloader and the disk space in its status', async () => {
    expect(await daemon.call('status')).toMatchObject({
      background_downloader: { running: true, available_free_space_mb: 0, ongoing_download: false },
      disk_space: { running: true },
    });
  });
});
