/** An entry of the address book, and properties that depend only on the entry. Source: Core addrman.h `CAddrInfo`. */
import { fromLatin1, toLatin1 } from '../../util/bytes.js';
import type { NetAddress } from '../netAddress.js';
import { HORIZON_SEC, MAX_FAILURES, MAX_RETRIES, MIN_FAIL_SEC } from './limits.js';

/** Stored data of an address. IP addresses are 16 bytes as latin1 strings, the most compact form. */
export interface StoredEntry {
  readonly ip: string;
  readonly port: number;
  services: bigint;
  timeSec: number;
  /** IP address of the peer that announced the address first. */
  readonly source: string;
  /** Time of the last successful connection, in seconds since 1970; 0 if there was none. */
  lastSuccessSec: number;
  /** Number of failures since the last success. */
  attempts: number;
}

export interface PeerBookEntry extends StoredEntry {
  /** Time of the last attempt to connect, in seconds since 1970; 0 if there was none since the start of the node. */
  lastTrySec: number;
  lastCountedAttemptSec: number;
  isTried: boolean;
  /** Slots of the entry in the table of new addresses; empty if the entry is in the table of tried addresses. */
  newSlots: number[];
  /** Index of the entry in the book's list of all entries. */
  listIndex: number;
}

export function makeEntry(stored: StoredEntry): PeerBookEntry {
  const { ip, port, services, timeSec, source, lastSuccessSec, attempts } = stored;
  return {
    ip,
    port,
    services,
    timeSec,
    source,
    lastSuccessSec,
    attempts,
    lastTrySec: 0,
    lastCountedAttemptSec: 0,
    isTried: false,
    newSlots: [],
    listIndex: -1,
  };
}

export const ipKey = (address: NetAddress): string => toLatin1(address.ip);

export const addressOf = ({ ip, port }: Pick<StoredEntry, 'ip' | 'port'>): NetAddress => ({
  ip: fromLatin1(ip),
  port,
});

/** Whether the entry is so bad that it may be removed, for example old or unreachable. Source: `CAddrInfo::IsTerrible`. */
export function isTerrible(entry: PeerBookEntry, nowSec: number): boolean {
  const { timeSec, lastTrySec, lastSuccessSec, attempts } = entry;
  if (lastTrySec !== 0 && lastTrySec >= nowSec - 60) return false;
  if (timeSec > nowSec + 10 * 60) return true;
  if (timeSec === 0 || nowSec - timeSec > HORIZON_SEC) return true;
  if (lastSuccessSec === 0 && attempts >= MAX_RETRIES) return true;
  return nowSec - lastSuccessSec > MIN_FAIL_SEC && attempts >= MAX_FAILURES;
}

/**
 * Probability that a randomly drawn entry is accepted, relative to an address without failures. Source:
 * `CAddrInfo::GetChance`.
 */
export function selectionChance(entry: PeerBookEntry, nowSec: number): number {
  const sinceTrySec = Math.max(nowSec - entry.lastTrySec, 0);
  return (sinceTrySec < 10 * 60 ? 0.01 : 1) * 0.66 ** Math.min(entry.attempts, 8);
}
