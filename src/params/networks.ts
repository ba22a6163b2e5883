/** Returns a network's parameters by name. */
import { mainParams } from './main.js';
import type { NetworkName, NetworkParams } from './network.js';
import { regtestParams } from './regtest.js';
import { testParams } from './test.js';

const NETWORKS: Readonly<Record<NetworkName, NetworkParams>> = {
  main: mainParams,
  test: testParams,
  regtest: regtestParams,
};

export function networkParams(name: NetworkName): NetworkParams {
  return NETWORKS[name];
}

/**
 * Returns the lifetime in blocks of a claim or support that is created or updated in a block at `height`. Source:
 * `Params::GetExpirationTime`.
 */
export function claimExpirationBlocks(params: NetworkParams, height: number): number {
  const forks = params.claimForks;
  return height < forks.extendedExpirationForkHeight ? forks.originalExpiration : forks.extendedExpiration;
}
