/** Wallets: opening, creating, locking, exporting. Source: lbry-sdk daemon.py `jsonrpc_wallet_*`. */
import { skippedComponent } from '../../base/daemonError.js';
import { pageOf, pageOfList } from '../../base/pages.js';
import type { DaemonServices } from '../context.js';
import {
  walletAdd,
  walletBalance,
  walletCreate,
  walletDecrypt,
  walletEncrypt,
  walletExport,
  walletImport,
  walletList,
  walletLock,
  walletReconnect,
  walletRemove,
  walletStatus,
  walletUnlock,
} from '../declarations/wallet.js';
import { implement, type MethodImplementation } from '../implement.js';
import { balanceToJson, walletToJson } from '../walletAnswers.js';

const list = implement(walletList, ({ services }, args) => {
  if (args.wallet_id)
    return pageOfList([walletToJson(services.wallets.get(args.wallet_id))], {
      page: 1,
      pageSize: 1,
      offset: 0,
    });
  return pageOfList(services.wallets.all.map(walletToJson), pageOf(args));
});

const create = implement(walletCreate, async ({ services }, args) => {
  const generator = args.single_key ? 'single-address' : 'deterministic-chain';
  const wallet = await services.wallets.create(args.wallet_id, args.create_account ? generator : null);
  if (!args.skip_on_startup) await openAtStart(services, args.wallet_id);
  return walletToJson(wallet);
});

async function openAtStart({ settings }: DaemonServices, id: string): Promise<void> {
  const ids = settings.get('wallets');
  if (!ids.includes(id)) await settings.set('wallets', [...ids, id]);
}

const add = implement(walletAdd, async ({ services }, args) =>
  walletToJson(await services.wallets.add(args.wallet_id)),
);

const remove = implement(walletRemove, async ({ services }, args) =>
  walletToJson(await services.wallets.remove(args.wallet_id)),
);

const balance = implement(walletBalance, async ({ services }, args) =>
  balanceToJson(await services.wallets.get(args.wallet_id).balance(args.confirmations)),
);

const status = implement(walletStatus, ({ services }, args) => {
  const { runningWallets, settings } = services;
  if (settings.get('components_to_skip').includes('wallet')) throw skippedComponent('wallet');
  if (runningWallets === null) return { is_encrypted: null, is_syncing: null, is_locked: null };
  const wallet = runningWallets.get(args.wallet_id);
  return {
    is_encrypted: wallet.isEncrypted,
    is_syncing: !wallet.accounts.every(({ id }) => services.ledger.isSynced(id)),
    is_locked: wallet.isLocked,
  };
});

const unlock = implement(walletUnlock, ({ services }, args) =>
  services.wallets.get(args.wallet_id).unlock(args.password),
);

const lock = implement(walletLock, ({ services }, args) => {
  services.wallets.get(args.wallet_id).lock();
  return true;
});

const encrypt = implement(walletEncrypt, async ({ services }, args) => {
  await services.wallets.get(args.wallet_id).encrypt(args.new_password);
  return true;
});

const decrypt = implement(walletDecrypt, async ({ services }, args) => {
  await services.wallets.get(args.wallet_id).decrypt();
  return true;
});

const exportOne = implement(walletExport, ({ services }, args) =>
  services.wallets.get(args.wallet_id).exported(args.password ?? null),
);

const importOne = implement(walletImport, async ({ services }, args) => {
  const wallet = services.wallets.get(args.wallet_id);
  const password = args.password ?? null;
  await wallet.importExport(args.data, password, args.blocking);
  return wallet.exported(password);
});

const reconnect = implement(walletReconnect, async ({ services }) => {
  await services.ledger.reconnect();
  return null;
});

export const walletMethods: readonly MethodImplementation[] = [
  list,
  create,
  add,
  remove,
  balance,
  status,
  unlock,
  lock,
  encrypt,
  decrypt,
  exportOne,
  importOne,
  reconnect,
];
