/**
 * Fork heights of a generated chain, and the options with which nodes follow the chain. The generated chain represents
 * blocks 0 to `MAIN_BLOCKS` of the main network, scaled down. It begins with blocks without transactions, because no coin is
 * mature.
 */
import { mainParams } from '../../params/main.js';
import type { NetworkParams } from '../../params/network.js';
import { regtestParams, regtestWith } from '../../params/regtest.js';
import { MAIN_BLOCKS } from './proportions.js';

/**
 * Number of blocks without transactions at the start of the chain, until the first coinbase is mature. Source: lbrycrd consensus/consensus.h `COINBASE_MATURITY`.
 */
export const FIRST_BLOCKS = 100;
/** Minimum number of blocks of a chain. With fewer blocks several forks would have the same height. */
export const LEAST_BLOCKS = 300;

/** Fork heights of a chain. `main`: those of the main network, scaled. `regtest`: those of lbrycrd on regtest. */
export type ForkPlan = 'main' | 'regtest';

export interface ChainForks {
  readonly params: NetworkParams;
  /** Command-line options with which lbcnode and lbrycrd follow the generated chain. */
  readonly nodeArgs: { readonly lbcnode: readonly string[]; readonly lbrycrd: readonly string[] };
}

/** Options that both programs need to follow the chain. Unmodified lbrycrd does not have these options, see docs/testing.md. */
function forkArgs({ claimForks: forks, segwitHeight }: NetworkParams): string[] {
  return [
    `-claimexpiration=${forks.originalExpiration},${forks.extendedExpiration}`,
    `-forkheight=extendedexpiration@${forks.extendedExpirationForkHeight}`,
    `-forkheight=takeoverworkaround@${forks.takeoverWorkaroundMin}-${forks.takeoverWorkaroundMax}`,
    `-forkheight=normalization@${forks.normalizationForkHeight}`,
    `-forkheight=allclaims@${forks.allClaimsForkHeight}`,
    `-forkheight=segwit@${segwitHeight}`,
  ];
}

/** Network parameters of a chain with this many blocks. Throws `RangeError` for fewer than `LEAST_BLOCKS`. */
export function chainForks(blocks: number, plan: ForkPlan): ChainForks {
  if (!(blocks >= LEAST_BLOCKS)) throw new RangeError(`A chain has at least ${LEAST_BLOCKS} blocks`);
  const ours = ['-regtest', '-supportdelay=proportional'];
  if (plan === 'regtest')
    return { params: regtestParams, nodeArgs: { lbcnode: ours, lbrycrd: ['-regtest'] } };
  const scaled = (height: number): number => Math.round((height * (blocks - FIRST_BLOCKS)) / MAIN_BLOCKS);
  const { claimForks: main, segwitHeight } = mainParams;
  const takeoverMax = FIRST_BLOCKS + scaled(main.takeoverWorkaroundMax);
  const allClaims = Math.max(FIRST_BLOCKS + scaled(main.allClaimsForkHeight), takeoverMax + 1);
  const params = regtestWith({
    claimExpiration: `${scaled(main.originalExpiration)},${scaled(main.extendedExpiration)}`,
    forkHeights: [
      `extendedexpiration@${FIRST_BLOCKS + scaled(main.extendedExpirationForkHeight)}`,
      `takeoverworkaround@${FIRST_BLOCKS + scaled(main.takeoverWorkaroundMin)}-${takeoverMax}`,
      `normalization@${FIRST_BLOCKS + scaled(main.normalizationForkHeight)}`,
      `allclaims@${allClaims}`,
      `segwit@${Math.max(FIRST_BLOCKS + scaled(segwitHeight), allClaims + 1)}`,
    ],
  });
  const args = forkArgs(params);
  return { params, nodeArgs: { lbcnode: [...ours, ...args], lbrycrd: ['-regtest', ...args] } };
}

/** The main network's height to which a block of the generated chain corresponds. */
export function mainHeightOf(height: number, blocks: number): number {
  return Math.max(0, ((height - FIRST_BLOCKS) * MAIN_BLOCKS) / (blocks - FIRST_BLOCKS));
}
