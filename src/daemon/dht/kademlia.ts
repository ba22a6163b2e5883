/** Numbers of the protocol. Source: lbry-sdk lbry/dht/constants.py. */

/** Nodes that hold an announcement, contacts in a bucket, peers on a page. */
export const K = 8;
/** Requests of a lookup at a time. */
export const ALPHA = 5;
const MINUTE_MS = 60_000;
export const REFRESH_MS = 60 * MINUTE_MS;
/** The pause before the second refresh; lbry-sdk refreshes hourly from the beginning, so young networks have gaps for an hour. */
export const FIRST_REFRESH_MS = MINUTE_MS;
/** Time for which a reply keeps a contact good, and for which failures without a reply count. */
export const GOOD_MS = 12 * MINUTE_MS;
/** Failures that are older are forgotten. */
export const FAILURE_MS = 10 * MINUTE_MS;
export const ANNOUNCEMENT_MS = 24 * 60 * MINUTE_MS;
export const TOKEN_MS = 5 * MINUTE_MS;
/** Delay between the request of an unknown node and its ping: if the table has space for it, and if the bucket is full. */
export const PING_DELAY_MS = { room: 1000, full: 5 * MINUTE_MS } as const;
export const DEFAULT_RPC_TIMEOUT_MS = 5000;
