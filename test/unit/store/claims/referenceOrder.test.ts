/**
 * The order in which the reference lists the supports of a name: added ones, and ones that were restored by disconnected blocks.
 */
import { describe, expect, it } from 'vitest';
import { compareJoining, pointKey, REMOVAL, type Item } from '../../../../src/claimtrie/item.js';
import { LogWriter } from '../../../../src/store/claims/rows/logRow.js';
import { logKey } from '../../../../src/store/claims/rows/claimKeys.js';
import { compareRestored, leavingOrder } from '../../../../src/store/claims/query/referenceView.js';
import { MemoryRows } from '../../../support/memoryRows.js';

let made = 0;

/** A support of block `height`. It comes after all earlier ones. */
function support(height: number, fields: Partial<Item> = {}): Item {
  made++;
  return {
    name: 'name',
    since: height,
    point: pointKey(Buffer.alloc(32, made), 0),
    kind: 'support',
    claimId: '',
    amount: 1n,
    height,
    txOffset: made,
    dueHeight: height,
    activated: height,
    removed: 0,
    removal: 0,
    rawName: 'name',
    ordinal: made,
    isNew: false,
    ...fields,
  };
}

describe('the order of supports', () => {
  it('is the order of their activation; those that the normalization fork moved come first, by name', () => {
    const early = support(5);
    const takenOver = support(20, { dueHeight: 60, activated: 50 });
    const due = support(30, { dueHeight: 50, activated: 50 });
    const movedB = [support(10, { since: 50, rawName: 'b' }), support(8, { since: 50, rawName: 'b' })];
    const movedA = support(40, { since: 50, rawName: 'a' });
    const late = support(60);
    const items = [late, takenOver, ...movedB, due, movedA, early];
    expect(items.sort(compareJoining)).toEqual([early, movedA, movedB[1], movedB[0], due, takenOver, late]);
  });

  it('ends, for a past block, with those removed since: the latest first, and the last of a block first', async () => {
    const stays = support(5);
    const spent = [0, 1, 2].map(() => support(6, { removed: 20, removal: REMOVAL.spent }));
    const later = support(7, { removed: 21, removal: REMOVAL.expired });
    const rows = new MemoryRows();
    const log = new LogWriter(20, (chunk) => rows.rows.set(logKey(20, 0), chunk));
    for (const item of [spent[1]!, spent[2]!, spent[0]!]) log.add({ op: 'spend', item });
    log.finish();
    const items = [...spent, later, stays].sort(compareJoining);
    const places = await leavingOrder(rows, items, { height: 10, tipHeight: 30 });
    expect([...items].sort(compareRestored(10, places))).toEqual([
      stays,
      later,
      spent[0],
      spent[2],
      spent[1],
    ]);
    // The reference does not answer about blocks that are deeper than this, so no log is read.
    const far = await leavingOrder(rows, items, { height: 10, tipHeight: 511 });
    expect([...items].sort(compareRestored(10, far))).toEqual([stays, later, spent[2], spent[1], spent[0]]);
  });
});
