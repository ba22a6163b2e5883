/**
 * Methods that query the claim index: URLs, search, members of a collection, the price of a stream, supports of a claim.
 * Source: lbry-sdk daemon.py `jsonrpc_resolve`, `jsonrpc_claim_search`, `jsonrpc_collection_resolve`,
 * `get_est_cost_from_uri`, `jsonrpc_support_sum`.
 */
import { feeCurrencies, formatFeeAmount } from '../../../metadata/fee.js';
import { yieldIfDue } from '../../../scheduler/yield.js';
import { hashToHex } from '../../../util/bytes.js';
import { boundedErrorText } from '../../../util/text/errorText.js';
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import { float } from '../../base/answerJson.js';
import { badValue, failure } from '../../base/daemonError.js';
import { paged, pageOf, type ResultPage } from '../../base/pages.js';
import type { Inflated, Resolved } from '../../resolve/inflate.js';
import { failureMembers } from '../../resolve/resolver.js';
import { searchQuery } from '../../resolve/searchQuery.js';
import { supportSums } from '../../resolve/supportSums.js';
import { outputToJson, type ShowPort } from '../../txo/outputJson.js';
import { Txo } from '../../txo/txo.js';
import type { DaemonContext } from '../context.js';
import { claimSearch } from '../declarations/claim.js';
import { collectionResolve } from '../declarations/collection.js';
import { resolve } from '../declarations/main.js';
import { streamCostEstimate } from '../declarations/stream.js';
import { supportSum } from '../declarations/support.js';
import { implement, type MethodImplementation } from '../implement.js';
import { showPortOf } from '../showPort.js';

/** Source: `jsonrpc_claim_search`. */
const MAX_PAGE_SIZE = 50;
const DEWIES_PER_LBC = 1e8;
/** Decimal places of an estimated price. */
const PRICE_PLACES = 5;

const accountIdsOf = ({ services }: DaemonContext, walletId: string | undefined): string[] =>
  services.wallets.get(walletId).accounts.map(({ id }) => id);

/** Page numbers for the hub. For a negative number its absolute value is used. */
function pageOfHub(args: {
  readonly page?: number | undefined;
  readonly page_size?: number | undefined;
}): ResultPage {
  const pageSize = args.page_size && Math.min(Math.abs(args.page_size), MAX_PAGE_SIZE);
  return pageOf({ page: args.page && Math.abs(args.page), page_size: pageSize });
}

/** Formats each item by `show`. Yields to the event loop between items, since `show` verifies signatures. */
async function shown<Item>(items: Iterable<Item>, show: (item: Item) => JsonOut): Promise<JsonOut[]> {
  const answers: JsonOut[] = [];
  let since = performance.now();
  for (const item of items) {
    answers.push(show(item));
    since = await yieldIfDue(since);
  }
  return answers;
}

function resolvedToJson(url: string, resolved: Resolved | null, port: ShowPort): JsonOut {
  if (resolved === null) return { error: boundedErrorText(`${url} is not a valid url`) };
  if (resolved instanceof Txo) return outputToJson(resolved, port);
  const { name, censor } = resolved.failure;
  const error = failureMembers(resolved.failure);
  // lbry-sdk has the member for every blocked claim; it is null if the hub does not name the blocking channel.
  return { error: name === 'BLOCKED' ? { ...error, censor: censor && outputToJson(censor, port) } : error };
}

/** Stores resolved claims for the list of files, so that a file shows the current state of its claim. */
async function keepResolved(
  { services }: DaemonContext,
  resolved: readonly (Resolved | null)[],
): Promise<void> {
  const { runningFiles, settings, ledger } = services;
  if (runningFiles === null || !settings.get('save_resolved_claims')) return;
  const claims = resolved.filter((one) => one instanceof Txo);
  await runningFiles.keepResolved(claims, ledger.params);
}

const resolveUrls = implement(resolve, async (context, args) => {
  const accountIds = accountIdsOf(context, args.wallet_id);
  const found = await context.services.resolver.resolve(args.urls, accountIds, {
    purchaseReceipt: args.include_purchase_receipt,
    isMyOutput: args.include_is_my_output,
    sentSupports: args.include_sent_supports,
    sentTips: args.include_sent_tips,
    receivedTips: args.include_received_tips,
  });
  await keepResolved(context, [...found.values()]);
  const port = showPortOf(context);
  const answers = await shown(found, ([url, resolved]) => resolvedToJson(url, resolved, port));
  return new Map([...found.keys()].map((url, n) => [url, answers[n]!]));
});

const txosOf = ({ rows }: Inflated): Txo[] => rows.filter((row) => row instanceof Txo);

const searchClaims = implement(claimSearch, async (context, args) => {
  const { others, ...given } = args;
  const page = pageOfHub(args);
  const query = searchQuery(given, others, { offset: page.offset, limit: page.pageSize });
  const found = await context.services.resolver.search(query, accountIdsOf(context, args.wallet_id), {
    purchaseReceipt: args.include_purchase_receipt,
    isMyOutput: args.include_is_my_output,
  });
  const port = showPortOf(context);
  const items = await shown(txosOf(found), (txo) => outputToJson(txo, port));
  const channels = await shown(found.blocked, ({ channel, count }) => ({
    channel: channel && outputToJson(channel, port),
    blocked: count,
  }));
  return {
    ...paged(items, args.no_totals ? null : found.total, page),
    blocked: { total: found.blockedTotal, channels },
  };
});

/** Finds the claim of a collection by its id or URL. Throws `Exception` if no claim matches. */
async function collectionAt(
  { services: { resolver } }: DaemonContext,
  claimId: string | undefined,
  url: string | undefined,
): Promise<Txo> {
  if (claimId) {
    const found = await resolver.claimById(claimId);
    if (found === null) throw failure(`Could not find collection with claim_id '${claimId}'.`);
    return found;
  }
  if (!url) throw failure('Missing argument claim_id or url.');
  const found = (await resolver.resolve([url])).get(url);
  if (found instanceof Txo) return found;
  throw failure(`Could not find collection with url '${url}'.`);
}

const resolveCollection = implement(collectionResolve, async (context, args) => {
  context.services.wallets.get(args.wallet_id);
  const collection = await collectionAt(context, args.claim_id, args.url);
  const type = collection.claim?.claim.type;
  if (type?.case !== 'collection')
    throw badValue(`The claim '${hashToHex(collection.claimId!)}' is not a collection.`);
  const claimIds = type.value.claimReferences.map(({ claimHash }) => hashToHex(claimHash));
  const page = pageOfHub(args);
  const wanted = claimIds.slice(page.offset, page.offset + page.pageSize);
  const claims = await context.services.resolver.claimsById(wanted);
  const port = showPortOf(context);
  const items = await shown(claims, (claim) => claim && outputToJson(claim, port));
  return paged(items, claimIds.length, page);
});

const estimateCost = implement(streamCostEstimate, async ({ services }, { uri }) => {
  const found = (await services.resolver.resolve([uri])).get(uri);
  if (!(found instanceof Txo)) throw failure(`Could not find claim with url '${uri}'.`);
  const type = found.claim?.claim.type;
  const fee = type?.case === 'stream' ? type.value.fee : undefined;
  if (fee === undefined) return float(0);
  const dewies = services.txBuilder.ports.exchange.toDewies(
    feeCurrencies.nameOf(fee.currency),
    formatFeeAmount(fee),
  );
  return float(Number((Number(dewies) / DEWIES_PER_LBC).toFixed(PRICE_PLACES)));
});

const sumSupports = implement(supportSum, async ({ services }, args) => {
  const { claim_id: claimId, include_channel_content: includesChannelContent } = args;
  if (!/^[0-9a-f]{40}$/.test(claimId)) throw badValue(`'${claimId}' is not a claim id: 40 hex digits.`);
  const page = pageOfHub(args);
  const sums = await supportSums(services.ledger.hub, {
    claimId,
    includesChannelContent,
    offset: page.offset,
    limit: page.pageSize,
  });
  const items = sums.map(({ channelId, channelName, shortUrl, amount, count }) => ({
    channel_id: channelId,
    channel_name: channelName,
    supporter: `lbry://${shortUrl}`,
    staked: amount,
    supports: count,
  }));
  return paged(items, null, page);
});

export const resolvingMethods: readonly MethodImplementation[] = [
  resolveUrls,
  searchClaims,
  resolveCollection,
  estimateCost,
  sumSupports,
];
