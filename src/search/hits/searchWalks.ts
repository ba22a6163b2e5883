/**
 * Searches that are read page by page. What one found is kept as it was found, since blocks change what claims score and
 * weigh, and which there are: cut again from what the index has then, a later page would show claims again or leave some
 * out.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Bytes } from '../../util/bytes.js';
import type { Constraints } from '../query/constraints.js';
import type { SearchPage } from '../searchBackend.js';
import { badRequest } from '../query/searchError.js';

/** Walks that are kept, some 20 kB each; the one that was not asked for the longest goes first. Arbitrary. */
const MAX_WALKS = 1000;
const ID_BYTES = 20;
const CURSOR = /^([0-9a-f]{32})-([0-9]{1,4})$/;

/** A page of a walk. What it tells beside its rows is notified of all pages together. */
export interface WalkPage extends SearchPage {
  /** What leads to the page behind this one; null for none. */
  readonly next: string | null;
}

interface Walk {
  readonly asked: string;
  readonly limit: number;
  /** Ids of all claims found, one behind the other. */
  readonly ids: Buffer;
  readonly answer: Omit<SearchPage, 'rows'>;
}

/** The key of a constraint. */
export function constraintsKey(constraints: Constraints): string {
  const sorted = Object.entries(constraints).sort(([a], [b]) => (a < b ? -1 : 1));
  const text = JSON.stringify(sorted, (_key, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  return createHash('sha256').update(text).digest('hex');
}

export class SearchWalks {
  /** The one asked for last is last. */
  private readonly walks = new Map<string, Walk>();

  /** The first page of what was found; `asked` are the constraints, by their key. */
  begin(asked: string, limit: number, { rows, ...answer }: SearchPage): WalkPage {
    const walk = { asked, limit, ids: Buffer.concat(rows), answer };
    const id = randomBytes(16).toString('hex');
    const page = pageOf(id, walk, 0);
    if (page.next === null) return page;
    this.walks.set(id, walk);
    for (const oldest of this.walks.keys()) {
      if (this.walks.size <= MAX_WALKS) break;
      this.walks.delete(oldest);
    }
    return page;
  }

  /** The page to which the `next` of another leads, any number of times. Throws `SearchError`. */
  goOn(cursor: string, asked: string): WalkPage {
    const [, id, place] = CURSOR.exec(cursor) ?? [];
    if (id === undefined) throw badRequest('after: the value is no "next" of a page.');
    const walk = this.walks.get(id);
    if (walk === undefined)
      throw badRequest('after: the pages are not kept any more. Begin again with an empty "after".');
    if (walk.asked !== asked) throw badRequest('after: the page before was of other constraints.');
    this.walks.delete(id);
    this.walks.set(id, walk);
    return pageOf(id, walk, Number(place));
  }
}

function pageOf(id: string, { ids, limit, answer }: Walk, place: number): WalkPage {
  const end = place + limit;
  const rows: Bytes[] = [];
  for (let at = place * ID_BYTES; at < Math.min(end * ID_BYTES, ids.length); at += ID_BYTES)
    rows.push(ids.subarray(at, at + ID_BYTES));
  return { ...answer, rows, next: end * ID_BYTES < ids.length ? `${id}-${end}` : null };
}
