/** What the claim methods with pages share. */
const DEFAULT_COUNT = 100;
/** A few megabytes of answer at most. Arbitrary. */
const MAX_COUNT = 10_000;

/** Declares the size of a page. */
export function countParam(description: string) {
  return {
    name: 'count',
    type: 'integer',
    default: DEFAULT_COUNT,
    range: { min: 1, max: MAX_COUNT },
    description,
  } as const;
}

/** For lists whose entries are read one by one: a page of the explorer has 100. */
const MAX_PAGE = 1000;

/** Declares the size of a page of such a list. */
export function pageParam(description: string) {
  return {
    name: 'count',
    type: 'integer',
    default: DEFAULT_COUNT,
    range: { min: 1, max: MAX_PAGE },
    description,
  } as const;
}
