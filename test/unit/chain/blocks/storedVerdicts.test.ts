/** Which stored verdicts are discarded at a start. */
import { beforeEach, describe, expect, it } from 'vitest';
import { forgetVerdicts, retryVerdicts } from '../../../../src/chain/blocks/storedVerdicts.js';
import { NO_HEADER, STATUS, type HeaderTable } from '../../../../src/store/files/headerTable.js';
import { TestHeaders } from '../headers.js';

describe('stored verdicts', () => {
  let world: TestHeaders;
  let headers: HeaderTable;
  /** The tip on the genesis block, and a branch of four blocks that begins there too. */
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

  it('of a connected block are checked again if the block is better than the tip, with its descendants', () => {
    fail(branch[2]!, STATUS.failed | STATUS.failedConnecting);
    retryVerdicts(headers, tip);
    expect(branch.map((id) => headers.isFailed(id))).toEqual([false, false, false, false]);
  });

  it('are checked again if only descendants of the block are better than the tip', () => {
    for (const at of [1, 0]) {
      fail(branch[at]!, STATUS.failed | STATUS.failedConnecting);
      retryVerdicts(headers, tip);
      expect(branch.map((id) => headers.isFailed(id))).toEqual([false, false, false, false]);
    }
  });

  it('remain if no descendant is better, and if the operator set them', () => {
    fail(branch[1]!, STATUS.failed | STATUS.failedConnecting);
    retryVerdicts(headers, branch[3]!);
    expect(branch.map((id) => headers.isFailed(id))).toEqual([false, true, true, true]);
    fail(branch[2]!, STATUS.failed);
    headers.clearStatus(branch[1]!, STATUS.failed | STATUS.failedConnecting);
    headers.clearStatus(branch[2]!, STATUS.failedChild);
    retryVerdicts(headers, tip);
    expect(branch.map((id) => headers.isFailed(id))).toEqual([false, false, true, true]);
  });

  it('remain if the better branch contains a block that is invalid for another reason', () => {
    fail(branch[0]!, STATUS.failed | STATUS.failedConnecting);
    headers.addStatus(branch[1]!, STATUS.failed);
    retryVerdicts(headers, tip);
    expect(branch.map((id) => headers.isFailed(id))).toEqual([true, true, true, true]);
  });

  it('of a branch are checked again, whatever other branches exist', () => {
    fail(branch[0]!, STATUS.failed | STATUS.failedConnecting);
    // Two other branches with the same work as the tip: one on the second block of the branch, one on the first.
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

  it('still apply to descendants of another invalid block', () => {
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
