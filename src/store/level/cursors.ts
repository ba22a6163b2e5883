/** Walks over rows in order, forwards or backwards: of a run in memory, of tables behind each other, of all of these as one. */
import type { RowRange } from '../rows.js';
import { lowerBound } from '../../util/lowerBound.js';
import { isPut, valueAt, type Block } from './block.js';
import { runLowerBound, type MemoryRun } from './memoryRun.js';
import type { Reading, TableFile } from './tableFile.js';

export type Span = Pick<RowRange, 'gte' | 'lt' | 'reverse'>;

/** The same key may come more than once, with another tag each time. */
export interface Cursor {
  /** Null behind the last row of the span. */
  readonly key: string | null;
  readonly tag: number;
  /** A view; of no worth where the tag says that it is deleted. */
  value(): Buffer;
  /** Goes to the first row; only once. */
  start(): Reading<void>;
  /** Goes to the next row; what it returns must be run before the row is looked at, null when there is nothing to run. */
  next(): Reading<void> | null;
}

const NOTHING = Buffer.alloc(0);

export class RunCursor implements Cursor {
  private readonly run: MemoryRun;
  private readonly step: 1 | -1;
  private readonly end: number;
  private at: number;

  constructor(run: MemoryRun, { gte, lt, reverse = false }: Span) {
    this.run = run;
    const [from, to] = [runLowerBound(run, gte), runLowerBound(run, lt)];
    this.step = reverse ? -1 : 1;
    this.at = reverse ? Math.max(from, to) - 1 : from;
    this.end = reverse ? from - 1 : Math.max(from, to);
  }

  get key(): string | null {
    return this.at === this.end ? null : this.run[this.at]!.key;
  }
  get tag(): number {
    return this.run[this.at]!.tag;
  }
  value(): Buffer {
    return this.run[this.at]!.value ?? NOTHING;
  }
  *start(): Reading<void> {
    return;
  }
  next(): null {
    this.at += this.step;
    return null;
  }
}

/** Tables whose rows follow each other. */
export class TablesCursor implements Cursor {
  key: string | null = null;
  tag = 0;
  private readonly tables: readonly TableFile[];
  private readonly span: Span;
  private readonly step: 1 | -1;
  private readonly fillCache: boolean;
  /** Which table, which of its blocks, which of that one's entries. */
  private table: number;
  private index: Block | null = null;
  private blockAt = 0;
  private block: Block | null = null;
  private at = 0;

  /** `tables` in order, with nothing in them that lies between two. */
  constructor(tables: readonly TableFile[], span: Span, fillCache: boolean) {
    const { gte, lt } = span;
    this.tables = tables.filter(({ first, last }) => first < lt && last >= gte);
    this.span = span;
    this.fillCache = fillCache;
    this.step = span.reverse === true ? -1 : 1;
    this.table = span.reverse === true ? this.tables.length - 1 : 0;
  }

  value(): Buffer {
    return valueAt(this.block!, this.at);
  }

  *start(): Reading<void> {
    const { gte, lt } = this.span;
    const table = this.tables[this.table];
    if (table === undefined) return;
    this.index = yield* table.index();
    // Backwards the rows wanted lie before the first block that reaches `lt`, or at its beginning.
    const edge = this.step > 0 ? gte : lt;
    this.blockAt = Math.min(lowerBound(this.index.keys, edge), this.index.keys.length - 1);
    this.block = yield* table.block(this.index, this.blockAt, this.fillCache);
    const bound = lowerBound(this.block.keys, edge);
    this.at = this.step > 0 ? bound : bound - 1;
    if (this.isInside) this.show();
    else yield* this.goOn();
  }

  private get isInside(): boolean {
    return this.at >= 0 && this.at < this.block!.keys.length;
  }

  private show(): void {
    const { gte, lt } = this.span;
    const key = this.block!.keys[this.at]!;
    this.key = key >= gte && key < lt ? key : null;
    this.tag = this.block!.tags[this.at]!;
  }

  next(): Reading<void> | null {
    this.at += this.step;
    if (!this.isInside) return this.goOn();
    this.show();
    return null;
  }

  /** To the nearest block in the direction, of this table or the next. */
  private *goOn(): Reading<void> {
    this.key = null;
    do {
      this.blockAt += this.step;
      if (this.blockAt < 0 || this.blockAt >= this.index!.keys.length) {
        this.table += this.step;
        const table = this.tables[this.table];
        if (table === undefined) return;
        this.index = yield* table.index();
        this.blockAt = this.step > 0 ? 0 : this.index.keys.length - 1;
      }
      this.block = yield* this.tables[this.table]!.block(this.index!, this.blockAt, this.fillCache);
      this.at = this.step > 0 ? 0 : this.block.keys.length - 1;
    } while (!this.isInside);
    this.show();
  }
}

/** The newest change of each key among all sources, deletions included. */
export class MergedCursor {
  key: string | null = null;
  tag = 0;
  value: Buffer = NOTHING;
  private readonly sources: readonly Cursor[];
  private readonly isReverse: boolean;
  isStarted = false;

  constructor(sources: readonly Cursor[], { reverse = false }: Span) {
    this.sources = sources;
    this.isReverse = reverse;
  }

  get isDeletion(): boolean {
    return !isPut(this.tag);
  }

  *next(): Reading<void> {
    if (!this.isStarted) {
      for (const source of this.sources) yield* source.start();
      this.isStarted = true;
    }
    let best: string | null = null;
    for (const { key } of this.sources) {
      if (key === null || key === best) continue;
      if (best === null || key < best !== this.isReverse) best = key;
    }
    this.key = best;
    if (best === null) return;
    this.tag = -1;
    for (const source of this.sources) {
      while (source.key === best) {
        if (source.tag > this.tag) {
          this.tag = source.tag;
          this.value = source.value();
        }
        const reading = source.next();
        if (reading !== null) yield* reading;
      }
    }
  }
}
