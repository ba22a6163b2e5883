/** Text lines of notifications for clients. Notifications about addresses are sent as a JSON batch, even a single one. */
import { stringifyJson } from '../../util/json/jsonStream.js';
import { quoteJson, type JsonOut } from '../../util/json/jsonWrite.js';
import { notificationText, type WireVersion } from './wireMessages.js';

export const PEER_NOTIFICATION = 'blockchain.peers.subscribe';
/** Number of hexadecimal digits of a script hash. A name of another length is an address. */
const SCRIPT_HASH_DIGITS = 64;

export function headerNotification(version: WireVersion, header: JsonOut): string {
  return notificationText(version, 'blockchain.headers.subscribe', `[${stringifyJson(header)}]`);
}

/**
 * Notification about another hub. Its method name differs from that of the subscription, `server.peers.subscribe`. Source:
 * `_notify_peer`.
 */
export function peerNotification(version: WireVersion, peer: string): string {
  return notificationText(version, PEER_NOTIFICATION, `[${quoteJson(peer)}]`);
}

/** Builds notification lines. `news` contains the changed scripts, by the names that the client used, with their new statuses. */
export function addressNotifications(
  version: WireVersion,
  news: readonly (readonly [alias: string, status: string | null])[],
): string {
  const parts = news.map(([alias, status]) => {
    const kind = alias.length === SCRIPT_HASH_DIGITS ? 'scripthash' : 'address';
    const params = `[${quoteJson(alias)},${status === null ? 'null' : `"${status}"`}]`;
    return notificationText(version, `blockchain.${kind}.subscribe`, params);
  });
  return `[${parts.join(', ')}]`;
}
