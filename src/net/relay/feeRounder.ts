/**
 * Rounds fee rates randomly before they are sent to peers, because exact rates could identify the node. Source: Core
 * policy/fees.cpp `FeeFilterRounder`.
 */
import type { RandomSource } from '../messageHandler.js';

const MAX_RATE = 1e7;
/** Ratio of two consecutive rounding steps. */
const SPACING = 1.1;

export class FeeRounder {
  /** Rounding steps, ascending, in satoshis per 1,000 virtual bytes. The first is 0. */
  private readonly steps: readonly number[];
  private readonly random: RandomSource;

  constructor(minRatePerKb: bigint, random: RandomSource) {
    this.random = random;
    const steps = [0];
    for (let step = Math.max(1, Math.floor(Number(minRatePerKb) / 2)); step <= MAX_RATE; step *= SPACING) {
      steps.push(step);
    }
    this.steps = steps;
  }

  /** Rounds a rate to a step: up with probability 1/3, otherwise down. */
  round(ratePerKb: bigint): bigint {
    const { steps } = this;
    let at = steps.findIndex((step) => step >= Number(ratePerKb));
    if (at < 0) at = steps.length - 1;
    else if (at > 0 && this.random.int(3) !== 0) at--;
    return BigInt(Math.floor(steps[at]!));
  }
}
