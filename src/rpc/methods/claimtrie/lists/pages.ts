/** Shared code of the claim methods with pages. */
const DEFAULT_COUNT = 100;
/** Maximum number of entries: a few megabytes of results. Arbitrary. */
const MAX_COUNT = 10_000;

/** Declares the parameter for the size of a page. */
export function countParam(description: string) {
  return {
    name: 'count',
    type: 'integer',
    default: DEFAULT_COUNT,
    range: { min: 1, max: MAX_COUNT },
    description,
  } as const;
}

/** Maximum size of a page in lists whose entries are read one by one; a page of the explorer has 100. */
const MAX_PAGE = 1000;

/** Declares the parameter for the page size of such a list. */
export function pageParam(description: string) {
  return {
    name: 'count',
    type: 'integer',
    default: DEFAULT_COUNT,
    range: { min: 1, max: MAX_PAGE },
    description,
  } as const;
}
