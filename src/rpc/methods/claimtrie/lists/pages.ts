/** Default number of entries on a page, for all claim methods with pages. */
const DEFAULT_COUNT = 100;
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
const MAX_PAGE = 1000;

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
