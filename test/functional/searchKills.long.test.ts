/**
 * Kills a node with hub and search at random times while its index is built, and while blocks are connected and disconnected.
 * After each start, claim index and search give the same answers as a node that received the same chain without kills.
 * LBCNODE_KILLS sets the number of kills (default: 20), LBCNODE_KILL_SEED repeats a run.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { create } from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeClaim } from '../../src/metadata/claim.js';
import { ClaimSchema } from '../../src/metadata/messages/claim_pb.js';
import { randomOf } from '../support/claimLife.js';
import { ClaimActor, FundingCoins } from './support/claimActor.js';
import { ClaimLoad } from './support/claimLoad.js';
import { OPEN_ADDRESS } from './support/network.js';
import { ADDRESS, freePort, startRegtest, type RegtestNode } from './support/node.js';

const KILLS = Number(process.env['LBCNODE_KILLS'] ?? 20);
const seed = Number(process.env['LBCNODE_KILL_SEED'] ?? Date.now() % 2 ** 31);
const random = randomOf(seed);
/** Number of coins for the random operations. Half as many more pay for channels. */
const COINS = 30;
const ROUNDS = 120;
const NAMES = ['a', 'A', 'ab', 'é', 'É', '@chan', 'news'];
const WORDS = ['bitcoin', 'history', 'conspiracies', 'music', 'news'];

class ReadableLoad extends ClaimLoad {
  protected override value(): Buffer {
    const { random: pick } = this;
    // Some values cannot be decoded.
    if (pick(10) === 0) return super.value();
    const word = (): string => WORDS[pick(WORDS.length)]!;
    const claim = create(ClaimSchema, {
      title: `${word()} ${word()}`,
      tags: [word()],
      type: { case: 'stream', value: { releaseTime: BigInt(1_500_000_000 + pick(1000)) } },
    });
    return encodeClaim({ channelId: null, signature: null, claim });
  }
}

/** An operation on a node: it submits or invalidates a block. Repeating it changes nothing. */
type Step = readonly ['submitblock' | 'invalidateblock', string];

const folder = mkdtempSync(join(tmpdir(), 'lbcnode-kills-'));
const base: string[] = [];
const steps: Step[] = [];
const claimIds: string[] = [];

/** A chain with branches, as steps. */
async function makeSteps(): Promise<void> {
  const maker = await startRegtest({ args: ['-supportdelay=proportional'] });
  try {
    const { rpc } = maker;
    const funding = new FundingCoins(maker);
    const funded = await rpc<string[]>('generatetoaddress', [COINS, OPEN_ADDRESS]);
    await funding.fill();
    const load = new ReadableLoad(seed, NAMES);
    for (const hash of funded) {
      const { tx } = await rpc<{ tx: string[] }>('getblock', [hash]);
      const { value } = await rpc<{ value: number }>('gettxout', [tx[0], 0]);
      load.addCoin(tx[0]!, BigInt(Math.round(value * 1e8)));
    }
    for (let height = 1; height <= (await rpc<number>('getblockcount')); height++)
      base.push(await rpc('getblock', [await rpc('getblockhash', [height]), 0]));
    const actor = new ClaimActor(funding, 'chan');
    const note = async (hashes: readonly string[]): Promise<void> => {
      for (const hash of hashes) steps.push(['submitblock', await rpc('getblock', [hash, 0])]);
    };
    let channels = 0;
    for (let round = 0; round < ROUNDS; round++) {
      for (const tx of load.block(1 + random(3))) await rpc('sendrawtransaction', [tx, true]);
      if (round % 10 === 0) {
        await actor.act({
          do: 'claim',
          as: `c${++channels}`,
          name: `@c${channels % 3}`,
          bid: 2,
          isChannel: true,
        });
      } else if (round % 3 === 0) {
        await actor.act({
          do: 'claim',
          as: `s${round}`,
          name: 'signed',
          bid: 1,
          by: `c${1 + random(channels)}`,
        });
      } else if (round % 17 === 0) {
        await actor.act({ do: 'update', as: `c${channels}`, bid: 3 });
      }
      await note(await rpc<string[]>('generatetoaddress', [1, ADDRESS]));
      if (round < 15 || random(8) > 0) continue;
      const depth = 1 + random(10);
      const height = (await rpc<number>('getblockcount')) - depth + 1;
      const hash = await rpc<string>('getblockhash', [height]);
      await rpc('invalidateblock', [hash]);
      // The branch has more work, or the other one was invalidated before.
      if (random(2) === 0) steps.push(['invalidateblock', hash]);
      await note(await rpc<string[]>('generatetoaddress', [depth + 1, OPEN_ADDRESS]));
    }
    claimIds.push(...load.claimIds, ...[...actor.made.keys()].map((label) => actor.idOf(label)));
  } finally {
    await maker.stop();
  }
}

const ARGS = ['-supportdelay=proportional', '-claimsearch'];

async function startTarget(): Promise<RegtestNode> {
  const port = await freePort();
  return startRegtest({ dataDir: folder, args: [...ARGS, '-hub', `-hubport=${port}`, '-hubudpport=0'] });
}

const SEARCHES: readonly object[] = [
  { order_by: ['height', 'name'] },
  { order_by: ['trending_mixed'] },
  { order_by: ['^effective_amount', 'claim_id'] },
  { text: 'history' },
  { text: 'music -news', order_by: 'release_time' },
  { any_tags: ['bitcoin'], not_tags: ['news'] },
  { name: 'signed', order_by: 'creation_height' },
  { channel: '@c1', order_by: 'height' },
  { claim_type: 'channel', order_by: 'claims_in_channel' },
  { is_controlling: true, order_by: 'support_amount' },
];
const URLS = [
  ...NAMES,
  'signed',
  '@c0',
  '@c1',
  '@c2',
  '@c0/signed',
  '@c1/signed',
  '@c2/signed',
  'a$2',
  'ab$3',
];

/**
 * All compared answers of a node whose indexes are at the tip. The mempool is left out: a node after a reorganisation has the
 * transactions of the abandoned branch in it, and a node that only received the active chain has none.
 */
async function answers({ rpc }: RegtestNode) {
  const height = await rpc<number>('getblockcount');
  const found: unknown[] = [];
  while (found.length < SEARCHES.length) {
    const search = { ...SEARCHES[found.length], limit: 50, confirmed_only: true };
    const page = await rpc<{ height: number }>('searchclaims', [search]).catch((error: Error) => error);
    if (!(page instanceof Error) && page.height === height) found.push(page);
    else if (page instanceof Error && !/being built|cannot be built/.test(page.message)) throw page;
    else await sleep(10);
  }
  const info = await rpc<Record<string, unknown>>('getclaimindexinfo');
  const claims: unknown[] = [];
  for (const id of claimIds)
    claims.push(await rpc('getclaim', [id, true]).catch((error: Error) => error.message));
  const { claims: counts, search } = info;
  const { documents } = search as { documents: number };
  const tip = await rpc('getbestblockhash');
  return { tip, counts, documents, found, claims, urls: await rpc('resolve', [URLS, true]) };
}

/** Answers of a node that only received the active chain of another node. */
async function undisturbed(other: RegtestNode): Promise<unknown> {
  const fresh = await startRegtest({ args: ARGS });
  try {
    const tip = await other.rpc<number>('getblockcount');
    for (let height = 1; height <= tip; height++) {
      const hash = await other.rpc<string>('getblockhash', [height]);
      expect(await fresh.rpc('submitblock', [await other.rpc('getblock', [hash, 0])])).toBeNull();
    }
    return await answers(fresh);
  } finally {
    await fresh.stop();
  }
}

describe('a node that is killed', () => {
  beforeAll(makeSteps);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it(
    `gives after each of ${KILLS} kills the answers of a node without kills`,
    { timeout: 3_600_000 },
    async () => {
      console.log(`LBCNODE_KILL_SEED=${seed}, ${steps.length} steps`);
      let node = await startTarget();
      for (const block of base) await node.rpc('submitblock', [block]);
      let next = 0;
      for (let kill = 0; kill < KILLS; kill++) {
        // The kills are spread over the steps. Each kill comes during about the same number of steps.
        const from = next;
        const until = Math.ceil((steps.length * (kill + 1)) / KILLS);
        const afterMs = random(30 + 12 * (until - from));
        const killed = sleep(afterMs).then(() => node.kill());
        try {
          for (; next < until; next++) await node.rpc(steps[next]![0], [steps[next]![1]]);
        } catch (error) {
          if (!/ECONN|socket|HTTP/.test((error as Error).message)) throw error;
        }
        await killed;
        // Sometimes the node is killed again while it builds the index from the start.
        if (random(4) === 0) {
          rmSync(join(folder, 'regtest', 'claimsearch.sqlite'), { force: true });
          node = await startTarget();
          await sleep(random(150));
          await node.kill();
        }
        node = await startTarget();
        const reported = await answers(node);
        expect(reported, `kill ${kill} after ${afterMs} ms, at step ${next} of ${from} to ${until}`).toEqual(
          await undisturbed(node),
        );
      }
      for (; next < steps.length; next++) await node.rpc(steps[next]![0], [steps[next]![1]]);
      const last = await answers(node);
      expect(last).toEqual(await undisturbed(node));
      expect(last.documents).toBeGreaterThan(100);
      await node.stop();
    },
  );
});
