/**
 * Random send times of a Poisson process, from which peers cannot conclude when this node received the data. Source: Core
 * net.cpp `PoissonNextSend`, `PoissonNextSendInbound`.
 */
import type { RandomSource } from '../messageHandler.js';

/** Returns the next event time of a Poisson process with the mean interval `averageMs`. */
export function poissonNextMs(nowMs: number, averageMs: number, random: RandomSource): number {
  const share = Number(random.u64() >> 16n) / 2 ** 48;
  return nowMs - Math.log1p(-share) * averageMs;
}

/**
 * Random timer shared by all inbound peers. An attacker with many connections therefore learns no more than with one.
 */
export class SharedTimer {
  private readonly random: RandomSource;
  private nextMs = 0;

  constructor(random: RandomSource) {
    this.random = random;
  }

  /** Returns the time at which the next message should be sent. All calls before that time return the same value. */
  next(nowMs: number, averageMs: number): number {
    if (this.nextMs < nowMs) this.nextMs = poissonNextMs(nowMs, averageMs, this.random);
    return this.nextMs;
  }
}
