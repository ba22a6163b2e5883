/**
 * Lists of claims, supports and purchases of a wallet. Source: lbry-sdk daemon.py `jsonrpc_claim_list` and its siblings,
 * `jsonrpc_collection_list`, `jsonrpc_purchase_list`.
 */
import { mapYielding } from '../../base/mapYielding.js';
import { paged, pageOf } from '../../base/pages.js';
import { CLAIM_TXO_TYPES, TXO_TYPE } from '../../ledger/txoQuery.js';
import { supportChoice, unspentByDefault } from '../../lists/txoFilters.js';
import { collectionFilter, listCollections, listPurchases } from '../../lists/listTxos.js';
import { outputToJson } from '../../txo/outputJson.js';
import { channelList } from '../declarations/channel.js';
import { claimList } from '../declarations/claim.js';
import { collectionList } from '../declarations/collection.js';
import { purchaseList } from '../declarations/purchase.js';
import { streamList } from '../declarations/stream.js';
import { supportList } from '../declarations/support.js';
import { implement, type MethodImplementation } from '../implement.js';
import { showPortOf } from '../showPort.js';
import { listPortsOf, ownerOf, txoPage } from './listing.js';

const CLAIM_TYPES = Object.entries(TXO_TYPE).flatMap(([name, type]) =>
  CLAIM_TXO_TYPES.includes(type) ? [name] : [],
);

const claims = implement(claimList, (context, args) =>
  txoPage(context, args, { ...unspentByDefault(args), type: args.claim_type ?? CLAIM_TYPES }),
);

const channels = implement(channelList, (context, args) =>
  txoPage(context, args, { ...unspentByDefault(args), type: ['channel'] }),
);

const streams = implement(streamList, (context, args) =>
  txoPage(context, args, { ...unspentByDefault(args), type: ['stream'] }),
);

const supports = implement(supportList, (context, args) => txoPage(context, args, supportChoice(args, args)));

const collections = implement(collectionList, async (context, args) => {
  const { wallet, accounts, accountIds } = ownerOf(context, args);
  const page = pageOf(args);
  const [txos, total] = await Promise.all([
    listCollections(
      {
        accountIds,
        page: { offset: page.offset, limit: page.pageSize },
        resolvedFor: args.resolve ? accounts : null,
      },
      args.resolve_claims,
      listPortsOf(context, wallet),
    ),
    context.services.ledger.database.txoCount(collectionFilter(accountIds)),
  ]);
  const port = showPortOf(context);
  return paged(await mapYielding(txos, (txo) => outputToJson(txo, port)), total, page);
});

const purchases = implement(purchaseList, async (context, args) => {
  const { wallet, accountIds } = ownerOf(context, args);
  const page = pageOf(args);
  const filter = {
    accountIds,
    isPurchase: true,
    ...(args.claim_id ? { purchasedClaimIds: args.claim_id } : {}),
  };
  const [txos, total] = await Promise.all([
    listPurchases(
      { filter, page: { offset: page.offset, limit: page.pageSize }, isResolved: args.resolve },
      listPortsOf(context, wallet),
    ),
    context.services.ledger.database.transactionCount(filter),
  ]);
  const port = showPortOf(context);
  return paged(await mapYielding(txos, (txo) => outputToJson(txo, port)), total, page);
});

export const claimListMethods: readonly MethodImplementation[] = [
  claims,
  channels,
  streams,
  supports,
  collections,
  purchases,
];
