/** Sizes and limits of the address book. Source: Core addrman.h. */

export const NEW_BUCKETS = 1024;
export const TRIED_BUCKETS = 256;
export const BUCKET_SIZE = 64;

/** Number of buckets for the tried addresses of one group. */
export const TRIED_BUCKETS_PER_GROUP = 8;
/** Number of buckets for the addresses announced by one source group. */
export const NEW_BUCKETS_PER_SOURCE_GROUP = 64;
/** Maximum number of slots of one address in the new table. */
export const NEW_PLACES_PER_ADDRESS = 8;

/** Addresses not announced for this time are considered gone. */
export const HORIZON_SEC = 30 * 86_400;
/** Number of failures without any success after which an address is dropped. */
export const MAX_RETRIES = 3;
/** Number of successive failures, over at least this time, after which a formerly reachable address is dropped. */
export const MAX_FAILURES = 10;
export const MIN_FAIL_SEC = 7 * 86_400;

/** A tried address with a success within this time keeps its slot. */
export const REPLACEMENT_SEC = 4 * 3600;
/** Time after which a new address gets a contested slot of the tried table without a test. */
export const TEST_WINDOW_SEC = 40 * 60;
/** Maximum number of addresses that wait for a slot in the tried table. */
export const MAX_COLLISIONS = 10;

/** Percentage of the book that is sent for a `getaddr`. */
export const GETADDR_PERCENT = 23;
export const GETADDR_MAX = 2500;
