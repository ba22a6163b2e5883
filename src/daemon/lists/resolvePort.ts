/** What lists ask of the claim index: the module `resolve` implements it. */
import type { LoadedAccount } from '../wallet/loadedAccount.js';
import type { Txo } from '../txo/txo.js';

export interface ResolvePort {
  /**
   * The outputs in their order, claims by their form in the claim index (with meta, URLs, channel, repost), which keep
   * their notes; a claim that did not resolve has `meta.error`. Supports get the channel that signed them.
   * Source: lbry-sdk lbry/wallet/ledger.py `_resolve_for_local_results`.
   */
  resolveTxos(accounts: readonly LoadedAccount[], txos: readonly Txo[]): Promise<Txo[]>;
  /**
   * Claims by their ids as printed, null for those that are not found, in the order of the ids; nothing where the hub does
   * not answer. Source: `resolve_collection`, `get_purchases`.
   */
  claimsById(claimIds: readonly string[]): Promise<(Txo | null)[]>;
}
