/** Offsets in rows of names with many claims, compared with the parsed row, with the addon and without it. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ActiveClaim, emptyNameState, type NameState } from '../../../../src/claimtrie/nameState.js';
import { pointIndex, pointKey } from '../../../../src/claimtrie/item.js';
import { sha256 } from '../../../../src/crypto/hash.js';
import * as binding from '../../../../src/native/binding.js';
import {
  ageOf,
  NamePlaces,
  referenceOrder,
  referencePlace,
} from '../../../../src/store/claims/namePlaces.js';
import { formatNameRow, parseNameRow } from '../../../../src/store/claims/rows/nameRow.js';
import { fromLatin1, toLatin1 } from '../../../../src/util/bytes.js';

const bytesOf = (n: number): Buffer => Buffer.from(sha256(Buffer.from(`claim ${n}`)));

function stateOf(count: number): NameState {
  const state = emptyNameState();
  state.takeover = 300;
  state.alive = count + 3;
  for (let n = 0; n < count; n++) {
    const height = [5, 200, 70_000, 2_500_000][n % 4]!;
    const isOriginal = n % 3 > 0;
    const id = isOriginal ? null : toLatin1(bytesOf(n).subarray(3, 23));
    const point = pointKey(bytesOf(n), [0, 127, 300, 40_000][n % 4]!);
    const since = n % 5 === 0 ? height + 1000 : height;
    const amount = BigInt(10) ** BigInt(n % 16);
    state.claims.push(new ActiveClaim(point, isOriginal, id, amount, height, since, amount + BigInt(n % 7)));
  }
  state.dangling.set(toLatin1(bytesOf(1).subarray(0, 20)), 77n);
  state.pending.set(400, 2);
  state.pending.set(90_000, 1);
  return state;
}

afterEach(() => vi.restoreAllMocks());

describe.each(['with the addon', 'without it'])('NamePlaces %s', (how) => {
  const withAddon = how === 'with the addon';
  const prepare = (): boolean => {
    if (withAddon) return binding.loadNative() !== null;
    vi.spyOn(binding, 'loadNative').mockReturnValue(null);
    return true;
  };

  it.each([0, 1, 15, 16, 63, 64, 500])('finds each of %i claims', (count) => {
    if (!prepare()) return;
    const row = formatNameRow(stateOf(count));
    const { claims } = parseNameRow(row);
    const places = new NamePlaces(row);
    expect([places.count, places.alive, places.takeover]).toEqual([count, count + 3, 300]);
    expect([places.dues, places.pending]).toEqual([[400, 90_000], 3]);
    claims.forEach((claim, bid) => {
      expect(places.claim(bid)).toEqual(claim);
      expect(places.idAt(bid)).toBe(claim.claimId);
      expect(places.outputs[bid]).toBe(pointIndex(claim.point));
      expect(places.ages[bid]).toBe(ageOf(claim.height, pointIndex(claim.point)));
      expect(toLatin1(row.subarray(places.txids[bid], places.txids[bid]! + 32))).toBe(
        claim.point.slice(0, 32),
      );
      expect(places.withClaimId(fromLatin1(claim.claimId))).toEqual([bid]);
    });
    expect(places.withClaimId(Buffer.alloc(20, 9))).toEqual([]);
  });

  it('finds both claims with one id, and no claim for other bytes', () => {
    if (!prepare()) return;
    const state = stateOf(100);
    const id = state.claims[30]!.claimId;
    const { point, amount, height, effective } = state.claims[70]!;
    state.claims[70] = new ActiveClaim(point, false, id, amount, height, height, effective);
    const places = new NamePlaces(formatNameRow(state));
    expect(places.withClaimId(fromLatin1(id))).toEqual([30, 70]);
    expect(places.withClaimId(fromLatin1(point.slice(0, 20)))).toEqual([]);
    expect(places.withClaimId(bytesOf(1).subarray(0, 20))).toEqual([]);
  });

  it('refuses truncated rows', () => {
    if (!prepare()) return;
    const state = stateOf(80);
    state.dangling.clear();
    state.pending.clear();
    const row = formatNameRow(state);
    for (let length = row.length - 200; length < row.length; length++)
      expect(() => new NamePlaces(row.subarray(0, length)), `${length} bytes`).toThrow('cut short');
  });

  it('orders ages as the sort of the reference does', () => {
    if (!prepare()) return;
    for (const count of [1, 16, 17, 100, 1000]) {
      const ages = Float64Array.from(
        { length: count },
        (_, n) => bytesOf(n).readUInt8(0) % (count > 50 ? 40 : 7),
      );
      const order = referenceOrder(ages);
      const places = Array.from({ length: count }, (_, of) => referencePlace(ages, of));
      expect(places).toEqual(Array.from({ length: count }, (_, of) => order.indexOf(of)));
    }
  });
});
