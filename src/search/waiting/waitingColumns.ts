/**
 * The search documents of mempool claims, stored in columns. Each numeric field is an array, so a scan of tens of thousands of
 * claims takes a fraction of a millisecond. Each label has the list of its documents. The words of a document have a signature of
 * 256 bits (a Bloom filter), which excludes most documents without a given word. Pure.
 *
 * Numbers are doubles: amounts from 2^53 dewies on are rounded.
 */
import { FIELD_BREAK, VALUE_BREAK } from '../document/analyze.js';
import { claimRow, documentLabels } from '../query/claimRow.js';
import type { ClaimDocument } from '../document/document.js';
import { CLAIM_COLUMNS } from '../sqlite/schema.js';

const WORDS_OF_SIGNATURE = 8;
const SIGNATURE_BITS = 32 * WORDS_OF_SIGNATURE;
const FIRST_ROOM = 64;

/** Numbers by position; NaN for a missing value. */
export interface NumberColumn {
  /** Replaced by a larger array when it grows. */
  values: Float64Array;
}

/** A document at its position, for values that are not numbers. */
export interface WaitingDocument {
  /** Latin1, wire order. */
  readonly claimId: string;
  readonly document: ClaimDocument;
  readonly arrival: number;
}

const NUMBER_COLUMNS: readonly (readonly [name: string, at: number])[] = CLAIM_COLUMNS.flatMap(
  ([name, type], at) =>
    /^(?:INTEGER|REAL)/.test(type) && name !== 'trending_score' ? [[name, at] as const] : [],
);

export class WaitingColumns {
  /** Another number after each change. */
  version = 0;
  /** By place; holes where a document was taken out. */
  readonly documents: (WaitingDocument | undefined)[] = [];
  private readonly columns = new Map<string, NumberColumn>();
  private signatures = new Uint32Array(FIRST_ROOM * WORDS_OF_SIGNATURE);
  private readonly places = new Map<string, number>();
  private readonly free: number[] = [];
  private readonly labels = new Map<string, Set<number>>();
  private readonly labelsAt: string[][] = [];

  constructor() {
    for (const [name] of NUMBER_COLUMNS) this.columns.set(name, { values: new Float64Array(FIRST_ROOM) });
  }

  get size(): number {
    return this.places.size;
  }

  placeOf(claimId: string): number | undefined {
    return this.places.get(claimId);
  }

  /** Null for a column that is not numeric. */
  numbers(column: string): NumberColumn | null {
    return this.columns.get(column) ?? null;
  }

  /** Positions of the documents with a label. */
  labeled(label: string): ReadonlySet<number> | undefined {
    return this.labels.get(label);
  }

  /** Adds a document, or replaces the former one of the claim. */
  put(entry: WaitingDocument): void {
    this.take(entry.claimId);
    this.version++;
    const place = this.free.pop() ?? this.documents.length;
    this.documents[place] = entry;
    this.places.set(entry.claimId, place);
    this.grow(place + 1);
    const row = claimRow(entry.document);
    for (const [name, at] of NUMBER_COLUMNS) {
      const value = row[at];
      this.columns.get(name)!.values[place] = value === null || value === undefined ? NaN : Number(value);
    }
    const labels = documentLabels(entry.document);
    this.labelsAt[place] = labels;
    for (const label of labels) {
      const set = this.labels.get(label);
      if (set === undefined) this.labels.set(label, new Set([place]));
      else set.add(place);
    }
    this.sign(place, entry.document.words.packed);
  }

  /** Removes the document of a claim. */
  take(claimId: string): void {
    const place = this.places.get(claimId);
    if (place === undefined) return;
    this.version++;
    this.places.delete(claimId);
    this.documents[place] = undefined;
    this.free.push(place);
    for (const label of this.labelsAt[place]!) {
      const set = this.labels.get(label)!;
      set.delete(place);
      if (set.size === 0) this.labels.delete(label);
    }
    this.labelsAt[place] = [];
  }

  /** Whether the document may contain a word (false positives are possible). */
  mayHave(place: number, word: WordBits): boolean {
    const at = place * WORDS_OF_SIGNATURE;
    for (const bit of word) if ((this.signatures[at + (bit >>> 5)]! & (1 << (bit & 31))) === 0) return false;
    return true;
  }

  private sign(place: number, packed: string): void {
    const at = place * WORDS_OF_SIGNATURE;
    this.signatures.fill(0, at, at + WORDS_OF_SIGNATURE);
    for (const word of packed.split(' ')) {
      if (word === '' || word === FIELD_BREAK || word === VALUE_BREAK) continue;
      for (const bit of wordBits(word)) this.signatures[at + (bit >>> 5)]! |= 1 << (bit & 31);
    }
  }

  private grow(count: number): void {
    const room = this.signatures.length / WORDS_OF_SIGNATURE;
    if (count <= room) return;
    for (const column of this.columns.values()) {
      const values = new Float64Array(2 * room);
      values.set(column.values);
      column.values = values;
    }
    const signatures = new Uint32Array(2 * room * WORDS_OF_SIGNATURE);
    signatures.set(this.signatures);
    this.signatures = signatures;
  }
}

/** The bits of a word in a signature. */
export type WordBits = readonly [number, number];

export function wordBits(word: string): WordBits {
  let hash = 0x811c9dc5;
  for (let i = 0; i < word.length; i++) hash = Math.imul(hash ^ word.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  hash ^= hash >>> 13;
  return [hash & (SIGNATURE_BITS - 1), (hash >>> 12) & (SIGNATURE_BITS - 1)];
}
