/** Supports that the normalization fork leaves behind: which ones are recorded, and how blocks record and remove their end. */
import { beforeEach, describe, expect, it } from 'vitest';
import { claimIdAtPoint, pointKey, REMOVAL } from '../../../../../src/claimtrie/item.js';
import { CLAIM_PREFIX } from '../../../../../src/store/claims/rows/claimKeys.js';
import type { ClaimTx } from '../../../../../src/store/claims/claimStore.js';
import { readStranded } from '../../../../../src/store/claims/query/stranded.js';
import { fromLatin1 } from '../../../../../src/util/bytes.js';
import { REGTEST_RULES } from '../../../../support/claimChain.js';
import { ClaimStoreChain } from '../../../../support/claimStoreChain.js';

const FORK = 4;
const RULES = { ...REGTEST_RULES, normalizationForkHeight: FORK };
const LONG_NAME = 'N'.repeat(255);

let chain: ClaimStoreChain;

beforeEach(() => {
  chain = new ClaimStoreChain(RULES);
});

const connect = (...transactions: ClaimTx[]): Promise<void> => chain.connect(...transactions);
const disconnect = (): Promise<void> => chain.disconnect();

/** All rows except the bits of idle names, which are never cleared. */
const dump = (): Map<string, string> => chain.rows.dump(CLAIM_PREFIX.idle);

const txidOf = (id: number): Buffer => Buffer.alloc(32, id);
const claimIdOf = (id: number): Buffer => fromLatin1(claimIdAtPoint(pointKey(txidOf(id), 0)));

function make(id: number, rawName: string, supported?: number): ClaimTx {
  const kind = supported === undefined ? 'claim' : 'support';
  const claimId = supported === undefined ? {} : { claimId: claimIdOf(supported) };
  const output = {
    n: 0,
    kind,
    hasMetadata: false,
    name: Buffer.from(rawName),
    amount: 5n,
    ...claimId,
  } as const;
  return { txid: txidOf(id), txOffset: 100 * id, spends: [], outputs: [output] };
}

function spend(id: number, { txid, outputs }: ClaimTx, coinHeight: number): ClaimTx {
  const { kind, name, amount, claimId = claimIdOf(txid[0]!) } = outputs[0]!;
  const spent = { txid, n: 0, coinHeight, kind, hasMetadata: false, name, claimId, amount };
  return { txid: txidOf(id), txOffset: 100 * id, spends: [spent], outputs: [] };
}

const noted = async (name?: string) =>
  (await readStranded(chain.rows, name)).map(({ rawName, removed, removal }) => ({
    rawName,
    removed,
    removal,
  }));

describe('the block of the fork', () => {
  it('records the supports of raw names without a node, and only those', async () => {
    await connect(make(1, 'OWNED'), make(2, 'OWNED', 1), make(3, 'low', 99), make(4, 'RAW', 99));
    await connect(make(5, LONG_NAME, 99), make(6, 'GONE', 99));
    // The common node of `AX` and `AY`. It has no claims but is part of the trie.
    await connect(spend(7, make(6, 'GONE', 99), 2), make(8, 'AX'), make(9, 'AY'), make(10, 'A', 99));
    expect(await noted()).toEqual([]);
    await connect();
    expect(await noted()).toEqual([
      { rawName: 'RAW', removed: 0, removal: 0 },
      { rawName: LONG_NAME, removed: 0, removal: 0 },
    ]);
    expect(await readStranded(chain.rows, 'raw')).toMatchObject([
      { name: 'raw', since: 1, height: 1, amount: 5n },
    ]);
    expect(await readStranded(chain.rows, LONG_NAME.toLowerCase())).toMatchObject([{ since: 2 }]);
    expect(await noted('ra')).toEqual([]);
  });

  it('does not record supports that it spends itself', async () => {
    const support = make(1, 'RAW', 99);
    await connect(support);
    await connect();
    await connect();
    await connect(spend(2, support, 1));
    expect(await noted()).toEqual([]);
  });
});

describe('later blocks', () => {
  it('record the ones they spend, and remove the record when they are disconnected', async () => {
    const [first, second] = [make(1, 'RAW', 99), make(2, 'RAW', 99)];
    await connect(first);
    await connect(second);
    await connect();
    const beforeFork = dump();
    await connect();
    const afterFork = dump();
    await connect(spend(3, second, 2), spend(4, make(5, 'RAW', 99), 3));
    await connect();
    expect(await noted('raw')).toEqual([
      { rawName: 'RAW', removed: 0, removal: 0 },
      { rawName: 'RAW', removed: FORK + 1, removal: REMOVAL.spent },
    ]);
    await disconnect();
    await disconnect();
    expect(dump()).toEqual(afterFork);
    await connect(spend(6, first, 1));
    expect((await noted()).map(({ removed }) => removed)).toEqual([FORK + 1, 0]);
    await disconnect();
    await disconnect();
    expect(dump()).toEqual(beforeFork);
  });
});
