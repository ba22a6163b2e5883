/**
 * `lbcnet start --with-node`: both processes run, and if one ends in any way, the other one ends too. A configuration file in the
 * node's folder sets the ports.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RpcClient } from '../../src/client/rpcClient.js';
import { startDaemon, type TestDaemon } from './support/daemon.js';
import { until } from './support/network.js';
import { freePort, HANG_MS } from './support/node.js';
import { longIt } from '../support/long.js';

interface Status {
  readonly node: { readonly hub: string; readonly is_ready: boolean; readonly blocks: number | null };
  readonly wallet: { readonly connected: string | null; readonly blocks: number };
}

describe('lbcnet start --with-node', { timeout: HANG_MS }, () => {
  let folder: string;
  let node: RpcClient;
  let daemon: TestDaemon | null = null;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'lbcnet-with-node-'));
    const dataDir = join(folder, 'data', 'lbcnode');
    const rpcPort = await freePort();
    mkdirSync(dataDir, { recursive: true });
    writeFileSync(join(dataDir, 'lbcnode.conf'), `[regtest]\nrpcport=${rpcPort}\nlisten=0\n`);
    node = new RpcClient({ url: `http://127.0.0.1:${rpcPort}/`, network: 'regtest', dataDir });
  });

  afterEach(async () => {
    await daemon?.kill();
    await isGone();
    node.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function open(): Promise<TestDaemon> {
    daemon = await startDaemon({ hubPorts: [], folder, args: ['--with-node'] });
    return daemon;
  }

  const answers = (): Promise<boolean> =>
    node.call('getblockcount').then(
      () => true,
      () => false,
    );
  const isGone = (): Promise<void> => until('the node has ended', async () => !(await answers()));

  it('runs a node, which ends when it is stopped', async () => {
    let ours = await open();
    await until('the node is ready, and its hub asked', async () => {
      const { node: own, wallet } = await ours.call<Status>('status');
      return own.is_ready && wallet.connected === own.hub;
    });
    const address = await ours.call<string>('address_unused');
    await node.call('generatetoaddress', 3, address);
    await until('the reward is there', async () => {
      const { total } = await ours.call<{ total: string }>('account_balance');
      return Number(total) > 0;
    });
    expect(await ours.stop()).toBe(0);
    expect(await answers()).toBe(false);

    ours = await open();
    await until('the blocks are there', async () => (await ours.call<Status>('status')).wallet.blocks === 3);
    await ours.call('stop');
    expect(await ours.ended()).toBe(0);
    expect(await answers()).toBe(false);
  });

  longIt('ends the node when it is killed', async () => {
    const ours = await open();
    await until('the node answers', answers);
    await ours.kill();
    await isGone();
  });

  longIt('ends with an error if the node ends by itself', async () => {
    const ours = await open();
    await until('the node answers', answers);
    await node.call('stop');
    expect(await ours.ended()).toBe(1);
    expect(ours.log).toMatch(/The node started with --with-node has exited \(0\)/);
  });

  longIt('ends cleanly with the node at Ctrl-C, whichever ends first', async () => {
    daemon = await startDaemon({ hubPorts: [], folder, args: ['--with-node'], hasOwnGroup: true });
    expect(await daemon.interrupt()).toBe(0);
    expect(daemon.log).not.toContain('ERROR');
  });

  it('answers before the hub is open, and reports the progress of the node', async () => {
    daemon = await startDaemon({ hubPorts: [], folder, args: ['--with-node'], waits: false });
    const { node: first } = await daemon.call<Status>('status');
    expect(first.hub).toMatch(/^127\.0\.0\.1:[0-9]+$/);
    await until('the hub is open', async () => (await daemon!.call<Status>('status')).node.is_ready);
    await until('it is asked', async () => (await daemon!.call<Status>('status')).node.blocks === 0);
  });
});
