/**
 * What must not hurt search in a real node with a hub: searches that would run for minutes, and an index whose file was
 * damaged or deleted while the node was stopped.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeClaim } from '../../src/metadata/claim.js';
import { ClaimSchema } from '../../src/metadata/messages/claim_pb.js';
import { formatTransaction } from '../../src/primitives/transaction.js';
import { buildClaimPrefix } from '../../src/script/claimScript.js';
import { scriptForDestination } from '../../src/script/standard.js';
import { hashFromHex, toHex } from '../../src/util/bytes.js';
import { HubClient, type HubAnswerError } from './support/hubClient.js';
import { OPEN, OPEN_ADDRESS } from './support/network.js';
import { ADDRESS, freePort, startRegtest, type RegtestNode } from './support/node.js';

/** Far more than an honest search takes, far less than the hostile one would. */
const SEARCH_MS = 3000;
const TRANSACTIONS = 20;
/** As many as a transaction has room for that is relayed. */
const CLAIMS_OF_TRANSACTION = 11;
const DESCRIPTION_CHARS = 7900;
const COIN_SAT = 100_000_000n;
const CLAIM_SAT = 10_000n;

const folder = mkdtempSync(join(tmpdir(), 'lbcnode-searchfaults-'));
const file = join(folder, 'regtest', 'claimsearch.sqlite');
let node: RegtestNode;
let port: number;

async function start(): Promise<void> {
  port = await freePort();
  const args = ['-hub', `-hubport=${port}`, '-hubudpport=0', `-claimsearchtimeout=${SEARCH_MS}`];
  node = await startRegtest({ dataDir: folder, args });
}

function streamOf(title: string, description: string): Buffer {
  const claim = create(ClaimSchema, {
    title,
    description,
    tags: [title.slice(-1)],
    type: { case: 'stream', value: {} },
  });
  return encodeClaim({ channelId: null, signature: null, claim });
}

/** A transaction that spends a coinbase for claims. */
function claimsOf(coinbase: string, values: readonly (readonly [name: string, value: Buffer])[]): string {
  const open = scriptForDestination(OPEN);
  const outputs = values.map(([name, value], n) => ({
    value: CLAIM_SAT * BigInt(n + 1),
    script: Buffer.concat([buildClaimPrefix(Buffer.from(name), value), open]),
  }));
  const spentSat = outputs.reduce((sum, { value }) => sum + value, 2_000_000n);
  const prevout = { hash: hashFromHex(coinbase), index: 0 };
  return toHex(
    formatTransaction({
      version: 2,
      inputs: [{ prevout, scriptSig: Buffer.of(1, 0x51), sequence: 0xffffffff, witness: [] }],
      outputs: [...outputs, { value: COIN_SAT - spentSat, script: open }],
      lockTime: 0,
    }),
  );
}

/** Three letters each, all of them two letters from one another. */
const WORDS = [...'abcdefgh'].flatMap((second) => [...'abcdefgh'].map((third) => `q${second}${third}`));

beforeAll(async () => {
  await start();
  const hashes = await node.rpc<string[]>('generatetoaddress', [TRANSACTIONS + 1, OPEN_ADDRESS]);
  await node.rpc('generatetoaddress', [100, ADDRESS]);
  const coins: string[] = [];
  for (const hash of hashes) coins.push((await node.rpc<{ tx: string[] }>('getblock', [hash])).tx[0]!);
  const send = (values: Parameters<typeof claimsOf>[1]) =>
    node.rpc('sendrawtransaction', [claimsOf(coins.pop()!, values), true]);
  await send([['words', streamOf('all words', WORDS.join(' '))]]);
  for (let tx = 0; tx < TRANSACTIONS; tx++) {
    await send(
      Array.from({ length: CLAIMS_OF_TRANSACTION }, (_, n) => [
        `claim-${tx}-${n}`,
        streamOf(`Title ${n} of ${tx}`, 'x '.repeat(DESCRIPTION_CHARS / 2)),
      ]),
    );
  }
  const waiting = async () => (await node.rpc<{ size: number }>('getmempoolinfo')).size;
  while ((await waiting()) > 0) await node.rpc('generatetoaddress', [1, ADDRESS]);
});
afterAll(async () => {
  await node.stop();
  rmSync(folder, { recursive: true, force: true });
});

const SEARCHES = [
  { text: 'title', order_by: ['height', 'name'], limit: 50 },
  { any_tags: ['3'], order_by: 'amount', limit: 50 },
  { order_by: 'trending_mixed', limit: 50 },
  { name: 'words' },
];

interface Page {
  readonly height: number;
  readonly claims: readonly { readonly claim_id: string }[];
}

/** What is found once the index is there and at the tip. */
async function found(): Promise<string[][]> {
  const height = await node.rpc<number>('getblockcount');
  const pages: string[][] = [];
  while (pages.length < SEARCHES.length) {
    try {
      const page = await node.rpc<Page>('searchclaims', [SEARCHES[pages.length]]);
      if (page.height === height) pages.push(page.claims.map(({ claim_id }) => claim_id));
    } catch (error) {
      if (!/being built|made anew|cannot be built/.test((error as Error).message)) throw error;
    }
  }
  return pages;
}

describe('searches that would run for minutes', () => {
  it('end when their time is up, and others are answered meanwhile', async () => {
    expect((await found()).map(({ length }) => length)).toEqual([50, 22, 50, 1]);
    const [hostile, honest] = [await HubClient.open(port), await HubClient.open(port)];
    // Fifty words for each, none of which is in the long texts, looked for one by one in each of these.
    const text = Array.from({ length: 256 }, (_, n) => `-${WORDS[n % WORDS.length]}~2`).join(' ');
    let open = 0;
    const refused = Array.from({ length: 8 }, (_, offset) => {
      open++;
      return hostile.refusal('blockchain.claimtrie.search', { text, offset }).finally(() => open--);
    });
    let rounds = 0;
    let searched = 0;
    // A machine that is busy enough may take the time of an honest search too; never that of another call.
    const searchOnce = async (): Promise<void> => {
      const constraints = { ...SEARCHES[0], not_claim_ids: [String(rounds)] };
      const page = await honest
        .call<string>('blockchain.claimtrie.search', constraints)
        .catch((error: HubAnswerError) => error);
      if (typeof page === 'string') searched++;
      else expect(page.code).toBe(-32000);
    };
    do {
      await searchOnce();
      expect(await honest.call('blockchain.claimtrie.resolve', ['words'])).not.toBe('');
      expect(await honest.call('blockchain.address.get_history', [ADDRESS])).not.toEqual([]);
      if (rounds === 0) await node.rpc('generatetoaddress', [1, ADDRESS]);
      rounds++;
    } while (open > 0);
    for (const refusal of refused)
      expect(await refusal).toEqual({ code: -32000, message: 'query timed out' });
    console.log(`${rounds} rounds of an honest client meanwhile, ${searched} of its searches answered`);
    while (searched === 0) await searchOnce();
    const { search } = await node.rpc<{ search: { timeouts: number } }>('getclaimindexinfo');
    expect(search.timeouts).toBeGreaterThanOrEqual(8);
    await Promise.all([hostile.close(), honest.close()]);
  });
});

describe('the file of the index', () => {
  const damages: Readonly<Record<string, () => void>> = {
    'in which bytes are others': () => {
      const bytes = readFileSync(file);
      for (let at = 20_000; at < bytes.length; at += 40_000) bytes[at]! ^= 0x55;
      writeFileSync(file, bytes);
    },
    'that holds something else': () => writeFileSync(file, Buffer.alloc(300_000, 'something else ')),
    'that is gone': () => rmSync(file),
  };

  it.each(Object.entries(damages))('%s is made anew, with the same answers', async (_what, damage) => {
    const before = await found();
    await node.stop();
    damage();
    await start();
    expect(await found()).toEqual(before);
    expect(node.output()).toContain('The search index is built: ');
  });

  it('that is as it was is not made anew', async () => {
    const before = await found();
    await node.stop();
    await start();
    expect(await found()).toEqual(before);
    expect(node.output()).not.toContain('The search index is built: ');
  });

  it('that was damaged while nobody could see it is made anew when somebody reads it', async () => {
    const before = await found();
    await node.kill();
    const bytes = readFileSync(file);
    // All but what is read at the start, and what nobody sealed.
    bytes.fill(0xff, bytes.length >> 2);
    writeFileSync(file, bytes);
    rmSync(`${file}-wal`, { force: true });
    rmSync(`${file}-shm`, { force: true });
    await start();
    expect(await found()).toEqual(before);
    expect(node.output()).toContain('The search index is built: ');
  });
});
