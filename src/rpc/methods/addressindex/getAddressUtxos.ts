/** `getaddressutxos`: the unspent outputs of addresses. */
import {
  UNSPENT_MARK_BYTES,
  type AddressRowsPage,
  type UnspentEntry,
} from '../../../index/addressQueries.js';
import { formatOutPoint } from '../../../primitives/transaction.js';
import { yieldIfDue } from '../../../scheduler/yield.js';
import { hashToHex, toHex, type Bytes } from '../../../util/bytes.js';
import { jsonArray, type JsonOut } from '../../../util/json/jsonWrite.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import type { AddressService, RpcServices } from '../../../interfaces/services.js';
import { atOneTip } from './atOneTip.js';
import { mempoolMoves } from './mempoolMoves.js';
import {
  entryLimit,
  flagOf,
  MEMPOOL_BEGIN,
  mempoolMark,
  NEXT_SCHEMA,
  nextField,
  pageRequest,
  parseQuery,
  QUERY_PARAM,
  requireIndex,
  requireWhole,
  type AddressQuery,
  type MempoolMark,
} from './query.js';

/** Value of the field `height` for mempool outputs, as in Bitcore. */
const MEMPOOL_HEIGHT = -1;

const UTXOS_SCHEMA = t.array(
  t.object({
    address: t.str('the requested address or script'),
    txid: t.hash('the id of the transaction that created the output'),
    outputIndex: t.int('the index of the output'),
    script: t.hex('the output script'),
    satoshis: t.sats('the amount of the output'),
    height: t.int('the height of the block that contains it; -1 in the mempool'),
  }),
  'oldest first',
);
const PLACE = {
  hash: t.hash('the hash of the tip'),
  height: t.int('the height of the block'),
};

interface UnspentOutput {
  readonly outPoint: Bytes;
  readonly script: Bytes;
  readonly amountSat: bigint;
  readonly height: number;
  readonly scriptKey: string;
}

interface FoundOutputs {
  outputs: readonly UnspentOutput[];
  next: Bytes | null;
  tip: { hash: string; height: number };
}

const NO_OUTPUTS: AddressRowsPage<UnspentEntry> = { entries: [], next: null };

async function find(
  services: RpcServices,
  index: AddressService,
  query: AddressQuery,
): Promise<FoundOutputs> {
  const { chain } = services.chain;
  const tip = { hash: hashToHex(services.chain.headers.hash(chain.tip)), height: chain.height };
  const { entries, next } = query.afterMempool
    ? NO_OUTPUTS
    : await index.unspent(query.keys, pageRequest(query));
  const outputs = await withScripts(services, entries, query);
  if (!query.mempool || next !== null) return { outputs, next, tip };
  return { outputs, next: await addUnconfirmed(outputs, services, index, query), tip };
}

/** Returns confirmed outputs with their scripts. An output that was spent after the index was read is omitted. */
async function withScripts(
  { chain, mempool }: RpcServices,
  entries: readonly UnspentEntry[],
  query: AddressQuery,
): Promise<UnspentOutput[]> {
  const outputs: UnspentOutput[] = [];
  let since = performance.now();
  for (const entry of entries) {
    since = await yieldIfDue(since);
    if (query.mempool && mempool.isSpent(entry.outPoint)) continue;
    const coin = await chain.coin(entry.outPoint);
    if (coin) outputs.push({ ...entry, script: coin.script });
  }
  return outputs;
}

/**
 * Adds outputs that mempool transactions create and no mempool transaction spends, as far as the page has space. Returns the
 * cursor of the next page.
 */
async function addUnconfirmed(
  outputs: UnspentOutput[],
  services: RpcServices,
  index: AddressService,
  query: AddressQuery,
): Promise<Buffer | null> {
  let last: MempoolMark = query.afterMempool ?? MEMPOOL_BEGIN;
  for await (const move of mempoolMoves(services, index, query)) {
    const outPoint = formatOutPoint({ hash: move.txid, index: move.index });
    if (move.spends !== null || services.mempool.isSpent(outPoint)) continue;
    if (outputs.length === entryLimit(query)) return mempoolMark(last);
    outputs.push({ ...move, outPoint, height: MEMPOOL_HEIGHT });
    last = move;
  }
  return null;
}

export const getAddressUtxos = defineMethod({
  name: 'getaddressutxos',
  category: 'addressindex',
  explorer: 'console',
  chainUse: 'reads',
  summary:
    'Returns the unspent outputs of one or more addresses or scripts (needs -addressindex). "mempool": ' +
    'true in the query adds outputs of mempool transactions and leaves out outputs that mempool ' +
    'transactions spend; "chainInfo": true adds the hash and height of the tip.',
  params: [QUERY_PARAM],
  result: t.union([
    { when: 'without "limit" and "chainInfo"', schema: UTXOS_SCHEMA },
    {
      when: 'otherwise',
      schema: t.object({
        utxos: UTXOS_SCHEMA,
        next: NEXT_SCHEMA,
        hash: t.optional(PLACE.hash, 'with "chainInfo"'),
        height: t.optional(PLACE.height, 'with "chainInfo"'),
      }),
    },
  ]),
  examples: [['"bXYZ…"'], ['{"addresses": ["bXYZ…"], "limit": 100, "mempool": true}']],
  async run({ services }, { addresses }) {
    const index = requireIndex(services);
    const query = await parseQuery(services, addresses, UNSPENT_MARK_BYTES);
    const withTip = flagOf(query.options, 'chainInfo');
    const { outputs, next, tip } = await atOneTip(services, () => find(services, index, query));
    requireWhole(query, next);
    const utxos = jsonArray(answers(outputs, query));
    if (query.limit === null && !withTip) return utxos;
    return { utxos, ...nextField(next), ...(withTip ? tip : {}) };
  },
});

function* answers(outputs: readonly UnspentOutput[], { asked }: AddressQuery): Generator<JsonOut> {
  for (const { outPoint, script, amountSat, height, scriptKey } of outputs) {
    yield {
      address: asked.get(scriptKey)!,
      txid: hashToHex(outPoint.subarray(0, 32)),
      outputIndex: Buffer.from(outPoint).readUInt32LE(32),
      script: toHex(script),
      satoshis: amountSat,
      height,
    };
  }
}
