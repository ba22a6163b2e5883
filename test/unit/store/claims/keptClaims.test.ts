import { describe, expect, it } from 'vitest';
import { valueHash } from '../../../../src/claimtrie/claimsHash.js';
import { ActiveClaim, emptyNameState } from '../../../../src/claimtrie/nameState.js';
import { KeptClaims } from '../../../../src/store/claims/keptClaims.js';
import { formatNameRow } from '../../../../src/store/claims/nameRow.js';
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
    const hashes = found.claims.map(({ point }) => toHex(valueHash(point, 5)));
    expect(toHex(found.leaves)).toBe(hashes.join(''));
    expect(kept.find('a', Buffer.from(row))).toBe(found);
    expect(kept.size).toBe(row.length);
  });

  it('reads another row of the name again', () => {
    const kept = new KeptClaims();
    const found = kept.find('a', rowOf(200))!;
    const other = kept.find('a', rowOf(200, 6))!;
    expect(other.takeover).toBe(6);
    expect(other.leaves.equals(found.leaves)).toBe(false);
    expect(kept.size).toBe(rowOf(200, 6).length);
  });

  it('leaves short rows alone', () => {
    const kept = new KeptClaims();
    expect(kept.find('a', rowOf(20))).toBe(undefined);
    expect(kept.size).toBe(0);
  });

  it('drops what was not asked for the longest', () => {
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
