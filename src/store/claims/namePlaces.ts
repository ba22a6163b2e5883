/**
 * Where in the row of a name each of its active claims stands, and how old each is: with it one claim of thousands is found and
 * decoded without the others. The row is gone through once, number by number, without an object for each claim.
 */
import type { ActiveClaim } from '../../claimtrie/nameState.js';
import { asBuffer, toLatin1, type Bytes } from '../../util/bytes.js';
import { ReadError } from '../../util/reader.js';
import { standardSort } from '../../util/standardSort.js';
import { FLAG_HAS_ID, FLAG_REFILED, parseClaimAt } from './nameRow.js';

const TXID_BYTES = 32;
const ID_BYTES = 20;
/** Output numbers are smaller: a block has no room for more outputs. */
const MOST_OUTPUTS = 2 ** 22;

/** The order of heights and output numbers as one number. */
export function ageOf(height: number, n: number): number {
  return height * MOST_OUTPUTS + n;
}

/** Numbers of a row, one after the other. */
class Cursor {
  at = 0;
  private readonly row: Buffer;

  constructor(row: Buffer) {
    this.row = row;
  }

  number(): number {
    const { row } = this;
    let byte = row[this.at++]!;
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    for (let scale = 0x80; ; scale *= 0x80) {
      byte = row[this.at++]!;
      value += (byte & 0x7f) * scale;
      if (!(byte >= 0x80)) return value;
    }
  }

  /** Passes over a number of any size. */
  skip(): void {
    const { row } = this;
    while (row[this.at++]! >= 0x80);
  }
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
  private readonly row: Buffer;
  private readonly starts: Uint32Array;
  /** Where ids stand; 0 for a claim whose id follows from its outpoint. */
  private readonly ids: Uint32Array;
  private ordered: Readonly<Uint32Array> | null = null;

  constructor(nameRow: Bytes) {
    const row = (this.row = asBuffer(nameRow));
    const input = new Cursor(row);
    this.takeover = input.number();
    this.alive = input.number();
    input.skip();
    const count = (this.count = input.number());
    if (!(count <= row.length)) throw new ReadError('a row of the claim trie is cut short');
    this.starts = new Uint32Array(count);
    this.ids = new Uint32Array(count);
    this.ages = new Float64Array(count);
    for (let bid = 0; bid < count; bid++) {
      this.starts[bid] = input.at;
      const flags = row[input.at++]!;
      const height = input.number();
      if (flags & FLAG_REFILED) input.skip();
      input.at += TXID_BYTES;
      this.ages[bid] = ageOf(height, input.number());
      if (flags & FLAG_HAS_ID) {
        this.ids[bid] = input.at;
        input.at += ID_BYTES;
      }
      input.skip();
      input.skip();
    }
    if (input.at < row.length) {
      for (let left = input.number(); left > 0; left--) {
        input.at += ID_BYTES;
        input.skip();
      }
      while (input.at < row.length) {
        this.dues.push(input.number());
        this.pending += input.number();
      }
    }
    if (input.at !== row.length) throw new ReadError('a row of the claim trie is cut short');
  }

  /** About what it takes of memory. */
  get sizeBytes(): number {
    return this.row.length + 20 * this.count;
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

  idOf(bid: number): string {
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
