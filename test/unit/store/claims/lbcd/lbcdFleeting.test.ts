/** lbcd's answers about outputs that are created and spent in the same block: numbers, order of supports, empty names. */
import { beforeEach, expect, it } from 'vitest';
import { claimIdAtPoint, pointKey } from '../../../../../src/claimtrie/item.js';
import type { ClaimEntryKind, ClaimTx } from '../../../../../src/store/claims/claimStore.js';
import { readLbcdChanges } from '../../../../../src/store/claims/lbcd/lbcdSchedule.js';
import { readLbcdName } from '../../../../../src/store/claims/lbcd/lbcdView.js';
import { fromLatin1, toLatin1 } from '../../../../../src/util/bytes.js';
import { REGTEST_RULES } from '../../../../support/claimChain.js';
import { ClaimStoreChain } from '../../../../support/claimStoreChain.js';

const RULES = { ...REGTEST_RULES, normalizationForkHeight: 5, originalExpiration: 4, extendedExpiration: 4 };

let chain: ClaimStoreChain;

beforeEach(() => {
  chain = new ClaimStoreChain(RULES);
});

const txidOf = (id: number): Buffer => Buffer.alloc(32, id);
const claimIdOf = (id: number): Buffer => fromLatin1(claimIdAtPoint(pointKey(txidOf(id), 0)));

interface Made {
  readonly name: string;
  /** The claim that is updated or supported, by the number of its transaction. */
  readonly of?: number;
  readonly kind?: ClaimEntryKind;
  readonly spends?: ClaimTx;
  /** Height of the spent output; default: the height of the block. */
  readonly coinHeight?: number;
}

/** The transaction with the number `id`. Without a kind it only spends. */
function tx(id: number, { name, of, kind, spends, coinHeight = chain.height + 1 }: Made): ClaimTx {
  const claimId = of === undefined ? {} : { claimId: claimIdOf(of) };
  const made = { n: 0, hasMetadata: false, name: Buffer.from(name), amount: BigInt(id) };
  const spent = (spends?.outputs ?? []).map((output) => ({
    ...output,
    txid: spends!.txid,
    coinHeight,
    claimId: output.claimId ?? claimIdOf(spends!.txid[0]!),
  }));
  return {
    txid: txidOf(id),
    txOffset: 100 * id,
    spends: spent,
    outputs: kind === undefined ? [] : [{ ...made, kind, ...claimId }],
  };
}

async function ask(name: string, height = chain.height) {
  const info = await readLbcdName(chain.rows, RULES, {
    name: Buffer.from(name),
    height,
    tipHeight: chain.height,
  });
  if (info === null) return null;
  return {
    takeover: info.lastTakeoverHeight,
    claims: info.claims.map(({ txid, sequence, supports }) => ({
      id: txid[0],
      sequence,
      supports: supports.map((support) => support.txid[0]),
    })),
  };
}

const changes = async (height: number): Promise<string[]> =>
  (await readLbcdChanges(chain.rows, RULES, height)).map((name) => toLatin1(name)).sort();

it('counts a claim that is spent in its own block in the numbers of later claims', async () => {
  const gone = tx(1, { name: 'a', kind: 'claim' });
  await chain.connect(gone, tx(2, { name: 'a', spends: gone }), tx(3, { name: 'a', kind: 'claim' }));
  expect(await ask('a')).toMatchObject({ claims: [{ id: 3, sequence: 1 }] });
});

it('gives an update the number of the claim that was made in the same block', async () => {
  const first = tx(1, { name: 'a', kind: 'claim' });
  await chain.connect(
    first,
    tx(2, { name: 'a', kind: 'claim' }),
    tx(3, { name: 'a', kind: 'update', of: 1, spends: first }),
  );
  const { claims } = (await ask('a'))!;
  expect(claims.map(({ id, sequence }) => [id, sequence]).sort()).toEqual([
    [2, 1],
    [3, 0],
  ]);
});

it('lists supports as lbcd does if one of them is spent in its own block', async () => {
  const gone = tx(2, { name: 'a', kind: 'support', of: 1 });
  await chain.connect(
    tx(1, { name: 'a', kind: 'claim' }),
    gone,
    tx(3, { name: 'a', kind: 'support', of: 1 }),
    tx(4, { name: 'a', kind: 'support', of: 1 }),
    tx(5, { name: 'a', spends: gone }),
  );
  expect(await ask('a')).toMatchObject({ claims: [{ id: 1, supports: [4, 3] }] });
});

it('keeps a name whose only claim was spent in its block, also past the fork, until the block is disconnected', async () => {
  const gone = tx(1, { name: 'A', kind: 'claim' });
  await chain.connect(gone, tx(2, { name: 'A', spends: gone }));
  expect(await ask('A')).toEqual({ takeover: 1, claims: [] });
  expect(await ask('a')).toBeNull();
  expect(await changes(1)).toEqual(['A']);
  for (let height = 2; height <= 5; height++) await chain.connect();
  const late = tx(3, { name: 'A', kind: 'claim' });
  await chain.connect(late, tx(4, { name: 'A', spends: late }));
  expect(await ask('A')).toEqual({ takeover: 6, claims: [] });
  expect(await ask('A', 4)).toEqual({ takeover: 1, claims: [] });
  expect(await changes(6)).toEqual(['a']);
  await chain.disconnect();
  expect(await ask('A')).toBeNull();
  while (chain.height > 0) await chain.disconnect();
  expect([...chain.rows.dump('f')]).toEqual([]);
});

it('treats the spend of an expired claim as a change of the name', async () => {
  const claim = tx(1, { name: 'a', kind: 'claim' });
  await chain.connect(claim);
  for (let height = 2; height <= 6; height++) await chain.connect();
  expect(await ask('a')).toEqual({ takeover: 5, claims: [] });
  await chain.connect(tx(2, { name: 'a', spends: claim, coinHeight: 1 }));
  expect(await ask('a')).toEqual({ takeover: 7, claims: [] });
  expect(await changes(7)).toEqual(['a']);
});

it('adds both forms of the moved names in the fork block, due later or spent there', async () => {
  const spent = tx(3, { name: 'B', kind: 'claim' });
  await chain.connect(tx(1, { name: 'A', kind: 'claim' }));
  await chain.connect(spent);
  await chain.connect();
  await chain.connect();
  await chain.connect(tx(4, { name: 'B', spends: spent, coinHeight: 2 }));
  expect(await changes(5)).toEqual(['A', 'B', 'a', 'b']);
});

it('does not count an activation before the fork as a change of the normalized name', async () => {
  const rules = { ...REGTEST_RULES, normalizationForkHeight: 70 };
  chain = new ClaimStoreChain(rules);
  await chain.connect(tx(1, { name: 'A', kind: 'claim' }));
  while (chain.height < 33) await chain.connect();
  await chain.connect(tx(2, { name: 'A', kind: 'claim' }));
  while (chain.height < 70) await chain.connect();
  const at = (name: string, height: number) =>
    readLbcdName(chain.rows, rules, { name: Buffer.from(name), height, tipHeight: chain.height });
  // The second claim became active in block 35.
  expect((await at('A', 35))?.claims.map(({ active }) => active)).toEqual([true, true]);
  expect((await at('a', 34))?.lastTakeoverHeight).toBe(34);
  expect((await at('a', 40))?.lastTakeoverHeight).toBe(34);
  expect((await at('a', 40))?.claims.map(({ active }) => active)).toEqual([false, false]);
});
