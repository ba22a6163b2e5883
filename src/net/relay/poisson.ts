/**
 * Random send times that do not reveal when data was received: a Poisson process. Source: Core
 * net.cpp `PoissonNextSend`, `PoissonNextSendInbound`.
 */
import type { RandomSource } from '../messageHandler.js';

/** Next time of a Poisson process with mean interval `averageMs`. */
export function poissonNextMs(nowMs: number, averageMs: number, random: RandomSource): number {
  const share = Number(random.u64() >> 16n) / 2 ** 48;
  return nowMs - Math.log1p(-share) * averageMs;
}

/**
 * One timer for all inbound peers, so that many connections reveal no more than one.
 */
export class SharedTimer {
  private readonly random: RandomSource;
  private nextMs = 0;

  constructor(random: RandomSource) {
    this.random = random;
  }

  /** The next time, shared by all requests before it. */
  next(nowMs: number, averageMs: number): number {
    if (this.nextMs < nowMs) this.nextMs = poissonNextMs(nowMs, averageMs, this.random);
    return this.nextMs;
  }
}
