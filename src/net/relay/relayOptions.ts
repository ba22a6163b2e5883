/** Options for relaying transactions, and for the peers from which transactions are accepted. */
import type { Peer } from '../messageHandler.js';

export interface RelayOptions {
  /** Whether transactions are relayed (false with `-blocksonly`). */
  readonly relaysTransactions: boolean;
  /** Whether whitelisted peers may send transactions even with `-blocksonly` (`-whitelistrelay`). */
  readonly whitelistRelay: boolean;
  /**
   * Whether transactions of whitelisted peers are relayed even if they are already known or rejected by policy
   * (`-whitelistforcerelay`).
   */
  readonly whitelistForceRelay: boolean;
}

/** Whether the peer may announce and send transactions. */
export function takesTransactionsFrom(options: RelayOptions, peer: Peer): boolean {
  return options.relaysTransactions || (peer.isWhitelisted && options.whitelistRelay);
}

/** Whether all transactions of the peer are relayed, even known and rejected transactions. */
export function forcesRelay(options: RelayOptions, peer: Peer): boolean {
  return peer.isWhitelisted && options.whitelistForceRelay;
}
