import { describe, expect, it } from 'vitest';
import { expiresAt, warnedBlocks } from '../../../../src/daemon/base/claimTerm.js';
import { ledgerParams } from '../../../../src/daemon/base/ledgerParams.js';
import type { TxoFilter, TxoRow } from '../../../../src/daemon/ledger/txoQuery.js';
import { warnOfExpiry } from '../../../../src/daemon/main/expiryWarnings.js';

const params = ledgerParams('lbc_regtest');

function watched(heights: readonly number[]) {
  const rows = heights.map(
    (height, n) => ({ height, claimId: `${n}`.repeat(40), claimName: `name${n}` }) as unknown as TxoRow,
  );
  const lines: string[] = [];
  let synced: () => void = () => undefined;
  const ledger = {
    params,
    height: 0,
    on: (_name: string, listener: () => void) => void (synced = listener),
    database: {
      txos: ({ minHeight = 0, maxHeight = 0, isSpent }: TxoFilter) =>
        Promise.resolve(
          isSpent === false ? rows.filter(({ height }) => height >= minHeight && height <= maxHeight) : [],
        ),
    },
  };
  warnOfExpiry(
    ledger as unknown as Parameters<typeof warnOfExpiry>[0],
    () => [{ id: 'default_wallet', accountIds: ['a'] }],
    { warn: (line) => void lines.push(line) },
  );
  const at = async (height: number): Promise<readonly string[]> => {
    lines.length = 0;
    ledger.height = height;
    synced();
    await new Promise((resolve) => setImmediate(resolve));
    return [...lines];
  };
  return { at };
}

describe('warnings of expiry', () => {
  it('name a claim once before it expires and once after', async () => {
    const { at } = watched([10, 400]);
    const end = expiresAt(params, 10);
    const soon = end - warnedBlocks(params, end - 1);
    expect(await at(soon - 1)).toEqual([]);
    const [first, ...more] = await at(soon);
    expect(first).toContain(
      `A claim of the wallet default_wallet expires in at most ${warnedBlocks(params, soon)} blocks, at height ${end}.`,
    );
    expect(first).toContain(`name0 (${'0'.repeat(40)})`);
    expect(more).toEqual([]);
    expect(await at(soon + 1)).toEqual([]);
    const [gone, ...others] = await at(end);
    expect(gone).toContain('A claim of the wallet default_wallet has expired and has no effect: name0');
    expect(gone).toContain('Its amount can be spent');
    expect(others).toEqual([]);
    expect(await at(end + 1)).toEqual([]);
  });

  it('name ten claims and count the others', async () => {
    const { at } = watched(Array.from({ length: 25 }, () => 10));
    const end = expiresAt(params, 10);
    const [before] = await at(end - 1);
    expect(before).toContain(
      `25 claims of the wallet default_wallet expire in at most ${warnedBlocks(params, end - 1)} blocks, the first at height ${end}.`,
    );
    const [line] = await at(end);
    expect(line).toContain('25 claims of the wallet default_wallet have expired');
    expect(line).toContain('and 15 more');
  });
});
