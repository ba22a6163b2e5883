/**
 * The peer layer for the network methods. Interfaces only; the peer network implements them. Source: Core
 * net.h `CNodeStats`, `CConnman`.
 */
import type { Bytes } from '../util/bytes.js';

/** One peer in the format of `getpeerinfo`. Times in seconds since 1970 unless the name says otherwise. */
export interface PeerSnapshot {
  readonly id: number;
  readonly address: string;
  /** Our end of the connection; null if unknown. */
  readonly boundAddress: string | null;
  /** Our address as seen by the peer; null if it sent none of use. */
  readonly localAddress: string | null;
  readonly services: bigint;
  readonly relaysTransactions: boolean;
  readonly lastSendSec: number;
  readonly lastReceiveSec: number;
  readonly bytesSent: number;
  readonly bytesReceived: number;
  readonly connectedAtSec: number;
  readonly timeOffsetSec: number;
  /** In seconds; null before the first ping returned. */
  readonly pingSec: number | null;
  readonly minPingSec: number | null;
  /** Time since the current ping was sent; null when none is pending. */
  readonly pingWaitSec: number | null;
  /** 0 before the peer's version message arrived. */
  readonly protocolVersion: number;
  readonly userAgent: string;
  readonly inbound: boolean;
  /** Whether the operator added it. */
  readonly manual: boolean;
  readonly startHeight: number;
  readonly banScore: number;
  /** −1 if no common header is known yet. */
  readonly syncedHeaders: number;
  readonly syncedBlocks: number;
  readonly inFlightHeights: readonly number[];
  readonly whitelisted: boolean;
  readonly minFeeFilterRatePerKb: bigint;
  readonly sentByCommand: ReadonlyMap<string, number>;
  readonly receivedByCommand: ReadonlyMap<string, number>;
}

export interface NetTotals {
  readonly bytesReceived: number;
  readonly bytesSent: number;
  readonly timeMs: number;
  /** `-maxuploadtarget`. */
  readonly upload: {
    readonly timeframeSec: number;
    /** In bytes; 0 without a target. */
    readonly target: number;
    readonly targetReached: boolean;
    readonly servesHistoricalBlocks: boolean;
    readonly bytesLeftInCycle: number;
    readonly secondsLeftInCycle: number;
  };
}

export interface AddedNodeInfo {
  readonly name: string;
  readonly connected: { readonly address: string; readonly inbound: boolean } | null;
}

export interface BanEntry {
  /** Address or subnet, as printed. */
  readonly subnet: string;
  readonly createdSec: number;
  readonly untilSec: number;
  readonly reason: string;
}

export interface KnownAddress {
  readonly timeSec: number;
  readonly services: bigint;
  readonly address: string;
  readonly port: number;
}

export interface PeerService {
  list(): readonly PeerSnapshot[];
  /** Sends a ping to every peer. */
  ping(): void;
  /** Tries to connect once; resolves when the attempt has succeeded or failed. */
  tryOnce(node: string): Promise<void>;
  /** False if the node was already in the list. */
  addNode(node: string): boolean;
  /** False when it was not there. */
  removeNode(node: string): boolean;
  addedNodes(): readonly AddedNodeInfo[];
  /** False if no peer has this address (`host:port` as printed) or this number. */
  disconnectAddress(address: string): boolean;
  disconnectId(id: bigint): boolean;
  totals(): NetTotals;
  setActive(active: boolean): void;
  isActive(): boolean;
  /** `untilOrForSec` 0 means the default duration; absolute times are seconds since 1970. */
  ban(subnet: string, untilOrForSec: bigint, absolute: boolean): 'ok' | 'invalid' | 'already';
  unban(subnet: string): 'ok' | 'invalid' | 'absent';
  bans(): readonly BanEntry[];
  clearBans(): void;
  /** Announces a transaction of the mempool to peers. */
  announce(txid: Bytes): void;
  /** At most `count` random addresses of the address book. */
  knownAddresses(count: number): readonly KnownAddress[];
}
