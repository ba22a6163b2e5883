/** Interface of the claim index for lists. Implemented by the module `resolve`. */
import type { LoadedAccount } from '../wallet/loadedAccount.js';
import type { Txo } from '../txo/txo.js';

export interface ResolvePort {
  /**
   * Resolves outputs, in their order. Claims get the data of the claim index (meta, URLs, channel, repost) and keep their
   * notes. An unresolved claim has `meta.error`. Supports get their signing channel. Source: lbry-sdk lbry/wallet/ledger.py
   * `_resolve_for_local_results`.
   */
  resolveTxos(accounts: readonly LoadedAccount[], txos: readonly Txo[]): Promise<Txo[]>;
  /**
   * Finds claims by printed ids. The result has the order of the ids, with null for unknown claims. Empty if the hub does
   * not respond. Source: `resolve_collection`, `get_purchases`.
   */
  claimsById(claimIds: readonly string[]): Promise<(Txo | null)[]>;
}
