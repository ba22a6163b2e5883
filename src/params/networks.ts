/** Finds a network's parameters by name. */
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

/** Term in blocks after which what is made or renewed in a block at `height` expires. Source: `Params::GetExpirationTime`. */
export function claimExpirationBlocks(params: NetworkParams, height: number): number {
  const forks = params.claimForks;
  return height < forks.extendedExpirationForkHeight ? forks.originalExpiration : forks.extendedExpiration;
}
