/**
 * Which tables make up the database at a time, by level; never changes. Those of level 0 are as memory was written out and
 * may overlap, those of every other level are behind each other; a change of a key in a lower level is newer than all in
 * higher ones. Also which tables should be merged next. Source: LevelDB doc/impl, version_set.
 */
import type { Cursor, Span } from './cursors.js';
import { TablesCursor } from './cursors.js';
import type { Found, Reading, TableFile } from './tableFile.js';

const LEVELS = 7;
/** Tables of level 0 from which on they are merged; LevelDB's own. */
const MOST_OVERLAPPING = 4;
/** Level 1 is full from here on, each further one at ten times as much; LevelDB's own. */
const LEVEL_1_BYTES = 10 << 20;
const GROWTH = 10;
/** Tables of a level that are merged at once where a whole range is; bounds how long a writer waits. Arbitrary. */
const TABLES_AT_ONCE = 8;

export interface PlacedTable {
  readonly level: number;
  readonly table: TableFile;
}

/** Tables of a level, and those of the next whose keys they meet. */
export interface Merge {
  readonly level: number;
  readonly upper: readonly TableFile[];
  readonly lower: readonly TableFile[];
}

export class Version {
  readonly levels: readonly (readonly TableFile[])[];
  private readers = 0;

  constructor(levels: readonly (readonly TableFile[])[] = Array.from({ length: LEVELS }, () => [])) {
    this.levels = levels;
  }

  /** The version without some tables and with others. */
  with(removed: ReadonlySet<TableFile>, added: readonly PlacedTable[]): Version {
    const levels = this.levels.map((tables, level) => [
      ...tables.filter((table) => !removed.has(table)),
      ...added.filter((one) => one.level === level).map(({ table }) => table),
    ]);
    levels[0]!.sort((a, b) => b.number - a.number);
    for (const tables of levels.slice(1))
      tables.sort((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : a.number - b.number));
    return new Version(levels);
  }

  get tables(): TableFile[] {
    return this.levels.flat();
  }

  /** Keeps its files until `release`. */
  hold(): void {
    if (this.readers++ > 0) return;
    for (const table of this.tables) table.holders++;
  }

  /** Removes the files that no version has any more. */
  release(): void {
    if (--this.readers > 0) return;
    for (const table of this.tables) if (--table.holders === 0) table.remove();
  }

  /** The newest change of a key. */
  *find(key: string, fillCache: boolean): Reading<Found> {
    for (const [level, tables] of this.levels.entries()) {
      const candidates = level === 0 ? tables : tables.slice(...this.placeOf(level, key));
      for (const table of candidates) {
        if (key < table.first || key > table.last) continue;
        const found = yield* table.find(key, fillCache);
        if (found !== undefined) return found;
      }
    }
    return undefined;
  }

  /** Position of the table of a level that may contain the key. */
  private placeOf(level: number, key: string): [from: number, to: number] {
    const tables = this.levels[level]!;
    let low = 0;
    for (let high = tables.length; low < high;) {
      const middle = (low + high) >>> 1;
      if (tables[middle]!.last < key) low = middle + 1;
      else high = middle;
    }
    return [low, low + 1];
  }

  cursors(span: Span, fillCache: boolean): Cursor[] {
    const [overlapping, ...others] = this.levels;
    const groups = [...overlapping!.map((table) => [table]), ...others.filter((tables) => tables.length > 0)];
    return groups.map((tables) => new TablesCursor(tables, span, fillCache));
  }

  /** Tables of a level that have keys from `first` to `last`. */
  overlapping(level: number, first: string, last: string): TableFile[] {
    return (this.levels[level] ?? []).filter((table) => table.first <= last && table.last >= first);
  }

  /** Whether a level behind this one may have the key. */
  isBelow(level: number, key: string): boolean {
    for (let i = level + 1; i < this.levels.length; i++) {
      const table = this.levels[i]![this.placeOf(i, key)[0]];
      if (table !== undefined && table.first <= key) return true;
    }
    return false;
  }

  /** The deepest level that has keys of the range. */
  deepest(first: string, last: string): number {
    for (let level = this.levels.length - 1; level > 0; level--)
      if (this.overlapping(level, first, last).length > 0) return level;
    return 0;
  }

  /** What should be merged next; `pointers` tell behind which key each level is to continue. Null when all is well. */
  nextMerge(pointers: readonly string[]): Merge | null {
    let best = 1;
    let level = -1;
    for (let i = 0; i < this.levels.length - 1; i++) {
      const tables = this.levels[i]!;
      const bytes = tables.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
      const score = i === 0 ? tables.length / MOST_OVERLAPPING : bytes / (LEVEL_1_BYTES * GROWTH ** (i - 1));
      if (score < best) continue;
      best = score;
      level = i;
    }
    if (level < 0) return null;
    const tables = this.levels[level]!;
    if (level === 0) return this.merge(0, tables);
    return this.merge(level, [tables.find(({ last }) => last > (pointers[level] ?? '')) ?? tables[0]!]);
  }

  /** The next tables of a level to be merged where all with keys from `first` to `last` are; null when there are none. */
  mergeOfRange(level: number, first: string, last: string): Merge | null {
    const tables = this.overlapping(level, first, last);
    return tables.length === 0
      ? null
      : this.merge(level, level === 0 ? tables : tables.slice(0, TABLES_AT_ONCE));
  }

  /** With all tables of the level that share a key with these, or else an older change would stay above a newer one. */
  private merge(level: number, wanted: readonly TableFile[]): Merge {
    let upper = wanted;
    for (;;) {
      const [first, last] = spanOf(upper);
      const all = this.overlapping(level, first, last);
      if (all.length === upper.length)
        return { level, upper, lower: this.overlapping(level + 1, first, last) };
      upper = all;
    }
  }
}

/** The first and the last key of tables. */
export function spanOf(tables: readonly TableFile[]): [first: string, last: string] {
  const firsts = tables.map(({ first }) => first).sort();
  const lasts = tables.map(({ last }) => last).sort();
  return [firsts[0]!, lasts.at(-1)!];
}
