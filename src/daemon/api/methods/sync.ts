/** Synchronization of wallets on several devices. Source: lbry-sdk daemon.py `jsonrpc_sync_*`. */
import { syncApply, syncHash } from '../declarations/sync.js';
import { implement, type MethodImplementation } from '../implement.js';

const hash = implement(syncHash, ({ services }, args) => services.wallets.get(args.wallet_id).syncHash());

const apply = implement(syncApply, async ({ services }, args) => ({
  ...(await services.wallets.get(args.wallet_id).syncApply(args.password, args.data ?? null, args.blocking)),
}));

export const syncMethods: readonly MethodImplementation[] = [hash, apply];
