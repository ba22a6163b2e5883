/** `getaddresstxids`: the history of addresses. */
import {
  HISTORY_MARK_BYTES,
  type HistoryEntry,
  type AddressRowsPage,
} from '../../../index/addressQueries.js';
import type { UnconfirmedTransaction } from '../../../index/mempoolAddresses.js';
import { yieldIfDue } from '../../../scheduler/yield.js';
import { hashToHex, type Bytes } from '../../../util/bytes.js';
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import type { AddressService, RpcServices } from '../../../interfaces/services.js';
import { atOneTip } from './atOneTip.js';
import { movesOf } from './mempoolMoves.js';
import {
  entryLimit,
  flagOf,
  MEMPOOL_BEGIN,
  mempoolMark,
  pagedAnswer,
  pagedSchema,
  pageRequest,
  parseQuery,
  QUERY_PARAM,
  requireIndex,
  requireWhole,
  type AddressQuery,
} from './query.js';

const ENTRIES_SCHEMA = t.array(
  t.union([
    { when: 'without "verbose"', schema: t.hash('a transaction id') },
    {
      when: 'with "verbose"',
      schema: t.object({
        txid: t.hash('the transaction id'),
        height: t.optional(t.int('the height of the block that contains it'), 'if it is confirmed'),
        received: t.sats('sum of its outputs that pay to the addresses'),
        spent: t.sats('sum of the outputs of the addresses that it spends'),
      }),
    },
  ]),
  'oldest first, each transaction once, unconfirmed ones last; with "descending" newest first',
);

/** Entries of one page: confirmed transactions, then unconfirmed ones. */
interface FoundTransactions {
  confirmed: readonly HistoryEntry[];
  unconfirmed: readonly UnconfirmedTransaction[];
  next: Bytes | null;
}

const NO_HISTORY: AddressRowsPage<HistoryEntry> = { entries: [], next: null };

async function find(index: AddressService, query: AddressQuery): Promise<FoundTransactions> {
  const { keys, afterMempool } = query;
  const { entries, next } = afterMempool ? NO_HISTORY : await index.history(keys, pageRequest(query));
  if (!query.mempool || next !== null) return { confirmed: entries, unconfirmed: [], next };
  const waiting = index.mempoolTransactions(keys, afterMempool && afterMempool.arrival + 1);
  const unconfirmed = waiting.slice(0, entryLimit(query) - entries.length);
  const isWhole = unconfirmed.length === waiting.length;
  const last = unconfirmed.at(-1);
  const end = last ? { arrival: last.arrival, order: 0 } : MEMPOOL_BEGIN;
  return { confirmed: entries, unconfirmed, next: isWhole ? null : mempoolMark(end) };
}

/** Finds a page in descending order: unconfirmed transactions by time of arrival, latest first, then confirmed ones. */
async function findDescending(index: AddressService, query: AddressQuery): Promise<FoundTransactions> {
  const { keys, after, afterMempool } = query;
  const limit = entryLimit(query);
  const waiting = query.mempool && after === undefined ? index.mempoolTransactions(keys).toReversed() : [];
  const left = waiting.filter(({ arrival }) => !afterMempool || arrival < afterMempool.arrival);
  const unconfirmed = left.slice(0, limit);
  const last = unconfirmed.at(-1);
  // One entry more than needed is requested, to detect whether another page follows.
  const room = limit - unconfirmed.length;
  const request = { ...pageRequest(query), limit: Math.max(1, room), descending: true };
  const history = left.length > limit ? NO_HISTORY : await index.history(keys, request);
  if (room > 0) return { confirmed: history.entries, unconfirmed, next: history.next };
  const isMore = left.length > limit || history.entries.length > 0;
  return {
    confirmed: [],
    unconfirmed,
    next: isMore ? mempoolMark({ arrival: last!.arrival, order: 0 }) : null,
  };
}

/** Formats unconfirmed transactions; with `isVerbose` with their amounts. */
async function unconfirmedAnswers(
  services: RpcServices,
  query: AddressQuery,
  unconfirmed: readonly UnconfirmedTransaction[],
  isVerbose: boolean,
): Promise<JsonOut[]> {
  if (!isVerbose) return unconfirmed.map(({ txid }) => hashToHex(txid));
  const answers: JsonOut[] = [];
  let since = performance.now();
  for (const transaction of unconfirmed) {
    let [received, spent] = [0n, 0n];
    for await (const { amountSat, spends } of movesOf(services, query, transaction))
      if (spends === null) received += amountSat;
      else spent += amountSat;
    answers.push({ txid: hashToHex(transaction.txid), received, spent });
    since = await yieldIfDue(since);
  }
  return answers;
}

export const getAddressTxids = defineMethod({
  name: 'getaddresstxids',
  category: 'addressindex',
  explorer: 'console',
  chainUse: 'reads',
  summary:
    'Returns the ids of the transactions that pay to one or more addresses or scripts or spend from them ' +
    '(needs -addressindex). "verbose": true in the query adds heights and amounts; "descending": true ' +
    'returns the newest first.',
  params: [QUERY_PARAM],
  result: pagedSchema('txids', ENTRIES_SCHEMA),
  examples: [['"bXYZ…"'], ['{"addresses": ["bXYZ…"], "start": 1000, "end": 2000, "limit": 100}']],
  async run({ services }, { addresses }) {
    const index = requireIndex(services);
    const query = await parseQuery(services, addresses, 'getaddresstxids', HISTORY_MARK_BYTES);
    const isVerbose = flagOf(query.options, 'verbose');
    const isDescending = flagOf(query.options, 'descending');
    const search = isDescending ? findDescending : find;
    const { confirmed, waiting, next } = await atOneTip(services, async () => {
      const { unconfirmed, ...found } = await search(index, query);
      return { ...found, waiting: await unconfirmedAnswers(services, query, unconfirmed, isVerbose) };
    });
    requireWhole(query, next);
    const settled = confirmed.map(({ txid, height, receivedSat, spentSat }): JsonOut =>
      isVerbose ? { txid: hashToHex(txid), height, received: receivedSat, spent: spentSat } : hashToHex(txid),
    );
    const txids = isDescending ? [...waiting, ...settled] : [...settled, ...waiting];
    return pagedAnswer(query, 'txids', txids, next);
  },
});
