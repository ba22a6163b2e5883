/** Where the daemon's time and chance come from; tests bring their own. */
import { randomBytes } from 'node:crypto';

export interface Clock {
  /** Unix time in whole seconds. */
  nowSec(): number;
}

export interface RandomSource {
  bytes(count: number): Buffer;
}

export const systemClock: Clock = { nowSec: () => Math.floor(Date.now() / 1000) };

export const systemRandom: RandomSource = { bytes: (count) => randomBytes(count) };
