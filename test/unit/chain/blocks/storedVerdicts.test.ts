/** Which verdicts outlast a start. */
import { beforeEach, describe, expect, it } from 'vitest';
import { forgetVerdicts, retryVerdicts } from '../../../../src/chain/blocks/storedVerdicts.js';
import { NO_HEADER, STATUS, type HeaderTable } from '../../../../src/store/files/headerTable.js';
import { TestHeaders } from '../headers.js';

describe('stored verdicts', () => {
  let world: TestHeaders;
  let headers: HeaderTable;
  /** Genesis, the tip, and a branch of four on the genesis block. */
  let tip: number;
  let branch: number[];

  beforeEach(() => {
    world = new TestHeaders();
    headers = world.table;
    const genesis = world.add(NO_HEADER);
    tip = world.chain(genesis, 2).at(-1)!;
    branch = world.chain(genesis, 4);
  });

  const fail = (id: number, bits: number): void => {
    headers.addStatus(id, bits);
    for (const above of branch.slice(branch.indexOf(id) + 1)) headers.addStatus(above, STATUS.failedChild);
  };

  it('found by connecting are tried again where the block is better than the tip, and what follows it', () => {
    fail(branch[2]!, STATUS.failed | STATUS.failedConnecting);
    retryVerdicts(headers, tip);
    expect(branch.map((id) => headers.isFailed(id))).toEqual([false, false, false, false]);
  });

  it('are tried again where only what follows the block is better than the tip', () => {
    for (const at of [1, 0]) {
      fail(branch[at]!, STATUS.failed | STATUS.failedConnecting);
      retryVerdicts(headers, tip);
      expect(branch.map((id) => headers.isFailed(id))).toEqual([false, false, false, false]);
    }
  });

  it('stay where nothing that follows is better, and where the operator said so', () => {
    fail(branch[1]!, STATUS.failed | STATUS.failedConnecting);
    retryVerdicts(headers, branch[3]!);
    expect(branch.map((id) => headers.isFailed(id))).toEqual([false, true, true, true]);
    fail(branch[2]!, STATUS.failed);
    headers.clearStatus(branch[1]!, STATUS.failed | STATUS.failedConnecting);
    headers.clearStatus(branch[2]!, STATUS.failedChild);
    retryVerdicts(headers, tip);
    expect(branch.map((id) => headers.isFailed(id))).toEqual([false, false, true, true]);
  });

  it('stay where what is better stands on a block that is bad for another reason', () => {
    fail(branch[0]!, STATUS.failed | STATUS.failedConnecting);
    headers.addStatus(branch[1]!, STATUS.failed);
    retryVerdicts(headers, tip);
    expect(branch.map((id) => headers.isFailed(id))).toEqual([true, true, true, true]);
  });

  it('of a branch are tried again whatever other branches stand between', () => {
    fail(branch[0]!, STATUS.failed | STATUS.failedConnecting);
    // As good as the tip, on the second block of the branch, and on the first.
    const aside = [world.add(branch[1]!, { work: 2n }), world.add(branch[0]!)];
    const bad = world.add(aside[1]!, { work: 2n });
    for (const id of aside) headers.addStatus(id, STATUS.failedChild);
    headers.addStatus(bad, STATUS.failed | STATUS.failedConnecting);
    retryVerdicts(headers, tip);
    expect([...branch, ...aside, bad].map((id) => headers.isFailed(id))).toEqual([
      ...[false, false, false, false],
      ...[false, false, true],
    ]);
  });

  it('keep on failing what follows another bad block', () => {
    fail(branch[2]!, STATUS.failed | STATUS.failedConnecting);
    headers.addStatus(branch[0]!, STATUS.failed);
    headers.addStatus(branch[1]!, STATUS.failedChild);
    retryVerdicts(headers, tip);
    expect(headers.status(branch[2]!) & STATUS.failed).toBe(0);
    expect(headers.isFailed(branch[1]!)).toBe(true);
  });

  it('are all forgotten when the chain state is recomputed', () => {
    fail(branch[0]!, STATUS.failed);
    forgetVerdicts(headers);
    expect(branch.some((id) => headers.isFailed(id))).toBe(false);
  });
});
