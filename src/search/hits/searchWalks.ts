/**
 * Walks: searches that are read page by page. The result of the search is stored when the walk begins, because new blocks
 * change scores, amounts and claims. If later pages came from a new search, they could repeat or omit claims.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Bytes } from '../../util/bytes.js';
import type { Constraints } from '../query/constraints.js';
import type { SearchPage } from '../searchBackend.js';
import { badRequest } from '../query/searchError.js';

/** Maximum number of stored walks of about 20 kB each. The least recently used one is removed first. Arbitrary. */
const MAX_WALKS = 1000;
const ID_BYTES = 20;
const CURSOR = /^([0-9a-f]{32})-([0-9]{1,4})$/;

/** A page of a walk. All fields except `rows` describe all pages together. */
export interface WalkPage extends SearchPage {
  /** Cursor of the next page; null on the last page. */
  readonly next: string | null;
}

interface Walk {
  readonly asked: string;
  readonly limit: number;
  /** Ids of all found claims, concatenated. */
  readonly ids: Buffer;
  readonly answer: Omit<SearchPage, 'rows'>;
}

/** Returns the key of constraints, which does not depend on their order. */
export function constraintsKey(constraints: Constraints): string {
  const sorted = Object.entries(constraints).sort(([a], [b]) => (a < b ? -1 : 1));
  const text = JSON.stringify(sorted, (_key, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  return createHash('sha256').update(text).digest('hex');
}

export class SearchWalks {
  /** Stored walks, the least recently used first. */
  private readonly walks = new Map<string, Walk>();

  /** Starts a walk and returns its first page. `asked` is the key of the constraints (`constraintsKey`). */
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

  /**
   * Returns the page for a cursor. A cursor may be used several times. Throws `SearchError` if the list of hits is not
   * stored any more.
   */
  goOn(cursor: string, asked: string): WalkPage {
    const [, id, place] = CURSOR.exec(cursor) ?? [];
    if (id === undefined) throw badRequest('after: the value is not the "next" of a page.');
    const walk = this.walks.get(id);
    if (walk === undefined)
      throw badRequest(
        'after: the result of this search is not stored any more. Begin again with an empty "after".',
      );
    if (walk.asked !== asked)
      throw badRequest('after: the previous page was requested with other constraints.');
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
