/** `getaddressutxos`: the unspent outputs of addresses. */
import { UNSPENT_MARK_BYTES, type UnspentEntry } from '../../../index/addressQueries.js';
import { formatOutPoint } from '../../../primitives/transaction.js';
import { hashToHex, toHex, toLatin1, type Bytes } from '../../../util/bytes.js';
import { defineMethod } from '../../method.js';
import { t } from '../../schema.js';
import type { RpcServices } from '../../services.js';
import { mempoolMoves, type MempoolMove } from './mempoolMoves.js';
import {
  flagOf,
  pageRequest,
  parseQuery,
  QUERY_PARAM,
  requireIndex,
  requireWhole,
  type AddressQuery,
} from './query.js';

/** Height that stands for the mempool, as in Bitcore. */
const MEMPOOL_HEIGHT = -1;

const UTXOS_SCHEMA = t.array(
  t.object({
    address: t.str('the address or script that was asked for'),
    txid: t.hash('the transaction that made it'),
    outputIndex: t.int('the output number'),
    script: t.hex('the output script'),
    satoshis: t.sats('the amount'),
    height: t.int('the height of its block, -1 in the mempool'),
  }),
  'the oldest first',
);
const PLACE = {
  hash: t.hash('the tip'),
  height: t.int('its height'),
};

interface UnspentOutput {
  readonly outPoint: Bytes;
  readonly script: Bytes;
  readonly amountSat: bigint;
  readonly height: number;
  readonly scriptKey: string;
}

/** The confirmed ones with their scripts. What was spent since the index was read is left out. */
async function withScripts(
  { chain, mempool }: RpcServices,
  entries: readonly UnspentEntry[],
  query: AddressQuery,
): Promise<UnspentOutput[]> {
  const outputs: UnspentOutput[] = [];
  for (const entry of entries) {
    if (query.mempool && mempool.isSpent(entry.outPoint)) continue;
    const coin = await chain.coin(entry.outPoint);
    if (coin) outputs.push({ ...entry, script: coin.script });
  }
  return outputs;
}

/** Outputs made in the mempool and not spent there. */
function unspentIn(moves: readonly MempoolMove[], { mempool }: RpcServices): UnspentOutput[] {
  return moves
    .filter(({ spends }) => spends === null)
    .map((move) => ({
      ...move,
      outPoint: formatOutPoint({ hash: move.txid, index: move.index }),
      height: MEMPOOL_HEIGHT,
    }))
    .filter(({ outPoint }) => !mempool.isSpent(outPoint));
}

export const getAddressUtxos = defineMethod({
  name: 'getaddressutxos',
  category: 'addressindex',
  summary:
    'Returns the unspent outputs of one or more addresses or scripts (needs -addressindex). With "mempool": true in the query also those made in the mempool, and without those spent there; with "chainInfo": true the tip is told too.',
  params: [QUERY_PARAM],
  result: t.union([
    { when: 'without "limit" and "chainInfo"', schema: UTXOS_SCHEMA },
    {
      when: 'otherwise',
      schema: t.object({
        utxos: UTXOS_SCHEMA,
        next: t.optional(t.hex('where the next page begins'), 'when there is one'),
        hash: t.optional(PLACE.hash, 'with "chainInfo"'),
        height: t.optional(PLACE.height, 'with "chainInfo"'),
      }),
    },
  ]),
  examples: [['"bXYZ…"'], ['{"addresses": ["bXYZ…"], "limit": 100, "mempool": true}']],
  async run({ services }, { addresses }) {
    const index = requireIndex(services);
    const query = parseQuery(services, addresses, UNSPENT_MARK_BYTES);
    const withTip = flagOf(query.options, 'chainInfo');
    const { chain } = services.chain;
    const tip = { hash: hashToHex(services.chain.headers.hash(chain.tip)), height: chain.height };
    const { entries, next } = await index.unspent(query.keys, pageRequest(query));
    requireWhole(query, next);
    const outputs = await withScripts(services, entries, query);
    if (query.mempool && next === null) {
      outputs.push(...unspentIn(await mempoolMoves(services, index, query), services));
    }
    const seen = new Set<string>();
    const utxos = outputs
      // One that was confirmed meanwhile is here twice.
      .filter(({ outPoint }) => seen.size < seen.add(toLatin1(outPoint)).size)
      .map(({ outPoint, script, amountSat, height, scriptKey }) => ({
        address: query.asked.get(scriptKey)!,
        txid: hashToHex(outPoint.subarray(0, 32)),
        outputIndex: Buffer.from(outPoint).readUInt32LE(32),
        script: toHex(script),
        satoshis: amountSat,
        height,
      }));
    if (query.limit === null && !withTip) return utxos;
    return { utxos, ...(next ? { next: toHex(next) } : {}), ...(withTip ? tip : {}) };
  },
});
