/** The events of past blocks, compared with those that were reported when the blocks were connected. */
import { describe, expect, it } from 'vitest';
import type { ClaimBlock, ClaimEvent } from '../../../../../src/claimtrie/types.js';
import { claimIdAtPoint, pointKey } from '../../../../../src/claimtrie/item.js';
import { fleetingKey } from '../../../../../src/store/claims/rows/claimKeys.js';
import { ClaimStore } from '../../../../../src/store/claims/claimStore.js';
import { readPastEvents } from '../../../../../src/store/claims/query/pastEvents.js';
import { RowEncoder } from '../../../../../src/store/claims/rows/rowCodec.js';
import { writePoint } from '../../../../../src/store/claims/rows/nameRow.js';
import { fromLatin1, toHex } from '../../../../../src/util/bytes.js';
import { REGTEST_RULES } from '../../../../support/claimChain.js';
import { ClaimLife } from '../../../../support/claimLife.js';
import { MemoryRows } from '../../../../support/memoryRows.js';

const BLOCKS = 140;
const FORK = 60;
const RULES = {
  ...REGTEST_RULES,
  originalExpiration: 40,
  extendedExpiration: 50,
  extendedExpirationForkHeight: 80,
  normalizationForkHeight: FORK,
  allClaimsForkHeight: 100,
};

interface Reported {
  readonly block: ClaimBlock;
  readonly events: readonly Record<string, unknown>[];
}

/** The events with bytes as hex, which is fast to compare and readable. */
function plain(events: readonly ClaimEvent[]): Record<string, unknown>[] {
  return events.map((event) =>
    Object.fromEntries(
      Object.entries(event).map(([key, value]) => [key, value instanceof Uint8Array ? toHex(value) : value]),
    ),
  );
}

async function connect(rows: MemoryRows, store: ClaimStore, block: ClaimBlock): Promise<Reported> {
  const work = rows.begin();
  const { report } = await store.connect(work, block);
  // Copied immediately, because the items may change later.
  const events = plain(report.events);
  work.commit();
  return { block, events };
}

describe('readPastEvents', () => {
  it.each([1, 2, 3, 4])(
    'returns the notifications of each block of history %i, forks and disconnected blocks included',
    async (seed) => {
      const rows = new MemoryRows();
      const store = new ClaimStore({ rules: RULES, proofWindow: 'all' });
      const life = new ClaimLife(seed);
      const reported: Reported[] = [];
      const kinds = new Set<string>();
      for (let height = 1; height <= BLOCKS; height++) {
        const block = life.block(height, 6);
        reported.push(await connect(rows, store, block));
        if (height % 17 === 0) {
          // Disconnects the block and connects it again.
          const work = rows.begin();
          await store.disconnect(work, height);
          work.commit();
          reported.pop();
          reported.push(await connect(rows, store, block));
        }
      }
      for (const { block, events } of reported) {
        const past = await readPastEvents(rows, RULES, block);
        expect(plain(past), `block ${block.height}`).toEqual(events);
        for (const { type } of events) kinds.add(type as string);
      }
      expect([...kinds].sort()).toEqual([
        'abandon',
        'activation',
        'claim',
        'expiration',
        'support',
        'takeover',
        'update',
      ]);
    },
  );

  it('computes the delay that older versions did not record', async () => {
    const rows = new MemoryRows();
    const rules = { ...RULES, normalizationForkHeight: 1000, originalExpiration: 1000 };
    const store = new ClaimStore({ rules, proofWindow: 'all' });
    const [first, second, third] = [1, 2, 3].map((n) => Buffer.alloc(32, n)) as [Buffer, Buffer, Buffer];
    const name = Buffer.from('a');
    const output = { n: 0, kind: 'claim' as const, hasMetadata: false, name, amount: 5n };
    await connect(rows, store, {
      height: 1,
      transactions: [{ txid: first, txOffset: 81, spends: [], outputs: [output] }],
    });
    for (let height = 2; height < 97; height++) await connect(rows, store, { height, transactions: [] });
    const claimId = fromLatin1(claimIdAtPoint(pointKey(second, 0)));
    const reported = await connect(rows, store, {
      height: 97,
      transactions: [
        { txid: second, txOffset: 81, spends: [], outputs: [output] },
        {
          txid: third,
          txOffset: 181,
          spends: [{ ...output, txid: second, coinHeight: 97, claimId }],
          outputs: [],
        },
      ],
    });
    const made = reported.events.find(({ type }) => type === 'claim')!;
    // The name was owned for 96 blocks, and the delay is 96 / 32 blocks.
    expect(made['validAtHeight']).toBe(100);
    const old = new RowEncoder();
    old
      .byte(0)
      .raw(claimIdAtPoint(pointKey(second, 0)))
      .amount(5n)
      .number(81)
      .string('a');
    writePoint(old, pointKey(second, 0));
    const work = rows.begin();
    work.put(fleetingKey('a', 97), old.finish());
    work.commit();
    expect(plain(await readPastEvents(rows, rules, reported.block))).toEqual(reported.events);
  });
});
