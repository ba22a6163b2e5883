/**
 * Rounds fee rates randomly before they are sent to peers, so that they do not identify the node. Source: Core
 * policy/fees.cpp `FeeFilterRounder`.
 */
import type { RandomSource } from '../messageHandler.js';

const MAX_RATE = 1e7;
/** Factor between two steps. */
const SPACING = 1.1;

export class FeeRounder {
  /** Ascending, satoshis per 1,000 virtual bytes; the first is 0. */
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

  /** Returns the step above with probability 1/3, else the step below. */
  round(ratePerKb: bigint): bigint {
    const { steps } = this;
    let at = steps.findIndex((step) => step >= Number(ratePerKb));
    if (at < 0) at = steps.length - 1;
    else if (at > 0 && this.random.int(3) !== 0) at--;
    return BigInt(Math.floor(steps[at]!));
  }
}
