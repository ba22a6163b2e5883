/**
 * When to send what must not show when it came: at moments that are drawn, each as likely as any other. Source: Core
 * net.cpp `PoissonNextSend`, `PoissonNextSendInbound`.
 */
import type { RandomSource } from '../messageHandler.js';

/** The next of events that come every `averageMs` on average and know nothing of one another. */
export function poissonNextMs(nowMs: number, averageMs: number, random: RandomSource): number {
  const share = Number(random.u64() >> 16n) / 2 ** 48;
  return nowMs - Math.log1p(-share) * averageMs;
}

/**
 * One timer for all inbound peers: many connections reveal no more than one.
 */
export class SharedTimer {
  private readonly random: RandomSource;
  private nextMs = 0;

  constructor(random: RandomSource) {
    this.random = random;
  }

  /** The next time for all requests before it. */
  next(nowMs: number, averageMs: number): number {
    if (this.nextMs < nowMs) this.nextMs = poissonNextMs(nowMs, averageMs, this.random);
    return this.nextMs;
  }
}
