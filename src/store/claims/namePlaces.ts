/**
 * The byte offset of each active claim in the row of its name, and the age of each claim. With these, one claim of thousands
 * can be found and decoded without decoding the others. The row is parsed once, without an object for each claim.
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
/**
 * Upper bound for the number of outputs of a transaction. `ageOf` uses it to build sort keys. The block size limits the
 * number.
 */
const MOST_OUTPUTS = 2 ** 22;

/** The age of a claim as one sortable number: its height, then its output number. */
export function ageOf(height: number, n: number): number {
  return height * MOST_OUTPUTS + n;
}

export class NamePlaces {
  readonly takeover: number;
  /** Number of items (claims and supports) stored under the name. */
  readonly alive: number;
  /** Number of active claims. */
  readonly count: number;
  /** Heights for which pending items (claims and supports) of the name are queued. */
  readonly dues: number[] = [];
  /** Number of pending items (claims and supports) of the name. */
  readonly pending: number = 0;
  /** Age (`ageOf`) of each active claim, sorted from the best claim. */
  readonly ages: Float64Array;
  readonly row: Buffer;
  /** Offset of each claim's txid in the row. */
  readonly txids: Uint32Array;
  /** Output number of each claim. */
  readonly outputs: Uint32Array;
  private readonly starts: Uint32Array;
  /** Offset in the row of each claim id; 0 if the id is not stored, because it is derived from the outpoint. */
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

  /** Number of claims. `length`, `at` and `idAt` form the claim list interface of proofs. */
  get length(): number {
    return this.count;
  }

  at(bid: number): ActiveClaim | undefined {
    return bid < this.count ? this.claim(bid) : undefined;
  }

  claim(bid: number): ActiveClaim {
    return parseClaimAt(this.row, this.starts[bid]!);
  }

  /** Positions of the claims with this id, the best first; at most two. */
  withClaimId(id: Bytes): number[] {
    // If every id is stored in the row, the ids have ascending offsets, and the row's bytes can be searched. Otherwise
    // each claim is checked.
    if (this.ids.includes(0))
      return this.withId((bytes, at) => equalBytes(bytes.subarray(at, at + ID_BYTES), id));
    const found: number[] = [];
    for (let at = this.row.indexOf(id); at >= 0 && found.length < 2; at = this.row.indexOf(id, at + 1)) {
      const bid = this.bidOfId(at);
      if (bid !== null) found.push(bid);
    }
    return found;
  }

  /** Position of the claim whose id is at this offset of the row; null if the offset is not that of a claim id. */
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

  /**
   * Positions of at most two claims whose ids satisfy `isWanted`, sorted from the best. `isWanted` gets the row's bytes and
   * the offset of the id.
   */
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

  /** Positions of the claims by age, in the order that the reference's sort gives. Computed once per row. */
  get byReferenceAge(): Readonly<Uint32Array> {
    return (this.ordered ??= referenceOrder(this.ages));
  }
}

/**
 * Minimum number of claims for which the addon parses the row. For smaller rows, a call of the addon takes as long as
 * parsing in JavaScript. Arbitrary.
 */
const MANY_CLAIMS = 64;

/**
 * Parses the `count` claims of a row, from offset `from` on. The addon is used because most rows are parsed before the
 * JavaScript code is optimized.
 */
function claimsIn(row: Buffer, from: number, count: number): NativeNameClaims {
  return (
    (count < MANY_CLAIMS ? null : loadNative()?.nameClaims(row, from, count)) ?? readClaims(row, from, count)
  );
}

/** Parses all claims in one loop, because function calls are slow before the code is optimized. */
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

/** Position of entry `of` of `ages` in the order that the reference's sort produces. */
export function referencePlace(ages: Float64Array, of: number): number {
  const place = loadNative()?.standardPlace(ages, of) ?? -1;
  return place < 0 ? standardPlace(ages, of) : place;
}

/** Positions sorted by ascending age. Equal ages have the order that the reference's sort produces. Source: `seqSort`. */
export function referenceOrder(ages: Float64Array): Uint32Array {
  const places = Array.from(ages, (_, i) => i);
  return Uint32Array.from(standardSort(places, (a, b) => ages[a]! < ages[b]!));
}

/** Positions sorted by ascending age. Equal ages keep their order. */
export function stableOrder(ages: Float64Array): Uint32Array {
  return new Uint32Array(ages.length).map((_, i) => i).sort((a, b) => ages[a]! - ages[b]! || a - b);
}

/** Position of entry `of` of `ages` when sorted by ascending age, where equal ages keep their order. */
export function stablePlace(ages: Float64Array, of: number): number {
  const age = ages[of]!;
  let place = 0;
  for (let i = 0; i < ages.length; i++) if (ages[i]! < age || (ages[i] === age && i < of)) place++;
  return place;
}
