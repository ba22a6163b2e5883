/**
 * The built daemon with the hubs of two nodes. The node of the hub in use stops advancing, and the other one continues. The
 * daemon's long waits are shortened by `fasterClock.mjs`.
 */
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDaemon, type TestDaemon } from './support/daemon.js';
import { connect, disconnect, PeerGroup, until, untilSameTip } from './support/network.js';
import { freePort, HANG_MS, type RegtestNode } from './support/node.js';

const PRELOAD = fileURLToPath(new URL('./support/fasterClock.mjs', import.meta.url));

interface Hub {
  readonly port: number;
  readonly node: RegtestNode;
}
interface Status {
  readonly wallet: { readonly connected: string; readonly blocks: number };
}
interface Made {
  readonly txid: string;
  readonly outputs: readonly { readonly claim_id: string }[];
}

describe('a hub whose node no longer advances', () => {
  const group = new PeerGroup();
  let daemon: TestDaemon;
  let hubs: readonly Hub[];
  /** Receives the coins of mined blocks; a key of the first node. */
  let miner: string;

  const startHub = async (): Promise<Hub> => {
    const port = await freePort();
    const args = ['-hub', `-hubport=${port}`, '-hubudpport=0', '-fallbackfee=0.0002'];
    return { port, node: await group.start({ args }) };
  };
  const status = (): Promise<Status['wallet']> => daemon.call<Status>('status').then(({ wallet }) => wallet);
  const isUsed = async ({ port }: Hub): Promise<boolean> =>
    (await status()).connected === `127.0.0.1:${port}`;

  beforeAll(async () => {
    hubs = [await startHub(), await startHub()];
    const [first, second] = hubs.map(({ node }) => node);
    await connect(first!, second!);
    // Each node mines its own coins.
    for (const node of [first!, second!]) {
      miner = await node.rpc<string>('getnewaddress');
      await node.rpc('generatetoaddress', [110, miner]);
      await untilSameTip([first!, second!]);
    }
    daemon = await startDaemon({
      hubPorts: hubs.map(({ port }) => port),
      args: ['--hub-timeout=600'],
      environment: { NODE_OPTIONS: `--import=${PRELOAD}` },
    });
    await disconnect(first!, second!);
  }, HANG_MS);
  afterAll(async () => {
    await daemon?.stop();
    await group.close();
  });

  it('is abandoned for the other one, which then answers all calls', { timeout: HANG_MS }, async () => {
    const stuck = (await isUsed(hubs[0]!)) ? hubs[0]! : hubs[1]!;
    const advancing = stuck === hubs[0] ? hubs[1]! : hubs[0]!;
    const own = await daemon.call<string>('address_unused');
    const mine = (): Promise<unknown> => advancing.node.rpc('generatetoaddress', [1, miner]);
    const tip = (): Promise<number> => advancing.node.rpc<number>('getblockcount');
    for (let payment = 0; payment < 3; payment++) await advancing.node.rpc('sendtoaddress', [own, 2]);
    await mine();
    await until('the hub is changed', async () => await isUsed(advancing));
    await until('its blocks are known', async () => (await status()).blocks === (await tip()));
    expect(daemon.log).toContain(
      `The hub 127.0.0.1:${advancing.port} has blocks that the hub 127.0.0.1:${stuck.port} did not report`,
    );
    await until('its payments are known', async () => {
      const { available } = await daemon.call<{ available: string }>('wallet_balance');
      return available === '6.0';
    });
    // The daemon sends transactions, resolves and searches with the new hub.
    const made = await daemon.call<Made>('channel_create', { name: '@moved', bid: '0.5' });
    expect(await advancing.node.rpc('getrawmempool')).toContain(made.txid);
    expect(await stuck.node.rpc('getrawmempool')).toEqual([]);
    await mine();
    await until('the block is known', async () => (await status()).blocks === (await tip()));
    const [{ claim_id: id }] = made.outputs as [{ claim_id: string }];
    expect(await daemon.call('resolve', { urls: '@moved' })).toMatchObject({
      '@moved': { claim_id: id, confirmations: 1 },
    });
    expect(await daemon.call('claim_search', { name: '@moved' })).toMatchObject({
      items: [{ claim_id: id }],
    });
    expect(await advancing.node.rpc('getblockcount')).toBe(
      (await stuck.node.rpc<number>('getblockcount')) + 2,
    );
  });
});
