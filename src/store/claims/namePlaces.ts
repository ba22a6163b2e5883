/**
 * Where in the row of a name each of its active claims stands, and how old each is: with it one claim of thousands is found and
 * decoded without the others. The row is gone through once, number by number, without an object for each claim.
 */
import type { ActiveClaim } from '../../claimtrie/nameState.js';
import { asBuffer, toLatin1, type Bytes } from '../../util/bytes.js';
import { ReadError } from '../../util/reader.js';
import { standardSort } from '../../util/standardSort.js';
import { RowDecoder } from './rowCodec.js';
import { FLAG_HAS_ID, FLAG_REFILED, parseClaimAt } from './nameRow.js';

const TXID_BYTES = 32;
const ID_BYTES = 20;
const CUT_SHORT = 'a row of the claim trie is cut short';
/** Output numbers are smaller: a block has no room for more outputs. */
const MOST_OUTPUTS = 2 ** 22;

/** The order of heights and output numbers as one number. */
export function ageOf(height: number, n: number): number {
  return height * MOST_OUTPUTS + n;
}

export class NamePlaces {
  readonly takeover: number;
  /** Items filed under the name. */
  readonly alive: number;
  /** Active claims. */
  readonly count: number;
  /** Heights for which pending items are queued. */
  readonly dues: number[] = [];
  /** How many items are pending. */
  readonly pending: number = 0;
  /** `ageOf` of each claim, the best first. */
  readonly ages: Float64Array;
  readonly row: Buffer;
  /** Where the txid of each claim stands in the row. */
  readonly txids: Uint32Array;
  /** Number of the output that holds each claim. */
  readonly outputs: Uint32Array;
  private readonly starts: Uint32Array;
  /** Where ids stand; 0 for a claim whose id follows from its outpoint. */
  private readonly ids: Uint32Array;
  private ordered: Readonly<Uint32Array> | null = null;

  /** Goes through all in one loop: most rows are met while the code is not compiled yet, and calls cost most then. */
  constructor(nameRow: Bytes) {
    const row = (this.row = asBuffer(nameRow));
    const head = new RowDecoder(row);
    this.takeover = head.number();
    this.alive = head.number();
    head.number();
    const count = (this.count = head.number());
    if (count > row.length) throw new ReadError(CUT_SHORT);
    const txids = (this.txids = new Uint32Array(count));
    const outputs = (this.outputs = new Uint32Array(count));
    const starts = (this.starts = new Uint32Array(count));
    const ids = (this.ids = new Uint32Array(count));
    const ages = (this.ages = new Float64Array(count));
    let at = head.position;
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

  /** About what it takes of memory. */
  get sizeBytes(): number {
    return this.row.length + 28 * this.count;
  }

  /** How many claims there are: with `at` and `idAt` it is a list of claims as proofs take it. */
  get length(): number {
    return this.count;
  }

  at(bid: number): ActiveClaim | undefined {
    return bid < this.count ? this.claim(bid) : undefined;
  }

  claim(bid: number): ActiveClaim {
    return parseClaimAt(this.row, this.starts[bid]!);
  }

  /** The best claims whose id, which begins at that place of the bytes, is wanted; two at most. */
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

  /** The claims by age as the reference's sort leaves them. Worked out once. */
  get byReferenceAge(): Readonly<Uint32Array> {
    return (this.ordered ??= referenceOrder(this.ages));
  }
}

/** Places of these ages, the least first, as the reference's sort leaves those of one age. Source: `seqSort`. */
export function referenceOrder(ages: Float64Array): Uint32Array {
  const places = Array.from(ages, (_, i) => i);
  return Uint32Array.from(standardSort(places, (a, b) => ages[a]! < ages[b]!));
}

/** The same with those of one age in the order given. */
export function stableOrder(ages: Float64Array): Uint32Array {
  return new Uint32Array(ages.length).map((_, i) => i).sort((a, b) => ages[a]! - ages[b]! || a - b);
}

/** The place of one of the ages in that order. */
export function stablePlace(ages: Float64Array, of: number): number {
  const age = ages[of]!;
  let place = 0;
  for (let i = 0; i < ages.length; i++) if (ages[i]! < age || (ages[i] === age && i < of)) place++;
  return place;
}
