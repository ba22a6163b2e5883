/** Pings to one peer: the pending ping and the measured round-trip times. Source: Core net_processing.cpp `SendMessages`, `PONG`. */
import type { RandomSource } from '../messageHandler.js';

/** First protocol version with nonces in pings (BIP31). */
export const PING_NONCE_VERSION = 60_001;
const INTERVAL_MS = 2 * 60_000;

export class Pings {
  /** Last and lowest round-trip time in ms; −1 before the first pong. */
  lastTookMs = -1;
  leastMs = -1;
  /** Whether a ping was requested and is due at the next tick. */
  isWanted = false;
  private readonly random: Pick<RandomSource, 'u64'>;
  /** Nonce of the pending ping; 0 if no ping is pending. */
  private nonce = 0n;
  private sentMs = 0;
  private lastMs = -Infinity;

  constructor(random: Pick<RandomSource, 'u64'>) {
    this.random = random;
  }

  /** Age in ms of the ping that the peer has not answered yet; 0 if there is none. */
  waitMs(nowMs: number): number {
    return this.nonce === 0n ? 0 : nowMs - this.sentMs;
  }

  isDue(nowMs: number): boolean {
    return this.isWanted || (this.nonce === 0n && nowMs - this.lastMs > INTERVAL_MS);
  }

  /** Starts a ping. Returns the nonce to send, or null if the peer's protocol version has no nonces. */
  begin(nowMs: number, protocolVersion: number): bigint | null {
    this.isWanted = false;
    this.lastMs = nowMs;
    if (protocolVersion < PING_NONCE_VERSION) return null;
    do this.nonce = this.random.u64();
    while (this.nonce === 0n);
    this.sentMs = nowMs;
    return this.nonce;
  }

  /** Handles a pong. A pong that is too short for a nonce (null) always ends the pending ping. */
  answered(nonce: bigint | null, nowMs: number): void {
    const isOurs = this.nonce !== 0n && nonce === this.nonce;
    if (isOurs || nonce === null || nonce === 0n) this.nonce = 0n;
    if (!isOurs) return;
    const tookMs = nowMs - this.sentMs;
    if (tookMs < 0) return;
    this.lastTookMs = tookMs;
    this.leastMs = this.leastMs < 0 ? tookMs : Math.min(this.leastMs, tookMs);
  }
}
