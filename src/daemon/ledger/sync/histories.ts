/**
 * Histories of addresses from hubs, and their digests. Source: lbry-sdk lbry/wallet/ledger.py `update_history`; lbryio/hub
 * hub/herald/session.py `address_get_history`.
 */
import { createHash } from 'node:crypto';
import { yieldIfDue } from '../../../scheduler/yield.js';
import { hashFromHex, isHex } from '../../../util/bytes.js';
import type { AddressPrefixes } from '../../../script/address.js';
import { addressHistory } from '../hub/hubAddresses.js';
import { HubLie } from '../hub/hubErrors.js';
import type { HubSession } from '../hub/hubSession.js';

export interface AddressHistoryEntry {
  readonly txid: Buffer;
  /** Txid in the hex form that programs print. */
  readonly id: string;
  /** Block height; 0 for a mempool transaction, or -1 if the mempool transaction has unconfirmed inputs. */
  readonly height: number;
}

const HASH_DIGITS = 64;

const isHash = (value: unknown): value is string =>
  typeof value === 'string' && value.length === HASH_DIGITS && isHex(value);

export interface AddressHistory {
  readonly entries: readonly AddressHistoryEntry[];
  /** Hash of the history, with which a hub reports changes; null for an empty history. */
  readonly status: string | null;
}

/** Number of history entries that may still be loaded into memory. Loading decreases it. */
export interface HistoryRoom {
  left: number;
}

/**
 * Fetches the history of an address. Resolves to null if the histories fetched before used up the limit; the first history
 * may have any length. Throws `HubLie`.
 */
export async function fetchHistory(
  session: HubSession,
  address: string,
  room: HistoryRoom,
  prefixes: AddressPrefixes,
): Promise<AddressHistory | null> {
  const answer = await addressHistory(session, address, prefixes);
  const fail = (): never => {
    throw new HubLie(`The hub ${session.name} sent an invalid history of ${address}`);
  };
  if (!Array.isArray(answer)) return fail();
  if (room.left <= 0) return null;
  room.left -= answer.length;
  const ids = new Set<string>();
  const hash = createHash('sha256');
  const entries: AddressHistoryEntry[] = [];
  let since = performance.now();
  for (const entry of answer as unknown[]) {
    const { tx_hash: id, height } = (entry ?? {}) as Record<string, unknown>;
    if (!isHash(id) || !Number.isSafeInteger(height) || (height as number) < -1) return fail();
    if (ids.size === ids.add(id).size) return fail();
    hash.update(`${id}:${height as number}:`);
    entries.push({ txid: hashFromHex(id), id, height: height as number });
    since = await yieldIfDue(since);
  }
  return { entries, status: entries.length === 0 ? null : hash.digest('hex') };
}

/** Throws `HubLie`. */
export function parseStatus(session: HubSession, value: unknown): string | null {
  if (value === null || isHash(value)) return value;
  throw new HubLie(`The hub ${session.name} sent an invalid status of an address`);
}
