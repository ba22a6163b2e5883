/** Returns the name of the network for RPC results. */
import type { NetworkName, NetworkParams } from '../../params/network.js';
import type { Profile } from '../declare/method.js';

const LBCD_NAMES: Readonly<Record<NetworkName, string>> = {
  main: 'mainnet',
  test: 'testnet3',
  regtest: 'regtest',
};

export function networkName(params: NetworkParams, profile: Profile): string {
  if (profile === 'lbrycrd') return params.referenceName;
  return profile === 'lbcd' ? LBCD_NAMES[params.name] : params.name;
}
