/** The number of new coins that a block may create. Source: lbrycrd validation.cpp `GetBlockSubsidy`, `withinLevelBounds`. */
import { COIN } from './limits.js';

/** 400,000,000 coins. */
const GENESIS_SUBSIDY_SAT = 400_000_000n * COIN;
/** The last height with a reward of one coin. */
const LAST_FLAT_HEIGHT = 5100;
/** The rising part starts at this height and increases by one coin every `RISING_STEP_BLOCKS`. */
const RISING_BASE_HEIGHT = 5000;
const RISING_STEP_BLOCKS = 100;
const LAST_RISING_HEIGHT = 55000;
const PEAK_SUBSIDY_COINS = 500;

/** Returns the integer r with r(r+1)/2 <= level < (r+1)(r+2)/2. */
function reductionAt(level: number): number {
  let reduction = Math.floor((Math.sqrt(8 * level + 1) - 1) / 2);
  while ((reduction * (reduction + 1)) / 2 > level) reduction--;
  while (((reduction + 1) * (reduction + 2)) / 2 <= level) reduction++;
  return reduction;
}

/**
 * Satoshis that the coinbase of a block at `height` may pay in addition to the fees.
 * `levelInterval` is the network's `subsidyLevelInterval`, in blocks.
 */
export function blockSubsidy(height: number, levelInterval: number): bigint {
  if (height === 0) return GENESIS_SUBSIDY_SAT;
  if (height <= LAST_FLAT_HEIGHT) return COIN;
  if (height <= LAST_RISING_HEIGHT) {
    return BigInt(Math.ceil((height - RISING_BASE_HEIGHT) / RISING_STEP_BLOCKS)) * COIN;
  }
  const level = Math.floor((height - (LAST_RISING_HEIGHT + 1)) / levelInterval);
  const reduction = reductionAt(level);
  return reduction >= PEAK_SUBSIDY_COINS ? 0n : BigInt(PEAK_SUBSIDY_COINS - reduction) * COIN;
}
