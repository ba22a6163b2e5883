import type { Bytes } from '../../../../util/bytes.js';
import { parseCursor, type Cursor } from './cursors.js';

/** Default number of entries on a page, for all claim methods with pages. */
export const DEFAULT_COUNT = 100;
/** Maximum number of entries on a page. Arbitrary: bounds a result to a few megabytes. */
const MAX_COUNT = 10_000;

/** Declares the parameter for the page size of a list. */
export function countParam(description: string) {
  return {
    name: 'count',
    type: 'integer',
    default: DEFAULT_COUNT,
    range: { min: 1, max: MAX_COUNT },
    description,
  } as const;
}

/** Maximum page size in entries of lists whose entries are read one by one. A page of the explorer has 100. */
export const MAX_PAGE = 1000;

/** Declares the parameter for the page size of a list whose entries are read one by one. */
export function pageParam(description: string) {
  return {
    name: 'count',
    type: 'integer',
    default: DEFAULT_COUNT,
    range: { min: 1, max: MAX_PAGE },
    description,
  } as const;
}

/** Declares the parameter for the page size of a method that returns a whole list by default, as lbrycrd does. */
export function optionalCountParam(description: string) {
  return {
    name: 'count',
    type: 'integer',
    range: { min: 1, max: MAX_PAGE },
    defaultText: `all, or with "after" ${DEFAULT_COUNT}`,
    description,
  } as const;
}

/** Declares the parameter for the cursor of a page. */
export function afterParam(source: string) {
  return {
    name: 'after',
    type: 'string',
    defaultText: 'the first page',
    description: `Cursor of the page: ${source}. It determines the block`,
  } as const;
}

/** A page that a call of such a method requests. */
export interface ClaimsPageRequest {
  readonly count: number;
  readonly cursor: Cursor | null;
}

/**
 * Returns the page that a call requests; null if it requests the whole list. `tagOf` returns the tag of the list (`listTag`). `field` is the field of an
 * answer that contains the cursor.
 */
export function requestedPage(
  count: number | undefined,
  after: string | undefined,
  tagOf: () => Bytes,
  field: 'next' | 'nextSupports',
): ClaimsPageRequest | null {
  if (count === undefined && after === undefined) return null;
  const cursor = after === undefined ? null : parseCursor(after, tagOf(), 1, field);
  return { count: count ?? DEFAULT_COUNT, cursor };
}
