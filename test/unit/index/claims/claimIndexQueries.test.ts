import { describe, expect, it } from 'vitest';
import {
  ClaimIndexQueries,
  ClaimIndexNotReadyError,
} from '../../../../src/index/claims/claimIndexQueries.js';
import type { RowReader } from '../../../../src/store/rows/rows.js';

const CHANNEL = Buffer.alloc(20, 1);

/** Queries of an index that is lost and has no rows as soon as `lose` is called. */
function losing(moments: (lose: () => void) => (() => boolean) | null) {
  let isSynced = true;
  const lose = (): void => void (isSynced = false);
  let held = 0;
  const queries = new ClaimIndexQueries({
    rows: {
      getMany: async () => {
        lose();
        return [];
      },
    } as unknown as RowReader,
    rules: {} as never,
    active: { height: 5, tip: 5, disconnects: 0 },
    snapshot: () => moments(lose),
    status: () => ({ synced: isSynced, height: 5 }),
    values: async () => [],
    sizeOnDisk: async () => 0,
    exclusively: (task) => {
      held++;
      return task();
    },
  });
  return { queries, held: () => held };
}

describe('a claim index that is lost while it is read', () => {
  it('is not read a second time', async () => {
    let attempts = 0;
    // The chain changes during the first reading, in which the index is lost, and remains unchanged after that.
    const { queries, held } = losing(() => () => ++attempts > 1);
    await expect(queries.signedBy(CHANNEL)).rejects.toThrow(ClaimIndexNotReadyError);
    expect([attempts, held()]).toEqual([2, 0]);
  });

  it('is not read while the chain is held', async () => {
    const { queries, held } = losing((lose) => {
      lose();
      return null;
    });
    await expect(queries.signedBy(CHANNEL)).rejects.toThrow(ClaimIndexNotReadyError);
    expect(held()).toBe(1);
  });
});
