/** Decides when a slow peer is disconnected. Source: Core net.cpp `ThreadSocketHandler`. */
import type { Connection } from './connection.js';
import { PING_NONCE_VERSION } from './pings.js';

const HANDSHAKE_LIMIT_MS = 60_000;
const INACTIVITY_LIMIT_MS = 20 * 60_000;
/** Milliseconds without received data after which a peer that does not support pings with nonces is disconnected. */
const SILENCE_LIMIT_MS = 90 * 60_000;

export interface LatenessFacts {
  readonly ageMs: number;
  readonly connection: Pick<Connection, 'lastSendMs' | 'lastReceiveMs' | 'lastProgressMs' | 'sendQueueBytes'>;
  /** Protocol version of the peer; 0 until its version message is received. */
  readonly protocolVersion: number;
  readonly isReady: boolean;
  /** Age in ms of the ping that the peer has not answered yet; 0 if there is none. */
  readonly pingWaitMs: number;
}

/** Returns the reason for disconnecting a slow peer, or null if the peer is within all time limits. */
export function lateness(facts: LatenessFacts, nowMs: number): string | null {
  if (facts.ageMs <= HANDSHAKE_LIMIT_MS) return null;
  const { lastSendMs, lastReceiveMs, lastProgressMs, sendQueueBytes } = facts.connection;
  if (lastReceiveMs === 0 || lastSendMs === 0) {
    return `socket no message in first 60 seconds, ${Number(lastReceiveMs !== 0)} ${Number(lastSendMs !== 0)}`;
  }
  if (sendQueueBytes > 0 && nowMs - lastProgressMs > INACTIVITY_LIMIT_MS)
    return `socket sending timeout: ${Math.round((nowMs - lastProgressMs) / 1000)}s`;
  if (nowMs - lastSendMs > INACTIVITY_LIMIT_MS)
    return `socket sending timeout: ${Math.round((nowMs - lastSendMs) / 1000)}s`;
  const receiveLimitMs = facts.protocolVersion >= PING_NONCE_VERSION ? INACTIVITY_LIMIT_MS : SILENCE_LIMIT_MS;
  if (nowMs - lastReceiveMs > receiveLimitMs)
    return `socket receive timeout: ${Math.round((nowMs - lastReceiveMs) / 1000)}s`;
  if (facts.pingWaitMs > INACTIVITY_LIMIT_MS) return `ping timeout: ${(facts.pingWaitMs / 1000).toFixed(1)}s`;
  if (!facts.isReady) return 'version handshake timeout';
  return null;
}
