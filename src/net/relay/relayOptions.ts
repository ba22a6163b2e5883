/** Options for relaying transactions, and whose transactions are accepted. */
import type { Peer } from '../messageHandler.js';

export interface RelayOptions {
  /** False with `-blocksonly`. */
  readonly relaysTransactions: boolean;
  /** `-whitelistrelay`: whitelisted peers may send transactions in any case. */
  readonly whitelistRelay: boolean;
  /** `-whitelistforcerelay`: their transactions are relayed even if already known or rejected by policy. */
  readonly whitelistForceRelay: boolean;
}

/** Whether the peer may announce and send transactions. */
export function takesTransactionsFrom(options: RelayOptions, peer: Peer): boolean {
  return options.relaysTransactions || (peer.isWhitelisted && options.whitelistRelay);
}

/** Whether all transactions of the peer are relayed. */
export function forcesRelay(options: RelayOptions, peer: Peer): boolean {
  return peer.isWhitelisted && options.whitelistForceRelay;
}
