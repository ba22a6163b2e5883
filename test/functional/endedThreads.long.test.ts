/** A node whose threads end by an error. A new thread replaces each, and its work continues. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HubClient } from './support/hubClient.js';
import { OPEN_ADDRESS } from './support/network.js';
import { ADDRESS, freePort, HANG_MS, startRegtest, type RegtestNode } from './support/node.js';

const PRELOAD = fileURLToPath(new URL('support/endingThreads.mjs', import.meta.url));

const folder = mkdtempSync(join(tmpdir(), 'lbcnode-ended-'));
const flag = join(folder, 'flag');
let node: RegtestNode;
let port: number;

beforeAll(async () => {
  port = await freePort();
  node = await startRegtest({
    args: ['-hub', `-hubport=${port}`],
    env: { NODE_OPTIONS: `--import=${PRELOAD}`, ENDING_FLAG: flag },
  });
  await node.rpc('generatetoaddress', [102, OPEN_ADDRESS]);
});
afterAll(async () => {
  await node.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Resolves when the thread has read the request to end. */
async function end(name: string): Promise<void> {
  writeFileSync(flag, name);
  await expect.poll(() => existsSync(flag), { timeout: HANG_MS }).toBe(false);
}

interface HubHealth {
  readonly listening: boolean;
  readonly failure?: string;
  readonly sessions: number;
}

async function hubHealth(): Promise<HubHealth> {
  const answer = await fetch(`http://127.0.0.1:${node.rpcPort}/health`);
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { hub: HubHealth }).hub;
}

const statusOf = async (client: HubClient): Promise<unknown> =>
  (await client.call<unknown[]>('blockchain.address.subscribe', [OPEN_ADDRESS]))[0];

describe("the hub's thread", () => {
  it('restarts on its port, each time after a longer pause, and processes missed events', async () => {
    const [lost, tip] = [await node.rpc<number>('getblockcount'), await node.rpc('getbestblockhash')];
    const first = await HubClient.open(port);
    const status = await statusOf(first);
    await end('hubWorker.js');
    await first.closed;
    await expect.poll(hubHealth, { timeout: HANG_MS }).toMatchObject({
      listening: false,
      failure: 'its thread has exited: hubWorker.js was ended',
      sessions: 0,
    });
    expect(await node.rpc('gethubinfo')).toMatchObject({
      subscriptions: 0,
      failure: expect.any(String) as string,
    });
    // A new thread must not use data of the disconnected branch.
    await node.rpc('invalidateblock', [tip]);
    await node.rpc('generatetoaddress', [1, ADDRESS]);
    expect(await node.rpc('getblockcount')).toBe(lost);
    const listeningAndFailure = async (): Promise<unknown[]> => {
      const health = (await hubHealth()) as { listening: boolean; failure?: string };
      return [health.listening, health.failure];
    };
    await expect.poll(listeningAndFailure, { timeout: HANG_MS }).toEqual([true, undefined]);

    const second = await HubClient.open(port);
    expect(await statusOf(second)).not.toBe(status);
    await node.rpc('generatetoaddress', [1, OPEN_ADDRESS]);
    await second.reported('blockchain.address.subscribe');
    expect(await node.rpc('gethubinfo')).toMatchObject({ restarts: 1, sessions: 1, subscriptions: 1, port });
    await end('hubWorker.js');
    await second.closed;
    // Sessions close before the node detects the end of the thread, so `listening` may still be that of the old thread.
    await expect
      .poll(() => node.rpc('gethubinfo'), { timeout: HANG_MS })
      .toMatchObject({ restarts: 2, port });
    await expect.poll(hubHealth, { timeout: HANG_MS }).toMatchObject({ listening: true });
    const pauses = [
      ...node.output().matchAll(/The hub is being restarted in (\d+) s: its thread has exited/g),
    ];
    expect(pauses.map(([, seconds]) => seconds)).toEqual(['1', '2']);
  });
});

describe('the threads of the search index', () => {
  const search = () => node.rpc<{ height: number }>('searchclaims', [{ name: `n${nextName++}` }]);
  let nextName = 0;
  const atTip = async (): Promise<boolean> => {
    const { search: state } = await node.rpc<{ search: { synced: boolean } }>('getclaimindexinfo');
    return state.synced;
  };

  it('for searching restart', async () => {
    // Several searches at the same time start all reader threads.
    const searchAll = () => Promise.all(Array.from({ length: 8 }, search)).catch(() => []);
    await searchAll();
    for (let n = 0; n < 2; n++) {
      await end('searchWorker.js reader');
      await expect.poll(searchAll, { timeout: HANG_MS }).toHaveLength(8);
    }
  });

  it('for writing restarts, and follows the chain', async () => {
    await expect.poll(atTip, { timeout: HANG_MS }).toBe(true);
    await end('searchWorker.js writer');
    await node.rpc('generatetoaddress', [2, ADDRESS]);
    await expect.poll(atTip, { timeout: HANG_MS }).toBe(true);
    expect(await search()).toMatchObject({ height: await node.rpc('getblockcount') });
    expect(node.output()).toMatch(/writes the search index has exited: searchWorker.js writer was ended/);
  });
});
