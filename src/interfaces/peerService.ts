/**
 * Interface of the peer network for the RPC methods about peers. The module `net` implements it. Source: Core net.h
 * `CNodeStats`, `CConnman`.
 */
import type { Bytes } from '../util/bytes.js';

/** Data of one peer in `getpeerinfo`. Times are in seconds since 1970 unless the name says otherwise. */
export interface PeerSnapshot {
  readonly id: number;
  readonly address: string;
  /** Address of this node's end of the connection; null if unknown. */
  readonly boundAddress: string | null;
  /** Address of this node as the peer reported it; null if the peer reported no usable address. */
  readonly localAddress: string | null;
  readonly services: bigint;
  readonly relaysTransactions: boolean;
  readonly lastSendSec: number;
  readonly lastReceiveSec: number;
  readonly bytesSent: number;
  readonly bytesReceived: number;
  readonly connectedAtSec: number;
  readonly timeOffsetSec: number;
  /** Duration of the last ping in seconds; null before the first ping was answered. */
  readonly pingSec: number | null;
  readonly minPingSec: number | null;
  /** Time in seconds since the pending ping was sent; null if none is pending. */
  readonly pingWaitSec: number | null;
  /** Protocol version of the peer; 0 before its version message arrived. */
  readonly protocolVersion: number;
  readonly userAgent: string;
  readonly inbound: boolean;
  /** Whether the operator added the peer (`-addnode`, `addnode`). */
  readonly manual: boolean;
  readonly startHeight: number;
  readonly banScore: number;
  /** Height of the last header or block that this node and the peer have in common; −1 if none is known. */
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
    /** Upload target in bytes per timeframe; 0 if there is none. */
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
  /** Banned address or subnet, as printed. */
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
  /** Tries once to connect to a node. Resolves when the attempt has succeeded or failed. */
  tryOnce(node: string): Promise<void>;
  /** Adds a node to the list of nodes to connect to. Returns false if it is already in the list. */
  addNode(node: string): boolean;
  /** Removes a node from the list of nodes to connect to. Returns false if it is not in the list. */
  removeNode(node: string): boolean;
  addedNodes(): readonly AddedNodeInfo[];
  /** Disconnects the peer with this address (`host:port` as printed) or this number. Returns false if the peer does not exist. */
  disconnectAddress(address: string): boolean;
  disconnectId(id: bigint): boolean;
  totals(): NetTotals;
  setActive(active: boolean): void;
  isActive(): boolean;
  /**
   * Bans a subnet. `untilOrForSec` is a duration, or with `absolute` a time in seconds since 1970; 0 means the default
   * duration.
   */
  ban(subnet: string, untilOrForSec: bigint, absolute: boolean): 'ok' | 'invalid' | 'already';
  unban(subnet: string): 'ok' | 'invalid' | 'absent';
  bans(): readonly BanEntry[];
  clearBans(): void;
  /** Announces a transaction of the mempool to peers. */
  announce(txid: Bytes): void;
  /** At most `count` random addresses of the address book. */
  knownAddresses(count: number): readonly KnownAddress[];
}
