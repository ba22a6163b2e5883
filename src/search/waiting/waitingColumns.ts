/**
 * Search documents of mempool claims, stored by column. Each numeric field is an array, so that scanning tens of thousands
 * of claims takes a fraction of a millisecond. For each label, each word and each channel, the set of its documents is
 * stored. Numbers are doubles, so amounts from 2^53 dewies on are rounded.
 */
import { FIELD_BREAK, VALUE_BREAK } from '../document/analyze.js';
import { claimRow, documentLabels } from '../query/claimRow.js';
import type { ClaimDocument } from '../document/document.js';
import { CLAIM_COLUMNS } from '../sqlite/schema.js';

const FIRST_ROOM = 64;
/**
 * Maximum number of changes that are applied to a sorted order. After more changes the order is sorted again. Arbitrary:
 * each change moves part of the order.
 */
const MAX_CHANGES = 256;
const NO_PLACES: ReadonlySet<number> = new Set();

/** Values of one numeric column by document position. NaN stands for a missing value. */
export interface NumberColumn {
  /** Values of the column. The array is replaced by a larger one when it is full. */
  values: Float64Array;
}

/** The values of a claim that the search stores as objects; numeric values are stored in typed arrays. */
export interface WaitingDocument {
  /** Claim id in wire order, as latin1. */
  readonly claimId: string;
  readonly document: ClaimDocument;
  readonly arrival: number;
}

const NUMBER_COLUMNS: readonly (readonly [name: string, at: number])[] = CLAIM_COLUMNS.flatMap(
  ([name, type], at) =>
    /^(?:INTEGER|REAL)/.test(type) && name !== 'trending_score' ? [[name, at] as const] : [],
);

/** Document positions by term. If a term occurs in one document only, as most names do, its position is stored without a set. */
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
  /** Number of changes of the columns so far. */
  version = 0;
  /** Documents by position. Positions of removed documents are holes. */
  readonly documents: (WaitingDocument | undefined)[] = [];
  private readonly columns = new Map<string, NumberColumn>();
  private room = FIRST_ROOM;
  private readonly places = new Map<string, number>();
  private readonly free: number[] = [];
  private readonly labels = new Postings();
  private readonly words = new Postings();
  private readonly channels = new Postings();
  /** Positions of the documents that changed last. */
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

  /** Returns the values of a numeric column; null for other columns. */
  numbers(column: string): NumberColumn | null {
    return this.columns.get(column) ?? null;
  }

  /** Returns the positions of the documents with a label. */
  labeled(label: string): ReadonlySet<number> {
    return this.labels.of(label);
  }

  /** Returns the positions of the documents with a word in any text field. */
  withWord(word: string): ReadonlySet<number> {
    return this.words.of(word);
  }

  /** Returns the positions of the documents that name a channel, by its id in hex. */
  ofChannel(channelId: string): ReadonlySet<number> {
    return this.channels.of(channelId);
  }

  /** Returns the positions that changed after a version; null if too many have changed. */
  changedSince(version: number): ReadonlySet<number> | null {
    const count = this.version - version;
    return count > this.changes.length ? null : new Set(this.changes.slice(this.changes.length - count));
  }

  /** Adds a document, or replaces the former document of the claim. */
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
    const { channelId } = entry.document;
    if (channelId !== null) this.channels.add(channelId, place);
  }

  /** Removes the document of a claim. Has no effect if the claim has no document. */
  take(claimId: string): void {
    const place = this.places.get(claimId);
    if (place === undefined) return;
    this.note(place);
    const { document } = this.documents[place]!;
    for (const label of documentLabels(document)) this.labels.remove(label, place);
    for (const word of wordsOf(document)) this.words.remove(word, place);
    if (document.channelId !== null) this.channels.remove(document.channelId, place);
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
