import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { BlockIndex } from '../../../../src/chain/index/blockIndex.js';
import { checkBlockIndex } from '../../../../src/chain/index/checkBlockIndex.js';
import { regtestParams } from '../../../../src/params/regtest.js';
import { STATUS } from '../../../../src/store/files/headerTable.js';
import { AssertionError } from '../../../../src/util/assert.js';
import { ADDRESS_SCRIPT, TestChain } from '../../../support/testChain.js';

const RULES = { genesisHash: regtestParams.genesisHash, prunes: false };

let chain: TestChain;
let index: BlockIndex;
/** A block on the active chain of five blocks. */
let third: number;
let tip: number;
/** Blocks of a branch that was disconnected. */
let failed: number;
let failedChild: number;
/** Blocks of a branch of three. Of the first two, only the headers are known. */
let headerOnly: number;
let unlinked: number;

beforeEach(async () => {
  chain = await TestChain.open();
  const core = chain.opened.chain;
  index = core.index;
  await chain.mine(5);
  failed = index.active.at(4);
  failedChild = index.active.at(5);
  await core.invalidateBlock(failed);
  await chain.mine(2, ADDRESS_SCRIPT);
  third = index.active.at(3);
  tip = core.tip;

  const other = await TestChain.open();
  other.timeSec += 600;
  await other.mine(3, ADDRESS_SCRIPT);
  const blocks = await Promise.all([1, 2, 3].map((height) => other.blockAt(height)));
  await other.close();
  chain.timeSec += 600;
  for (const { header, hash } of blocks) headerOnly = index.acceptHeader(header, hash).id;
  unlinked = core.acceptBlock(blocks[2]!, true).id;
  headerOnly = index.headers.prev(unlinked);
});

afterEach(() => chain.close());

describe('checkBlockIndex', () => {
  it('accepts branches, failed blocks, bare headers and waiting blocks', () => {
    expect(index.headers.isFailed(failed) && index.headers.isFailed(failedChild)).toBe(true);
    expect(index.isUnlinked(unlinked)).toBe(true);
    expect(index.headers.txCount(headerOnly)).toBe(0);
    checkBlockIndex(index, RULES);
  });

  it('accepts missing data of pruned blocks', () => {
    index.forgetData(third);
    expect(() => checkBlockIndex(index, RULES)).toThrow('received data is stored unless it was pruned');
    checkBlockIndex(index, { ...RULES, prunes: true });
  });

  it.each<[string, () => void]>([
    ['only the genesis block has no parent', () => Object.assign(RULES, { genesisHash: Buffer.alloc(32) })],
    ['stored data was counted', () => index.headers.addStatus(headerOnly, STATUS.haveData)],
    ['undo data lies beside block data', () => index.headers.addStatus(headerOnly, STATUS.haveUndo)],
    ['received data is valid', () => index.headers.clearStatus(third, STATUS.validTransactions)],
    [
      'ancestors of a connected block were connected',
      () => index.headers.clearStatus(third, STATUS.validScripts),
    ],
    ['failure comes from an invalid ancestor', () => index.headers.clearStatus(failed, STATUS.failed)],
    ['a chain is counted when it is complete', () => index.headers.setChainTxCount(unlinked, 7)],
    ['a chain has the transactions of its blocks', () => index.headers.setChainTxCount(third, 2)],
    ['a candidate is complete and not worse than the tip', () => index.candidates.add(third)],
    ['a usable block that is not worse than the tip is a candidate', () => index.candidates.delete(tip)],
    ['a block without all its ancestors waits for them', () => forgetWaiting()],
    [
      'what follows an invalid block is marked',
      () => index.headers.clearStatus(failedChild, STATUS.failedChild),
    ],
    ['a candidate is valid', () => index.headers.addStatus(tip, STATUS.failed)],
    ['the active chain is valid and was connected', () => failTip()],
    ['the active chain has a gap at height 3', () => tipAtHeight3()],
  ])('reports a violation: %s', (what, breakIt) => {
    const rules = { ...RULES };
    try {
      breakIt();
      expect(() => checkBlockIndex(index, RULES)).toThrow(AssertionError);
      expect(() => checkBlockIndex(index, RULES)).toThrow(what);
    } finally {
      Object.assign(RULES, rules);
    }
  });
});

function failTip(): void {
  index.candidates.delete(tip);
  index.headers.addStatus(tip, STATUS.failed);
}

function tipAtHeight3(): void {
  for (let height = 5; height >= 3; height--) index.active.pop();
  index.active.push(tip);
}

/** Removes the block whose parent has no data from the list of such blocks. */
function forgetWaiting(): void {
  const { headers } = index;
  const position = headers.dataPosition(unlinked);
  index.forgetData(unlinked);
  headers.addStatus(unlinked, STATUS.haveData);
  headers.setDataPosition(unlinked, position);
}
