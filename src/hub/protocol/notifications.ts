/** Notification lines for clients. Those about addresses are sent as a batch, even for a single one. */
import { quoteJson, stringifyJson, type JsonOut } from '../../util/json/jsonWrite.js';
import { notificationText, type WireVersion } from './wireMessages.js';

export const PEER_NOTIFICATION = 'blockchain.peers.subscribe';
/** Length of a script hash; other names are addresses. */
const SCRIPT_HASH_DIGITS = 64;

export function headerNotification(version: WireVersion, header: JsonOut): string {
  return notificationText(version, 'blockchain.headers.subscribe', `[${stringifyJson(header)}]`);
}

/** The name in the notification differs: `server.peers.subscribe`. Source: `_notify_peer`. */
export function peerNotification(version: WireVersion, peer: string): string {
  return notificationText(version, PEER_NOTIFICATION, `[${quoteJson(peer)}]`);
}

/** `news`: names as given by the client, with statuses. */
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
