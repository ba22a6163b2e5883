/** Formats the difficulty of a block for each profile. */
import { decodeCompact, difficultyOf } from '../../primitives/compactTarget.js';
import type { NetworkParams } from '../../params/network.js';
import type { Profile } from '../declare/method.js';

/** Selects the profile for which a result is formatted. */
export interface View {
  readonly profile: Profile;
  readonly params: Pick<NetworkParams, 'powLimitBits'>;
}

const LBCD_DECIMALS = 100_000_000n;

/**
 * Returns the difficulty of a compact target. lbcd's difficulty is relative to the network's maximum target and has eight
 * decimals. Source: `getDifficultyRatio`.
 */
export function difficultyAnswer(bits: number, view?: View): number {
  if (view?.profile !== 'lbcd') return difficultyOf(bits);
  const { target } = decodeCompact(bits);
  if (target === 0n) return 0;
  const limit = decodeCompact(view.params.powLimitBits).target;
  const scaled = (2n * limit * LBCD_DECIMALS + target) / (2n * target);
  return Number(`${scaled / LBCD_DECIMALS}.${String(scaled % LBCD_DECIMALS).padStart(8, '0')}`);
}
