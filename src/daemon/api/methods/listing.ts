/** Shared code of methods that list outputs. Source: lbry-sdk daemon.py `jsonrpc_txo_list`. */
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import { mapYielding } from '../../base/mapYielding.js';
import { paged, pageOf } from '../../base/pages.js';
import { txoFilterOf, txoOrderOf, type TxoChoice } from '../../lists/txoFilters.js';
import { listTxos, type ListPorts } from '../../lists/listTxos.js';
import { outputToJson } from '../../txo/outputJson.js';
import type { LoadedAccount } from '../../wallet/loadedAccount.js';
import type { LoadedWallet } from '../../wallet/loadedWallet.js';
import type { DaemonContext } from '../context.js';
import { showPortOf } from '../showPort.js';

/** Arguments that choose the owner of the outputs. */
export interface OwnerArgs {
  readonly account_id?: string | undefined;
  readonly wallet_id?: string | undefined;
}

export interface ListingArgs extends OwnerArgs {
  readonly page?: number | undefined;
  readonly page_size?: number | undefined;
  readonly resolve: boolean;
  readonly order_by?: string | undefined;
  readonly no_totals: boolean;
  readonly include_received_tips: boolean;
}

export interface Owner {
  readonly wallet: LoadedWallet;
  /** The account that the arguments name, or all accounts of the wallet. */
  readonly accounts: readonly LoadedAccount[];
  readonly accountIds: readonly string[];
}

/** Returns the wallet, or the account in it, that the arguments name. Throws `WalletNotLoadedError` or `ValueError`. */
export function ownerOf({ services }: DaemonContext, args: OwnerArgs): Owner {
  const wallet = services.wallets.get(args.wallet_id);
  const accounts = args.account_id ? [wallet.account(args.account_id)] : wallet.accounts;
  return { wallet, accounts, accountIds: accounts.map(({ id }) => id) };
}

export const listPortsOf = ({ services }: DaemonContext, wallet: LoadedWallet): ListPorts => ({
  database: services.ledger.database,
  resolver: services.resolver,
  view: wallet,
});

/** Page of outputs, chosen by the parameters that all list methods share. `choice` adds a filter for the outputs. */
export async function txoPage(
  context: DaemonContext,
  args: ListingArgs,
  choice: TxoChoice,
): Promise<JsonOut> {
  const { wallet, accounts, accountIds } = ownerOf(context, args);
  const { database } = context.services.ledger;
  const filter = txoFilterOf(accountIds, choice);
  const order = txoOrderOf(args.order_by);
  const page = pageOf(args);
  const [txos, total] = await Promise.all([
    listTxos(
      {
        filter,
        page: { order, offset: page.offset, limit: page.pageSize },
        withReceivedTips: args.include_received_tips,
        resolvedFor: args.resolve ? accounts : null,
      },
      listPortsOf(context, wallet),
    ),
    args.no_totals ? null : database.txoCount(filter),
  ]);
  const port = showPortOf(context);
  return paged(await mapYielding(txos, (txo) => outputToJson(txo, port)), total, page);
}
