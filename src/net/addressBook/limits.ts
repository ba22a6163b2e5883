/** Sizes and limits of the address book. Source: Core addrman.h. */

export const NEW_BUCKETS = 1024;
export const TRIED_BUCKETS = 256;
export const BUCKET_SIZE = 64;

/** Number of buckets in the tried table that the addresses of one group can use. */
export const TRIED_BUCKETS_PER_GROUP = 8;
/** Number of buckets in the new table that the addresses announced by one source group can use. */
export const NEW_BUCKETS_PER_SOURCE_GROUP = 64;
/** Maximum number of slots in the new table that one address can have. */
export const NEW_PLACES_PER_ADDRESS = 8;

/** An address that was not announced for this time counts as gone. */
export const HORIZON_SEC = 30 * 86_400;
/** Number of failures after which an address that was never reachable is removed. */
export const MAX_RETRIES = 3;
/**
 * Number of successive failures (`MAX_FAILURES`), over at least `MIN_FAIL_SEC`, after which a formerly reachable address is
 * removed.
 */
export const MAX_FAILURES = 10;
export const MIN_FAIL_SEC = 7 * 86_400;

/** A tried address that was reachable within this time keeps its slot when another address claims the slot. */
export const REPLACEMENT_SEC = 4 * 3600;
/**
 * Time after which an address that claims an occupied slot of the tried table gets it, even if the present address could not
 * be tested.
 */
export const TEST_WINDOW_SEC = 40 * 60;
/** Maximum number of addresses that wait for a slot in the tried table. */
export const MAX_COLLISIONS = 10;

/** Share of the address book that is sent in response to `getaddr`, in percent; `GETADDR_MAX` is the maximum number. */
export const GETADDR_PERCENT = 23;
export const GETADDR_MAX = 2500;
