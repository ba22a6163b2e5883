/** The measures of the address book. Source: Core addrman.h. */

export const NEW_BUCKETS = 1024;
export const TRIED_BUCKETS = 256;
export const BUCKET_SIZE = 64;

/** Over how many buckets the tried addresses of one group are spread. */
export const TRIED_BUCKETS_PER_GROUP = 8;
/** Over how many buckets the addresses that one source group reports are spread. */
export const NEW_BUCKETS_PER_SOURCE_GROUP = 64;
/** How many places in the new table one address may take. */
export const NEW_PLACES_PER_ADDRESS = 8;

/** An address not heard of for so long is as good as gone. */
export const HORIZON_SEC = 30 * 86_400;
/** This many failures without a success, and we give an address up. */
export const MAX_RETRIES = 3;
/** This many failures in a row, within at least so long, and we give up an address that once answered. */
export const MAX_FAILURES = 10;
export const MIN_FAIL_SEC = 7 * 86_400;

/** A tried address that answered so recently keeps its place. */
export const REPLACEMENT_SEC = 4 * 3600;
/** Time after which a newcomer gets a contested place in the tried table untested. */
export const TEST_WINDOW_SEC = 40 * 60;
/** How many newcomers may wait for a place in the tried table. */
export const MAX_COLLISIONS = 10;

/** How much of the book one `getaddr` gets to see. */
export const GETADDR_PERCENT = 23;
export const GETADDR_MAX = 2500;
