/** Addresses of accounts. Source: lbry-sdk daemon.py `jsonrpc_address_*`. */
import { paged, pageOf } from '../../base/pages.js';
import { addressIsMine, addressList, addressUnused } from '../declarations/address.js';
import { implement, type MethodImplementation } from '../implement.js';
import { addressToJson } from '../walletAnswers.js';

const isMine = implement(addressIsMine, ({ services }, args) =>
  services.wallets.get(args.wallet_id).account(args.account_id).holds(args.address),
);

const list = implement(addressList, async ({ services }, args) => {
  const { ledger } = services;
  const wallet = services.wallets.get(args.wallet_id);
  const page = pageOf(args);
  const filter = {
    accountIds: args.account_id ? [wallet.account(args.account_id).id] : wallet.accountIds,
    ...(args.address ? { address: args.address } : {}),
  };
  const [rows, total] = await Promise.all([
    ledger.database.addresses(filter, { offset: page.offset, limit: page.pageSize }),
    ledger.database.addressCount(filter),
  ]);
  return paged(
    rows.map((row) => addressToJson(row, ledger.params)),
    total,
    page,
  );
});

const unused = implement(addressUnused, ({ services }, args) =>
  services.wallets.get(args.wallet_id).account(args.account_id).nextReceivingAddress(),
);

export const addressMethods: readonly MethodImplementation[] = [isMine, list, unused];
