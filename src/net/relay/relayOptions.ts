/** What the operator may set about relaying transactions, and whose transactions are taken. */
import type { Peer } from '../messageHandler.js';

export interface RelayOptions {
  /** False with `-blocksonly`. */
  readonly relaysTransactions: boolean;
  /** `-whitelistrelay`: whitelisted peers may send transactions all the same. */
  readonly whitelistRelay: boolean;
  /** `-whitelistforcerelay`: what they send is passed on even when it was known, or is refused for policy. */
  readonly whitelistForceRelay: boolean;
}

/** Whether the peer may announce and send transactions. */
export function takesTransactionsFrom(options: RelayOptions, peer: Peer): boolean {
  return options.relaysTransactions || (peer.isWhitelisted && options.whitelistRelay);
}

/** Whether all that the peer sends is passed on. */
export function forcesRelay(options: RelayOptions, peer: Peer): boolean {
  return peer.isWhitelisted && options.whitelistForceRelay;
}
