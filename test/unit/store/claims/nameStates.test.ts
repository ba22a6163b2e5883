/** Parsed states of names: reused while the row is equal, and never for another row. */
import { expect, it } from 'vitest';
import {
  ActiveClaim,
  emptyNameState,
  findClaim,
  type NameState,
} from '../../../../src/claimtrie/nameState.js';
import { NameStates } from '../../../../src/store/claims/query/nameStates.js';
import { formatNameRow } from '../../../../src/store/claims/rows/nameRow.js';

const pointOf = (n: number): string =>
  Buffer.concat([Buffer.alloc(32, n & 255), Buffer.from([0, 0, n >> 8, n & 255])]).toString('latin1');

function stateOf(claims: number, amount = 5n): NameState {
  const state = { ...emptyNameState(), takeover: 7, alive: claims };
  for (let n = 0; n < claims; n++)
    state.claims.push(new ActiveClaim(pointOf(n), true, null, amount, 10 + n, 10 + n, amount));
  return state;
}

it('reuses the state of a long row until the row changes', () => {
  const states = new NameStates();
  const row = formatNameRow(stateOf(300));
  const first = states.of('a', row);
  expect(first.claims).toHaveLength(300);
  expect(findClaim(first, pointOf(299))?.height).toBe(309);
  expect(states.of('a', Buffer.from(row))).toBe(first);
  // The caller may reuse the memory of the row.
  const memory = Buffer.from(row);
  const kept = states.of('b', memory);
  memory.fill(0);
  expect(states.of('b', Buffer.from(row))).toBe(kept);
  const changed = states.of('a', formatNameRow(stateOf(300, 6n)));
  expect(changed.claims[0]!.amount).toBe(6n);
  expect(states.of('a', row)).not.toBe(first);
  expect(states.of('a', row).claims[0]!.amount).toBe(5n);
});

it('parses a short row each time', () => {
  const states = new NameStates();
  const row = formatNameRow(stateOf(2));
  expect(states.of('a', row)).not.toBe(states.of('a', row));
  expect(states.of('a', row)).toEqual(stateOf(2));
});
