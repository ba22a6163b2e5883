/** Sizes and limits of the address book. Source: Core addrman.h. */

export const NEW_BUCKETS = 1024;
export const TRIED_BUCKETS = 256;
export const BUCKET_SIZE = 64;

/** Number of buckets in the tried table that the addresses of one group can use. */
export const TRIED_BUCKETS_PER_GROUP = 8;
/** Number of buckets in the table of new addresses that the announcements of one source group can fill. */
export const NEW_BUCKETS_PER_SOURCE_GROUP = 64;
/** Maximum number of slots in the new table that one address can have. */
export const NEW_PLACES_PER_ADDRESS = 8;

/** Seconds after the last announcement at which an address may be removed. */
export const HORIZON_SEC = 30 * 86_400;
/** Number of failed attempts after which an address that was never reached is removed. */
export const MAX_RETRIES = 3;
/**
 * Number of successive failures (`MAX_FAILURES`), over at least `MIN_FAIL_SEC` seconds, after which an address that was
 * reachable before is removed.
 */
export const MAX_FAILURES = 10;
export const MIN_FAIL_SEC = 7 * 86_400;

/** Time in seconds. A tried address that was reachable within this time keeps its slot when another address claims the slot. */
export const REPLACEMENT_SEC = 4 * 3600;
/**
 * Seconds after which an address gets an occupied slot of the table of tried addresses, even if the address in the slot
 * could not be tested.
 */
export const TEST_WINDOW_SEC = 40 * 60;
/** Maximum number of addresses that wait for an occupied slot in the table of tried addresses. */
export const MAX_COLLISIONS = 10;

/** Share of the address book that is sent in response to `getaddr`, in percent; `GETADDR_MAX` is the maximum number. */
export const GETADDR_PERCENT = 23;
export const GETADDR_MAX = 2500;
