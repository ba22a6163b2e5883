/** `gettxout`: one unspent output. Source: lbrycrd rpc/blockchain.cpp; lbcd rpcserver.go `handleGetTxOut`. */
import { Writer } from '../../../util/writer.js';
import { hashToHex, type Bytes } from '../../../util/bytes.js';
import { coins } from '../../../util/json/json.js';
import { HOLE } from '../../../util/json/jsonFrame.js';
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import { whenResolved, type MaybePromise } from '../../../util/maybePromise.js';
import { addressPrefixes } from '../../format/addresses.js';
import { SCRIPT_SCHEMA, scriptAnswer } from '../../format/script.js';
import { keptTextsOf } from '../../lookup/keptTexts.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { defineMethod, type Profile } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import type { RpcServices } from '../../../interfaces/services.js';

interface UnspentOutput {
  readonly amountSat: bigint;
  readonly script: Bytes;
  readonly isCoinbase: boolean;
}

/** The parts of the answer that do not change while the output is unspent. */
function outputAnswer(
  { params }: RpcServices,
  profile: Profile,
  { amountSat, script, isCoinbase }: UnspentOutput,
): Record<string, JsonOut> {
  return {
    value: coins(amountSat),
    scriptPubKey: scriptAnswer(script, { prefixes: addressPrefixes(params), profile }, true),
    coinbase: isCoinbase,
  };
}

const outPointOf = (txid: Bytes, n: number): Bytes => new Writer(36).raw(txid).u32(n).finish();

/** Describes an output of the chain. The text of the answer is cached until the output is spent. */
function confirmedAnswer(
  services: RpcServices,
  profile: Profile,
  txid: Bytes,
  n: number,
): MaybePromise<JsonOut> {
  const { chain } = services;
  const { height } = chain.chain;
  const texts = keptTextsOf(chain);
  const known = texts.coin(txid, n, profile);
  if (known !== null) return known.frame.fill(texts.tipText, height - known.height + 1);
  const { mark } = texts;
  const bestblock = hashToHex(chain.headers.hash(chain.chain.tip));
  return whenResolved(chain.coin(outPointOf(txid, n)), (coin) => {
    if (coin === null) return null;
    const createdAt = coin.heightCode >>> 1;
    const output = { amountSat: coin.amount, script: coin.script, isCoinbase: (coin.heightCode & 1) !== 0 };
    const answer = outputAnswer(services, profile, output);
    texts.keepCoin(txid, n, profile, createdAt, { bestblock: HOLE, confirmations: HOLE, ...answer }, mark);
    return { bestblock, confirmations: height - createdAt + 1, ...answer };
  });
}

/** Throws if a transaction of the mempool does not have this output. Source: lbcd `handleGetTxOut`. */
function checkLbcdOutput(mempool: RpcServices['mempool'], txid: Bytes, outPoint: Bytes): void {
  if (mempool.entry(txid) === null || mempool.output(outPoint) !== null) return;
  const message = 'Output index number (vout) does not exist for transaction.';
  throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, message);
}

export const getTxOut = defineMethod({
  name: 'gettxout',
  category: 'blockchain',
  explorer: 'console',
  follows: 'chainAndMempool',
  summary: 'Returns details about an unspent transaction output; null if there is none.',
  params: [
    { name: 'txid', type: 'looseHash', required: true, description: 'The transaction id' },
    { name: 'n', type: 'integer', required: true, description: 'The output number' },
    {
      name: 'include_mempool',
      type: 'boolean',
      default: true,
      description:
        'Include the mempool. An output that a mempool transaction spends is then not returned, except in ' +
        'the lbcd profile',
    },
  ],
  result: t.union([
    { when: 'if there is no such unspent output', schema: t.none() },
    {
      when: 'otherwise',
      schema: t.object({
        bestblock: t.hash('the tip of the chain'),
        confirmations: t.int('the number of confirmations'),
        value: t.coins('the amount of the output'),
        scriptPubKey: SCRIPT_SCHEMA,
        coinbase: t.bool('whether the output is of a coinbase transaction'),
      }),
    },
  ]),
  examples: [['"txid"', '1']],
  run({ services, profile }, args): MaybePromise<JsonOut> {
    const { chain, mempool } = services;
    const isLbcd = profile === 'lbcd';
    if (isLbcd && args.n < 0)
      throw rpcError(RPC_ERROR.INVALID_PARAMS, `parameter #2 'vout' must be type uint32 (got ${args.n})`);
    if (args.include_mempool && mempool.size > 0) {
      const outPoint = outPointOf(args.txid, args.n);
      if (isLbcd) checkLbcdOutput(mempool, args.txid, outPoint);
      // lbcd returns outputs that mempool transactions created, but ignores that mempool transactions spend outputs.
      if (!isLbcd && mempool.isSpent(outPoint)) return null;
      const unconfirmed = mempool.output(outPoint);
      if (unconfirmed !== null)
        return {
          bestblock: hashToHex(chain.headers.hash(chain.chain.tip)),
          confirmations: 0,
          ...outputAnswer(services, profile, { ...unconfirmed, isCoinbase: false }),
        };
    }
    return confirmedAnswer(services, profile, args.txid, args.n);
  },
});
