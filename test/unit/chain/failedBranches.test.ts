/**
 * Tests which blocks count as failed and which one is the tip. Random trees contain blocks that are invalidated and reconsidered,
 * arrive late, or break a rule. The results are compared with a model that only knows parents, failed blocks and the order of
 * arrival.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { checkBlockIndex } from '../../../src/chain/index/checkBlockIndex.js';
import { loadBlock, type LoadedBlock } from '../../../src/chain/blocks/loadedBlock.js';
import { merkleRoot } from '../../../src/crypto/merkle.js';
import { decodeCompact } from '../../../src/primitives/compactTarget.js';
import { buildCoinbase, commitmentScript } from '../../../src/mining/coinbase.js';
import { grind } from '../../../src/mining/grind.js';
import { regtestParams } from '../../../src/params/regtest.js';
import { formatHeader } from '../../../src/primitives/header.js';
import { formatTransaction, txid } from '../../../src/primitives/transaction.js';
import { STATUS } from '../../../src/store/files/headerTable.js';
import { hashToHex } from '../../../src/util/bytes.js';
import { Writer } from '../../../src/util/writer.js';
import { OPEN_SCRIPT, START_TIME_SEC, TestChain } from '../../support/testChain.js';
import { IS_LONG } from '../../support/long.js';

const RULES = { genesisHash: regtestParams.genesisHash, prunes: false };
const OPTIONS = { txIndex: false };
const COIN = 100_000_000n;

interface Node {
  readonly block: LoadedBlock;
  readonly parent: Node | null;
  readonly height: number;
  /** The coinbase pays too much, which is detected when the block is connected. */
  readonly isBad: boolean;
  hasData: boolean;
  /** Position in the order in which blocks became connectable; 0 if it is not connectable. */
  linked: number;
}

let blockNumber = 0;

/** A block with only a coinbase. No chain is needed to make it. */
async function blockOn(parent: LoadedBlock, height: number, isBad: boolean): Promise<LoadedBlock> {
  const coinbase = buildCoinbase({
    height,
    // Makes each block different.
    outputScript: Buffer.concat([OPEN_SCRIPT, Buffer.from(String(++blockNumber))]),
    valueSat: isBad ? 2n * COIN : COIN,
    commitment: commitmentScript([]),
    segwitActive: false,
  });
  const header = {
    version: 0x20000000,
    prevHash: parent.hash,
    merkleRoot: merkleRoot([txid(coinbase)]).root,
    claimRoot: parent.header.claimRoot,
    timeSec: START_TIME_SEC + height,
    bits: parent.header.bits,
    nonce: 0,
  };
  const { target } = decodeCompact(header.bits);
  header.nonce = await grind(formatHeader(header), target, 1 << 20, new AbortController().signal);
  const writer = new Writer(1024).raw(formatHeader(header)).compactSize(1);
  return loadBlock(writer.raw(formatTransaction(coinbase)).finish());
}

function* branch(node: Node | null): Generator<Node> {
  for (let at = node; at !== null; at = at.parent) yield at;
}

class Model {
  readonly nodes: Node[];
  readonly failed = new Set<Node>();
  private moments = 0;

  constructor(genesis: LoadedBlock) {
    this.nodes = [
      { block: genesis, parent: null, height: 0, isBad: false, hasData: true, linked: ++this.moments },
    ];
  }

  isFailed(node: Node): boolean {
    return [...branch(node)].some((at) => this.failed.has(at));
  }

  isOnBranch(node: Node, tip: Node): boolean {
    return [...branch(tip)].includes(node);
  }

  addData(node: Node): void {
    node.hasData = true;
    if (node.parent!.linked === 0) return;
    const ready = [node];
    for (let at = ready.shift(); at; at = ready.shift()) {
      at.linked = ++this.moments;
      const parent = at;
      // Children in the order of their position in the block files, which is the order of arrival.
      ready.push(...this.arrived.filter((child) => child.parent === parent));
    }
  }

  /** Blocks with data, in the order of arrival. */
  arrived: Node[] = [];

  get tip(): Node {
    for (;;) {
      let best = this.nodes[0]!;
      for (const node of this.nodes) {
        if (node.linked === 0 || this.isFailed(node)) continue;
        if (node.height > best.height || (node.height === best.height && node.linked < best.linked))
          best = node;
      }
      const bad = [...branch(best)].findLast(({ isBad }) => isBad);
      if (!bad) return best;
      this.failed.add(bad);
    }
  }

  reconsider(node: Node): void {
    for (const failed of this.failed)
      if (this.isOnBranch(failed, node) || this.isOnBranch(node, failed)) this.failed.delete(failed);
  }
}

/** Numbers from 0 to below 1 that depend only on the seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

describe('failed branches', () => {
  let chain: TestChain | null = null;
  afterEach(async () => {
    await chain?.close();
    chain = null;
  });
  const core = (): TestChain['opened']['chain'] => chain!.opened.chain;
  const idOf = ({ block }: Node): number => core().index.headers.find(block.hash);

  /** Opens a chain and its model. */
  async function begin(): Promise<Model> {
    chain = await TestChain.open(OPTIONS);
    return new Model(loadBlock(regtestParams.genesis.block));
  }

  async function add(model: Model, parent: Node, { isBad = false, withData = true } = {}): Promise<Node> {
    const height = parent.height + 1;
    const block = await blockOn(parent.block, height, isBad);
    const node: Node = { block, parent, height, isBad, hasData: false, linked: 0 };
    if (withData) await core().processBlock(block, true);
    else core().acceptHeaders([block.raw.subarray(0, 112)]);
    if (model.isFailed(parent)) {
      expect(idOf(node)).toBe(-1);
      return node;
    }
    model.nodes.push(node);
    if (withData) give(model, node);
    return node;
  }

  /** Records in the model that the data of a block arrived. */
  function give(model: Model, node: Node): void {
    model.arrived.push(node);
    model.addData(node);
  }

  function compare(model: Model): void {
    const { index, tip } = core();
    const expected = model.tip;
    expect(hashToHex(index.headers.hash(tip))).toBe(hashToHex(expected.block.hash));
    for (const node of model.nodes)
      expect([node.height, index.headers.isFailed(idOf(node))]).toEqual([node.height, model.isFailed(node)]);
    checkBlockIndex(index, RULES);
  }

  it('below one block become usable again when one of them is reconsidered', async () => {
    const model = await begin();
    const common = await add(model, model.nodes[0]!);
    const first = await add(model, await add(model, common));
    const longer = await add(model, await add(model, await add(model, common)));
    await core().invalidateBlock(idOf(common));
    model.failed.add(common);
    compare(model);
    expect(core().height).toBe(0);
    await core().reconsiderBlock(idOf(first));
    model.reconsider(first);
    compare(model);
    expect(core().tip).toBe(idOf(longer));
    chain = await chain!.reopen(OPTIONS);
    compare(model);
  });

  it('remain failed if they were invalidated themselves', async () => {
    const model = await begin();
    const common = await add(model, model.nodes[0]!);
    const first = await add(model, await add(model, common));
    const other = await add(model, common);
    await add(model, await add(model, other));
    for (const node of [other, common]) {
      await core().invalidateBlock(idOf(node));
      model.failed.add(node);
    }
    await core().reconsiderBlock(idOf(first));
    model.reconsider(first);
    compare(model);
    expect(core().tip).toBe(idOf(first));
  });

  it('without a failed block are repaired when a folder is opened', async () => {
    const model = await begin();
    const common = await add(model, model.nodes[0]!);
    const lower = await add(model, common);
    const child = await add(model, await add(model, common));
    await core().invalidateBlock(idOf(common));
    // The reference clears the same marks: the common block and one branch are usable, and the other branch is marked as the
    // child of a failed block, although none of its ancestors is.
    const { headers } = core().index;
    headers.clearStatus(idOf(common), STATUS.failed);
    headers.clearStatus(idOf(lower), STATUS.failedChild);
    chain = await chain!.reopen(OPTIONS);
    compare(model);
    expect(core().tip).toBe(idOf(child));
  });

  it('are cleared in slices, between which headers and verdicts arrive', async () => {
    const model = await begin();
    const root = await add(model, model.nodes[0]!);
    const low = await add(model, root);
    const high = await add(model, await add(model, low));
    await add(model, root);
    const other = await add(model, root);
    await core().invalidateBlock(idOf(low));
    model.failed.add(low);
    compare(model);
    const { index } = core();
    const work = index.clearFailure(idOf(low));
    // Each walk yields before its first step, so the verdict is unchanged then.
    work.next();
    await add(model, high, { withData: false });
    work.next();
    expect(index.headers.isFailed(idOf(low))).toBe(false);
    // A header whose parent is still marked as failed is refused.
    const early = await blockOn(high.block, high.height + 1, false);
    expect(core().acceptHeaders([early.raw.subarray(0, 112)]).error?.reason).toBe('bad-prevblk');
    model.reconsider(low);
    const direct = await add(model, low, { withData: false });
    index.markFailed(idOf(other));
    model.failed.add(other);
    work.next();
    const late = await add(model, high, { withData: false });
    while (work.next().done !== true);
    for (const node of [direct, late]) expect(index.headers.isFailed(idOf(node))).toBe(false);
    checkBlockIndex(index, RULES);
    expect(index.bestHeader).toBe(idOf(late));
    expect(index.bestInvalid).toBe(idOf(other));
    await core().invalidateBlock(idOf(direct));
    model.failed.add(direct);
    compare(model);
    expect(core().tip).toBe(idOf(high));
  });

  it.each([
    ['with a rival that is better than what comes before it', 130],
    ['with a rival that is worse', 90],
  ])(
    'with many blocks that waited for one: an invalid block on the way to the best, %s',
    async (_, rivalHeight) => {
      const model = await begin();
      core().afterStep.push(async () => {
        if (core().index.candidates.best() === core().tip) checkBlockIndex(core().index, RULES);
      });
      const line = async (from: Node, end: number, bad: number): Promise<Node[]> => {
        const nodes = [from];
        for (let height = from.height + 1; height <= end; height++)
          nodes.push(await add(model, nodes.at(-1)!, { isBad: height === bad, withData: false }));
        return nodes.slice(1);
      };
      const best = await line(model.nodes[0]!, 140, 120);
      const rival = await line(best[9]!, rivalHeight, 0);
      for (const node of [...rival.reverse(), ...best.reverse()]) {
        await core().processBlock(node.block, true);
        give(model, node);
        if (node.height === 1) break;
        expect(core().height).toBe(0);
      }
      compare(model);
      expect(core().height).toBe(Math.max(119, rivalHeight));
    },
  );

  it.each(IS_LONG ? [1, 2, 3, 4, 5, 6, 7, 8] : [1, 2])(
    'agree with the model over random changes, seed %i',
    async (seed) => {
      const random = randomFrom(seed);
      const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
      const model = await begin();
      for (let step = 0; step < 70; step++) {
        const what = random();
        if (what < 0.5) {
          // Most parents are near the top, so that branches compete.
          const parent = random() < 0.6 ? pick(model.nodes.slice(-6)) : pick(model.nodes);
          await add(model, parent, { isBad: random() < 0.08, withData: random() < 0.85 });
        } else if (what < 0.6) {
          const node = pick(model.nodes);
          const { isNew } = await core().processBlock(node.block, true);
          expect(isNew).toBe(!node.hasData && !model.isFailed(node));
          if (isNew) give(model, node);
        } else if (what < 0.78) {
          const node = pick(model.nodes);
          await core().invalidateBlock(idOf(node));
          if (node.parent !== null) model.failed.add(node);
        } else if (what < 0.96) {
          const node = pick(model.nodes);
          await core().reconsiderBlock(idOf(node));
          model.reconsider(node);
        } else {
          chain = await chain!.reopen(OPTIONS);
        }
        compare(model);
      }
    },
  );
});
