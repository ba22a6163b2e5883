/** Blocks that lbcd keeps in another way: which are noted, how long they count, and that they go with their blocks. */
import { beforeEach, describe, expect, it } from 'vitest';
import { claimIdAtPoint, pointKey } from '../../../../src/claimtrie/item.js';
import { CLAIM_PREFIX } from '../../../../src/store/claims/claimKeys.js';
import { ClaimStore, type ClaimTx, type LbcdDifference } from '../../../../src/store/claims/claimStore.js';
import { fromLatin1 } from '../../../../src/util/bytes.js';
import { REGTEST_RULES } from '../../../support/claimChain.js';
import { MemoryRows } from '../../../support/memoryRows.js';

const RULES = {
  ...REGTEST_RULES,
  normalizationForkHeight: 8,
  allClaimsForkHeight: 12,
  extendedExpirationForkHeight: 15,
  originalExpiration: 14,
  extendedExpiration: 20,
};

let rows: MemoryRows;
let store: ClaimStore;
let height: number;

beforeEach(() => {
  rows = new MemoryRows();
  store = new ClaimStore({ rules: RULES, proofWindow: 'all' });
  height = 0;
});

async function connect(...transactions: ClaimTx[]): Promise<void> {
  const work = rows.begin();
  await store.connect(work, { height: ++height, transactions });
  work.commit();
}

async function connectTo(wanted: number): Promise<void> {
  while (height < wanted) await connect();
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

const before = (at = height + 1): Promise<LbcdDifference[]> => store.differencesBefore(rows, at);

describe('a block with something that lbcd keeps in another way', () => {
  it('is not noted where nothing is different', async () => {
    await connect(make(1, 'name'), make(2, 'name', { of: 1, hasMetadata: false }));
    await connectTo(RULES.allClaimsForkHeight - 1);
    await connect(make(3, 'name', { of: 1, hasMetadata: true }));
    await connectTo(14);
    expect(await before()).toEqual([]);
  });

  it('is noted for a support with metadata, as long as that would live', async () => {
    await connect(make(1, 'name'));
    await connect(make(2, 'name', { of: 1, hasMetadata: true }));
    await connectTo(5);
    const difference = { kind: 'metadataSupport', height: 2 };
    expect(await before()).toEqual([difference]);
    expect(await before(2)).toEqual([]);
    // Made in block 2, due in block 16: the fork of block 15 gives it the longer term.
    expect(await before(2 + RULES.extendedExpiration - 1)).toEqual([difference]);
    expect(await before(2 + RULES.extendedExpiration)).toEqual([]);
  });

  it('is noted where terms are extended and something was due', async () => {
    await connect(make(1, 'name'));
    await connectTo(15);
    expect(await before()).toEqual([{ kind: 'extendedTerm', height: 15 }]);
    expect(await before(1 + RULES.extendedExpiration)).toEqual([]);
  });

  it.each([
    ['a claim of a name that is not normalized in its block', 8, make(2, 'NAME')],
    ['a support left behind', 6, make(2, 'NAME', { of: 1, hasMetadata: false })],
  ])('is noted at the normalization fork for %s', async (_, at, tx) => {
    await connect(make(1, 'name'));
    await connectTo(at - 1);
    await connect(tx);
    await connectTo(9);
    expect(await before()).toEqual([{ kind: 'normalization', height: 8 }]);
    expect(await before(at + RULES.extendedExpiration + 1)).toEqual([]);
  });

  it('is forgotten when it is taken back', async () => {
    await connect(make(1, 'name'));
    const known = rows.dump(CLAIM_PREFIX.idle);
    await connect(make(2, 'name', { of: 1, hasMetadata: true }));
    const work = rows.begin();
    await store.disconnect(work, height);
    work.commit();
    expect(rows.dump(CLAIM_PREFIX.idle)).toEqual(known);
    expect(await before()).toEqual([]);
  });
});
