import { describe, expect, it } from 'vitest';
import {
  COST_OF_CHANGE,
  fundDraft,
  signDraft,
  spend,
  SPENDING_FEE,
  type DraftSpentOutput,
} from '../../../../../src/daemon/wallet/tx/draft.js';
import { payKeyHash } from '../../../../../src/daemon/wallet/tx/newOutputs.js';
import { atOnce } from '../../../../../src/util/slices.js';
import { readTimeLock } from '../../../../../src/daemon/txo/scriptTemplates.js';

const HASH = Buffer.alloc(20, 7);

function coin(index: number, amountDewies: bigint): DraftSpentOutput {
  return {
    outPoint: { hash: Buffer.alloc(32, 1), index },
    amountDewies,
    script: payKeyHash(0n, HASH).script,
  };
}

function portOf(coins: DraftSpentOutput[]) {
  const released: DraftSpentOutput[] = [];
  return {
    released,
    feePerNameChar: 0n,
    choose: () => Promise.resolve(coins.splice(0, 1)),
    release: (outputs: readonly DraftSpentOutput[]) => Promise.resolve(void released.push(...outputs)),
    changeKeyHash: () => Promise.resolve(HASH),
  };
}

describe('funding a transaction', () => {
  it('releases selected and given coins if the funds are insufficient', async () => {
    const port = portOf([]);
    const given = coin(0, 10_000n);
    await expect(fundDraft([spend(given)], [payKeyHash(1_000_000n, HASH)], port)).rejects.toThrow(
      'Not enough funds',
    );
    expect(port.released).toEqual([given]);
  });

  it('selects another coin if one pays the fee but leaves nothing to pay', async () => {
    const port = portOf([coin(1, 1_000_000n)]);
    const draft = await fundDraft([spend(coin(0, SPENDING_FEE + 600n))], [], port);
    expect(draft.inputs).toHaveLength(2);
    expect(draft.outputs).toHaveLength(1);
  });

  it('creates change above dust only', async () => {
    const least = SPENDING_FEE + 500n + 1_700n + 5_000n + COST_OF_CHANGE + 500n + 1_000n;
    const outputsFor = async (amount: bigint): Promise<number> =>
      (await fundDraft([spend(coin(0, amount))], [payKeyHash(5_000n, HASH)], portOf([]))).outputs.length;
    expect([await outputsFor(least), await outputsFor(least + 1n)]).toEqual([1, 2]);
  });

  it('is signed one input per slice', async () => {
    const draft = await fundDraft(
      [0, 1, 2].map((n) => spend(coin(n, 1_000_000n))),
      [],
      portOf([]),
    );
    const work = signDraft(draft, () => Buffer.alloc(32, 1));
    let pauses = 0;
    while (work.next().done !== true) pauses++;
    expect(pauses).toBe(3);
  });

  it('is not signed without the key', async () => {
    const draft = await fundDraft([spend(coin(0, 1_000_000n))], [], portOf([]));
    expect(() => atOnce(signDraft(draft, () => null))).toThrow('Cannot find private key for signing output.');
  });
});

describe('the redeem script of a time lock', () => {
  it('contains its height by opcode or by bytes', () => {
    const rest = `b17576a914${'07'.repeat(20)}88ac`;
    const heights = ['51', '60', '0111', '02e803', '0340420f'].map(
      (height) => readTimeLock(Buffer.from(height + rest, 'hex')).height,
    );
    expect(heights).toEqual([1, 16, 17, 1000, 1_000_000]);
    expect(() => readTimeLock(Buffer.from(rest, 'hex'))).toThrow('not a time lock');
  });
});
