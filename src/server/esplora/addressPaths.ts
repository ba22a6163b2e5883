/**
 * Esplora paths for addresses and script hashes. They read the address index. Source: Esplora API.md "Addresses"; electrs
 * rest.rs.
 */
import { historyMark, type HistoryEntry, type UnspentEntry } from '../../index/addressQueries.js';
import { scriptKeyOf } from '../../index/addressScripts.js';
import { noTotals, type ScriptTotals } from '../../index/addressRows.js';
import { formatOutPoint } from '../../primitives/transaction.js';
import { atOneTip } from '../../rpc/methods/addressindex/atOneTip.js';
import { mempoolMoves } from '../../rpc/methods/addressindex/mempoolMoves.js';
import type { AddressService } from '../../interfaces/services.js';
import { t, type Schema, type SchemaFields } from '../../schema/schema.js';
import { assert } from '../../util/assert.js';
import { equalBytes, hashFromHex, hashToHex, isHex, type Bytes } from '../../util/bytes.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import { isPromise } from '../../util/maybePromise.js';
import { TXS_A_PAGE } from './blockPaths.js';
import { badRequest, type EsploraCall, type EsploraHandler, type EsploraPath } from './declaration.js';
import { scriptParam } from './params.js';
import { jsonReply, pageReply } from './reply.js';
import { STATUS_SCHEMA, statusAnswer, TRANSACTION_SCHEMA } from './txFormat.js';
import { placeOf, txAnswers } from './txFacts.js';

/** Maximum number of mempool transactions in a response. Source: electrs `MAX_MEMPOOL_TXS`. */
const MAX_MEMPOOL_TXS = 50;
/** Number of history entries that one call to the index reads. */
const ENTRIES_AT_ONCE = 500;
/** Maximum number of unspent outputs in a response. electrs allows 500. */
const MAX_UTXOS = 5000;

const STATS_SCHEMA = t.named(
  'EsploraStats',
  t.object({
    tx_count: t.int('transactions that pay to it or spend from it'),
    funded_txo_count: t.int('outputs that pay to it'),
    funded_txo_sum: t.sats('their amounts'),
    spent_txo_count: t.int('how many of them are spent'),
    spent_txo_sum: t.sats('the amounts of the spent outputs'),
  }),
);

const UTXO_SCHEMA = t.named(
  'EsploraUtxo',
  t.object({
    txid: t.hash('the transaction'),
    vout: t.int('the number of the output'),
    status: STATUS_SCHEMA,
    value: t.sats('the amount'),
  }),
);

function statsAnswer({ receivedSat, spentSat, txCount, outputCount, spentCount }: ScriptTotals): JsonOut {
  return {
    tx_count: txCount,
    funded_txo_count: outputCount,
    funded_txo_sum: receivedSat,
    spent_txo_count: spentCount,
    spent_txo_sum: spentSat,
  };
}

function indexOf({ services }: EsploraCall): AddressService {
  assert(services.addresses, 'the path declares that it needs the address index');
  return services.addresses;
}

async function mempoolTotals(call: EsploraCall, key: string): Promise<ScriptTotals> {
  const index = indexOf(call);
  const totals = noTotals();
  totals.txCount = index.ofMempool(key).size;
  if (totals.txCount === 0) return totals;
  const query = { keys: [key], asked: new Map([[key, '']]), afterMempool: undefined };
  for await (const { amountSat, spends } of mempoolMoves(call.services, index, query)) {
    if (spends === null) {
      totals.receivedSat += amountSat;
      totals.outputCount++;
    } else {
      totals.spentSat += amountSat;
      totals.spentCount++;
    }
  }
  return totals;
}

const stats: EsploraHandler = async (call) => {
  const { key, as } = scriptParam(call);
  const [chain, mempool] = await atOneTip(call.services, async () => {
    const [totals] = await indexOf(call).totals([key]);
    return [totals ?? noTotals(), await mempoolTotals(call, key)] as const;
  });
  return jsonReply({ ...as, chain_stats: statsAnswer(chain), mempool_stats: statsAnswer(mempool) });
};

/** Ids of the mempool transactions that involve the script, the newest first. */
function waitingTxids(call: EsploraCall, key: string): Buffer[] {
  const waiting = indexOf(call).mempoolTransactions([key]);
  return waiting
    .slice(-MAX_MEMPOOL_TXS)
    .reverse()
    .map(({ txid }) => txid);
}

/**
 * One page of the script's confirmed transactions: those after transaction `last`, or the first page. Empty if the script's
 * history does not contain `last`.
 */
async function chainPage(call: EsploraCall, key: string, last: string | undefined): Promise<HistoryEntry[]> {
  const index = indexOf(call);
  const request = { limit: TXS_A_PAGE, descending: true };
  if (last === undefined || last === '') return (await index.history([key], request)).entries;
  const after = await markOf(call, key, last);
  return after === null ? [] : (await index.history([key], { ...request, after })).entries;
}

/**
 * Finds the history mark (the position for paging) of a transaction in the history of a script. Null if the history does not
 * contain the transaction.
 */
async function markOf(call: EsploraCall, key: string, text: string): Promise<Buffer | null> {
  if (text.length !== 64 || !isHex(text)) return null;
  const txid = hashFromHex(text);
  const places = call.services.txIndex?.find(txid) ?? [];
  for (const { height, staleBlock } of isPromise(places) ? await places : places) {
    if (staleBlock === null) {
      const mark = await markAt(call, key, txid, height);
      if (mark !== null) return mark;
    }
  }
  return null;
}

/**
 * Finds the history mark of a transaction in the history of a script, within the block at `height`; null if the block's
 * entries do not contain it.
 */
async function markAt(call: EsploraCall, key: string, txid: Bytes, height: number): Promise<Buffer | null> {
  let after: Buffer | undefined;
  for (;;) {
    const request = { limit: ENTRIES_AT_ONCE, startHeight: height, endHeight: height, after };
    const { entries, next } = await indexOf(call).history([key], request);
    const entry = entries.find((one) => equalBytes(one.txid, txid));
    if (entry !== undefined) return historyMark(entry);
    if (next === null) return null;
    after = next;
  }
}

const txs: EsploraHandler = async (call) => {
  const { key } = scriptParam(call);
  const after = call.query.get('after_txid') ?? undefined;
  const txids = await atOneTip(call.services, async () => {
    const waiting = after === undefined ? waitingTxids(call, key) : [];
    return [...waiting, ...(await chainPage(call, key, after)).map(({ txid }) => txid)];
  });
  return pageReply(await txAnswers(call, txids));
};

const chainTxs: EsploraHandler = async (call) => {
  const { key } = scriptParam(call);
  const page = await chainPage(call, key, call.params['last']);
  return pageReply(
    await txAnswers(
      call,
      page.map(({ txid }) => txid),
    ),
  );
};

const mempoolTxs: EsploraHandler = async (call) => {
  const { key } = scriptParam(call);
  return pageReply(await txAnswers(call, waitingTxids(call, key)));
};

function utxoAnswer(call: EsploraCall, outPoint: Bytes, height: number | null, value: bigint): JsonOut {
  const bytes = Buffer.from(outPoint);
  const { active } = call.services.chain.chain.index;
  return {
    txid: hashToHex(bytes.subarray(0, 32)),
    vout: bytes.readUInt32LE(32),
    status: statusAnswer(height === null ? null : placeOf(call.services, active.at(height))),
    value,
  };
}

/** Unspent outputs of mempool transactions that pay to the script. */
function unspentOfMempool(call: EsploraCall, key: string): JsonOut[] {
  const { mempool } = call.services;
  const found: JsonOut[] = [];
  for (const { txid } of indexOf(call).mempoolTransactions([key])) {
    for (const [index, { script, value }] of (mempool.transaction(txid)?.outputs ?? []).entries()) {
      const outPoint = formatOutPoint({ hash: txid, index });
      if (scriptKeyOf(script) === key && !mempool.isSpent(outPoint))
        found.push(utxoAnswer(call, outPoint, null, value));
    }
  }
  return found;
}

const utxos: EsploraHandler = async (call) => {
  const { key } = scriptParam(call);
  const { mempool } = call.services;
  const unspent = await atOneTip(call.services, async () => {
    const { entries, next } = await indexOf(call).unspent([key], { limit: MAX_UTXOS });
    if (next !== null) throw badRequest(`Too many unspent transaction outputs (>${MAX_UTXOS})`);
    const confirmed = entries
      .filter(({ outPoint }: UnspentEntry) => !mempool.isSpent(outPoint))
      .map(({ outPoint, height, amountSat }) => utxoAnswer(call, outPoint, height, amountSat));
    return [...confirmed, ...unspentOfMempool(call, key)];
  });
  return pageReply(unspent);
};

interface Kind {
  readonly name: 'address' | 'scripthash';
  readonly what: string;
  readonly field: SchemaFields;
}

const KINDS: readonly Kind[] = [
  { name: 'address', what: 'an address', field: { address: t.str('the address') } },
  {
    name: 'scripthash',
    what: 'a script, given by its SHA-256 hash in hex; for a claim, the script after the claim operation',
    field: { scripthash: t.str('the hash') },
  },
];

const LIST = (what: string): Schema => t.array(TRANSACTION_SCHEMA, what);

function pathsOf({ name, what, field }: Kind): EsploraPath[] {
  const base = {
    method: 'GET',
    source: 'Esplora',
    cost: 'rows',
    follows: 'chainAndMempool',
    needs: ['txindex', 'addressindex'],
    params: { [name]: name },
  } as const;
  const root = `/api/${name}/:${name}`;
  return [
    {
      ...base,
      path: root,
      needs: ['addressindex'],
      summary: `Sums and counts of outputs of ${what}.`,
      answer: {
        kind: 'json',
        schema: t.object({ ...field, chain_stats: STATS_SCHEMA, mempool_stats: STATS_SCHEMA }),
      },
      run: stats,
    },
    {
      ...base,
      path: `${root}/txs`,
      summary:
        `Up to ${MAX_MEMPOOL_TXS} mempool transactions and the first ${TXS_A_PAGE} confirmed transactions of ${what}. ` +
        'With ?after_txid= the confirmed transactions after that one.',
      answer: { kind: 'json', schema: LIST('the newest first') },
      run: txs,
    },
    {
      ...base,
      path: `${root}/txs/chain(/:last)`,
      params: { ...base.params, last: 'txid' },
      summary: `A page of ${TXS_A_PAGE} confirmed transactions after the given one, of ${what}.`,
      answer: { kind: 'json', schema: LIST('the newest first') },
      run: chainTxs,
    },
    {
      ...base,
      path: `${root}/txs/mempool`,
      summary: `Up to ${MAX_MEMPOOL_TXS} mempool transactions of ${what}.`,
      answer: { kind: 'json', schema: LIST('the newest first') },
      run: mempoolTxs,
    },
    {
      ...base,
      path: `${root}/utxo`,
      summary: `The unspent outputs, first confirmed, then in the mempool, of ${what}. More than ${MAX_UTXOS} outputs give the status 400.`,
      needs: ['addressindex'],
      answer: { kind: 'json', schema: t.array(UTXO_SCHEMA, 'the oldest first') },
      run: utxos,
    },
  ];
}

export const ADDRESS_PATHS: readonly EsploraPath[] = KINDS.flatMap(pathsOf);
