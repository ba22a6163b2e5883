/**
 * The search documents of mempool claims, stored in columns. Each numeric field is an array, so a scan of tens of thousands of
 * claims takes a fraction of a millisecond. Each label and each word has the set of its documents. Pure.
 *
 * Numbers are doubles: amounts from 2^53 dewies on are rounded.
 */
import { FIELD_BREAK, VALUE_BREAK } from '../document/analyze.js';
import { claimRow, documentLabels } from '../query/claimRow.js';
import type { ClaimDocument } from '../document/document.js';
import { CLAIM_COLUMNS } from '../sqlite/schema.js';

const FIRST_ROOM = 64;
/** Changes that an order can follow; after more it is sorted again. Arbitrary: each moves part of an order. */
const MAX_CHANGES = 256;
const NO_PLACES: ReadonlySet<number> = new Set();

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

/** Places by term. A term of one document, as most names are, has no set. */
class Postings {
  private readonly places = new Map<string, number | Set<number>>();

  of(term: string): ReadonlySet<number> {
    const found = this.places.get(term);
    return typeof found === 'number' ? new Set([found]) : (found ?? NO_PLACES);
  }

  add(term: string, place: number): void {
    const found = this.places.get(term);
    if (found === undefined) this.places.set(term, place);
    else if (typeof found === 'number') this.places.set(term, new Set([found, place]));
    else found.add(place);
  }

  remove(term: string, place: number): void {
    const found = this.places.get(term);
    if (typeof found === 'object') found.delete(place);
    if (found === place || (typeof found === 'object' && found.size === 0)) this.places.delete(term);
  }
}

export class WaitingColumns {
  /** Increases by one with each change. */
  version = 0;
  /** By position; holes for removed documents. */
  readonly documents: (WaitingDocument | undefined)[] = [];
  private readonly columns = new Map<string, NumberColumn>();
  private room = FIRST_ROOM;
  private readonly places = new Map<string, number>();
  private readonly free: number[] = [];
  private readonly labels = new Postings();
  private readonly words = new Postings();
  /** The places of the last changes. */
  private changes: number[] = [];

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
  labeled(label: string): ReadonlySet<number> {
    return this.labels.of(label);
  }

  /** Positions of the documents with a word in any text. */
  withWord(word: string): ReadonlySet<number> {
    return this.words.of(word);
  }

  /** The positions that changed since a version; null if too many changed. */
  changedSince(version: number): ReadonlySet<number> | null {
    const count = this.version - version;
    return count > this.changes.length ? null : new Set(this.changes.slice(this.changes.length - count));
  }

  /** Adds a document, or replaces the former one of the claim. */
  put(entry: WaitingDocument): void {
    this.take(entry.claimId);
    const place = this.free.pop() ?? this.documents.length;
    this.note(place);
    this.documents[place] = entry;
    this.places.set(entry.claimId, place);
    this.grow(place + 1);
    const row = claimRow(entry.document);
    for (const [name, at] of NUMBER_COLUMNS) {
      const value = row[at];
      this.columns.get(name)!.values[place] = value === null || value === undefined ? NaN : Number(value);
    }
    for (const label of documentLabels(entry.document)) this.labels.add(label, place);
    for (const word of wordsOf(entry.document)) this.words.add(word, place);
  }

  /** Removes the document of a claim. */
  take(claimId: string): void {
    const place = this.places.get(claimId);
    if (place === undefined) return;
    this.note(place);
    const { document } = this.documents[place]!;
    for (const label of documentLabels(document)) this.labels.remove(label, place);
    for (const word of wordsOf(document)) this.words.remove(word, place);
    this.places.delete(claimId);
    this.documents[place] = undefined;
    this.free.push(place);
  }

  private note(place: number): void {
    this.version++;
    this.changes.push(place);
    if (this.changes.length >= 2 * MAX_CHANGES) this.changes = this.changes.slice(-MAX_CHANGES);
  }

  private grow(count: number): void {
    if (count <= this.room) return;
    this.room *= 2;
    for (const column of this.columns.values()) {
      const values = new Float64Array(this.room);
      values.set(column.values);
      column.values = values;
    }
  }
}

function wordsOf({ words: { packed } }: ClaimDocument): Set<string> {
  const words = new Set(packed.split(' '));
  for (const other of ['', FIELD_BREAK, VALUE_BREAK]) words.delete(other);
  return words;
}
