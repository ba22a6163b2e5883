/** `getaddressutxos`: the unspent outputs of addresses. */
import {
  UNSPENT_MARK_BYTES,
  type AddressRowsPage,
  type UnspentEntry,
} from '../../../index/addressQueries.js';
import { formatOutPoint, type OutPoint } from '../../../primitives/transaction.js';
import { yieldIfDue } from '../../../scheduler/yield.js';
import { decodeClaimScript } from '../../../script/claimScript.js';
import { hashToHex, toHex, type Bytes } from '../../../util/bytes.js';
import { jsonArray, rawJson, type JsonOut } from '../../../util/json/jsonWrite.js';
import { defineMethod } from '../../declare/method.js';
import { addressPrefixes } from '../../format/addresses.js';
import { OUTPUT_CLAIM_STATE } from '../../format/txInfo.js';
import { outputClaimText } from '../../format/txInfoOutputs.js';
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
    claim: t.optional(OUTPUT_CLAIM_STATE, 'with "claims", if the script has a claim operation'),
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
  /** JSON text of the claim operation in the script; null if it has none, or if the query does not request claims. */
  readonly claim: string | null;
}

type PlainOutput = Omit<UnspentOutput, 'claim'>;

const pointOf = (outPoint: Bytes): OutPoint => ({
  hash: outPoint.subarray(0, 32),
  index: Buffer.from(outPoint).readUInt32LE(32),
});

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
  const isWhole = !query.mempool || next !== null;
  const end = isWhole ? next : await addUnconfirmed(outputs, services, index, query);
  return { outputs: await withClaims(services, outputs, query), next: end, tip };
}

/** Adds the claim operations in the scripts with the states of their claims, if the query requests them. */
async function withClaims(
  { claims, params, chain }: RpcServices,
  outputs: readonly PlainOutput[],
  { options }: AddressQuery,
): Promise<UnspentOutput[]> {
  if (!flagOf(options, 'claims')) return outputs.map((output) => ({ ...output, claim: null }));
  const context = {
    prefixes: addressPrefixes(params),
    rules: claims.rules,
    height: chain.chain.height,
  };
  const found: UnspentOutput[] = [];
  let since = performance.now();
  for (const output of outputs) {
    const { script, outPoint, height: madeAt } = output;
    const name = decodeClaimScript(script)?.name;
    const point = pointOf(outPoint);
    const isWaiting = madeAt === MEMPOOL_HEIGHT;
    const query = { txid: point.hash, madeAt, outputs: name ? [{ name, n: point.index }] : [] };
    const states = name === undefined || isWaiting ? [] : await claims.outputStates(query);
    found.push({ ...output, claim: outputClaimText(script, point, states[0], context) });
    since = await yieldIfDue(since);
  }
  return found;
}

/** Returns confirmed outputs with their scripts. An output that was spent after the index was read is omitted. */
async function withScripts(
  { chain, mempool }: RpcServices,
  entries: readonly UnspentEntry[],
  query: AddressQuery,
): Promise<PlainOutput[]> {
  const outputs: PlainOutput[] = [];
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
  outputs: PlainOutput[],
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
    'transactions spend; "chainInfo": true adds the hash and height of the tip; "claims": true adds the ' +
    'claim operation of each output with the state of its claim, as in gettxinfo.',
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
    const query = await parseQuery(services, addresses, 'getaddressutxos', UNSPENT_MARK_BYTES);
    const withTip = flagOf(query.options, 'chainInfo');
    const { outputs, next, tip } = await atOneTip(services, () => find(services, index, query));
    requireWhole(query, next);
    const utxos = jsonArray(answers(outputs, query));
    if (query.limit === null && !withTip) return utxos;
    return { utxos, ...nextField(query, next), ...(withTip ? tip : {}) };
  },
});

function* answers(outputs: readonly UnspentOutput[], { asked }: AddressQuery): Generator<JsonOut> {
  for (const { outPoint, script, amountSat, height, scriptKey, claim } of outputs) {
    const { hash, index } = pointOf(outPoint);
    yield {
      address: asked.get(scriptKey)!,
      txid: hashToHex(hash),
      outputIndex: index,
      script: toHex(script),
      satoshis: amountSat,
      height,
      ...(claim !== null && { claim: rawJson(claim) }),
    };
  }
}
