/**
 * The position of each active claim in the row of its name, and the age of each claim. With these, one claim of thousands is found
 * and decoded without the others. The row is parsed once, without an object for each claim.
 */
import type { ActiveClaim } from '../../claimtrie/nameState.js';
import { loadNative, type NativeNameClaims } from '../../native/binding.js';
import { asBuffer, equalBytes, toLatin1, type Bytes } from '../../util/bytes.js';
import { ReadError } from '../../util/reader.js';
import { standardPlace, standardSort } from '../../util/standardSort.js';
import { RowDecoder } from './rows/rowCodec.js';
import { FLAG_HAS_ID, FLAG_REFILED, parseClaimAt } from './rows/nameRow.js';

const TXID_BYTES = 32;
const ID_BYTES = 20;
const CUT_SHORT = 'a row of the claim trie is cut short';
/** Maximum number of outputs of a transaction, because of the block size. */
const MOST_OUTPUTS = 2 ** 22;

/** Height and output number combined in one sortable number. */
export function ageOf(height: number, n: number): number {
  return height * MOST_OUTPUTS + n;
}

export class NamePlaces {
  readonly takeover: number;
  /** Number of items filed under the name. */
  readonly alive: number;
  /** Number of active claims. */
  readonly count: number;
  /** Heights for which pending items are queued. */
  readonly dues: number[] = [];
  /** Number of pending items. */
  readonly pending: number = 0;
  /** `ageOf` of each claim, the best first. */
  readonly ages: Float64Array;
  readonly row: Buffer;
  /** Offset of the txid of each claim in the row. */
  readonly txids: Uint32Array;
  /** Number of the output that holds each claim. */
  readonly outputs: Uint32Array;
  private readonly starts: Uint32Array;
  /** Offset of each claim id; 0 for a claim whose id is derived from its outpoint. */
  private readonly ids: Uint32Array;
  private ordered: Readonly<Uint32Array> | null = null;

  constructor(nameRow: Bytes) {
    const row = (this.row = asBuffer(nameRow));
    const head = new RowDecoder(row);
    this.takeover = head.number();
    this.alive = head.number();
    head.number();
    const count = (this.count = head.number());
    if (count > row.length) throw new ReadError(CUT_SHORT);
    const claims = claimsIn(row, head.position, count);
    this.starts = claims.starts;
    this.txids = claims.txids;
    this.outputs = claims.outputs;
    this.ids = claims.ids;
    this.ages = claims.ages;
    const at = claims.end;
    if (at > row.length) throw new ReadError(CUT_SHORT);
    if (at === row.length) return;
    const rest = new RowDecoder(row.subarray(at));
    for (let left = rest.number(); left > 0; left--) {
      rest.bytes(ID_BYTES);
      rest.amount();
    }
    while (!rest.done) {
      this.dues.push(rest.number());
      this.pending += rest.number();
    }
  }

  /** Estimated memory. */
  get sizeBytes(): number {
    return this.row.length + 28 * this.count;
  }

  /** Number of claims. With `at` and `idAt` this object is a claim list for proofs. */
  get length(): number {
    return this.count;
  }

  at(bid: number): ActiveClaim | undefined {
    return bid < this.count ? this.claim(bid) : undefined;
  }

  claim(bid: number): ActiveClaim {
    return parseClaimAt(this.row, this.starts[bid]!);
  }

  /** The best claims with that id; at most two. */
  withClaimId(id: Bytes): number[] {
    // The ids of a long row are all in it, at ascending offsets.
    if (this.ids.includes(0))
      return this.withId((bytes, at) => equalBytes(bytes.subarray(at, at + ID_BYTES), id));
    const found: number[] = [];
    for (let at = this.row.indexOf(id); at >= 0 && found.length < 2; at = this.row.indexOf(id, at + 1)) {
      const bid = this.bidOfId(at);
      if (bid !== null) found.push(bid);
    }
    return found;
  }

  /** The position of the claim whose id is at that offset; null for other bytes. */
  private bidOfId(at: number): number | null {
    const { ids } = this;
    let low = 0;
    for (let high = ids.length; low < high;) {
      const middle = (low + high) >>> 1;
      if (ids[middle]! < at) low = middle + 1;
      else high = middle;
    }
    return ids[low] === at ? low : null;
  }

  /** The best claims whose id, at the given offset, matches; at most two. */
  withId(isWanted: (id: Bytes, at: number) => boolean): number[] {
    const found: number[] = [];
    for (let bid = 0; bid < this.count && found.length < 2; bid++) {
      const at = this.ids[bid]!;
      if (at === 0 ? isWanted(Buffer.from(this.claim(bid).claimId, 'latin1'), 0) : isWanted(this.row, at))
        found.push(bid);
    }
    return found;
  }

  idAt(bid: number): string {
    const at = this.ids[bid]!;
    return at === 0 ? this.claim(bid).claimId : toLatin1(this.row.subarray(at, at + ID_BYTES));
  }

  /** The claims by age, in the order that the reference's sort gives. Computed once. */
  get byReferenceAge(): Readonly<Uint32Array> {
    return (this.ordered ??= referenceOrder(this.ages));
  }
}

/** Smaller rows are parsed here, because a call of the addon takes as long. Arbitrary. */
const MANY_CLAIMS = 64;

/**
 * The claims of a row with `count` claims, from offset `from` on. The addon is used because most rows are read before
 * JavaScript code is optimized.
 */
function claimsIn(row: Buffer, from: number, count: number): NativeNameClaims {
  return (
    (count < MANY_CLAIMS ? null : loadNative()?.nameClaims(row, from, count)) ?? readClaims(row, from, count)
  );
}

/** Parses everything in one loop, because calls are expensive before the code is optimized. */
function readClaims(row: Buffer, from: number, count: number): NativeNameClaims {
  const txids = new Uint32Array(count);
  const outputs = new Uint32Array(count);
  const starts = new Uint32Array(count);
  const ids = new Uint32Array(count);
  const ages = new Float64Array(count);
  let at = from;
  for (let bid = 0; bid < count; bid++) {
    starts[bid] = at;
    const flags = row[at++]!;
    let byte = row[at++]!;
    let height = byte & 0x7f;
    for (let scale = 0x80; byte >= 0x80; scale *= 0x80) {
      byte = row[at++]!;
      height += (byte & 0x7f) * scale;
    }
    if (flags & FLAG_REFILED) while (row[at++]! >= 0x80);
    txids[bid] = at;
    at += TXID_BYTES;
    byte = row[at++]!;
    let n = byte & 0x7f;
    for (let scale = 0x80; byte >= 0x80; scale *= 0x80) {
      byte = row[at++]!;
      n += (byte & 0x7f) * scale;
    }
    outputs[bid] = n;
    ages[bid] = height * MOST_OUTPUTS + n;
    if (flags & FLAG_HAS_ID) {
      ids[bid] = at;
      at += ID_BYTES;
    }
    while (row[at++]! >= 0x80);
    while (row[at++]! >= 0x80);
  }
  return { starts, txids, outputs, ids, ages, end: at };
}

/** The position of one of the ages in the order of the reference's sort. */
export function referencePlace(ages: Float64Array, of: number): number {
  const place = loadNative()?.standardPlace(ages, of) ?? -1;
  return place < 0 ? standardPlace(ages, of) : place;
}

/** Positions in ascending age, with equal ages in the order of the reference's sort. Source: `seqSort`. */
export function referenceOrder(ages: Float64Array): Uint32Array {
  const places = Array.from(ages, (_, i) => i);
  return Uint32Array.from(standardSort(places, (a, b) => ages[a]! < ages[b]!));
}

/** The same, with equal ages in the given order. */
export function stableOrder(ages: Float64Array): Uint32Array {
  return new Uint32Array(ages.length).map((_, i) => i).sort((a, b) => ages[a]! - ages[b]! || a - b);
}

/** The position of one of the ages in that order. */
export function stablePlace(ages: Float64Array, of: number): number {
  const age = ages[of]!;
  let place = 0;
  for (let i = 0; i < ages.length; i++) if (ages[i]! < age || (ages[i] === age && i < of)) place++;
  return place;
}
