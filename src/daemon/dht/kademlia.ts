/** Numbers of the protocol. Source: lbry-sdk lbry/dht/constants.py. */

/** Number of nodes that store an announcement, of contacts in a bucket, and of peers on a page. */
export const K = 8;
/** Number of concurrent requests in one lookup. */
export const ALPHA = 5;
const MINUTE_MS = 60_000;
export const REFRESH_MS = 60 * MINUTE_MS;
/**
 * Milliseconds before the second refresh of the routing table. lbry-sdk refreshes hourly from the start, so tables in a
 * young network are incomplete for an hour.
 */
export const FIRST_REFRESH_MS = MINUTE_MS;
/** Milliseconds for which a contact is good after a reply, and for which failures count if the contact never replied. */
export const GOOD_MS = 12 * MINUTE_MS;
/** Milliseconds after which a failure that followed a reply is ignored. */
export const FAILURE_MS = 10 * MINUTE_MS;
export const ANNOUNCEMENT_MS = 24 * 60 * MINUTE_MS;
export const TOKEN_MS = 5 * MINUTE_MS;
/**
 * Delay between a request from an unknown node and the ping to this node: `room` if the routing table has space for the
 * node, `full` if its bucket is full.
 */
export const PING_DELAY_MS = { room: 1000, full: 5 * MINUTE_MS } as const;
