import { describe, expect, it } from 'vitest';
import { valueHash } from '../../../../src/claimtrie/claimsHash.js';
import { ActiveClaim, emptyNameState } from '../../../../src/claimtrie/nameState.js';
import { KeptClaims } from '../../../../src/store/claims/keptClaims.js';
import { formatNameRow } from '../../../../src/store/claims/rows/nameRow.js';
import { toHex } from '../../../../src/util/bytes.js';

/** The row of a name with so many claims. */
function rowOf(count: number, takeover = 5): Buffer {
  const state = emptyNameState();
  state.takeover = takeover;
  state.alive = count;
  for (let n = 0; n < count; n++) {
    const point = String.fromCharCode(n & 255, (n >> 8) & 255).padEnd(35, 'x') + String.fromCharCode(n & 3);
    state.claims.push(new ActiveClaim(point, true, 'i'.repeat(20), 1n, 3, 3, 1n));
  }
  return formatNameRow(state);
}

describe('KeptClaims', () => {
  it('keeps the claims of a long row with their hashes', () => {
    const kept = new KeptClaims();
    const row = rowOf(200);
    const found = kept.find('a', row)!;
    expect(found.takeover).toBe(5);
    expect(found.claims).toHaveLength(200);
    const hashes = Array.from({ length: 200 }, (_, n) => toHex(valueHash(found.claims.claim(n).point, 5)));
    expect(toHex(found.leaves) === hashes.join('')).toBe(true);
    expect(kept.find('a', Buffer.from(row))).toBe(found);
    expect(kept.size).toBe(row.length);
  });

  it('reads the row of another name again', () => {
    const kept = new KeptClaims();
    const found = kept.find('a', rowOf(200))!;
    const other = kept.find('a', rowOf(200, 6))!;
    expect(other.takeover).toBe(6);
    expect(other.leaves.equals(found.leaves)).toBe(false);
    expect(kept.size).toBe(rowOf(200, 6).length);
  });

  it('hashes only new parts of a row, at any position', () => {
    const points = Array.from({ length: 120 }, (_, n) => String.fromCharCode(n).padEnd(35, 'x') + '\0');
    const row = (list: readonly string[], takeover = 5): Buffer => {
      const state = emptyNameState();
      Object.assign(state, { takeover, alive: list.length });
      for (const point of list) state.claims.push(new ActiveClaim(point, true, 'i'.repeat(20), 1n, 3, 3, 1n));
      return formatNameRow(state);
    };
    const kept = new KeptClaims();
    const more = points.toSpliced(7, 0, 'a'.padEnd(36, 'y'), 'b'.padEnd(36, 'y'));
    const moved = [...more.slice(60), ...more.slice(0, 60)];
    for (const list of [points, more, points.slice(1), moved, points.slice(30, 110), points.toReversed()]) {
      for (const takeover of [5, 5, 6]) {
        const { leaves } = kept.find('a', row(list, takeover))!;
        const wanted = Buffer.concat(list.map((point) => valueHash(point, takeover)));
        expect(leaves.equals(wanted)).toBe(true);
      }
    }
  });

  it('does not keep short rows', () => {
    const kept = new KeptClaims();
    expect(kept.find('a', rowOf(20))).toBe(undefined);
    expect(kept.size).toBe(0);
  });

  it('drops the least recently used row', () => {
    const kept = new KeptClaims();
    const row = rowOf(20_000);
    const first = kept.find('0', row);
    for (let n = 1; n < 5; n++) {
      kept.find(`${n}`, row);
      expect(kept.find('0', row)).toBe(first);
      expect(kept.size).toBeLessThanOrEqual(4 << 20);
    }
    expect(kept.find('1', row)).not.toBe(undefined);
    expect(kept.size).toBeLessThanOrEqual(4 << 20);
  });
});
