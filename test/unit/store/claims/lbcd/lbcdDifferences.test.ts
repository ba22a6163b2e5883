/**
 * Blocks that lbcd decides differently: which ones are recorded, how long the records apply, and that disconnecting removes them.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import { claimIdAtPoint, pointKey } from '../../../../../src/claimtrie/item.js';
import { CLAIM_PREFIX } from '../../../../../src/store/claims/rows/claimKeys.js';
import type { ClaimTx, LbcdDifference } from '../../../../../src/store/claims/claimStore.js';
import { fromLatin1 } from '../../../../../src/util/bytes.js';
import { REGTEST_RULES } from '../../../../support/claimChain.js';
import { ClaimStoreChain } from '../../../../support/claimStoreChain.js';

const RULES = {
  ...REGTEST_RULES,
  normalizationForkHeight: 8,
  allClaimsForkHeight: 12,
  extendedExpirationForkHeight: 15,
  originalExpiration: 14,
  extendedExpiration: 20,
};

let chain: ClaimStoreChain;

beforeEach(() => {
  chain = new ClaimStoreChain(RULES);
});

const connect = (...transactions: ClaimTx[]): Promise<void> => chain.connect(...transactions);

async function connectTo(wanted: number): Promise<void> {
  while (chain.height < wanted) await connect();
}

const txidOf = (id: number): Buffer => Buffer.alloc(32, id);

function make(id: number, name: string, support?: { of: number; hasMetadata: boolean }): ClaimTx {
  const output = {
    n: 0,
    kind: support === undefined ? 'claim' : 'support',
    hasMetadata: support?.hasMetadata ?? false,
    name: Buffer.from(name),
    amount: 5n,
    ...(support && { claimId: fromLatin1(claimIdAtPoint(pointKey(txidOf(support.of), 0))) }),
  } as const;
  return { txid: txidOf(id), txOffset: 100 * id, spends: [], outputs: [output] };
}

const before = (at = chain.height + 1): Promise<LbcdDifference[]> =>
  chain.store.differencesBefore(chain.rows, at);

describe('a block with a difference to lbcd', () => {
  it('is not recorded if nothing differs', async () => {
    await connect(make(1, 'name'), make(2, 'name', { of: 1, hasMetadata: false }));
    await connectTo(RULES.allClaimsForkHeight - 1);
    await connect(make(3, 'name', { of: 1, hasMetadata: true }));
    await connectTo(14);
    expect(await before()).toEqual([]);
  });

  it('is recorded for a support with metadata until the support ends', async () => {
    await connect(make(1, 'name'));
    await connect(make(2, 'name', { of: 1, hasMetadata: true }));
    await connectTo(5);
    const difference = { kind: 'metadataSupport', height: 2 };
    expect(await before()).toEqual([difference]);
    expect(await before(2)).toEqual([]);
    // The claim of block 2 would expire in block 16, but the fork in block 15 extends its term.
    expect(await before(2 + RULES.extendedExpiration - 1)).toEqual([difference]);
    expect(await before(2 + RULES.extendedExpiration)).toEqual([]);
  });

  it('is recorded if terms are extended and an item was due', async () => {
    await connect(make(1, 'name'));
    await connectTo(15);
    expect(await before()).toEqual([{ kind: 'extendedTerm', height: 15 }]);
    expect(await before(1 + RULES.extendedExpiration)).toEqual([]);
  });

  it.each([
    ['a claim of a name that is not normalized in its block', 8, make(2, 'NAME')],
    ['a support left behind', 6, make(2, 'NAME', { of: 1, hasMetadata: false })],
  ])('is recorded at the normalization fork for %s', async (_, at, tx) => {
    await connect(make(1, 'name'));
    await connectTo(at - 1);
    await connect(tx);
    await connectTo(9);
    expect(await before()).toEqual([{ kind: 'normalization', height: 8 }]);
    expect(await before(at + RULES.extendedExpiration + 1)).toEqual([]);
  });

  it('is removed when the block is disconnected', async () => {
    await connect(make(1, 'name'));
    const known = chain.rows.dump(CLAIM_PREFIX.idle);
    await connect(make(2, 'name', { of: 1, hasMetadata: true }));
    await chain.disconnect();
    expect(chain.rows.dump(CLAIM_PREFIX.idle)).toEqual(known);
    expect(await before()).toEqual([]);
  });
});
