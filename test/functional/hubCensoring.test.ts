/**
 * Claims that the channels of `-hubblockingchannels` and `-hubfilteringchannels` hide from the clients of a hub, while these
 * channels make reposts, abandon them and are abandoned, while blocks are disconnected, and after starts with other lists.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fromBinary } from '@bufbuild/protobuf';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Error_Code, OutputsSchema, type Outputs } from '../../src/metadata/messages/result_pb.js';
import { abandon, claim, update, type Step } from './scenarios/claimLives.js';
import { ClaimActor, FundingCoins } from './support/claimActor.js';
import { HubClient } from './support/hubClient.js';
import { ADDRESS, freePort, HANG_MS, startRegtest, type RegtestNode } from './support/node.js';

const folder = mkdtempSync(join(tmpdir(), 'lbcnode-censoring-'));
let node: RegtestNode;
let client: HubClient;
let actor: ClaimActor;

async function start(...lists: string[]): Promise<void> {
  const port = await freePort();
  node = await startRegtest({
    dataDir: folder,
    args: ['-hub', `-hubport=${port}`, '-hubudpport=0', ...lists],
  });
  // The hub refuses clients until its indexes are at the tip.
  for (;;) {
    try {
      client = await HubClient.open(port);
      return;
    } catch {
      await node.rpc('getblockcount');
    }
  }
}

async function stop(): Promise<void> {
  await client.close();
  await node.stop();
}

/** Runs the steps and mines their transactions in one block. Returns its hash. */
async function mine(...steps: Step[]): Promise<string> {
  for (const step of steps) await actor.act(step as never);
  const [hash] = await node.rpc<string[]>('generatetoaddress', [1, ADDRESS]);
  return hash!;
}

async function outputs(method: string, params: unknown): Promise<Outputs> {
  for (;;) {
    try {
      const text = await client.call<string>(`blockchain.claimtrie.${method}`, params as never);
      return fromBinary(OutputsSchema, Buffer.from(text, 'base64'));
    } catch (error) {
      if ((error as Error).message !== 'The search index is being built') throw error;
    }
  }
}

/** The URLs among these that are blocked. */
async function blockedOf(...urls: string[]): Promise<string[]> {
  const { txos } = await outputs('resolve', urls);
  return urls.filter((_, n) => {
    const { meta } = txos[n]!;
    if (meta.case !== 'error') return false;
    expect(meta.value.code).toBe(Error_Code.BLOCKED);
    expect(meta.value.text).toMatch(/^Resolve of 'lbry:\/\/.* was blocked by lbry:\/\/@(?:blocks|filters)#/);
    expect(meta.value.blocked?.channel?.txHash).toHaveLength(32);
    return true;
  });
}

/** The results of a search for these claims, the total, and the number of blocked ones. */
async function found(...labels: string[]): Promise<{ rows: string[]; total: number; blocked: number }> {
  const ids = labels.map((label) => actor.idOf(label));
  const { txos, total, blocked, blockedTotal } = await outputs('search', { claim_ids: ids });
  expect(blocked.reduce((sum, { count }) => sum + count, 0)).toBe(blockedTotal);
  const rows = labels.filter((label) =>
    txos.some(({ txHash }) => Buffer.from(txHash).equals(actor.of(label).txid)),
  );
  expect(rows).toHaveLength(txos.length);
  return { rows, total, blocked: blockedTotal };
}

beforeAll(async () => {
  await start();
  // Uses whichever node is running.
  const funding = new FundingCoins({ rpc: (method, params) => node.rpc(method, params) } as RegtestNode);
  await funding.fill();
  actor = new ClaimActor(funding, 'unnamed');
  await mine(
    ...['blocks', 'filters', 'makes'].map((name) => claim(name, 10, { name: `@${name}`, isChannel: true })),
  );
  await mine(
    claim('one', 1, { name: 'one', by: 'makes' }),
    claim('two', 1, { name: 'two', by: 'makes' }),
    claim('alone', 1, { name: 'alone' }),
  );
  await mine(claim('copy', 1, { name: 'copy', reposts: 'one' }));
});
afterAll(async () => {
  await stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Polls, because an answer does not wait until a new list is computed. */
const untilBlocked = (urls: readonly string[]): Promise<void> =>
  expect.poll(() => blockedOf(...URLS), { timeout: HANG_MS }).toEqual(urls);

const URLS = ['one', 'two', 'alone', 'copy', '@makes', '@makes/one'];
const LABELS = ['one', 'two', 'alone', 'copy', 'makes'];

/** Polls, because a search waits only a short time for its index to be at the tip. */
const untilFound = (answer: object): Promise<void> =>
  expect.poll(() => found(...LABELS), { timeout: HANG_MS }).toMatchObject(answer);

it('blocking and filtering by channels follow the chain', async () => {
  const lists = () => [
    `-hubblockingchannels=${actor.idOf('blocks')}`,
    `-hubfilteringchannels=${actor.idOf('filters')}`,
  ];
  await stop();
  await start(...lists());
  const all = { rows: LABELS, total: 5, blocked: 0 };
  await untilBlocked([]);
  await untilFound(all);

  // A signed repost by a blocking channel blocks the reposted claim, and other reposts of it.
  await mine(claim('unsigned', 1, { name: 'unsigned', reposts: 'one' }));
  await untilBlocked([]);
  const ban = await mine(claim('ban', 1, { name: 'ban', reposts: 'one', by: 'blocks' }));
  const withoutOne = { rows: ['two', 'alone', 'makes'], total: 5, blocked: 2 };
  const checkBan = async () => {
    await untilBlocked(['one', 'copy', '@makes/one']);
    await untilFound(withoutOne);
  };
  await checkBan();
  await node.rpc('invalidateblock', [ban]);
  await untilBlocked([]);
  await untilFound(all);
  await node.rpc('reconsiderblock', [ban]);
  await checkBan();
  // An update to a claim that is not a repost ends the ban.
  await mine(update('ban', 1, { by: 'blocks' }));
  await untilBlocked([]);
  await untilFound(all);

  // A channel is blocked with everything that it signed, and with reposts of that. A query by id still returns it.
  await mine(claim('channel ban', 1, { name: 'channel-ban', reposts: 'makes', by: 'blocks' }));
  await untilBlocked(['one', 'two', 'copy', '@makes', '@makes/one']);
  await untilFound({ rows: ['alone', 'copy'] });
  expect(await client.call('blockchain.claimtrie.search', { channel: '@makes' })).toBe('');
  expect((await outputs('getclaimbyid', [actor.idOf('one')])).txos[0]!.meta.case).toBe('claim');

  // A filtered claim still resolves.
  await mine(abandon('channel ban'), claim('filter', 1, { name: 'filter', reposts: 'alone', by: 'filters' }));
  await untilBlocked([]);
  const withoutAlone = { rows: ['one', 'two', 'copy', 'makes'], total: 5, blocked: 1 };
  await untilFound(withoutAlone);

  // The lists also hide claims in the mempool: an update of a hidden claim, and a new claim in a hidden channel.
  for (const step of [update('alone', 2), claim('waits', 1, { name: 'waits', by: 'makes' })])
    await actor.act(step as never);
  await untilFound({ rows: ['one', 'two', 'copy', 'makes'], blocked: 1 });
  await expect.poll(() => found('waits'), { timeout: HANG_MS }).toMatchObject({ rows: ['waits'] });
  await mine(claim('channel filter', 1, { name: 'channel-filter', reposts: 'makes', by: 'filters' }));
  await actor.act(claim('waits more', 1, { name: 'waits-more', by: 'makes' }) as never);
  await expect
    .poll(() => found('waits more', 'copy'), { timeout: HANG_MS })
    .toMatchObject({ rows: ['copy'] });
  expect(await blockedOf('waits-more')).toEqual([]);
  await mine(abandon('channel filter'));
  await untilFound(withoutAlone);

  // If a listed channel is abandoned, its censoring ends until the abandonment is disconnected.
  const end = await mine(abandon('filters'));
  await untilFound(all);
  await node.rpc('invalidateblock', [end]);
  await untilFound(withoutAlone);

  // Other lists of channels do not need a rebuilt index.
  await stop();
  await start(`-hubblockingchannels=${actor.idOf('filters')}`);
  await untilBlocked(['alone']);
  await untilFound(withoutAlone);
  await stop();
  await start();
  await untilBlocked([]);
  await untilFound(all);
});
