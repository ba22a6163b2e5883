/** The rows of the claim trie return what was stored, are small, and corruption is detected. */
import { describe, expect, it } from 'vitest';
import { claimIdAtPoint, pointKey, type Item } from '../../../../../src/claimtrie/item.js';
import {
  addActiveClaim,
  addSupport,
  countPending,
  emptyNameState,
} from '../../../../../src/claimtrie/nameState.js';
import { packSlots, unpackSlots } from '../../../../../src/claimtrie/slots.js';
import {
  claimIdKey,
  itemKey,
  itemsKey,
  ownerKey,
  ownersKey,
  parseItemKey,
  parseOwnerKey,
  snapshotsKey,
} from '../../../../../src/store/claims/rows/claimKeys.js';
import { formatItemRow, parseItemRow } from '../../../../../src/store/claims/rows/itemRow.js';
import { LogWriter, parseLogChunk, type LogEvent } from '../../../../../src/store/claims/rows/logRow.js';
import {
  formatMarkRow,
  formatOwnerRow,
  parseMarkRow,
  parseOwnerRow,
} from '../../../../../src/store/claims/rows/markRow.js';
import { formatNameRow, parseNameRow, rowHasClaims } from '../../../../../src/store/claims/rows/nameRow.js';
import { formatNodeRow, parseNodeRow, parseSlotNote } from '../../../../../src/store/claims/rows/nodeRow.js';
import { formatDueRow, mergeDue, parseDueRow } from '../../../../../src/store/claims/rows/queueRow.js';
import { RowDecoder, RowEncoder } from '../../../../../src/store/claims/rows/rowCodec.js';
import { prefixEnd } from '../../../../../src/store/rows/rows.js';
import { ReadError } from '../../../../../src/util/reader.js';

function makeItem(changes: Partial<Item> = {}): Item {
  const point = pointKey(Buffer.alloc(32, 0xfe), 258);
  return {
    name: 'name',
    since: 1_000_000,
    point,
    kind: 'claim',
    claimId: claimIdAtPoint(point),
    amount: 123456789n,
    height: 1_000_000,
    txOffset: 70_000,
    dueHeight: 1_000_003,
    activated: 0,
    removed: 0,
    removal: 0,
    rawName: 'name',
    ordinal: 0,
    isNew: false,
    ...changes,
  };
}

describe('numbers', () => {
  it('are preserved at every size', () => {
    const numbers = [0, 1, 127, 128, 16383, 16384, 2 ** 31, 2 ** 32, Number.MAX_SAFE_INTEGER];
    const amounts = [0n, 127n, 2n ** 49n - 1n, 2n ** 49n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 63n - 1n];
    const out = new RowEncoder();
    for (const number of numbers) out.number(number);
    for (const amount of amounts) out.amount(amount);
    const input = new RowDecoder(out.string('\xff\0text').finish());
    expect(numbers.map(() => input.number())).toEqual(numbers);
    expect(amounts.map(() => input.amount())).toEqual(amounts);
    expect(input.string()).toBe('\xff\0text');
    expect(input.done).toBe(true);
    expect(() => input.byte()).toThrow(ReadError);
  });

  it('are refused above the limit', () => {
    expect(() => new RowDecoder(Buffer.alloc(20, 0xff)).number()).toThrow(ReadError);
    expect(() => new RowDecoder(Buffer.alloc(20, 0xff)).amount()).toThrow(ReadError);
    expect(() => new RowDecoder(Buffer.from([5, 65])).string()).toThrow(ReadError);
  });
});

describe('item row', () => {
  const items: Item[] = [
    makeItem(),
    makeItem({ activated: 1_000_003 }),
    makeItem({ activated: 1_000_001, removed: 1_000_500, removal: 2 }),
    makeItem({ kind: 'support', claimId: 'i'.repeat(20), rawName: 'NAME', ordinal: 300 }),
    makeItem({
      kind: 'update',
      claimId: '\xff'.repeat(20),
      amount: 2n ** 62n,
      height: 3,
      since: 900,
      dueHeight: 9,
      activated: 7,
    }),
    makeItem({ rawName: '', removed: 1_000_002, removal: 1 }),
  ];

  it('is preserved when written and read', () => {
    for (const item of items) {
      const row = formatItemRow(item);
      expect(parseItemRow(item.name, item.since, item.point, row)).toEqual(item);
    }
  });

  it('is short for a usual claim', () => {
    expect(formatItemRow(items[1]!).length).toBeLessThanOrEqual(10);
  });
});

describe('name row', () => {
  it('is preserved, with few claims and with many', () => {
    for (const count of [0, 1, 3, 40]) {
      const state = emptyNameState();
      state.takeover = 77;
      state.alive = count + 3;
      state.sinceSnapshot = 200;
      for (let i = 0; i < count; i++) {
        const point = pointKey(Buffer.alloc(32, i), i);
        const kind = i % 3 === 0 ? 'update' : 'claim';
        const claimId = kind === 'claim' ? claimIdAtPoint(point) : String.fromCharCode(i).repeat(20);
        addActiveClaim(state, makeItem({ point, kind, claimId, height: 50 + i, since: i % 2 ? 50 + i : 90 }));
      }
      if (count > 0) addSupport(state, state.claims[0]!.claimId, 99n);
      addSupport(state, 'z'.repeat(20), 5n);
      addSupport(state, 'b'.repeat(20), 2n ** 62n);
      countPending(state, 500, 1);
      countPending(state, 90, 1);
      countPending(state, 90, 1);
      const row = formatNameRow(state);
      const parsed = parseNameRow(row);
      expect(formatNameRow(parsed)).toEqual(row);
      expect(parsed.claims.map((claim) => ({ ...claim, id: claim.claimId }))).toEqual(
        state.claims.map((claim) => ({ ...claim, id: claim.claimId })),
      );
      expect(parsed.dangling).toEqual(new Map([...state.dangling].sort()));
      expect([...parsed.pending]).toEqual([
        [90, 2],
        [500, 1],
      ]);
      expect([parsed.takeover, parsed.alive, parsed.sinceSnapshot]).toEqual([77, count + 3, 200]);
      expect(rowHasClaims(row)).toBe(count > 0);
    }
  });
});

describe('node rows', () => {
  const slots = [
    { edge: '\0', hash: Buffer.alloc(32, 1), leaf: true },
    { edge: 'ab', hash: Buffer.alloc(32, 2), leaf: false },
    { edge: '\xff' + 'x'.repeat(200), hash: Buffer.alloc(32, 3), leaf: true },
  ];

  it('are preserved', () => {
    for (const claimsHash of [null, Buffer.alloc(32, 9)]) {
      for (const some of [slots, [], slots.slice(1, 2)]) {
        const row = formatNodeRow({ slots: packSlots(some), claimsHash });
        const node = parseNodeRow(row);
        const read = unpackSlots(node.slots);
        expect(read.map(({ edge, hash, leaf }) => ({ edge, hash: Buffer.from(hash), leaf }))).toEqual(some);
        expect(node.claimsHash && Buffer.from(node.claimsHash)).toEqual(claimsHash);
        const end = claimsHash ? 33 : 1;
        for (let length = 0; length < row.length; length++) {
          const cut = row.subarray(0, length);
          if (length === end || (some === slots && (length === end + 34 || length === end + 69))) continue;
          expect(() => parseNodeRow(cut)).toThrow(ReadError);
        }
      }
    }
  });

  it('report the former content of a slot, in older folders', () => {
    expect(parseSlotNote(97, Buffer.alloc(0))).toBeNull();
    const hash = Buffer.alloc(32, 7);
    expect(parseSlotNote(97, Buffer.concat([hash, Buffer.from('bc')]))).toEqual({
      edge: 'abc',
      hash,
      leaf: false,
    });
  });
});

describe('due row', () => {
  it('keeps the order of creation', () => {
    const at = (height: number, txOffset: number, n: number): Item =>
      makeItem({ since: height, height, txOffset, point: pointKey(Buffer.alloc(32, height), n) });
    const [a, b, c, d] = [at(5, 80, 1), at(5, 80, 0), at(4, 900, 0), at(6, 80, 0)];
    const merged = mergeDue([], [a!, d!, b!, c!], undefined);
    expect(merged.map(({ point }) => point)).toEqual([c!.point, b!.point, a!.point, d!.point]);
    const parsed = parseDueRow(formatDueRow(merged));
    expect(parsed).toEqual(merged);
    expect(mergeDue(parsed, [], new Set([a!, c!])).map(({ point }) => point)).toEqual([b!.point, d!.point]);
    expect(parseDueRow(undefined)).toEqual([]);
  });
});

describe('ownership and marks', () => {
  it('are preserved', () => {
    for (const ownership of [
      { hasClaims: true, takeover: 500 },
      { hasClaims: false, takeover: 0 },
      { hasClaims: false, takeover: 500 },
      { hasClaims: true, takeover: 3 },
    ]) {
      expect(parseOwnerRow(formatOwnerRow(ownership, 500), 500)).toEqual(ownership);
    }
    expect(formatOwnerRow({ hasClaims: true, takeover: 500 }, 500)).toHaveLength(1);
    for (const ownerId of ['', 'o'.repeat(20)]) {
      const base = { hadClaims: ownerId !== '', ownerId, takeover: 12 };
      const mark = { base, check: ownerId === '', nextOrdinal: 7 };
      const work = {
        ...mark,
        name: 'n',
        state: emptyNameState(),
        changed: false,
        claimsChanged: false,
        newPending: new Set<Item>(),
      };
      expect(parseMarkRow(formatMarkRow(work))).toEqual(mark);
    }
  });
});

describe('log', () => {
  it('is split into chunks, each complete in itself', () => {
    const chunks: Buffer[] = [];
    const writer = new LogWriter(1000, (chunk) => chunks.push(chunk));
    const wanted: LogEvent[] = [];
    for (let i = 0; i < 5000; i++) {
      const name = `name ${i % 700}`;
      const isSupport = i % 2 === 1;
      const kind = isSupport ? 'support' : 'claim';
      const ref = { name, since: i % 3 === 0 ? 1000 : 990, ordinal: i % 5 === 0 ? i : 0 };
      const item = makeItem({ ...ref, kind });
      switch (i % 6) {
        case 0: {
          const created = makeItem({ ...ref, since: 1000, kind, activated: i % 4 === 0 ? 1000 : 0 });
          writer.add({ op: 'create', item: created });
          wanted.push({ op: 'create', ref: { ...ref, since: 1000 }, isSupport, active: i % 4 === 0 });
          break;
        }
        case 1:
        case 2: {
          const op = i % 6 === 1 ? 'spend' : 'expire';
          writer.add({ op, item });
          wanted.push({ op, ref, isSupport, active: false });
          break;
        }
        case 3: {
          const to = { name: `other ${i}`, since: 1000, ordinal: i % 4 };
          writer.add({ op: 'refile', item, to: makeItem({ ...to, kind }) });
          wanted.push({ op: 'refile', ref, to, isSupport, point: item.point });
          break;
        }
        case 4:
          writer.add({ op: 'takeover', name, before: i, owner: undefined, formerId: '' });
          wanted.push({ op: 'takeover', name, before: i });
          break;
        default:
          writer.add({ op: 'snapshot', name, before: i });
          wanted.push({ op: 'snapshot', name, before: i });
      }
    }
    writer.finish();
    expect(chunks.length).toBeGreaterThan(1);
    expect(chunks.flatMap((chunk) => parseLogChunk(1000, chunk))).toEqual(wanted);
  });
});

describe('keys', () => {
  const names = [
    '',
    'a',
    'a\0',
    'a\0\0',
    'a\0b',
    'ab',
    'b',
    '\xff',
    '\xff\xff',
    'x'.repeat(254),
    'x'.repeat(255),
    'x'.repeat(700),
  ];

  it('contain their subject', () => {
    const point = pointKey(Buffer.alloc(32, 3), 70000);
    for (const name of names) {
      expect(parseItemKey(itemKey(name, 0xfffffffe, point))).toEqual({ since: 0xfffffffe, point });
      expect(parseOwnerKey(ownerKey(name, 17))).toEqual({ name, height: 17 });
    }
  });

  it('separate histories of different names, in the order of names', () => {
    const keys = names.map((name) => ownerKey(name, 0x00ff0000));
    const sorted = [...names].sort();
    expect([...keys].sort().map((key) => parseOwnerKey(key).name)).toEqual(sorted);
    for (const prefix of [itemsKey, ownersKey, snapshotsKey]) {
      for (const a of names) {
        for (const b of names) {
          if (a === b) continue;
          const key = prefix(b) + '\0\0\0\x01';
          expect(key >= prefix(a) && key < prefixEnd(prefix(a))).toBe(false);
        }
      }
    }
  });

  it('sort claim ids as they are printed', () => {
    const id = Buffer.from('00112233445566778899aabbccddeeff01234567', 'hex');
    const printed = Buffer.from(id).reverse();
    expect(claimIdKey(id.toString('latin1'))).toBe(`b${printed.toString('latin1')}`);
  });
});
