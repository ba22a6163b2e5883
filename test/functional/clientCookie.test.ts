/** The typed client with a real node: it finds the cookie by itself, also after a restart of the node. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { RpcClient, RpcTransportError } from '../../src/client/index.js';
import { LOCAL_NETWORKS, localCookieFile } from '../../src/client/localNode.js';
import { networkParams } from '../../src/params/networks.js';
import { freePort, program } from './support/node.js';

let dataDir: string;
let port: number;
let running: ChildProcess | null = null;

async function start(): Promise<void> {
  const args = ['-regtest', `-datadir=${dataDir}`, `-rpcport=${port}`, '-listen=0', '-printtoconsole'];
  const child = spawn(process.execPath, [program('lbcnode'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running = child;
  let output = '';
  await new Promise<void>((resolve, reject) => {
    child.once('exit', () => reject(new Error(output)));
    child.stdout!.on('data', (part: Buffer) => {
      output += part.toString();
      if (output.includes('Done loading')) resolve();
    });
  });
}

async function stop(): Promise<void> {
  const child = running;
  running = null;
  if (child === null || child.exitCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await gone;
}

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'lbcnode-cookie-'));
  port = await freePort();
  await start();
});
afterAll(async () => {
  await stop();
  rmSync(dataDir, { recursive: true, force: true });
});

it('authenticates with the cookie of the data folder, and with the new one after a restart', async () => {
  const url = `http://127.0.0.1:${port}/`;
  const client = new RpcClient({ network: 'regtest', dataDir, url });
  expect(await client.call('getblockcount')).toBe(0);
  const named = new RpcClient({ url, cookieFile: join(dataDir, 'regtest', '.cookie') });
  expect(await named.call('getblockcount')).toBe(0);
  await stop();
  await expect(client.call('getblockcount')).rejects.toMatchObject({ name: 'RpcTransportError', status: 0 });
  await start();
  expect(await client.batch([{ method: 'getblockcount' }])).toEqual([{ result: 0 }]);
  client.close();
  named.close();
});

it('names the cookie file that is missing, and does not send it to another machine', async () => {
  const lost = new RpcClient({ network: 'test', dataDir, url: `http://localhost:${port}/` });
  await expect(lost.call('uptime')).rejects.toThrow(
    `The cookie ${join(dataDir, 'testnet3', '.cookie')} cannot be read (ENOENT). Check that the node is running.`,
  );
  const wrong = new RpcClient({ url: `http://a:b@127.0.0.1:${port}/`, dataDir });
  await expect(wrong.call('uptime')).rejects.toMatchObject({ status: 401 });
  // The host does not exist. The message must show that the client did not look for a cookie.
  const far = new RpcClient({ url: 'http://far.invalid:1/' });
  const error = (await far.call('uptime').catch((caught: unknown) => caught)) as RpcTransportError;
  expect(error).toBeInstanceOf(RpcTransportError);
  expect(error.message).not.toContain('cookie');
});

it('knows the folders and ports of the networks', () => {
  for (const name of ['main', 'test', 'regtest'] as const) {
    const { rpcPort, dataFolder } = networkParams(name);
    expect(LOCAL_NETWORKS[name]).toEqual({ rpcPort, folder: dataFolder });
  }
  expect(localCookieFile('main')).toBe(join(homedir(), '.lbcnode', '.cookie'));
});
