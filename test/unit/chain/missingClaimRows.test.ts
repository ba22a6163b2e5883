/**
 * Rows of the claim trie that are missing in the database. The chain rebuilds them, or a message says how to compute the trie
 * again.
 */
import { afterEach, describe, expect, it } from 'vitest';
import type { LoadedBlock } from '../../../src/chain/blocks/loadedBlock.js';
import { verifyChain } from '../../../src/chain/open/verifyChain.js';
import { txidAt } from '../../../src/primitives/blockView.js';
import { txid, type Transaction } from '../../../src/primitives/transaction.js';
import { buildClaimPrefix, buildSupportPrefix, claimIdOf } from '../../../src/script/claimScript.js';
import {
  CLAIM_PREFIX,
  dueKey,
  itemsKey,
  logKey,
  nameKey,
  nodeKey,
  SUMMARY_KEY,
} from '../../../src/store/claims/rows/claimKeys.js';
import { prefixEnd } from '../../../src/store/rows/rows.js';
import { hashToHex } from '../../../src/util/bytes.js';
import { SILENT_LOGGER } from '../../../src/util/logging.js';
import { OPEN_SCRIPT, spend, TestChain } from '../../support/testChain.js';

/** Above the hash fork of regtest, so that the nodes have the new format. */
const START = 352;
const GENERATION = '1';
const NAMES = ['abc', 'abd', 'b'];

interface World {
  chain: TestChain;
  warnings: string[];
  /** Spendable outputs by name. */
  claims: Map<string, Transaction>;
  nextCoinbase: number;
}

let world: World;
afterEach(() => world.chain.close());

const claimScript = (name: string): Buffer =>
  Buffer.concat([buildClaimPrefix(Buffer.from(name), Buffer.from('value')), OPEN_SCRIPT]);

async function coin(): Promise<{ txid: Buffer; n: number }> {
  const block = await world.chain.blockAt(world.nextCoinbase++);
  return { txid: txidAt(block.parsed, 0), n: 0 };
}

/** A transaction in the next block with one output. */
async function stake(script: Buffer, value = 1000n): Promise<Transaction> {
  const tx = spend([await coin()], [{ value, script }]);
  world.chain.pending.push(tx);
  return tx;
}

/** Names whose claims are all on disk, a pending claim of `b` with a higher amount, and a pending support. */
async function makeWorld(): Promise<void> {
  const warnings: string[] = [];
  const log = { ...SILENT_LOGGER, warn: (message: string) => void warnings.push(message) };
  world = { chain: await TestChain.open({ log }), warnings, claims: new Map(), nextCoinbase: 1 };
  const { chain } = world;
  await chain.mine(START);
  for (const name of NAMES) world.claims.set(name, await stake(claimScript(name)));
  await chain.mine(40);
  const owner = claimIdOf(txid(world.claims.get('abc')!), 0);
  world.claims.set(
    'support',
    await stake(Buffer.concat([buildSupportPrefix(Buffer.from('abc'), owner), OPEN_SCRIPT])),
  );
  world.claims.set('challenger', await stake(claimScript('b'), 5000n));
  await chain.mine(1);
  await chain.opened.flusher.flush();
}

/** Makes the next block while all rows exist. The block abandons one claim and creates another. */
async function nextBlock(): Promise<LoadedBlock> {
  world.chain.pending.push(
    spend(
      [{ txid: Buffer.from(txid(world.claims.get('abd')!)), n: 0 }],
      [{ value: 900n, script: OPEN_SCRIPT }],
    ),
  );
  await stake(claimScript('abe'));
  return mineAndTakeBack();
}

/** Mines the pending transactions in a block on the tip and disconnects it at once. */
async function mineAndTakeBack(): Promise<LoadedBlock> {
  const before = world.chain.opened.chain.height;
  await world.chain.mine(1);
  const block = await world.chain.blockAt(before + 1);
  await world.chain.opened.chain.invalidateBlock(world.chain.opened.chain.tip);
  expect(world.chain.opened.chain.height).toBe(before);
  return block;
}

const store = (): TestChain['opened']['store'] => world.chain.opened.store;

async function removeRange(prefix: string): Promise<void> {
  const rows: string[] = [];
  for await (const [key] of store().range({ gte: prefix, lt: prefixEnd(prefix) })) rows.push(key);
  expect(rows.length).toBeGreaterThan(0);
  for (const key of rows) store().del(key);
}

/** Connects the block that was made before. */
async function connectNext(block: LoadedBlock): Promise<void> {
  const { chain } = world.chain.opened;
  await chain.reconsiderBlock(chain.index.headers.find(block.hash));
  expect(hashToHex(chain.index.headers.hash(chain.tip))).toBe(hashToHex(block.hash));
}

describe('rows of the claim trie that can be derived from others', () => {
  const parts: [what: string, remove: () => Promise<void> | void][] = [
    ['a node', () => store().del(nodeKey(GENERATION, 'ab'))],
    ['the root', () => store().del(nodeKey(GENERATION, ''))],
    ['every node', () => removeRange(CLAIM_PREFIX.node + GENERATION)],
    ['the totals', () => store().del(SUMMARY_KEY)],
  ];

  it.each(parts)('are rebuilt for the next block: %s', async (_, remove) => {
    await makeWorld();
    const block = await nextBlock();
    await remove();
    await connectNext(block);
    expect(world.warnings.filter((line) => line.includes('was rebuilt from its names'))).toHaveLength(1);
    expect(await verifyAll()).toBeNull();
    expect((await world.chain.services.claims.totals()).names).toBe(3);
  });

  it.each(parts.slice(0, 3))('are rebuilt to disconnect a block: %s', async (_, remove) => {
    await makeWorld();
    const block = await nextBlock();
    await connectNext(block);
    await remove();
    const { chain } = world.chain.opened;
    const { height } = chain;
    await chain.invalidateBlock(chain.tip);
    expect(chain.height).toBe(height - 1);
    await connectNext(block);
  });

  it('are rebuilt when the last blocks are checked at a start', async () => {
    await makeWorld();
    const block = await nextBlock();
    await connectNext(block);
    store().del(nodeKey(GENERATION, 'ab'));
    expect(await verifyAll()).toBeNull();
    expect(await store().get(nodeKey(GENERATION, 'ab'))).toBeDefined();
  });

  it('are rebuilt for a template', async () => {
    await makeWorld();
    await stake(claimScript('abf'));
    store().del(nodeKey(GENERATION, 'ab'));
    await world.chain.mine(1);
    expect(await store().get(nodeKey(GENERATION, 'ab'))).toBeDefined();
  });
});

const verifyAll = (): Promise<string | null> =>
  verifyChain(world.chain.opened.chain, { level: 4, blocks: 3, signal: new AbortController().signal });

it('are found again for names without claims when the marks of such names are missing', async () => {
  await makeWorld();
  const abandon = (name: string): void =>
    void world.chain.pending.push(
      spend(
        [{ txid: Buffer.from(txid(world.claims.get(name)!)), n: 0 }],
        [{ value: 900n, script: OPEN_SCRIPT }],
      ),
    );
  abandon('abc');
  await world.chain.mine(1);
  // Only the support remains under the name. The next block spends it and creates a new claim.
  abandon('support');
  world.claims.set('again', await stake(claimScript('abc')));
  const block = await mineAndTakeBack();
  await removeRange(CLAIM_PREFIX.idle);
  world.chain = await world.chain.reopen({
    log: { ...SILENT_LOGGER, warn: (line) => void world.warnings.push(line) },
  });
  await connectNext(block);
  expect(world.warnings.filter((line) => line.includes('was rebuilt from its names'))).toHaveLength(1);
  expect(await verifyAll()).toBeNull();
});

describe('rows of the claim trie that cannot be derived', () => {
  const parts: [what: string, remove: () => Promise<void> | void][] = [
    ['the name of a claim', () => store().del(nameKey('abd'))],
    ['a name beside it', () => store().del(nameKey('b'))],
    ['the item of an abandoned claim', () => removeRange(itemsKey('abd'))],
  ];

  it.each(parts)(
    'do not make a valid block invalid, and -reindex-chainstate restores them: %s',
    async (_, remove) => {
      await makeWorld();
      const block = await nextBlock();
      await remove();
      const { chain } = world.chain.opened;
      const id = chain.index.headers.find(block.hash);
      await expect(chain.reconsiderBlock(id)).rejects.toThrow(
        /is corrupt: .*Restart with -reindex-chainstate/,
      );
      expect(world.warnings.filter((line) => line.includes('invalid block'))).toEqual([]);
      world.chain = await world.chain.reopen({ reindexChainstate: true });
      await world.chain.opened.rebuild?.();
      const again = world.chain.opened.chain;
      expect(hashToHex(again.index.headers.hash(again.tip))).toBe(hashToHex(block.hash));
      expect((await world.chain.services.claims.totals()).names).toBe(3);
    },
  );

  it('are detected when a block needs them for an activation', async () => {
    await makeWorld();
    const { chain } = world.chain.opened;
    const { claims } = chain.deps;
    const at = chain.height + 1;
    const tip = { height: chain.height, root: (await chain.index.headers.readHeader(chain.tip)).claimRoot };
    const block = { height: at, transactions: [] };
    await claims.checkBeforeVerdict(store(), tip, block);
    const due: string[] = [];
    const prefix = CLAIM_PREFIX.due;
    for await (const [key] of store().range({ gte: prefix, lt: prefixEnd(prefix) })) due.push(key);
    expect(due.length).toBeGreaterThan(0);
    const next = due[0]!;
    while (dueKey(chain.height + 1) !== next) await world.chain.mine(1);
    const later = { height: chain.height, root: (await chain.index.headers.readHeader(chain.tip)).claimRoot };
    store().del(next);
    await expect(
      claims.checkBeforeVerdict(store(), later, { height: chain.height + 1, transactions: [] }),
    ).rejects.toThrow(/the schedule of block/);
  });

  it.each(['a claim that waits', 'a claim that came and went'])(
    'are detected when a block is disconnected without its log: %s',
    async (what) => {
      await makeWorld();
      const { chain } = world.chain.opened;
      if (what !== 'a claim that waits') {
        world.chain.pending.push(
          spend(
            [{ txid: Buffer.from(txid(world.claims.get('challenger')!)), n: 0 }],
            [{ value: 900n, script: OPEN_SCRIPT }],
          ),
        );
        await world.chain.mine(1);
      }
      store().del(logKey(chain.height, 0));
      await expect(chain.invalidateBlock(chain.tip)).rejects.toThrow(
        /the log of block \d+ is missing. Restart with -reindex-chainstate/,
      );
    },
  );
});
