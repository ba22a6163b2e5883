/** `gettxout`: one unspent output. Source: lbrycrd rpc/blockchain.cpp; lbcd rpcserver.go `handleGetTxOut`. */
import { Writer } from '../../../util/writer.js';
import { hashToHex, type Bytes } from '../../../util/bytes.js';
import { coins } from '../../../util/json/json.js';
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import { whenResolved, type MaybePromise } from '../../../util/maybePromise.js';
import { addressPrefixes } from '../../format/addresses.js';
import { SCRIPT_SCHEMA, scriptAnswer } from '../../format/script.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import type { RpcServices } from '../../../interfaces/services.js';

interface UnspentOutput {
  amountSat: bigint;
  script: Bytes;
  confirmations: number;
  isCoinbase: boolean;
}

function findUnspent(
  services: RpcServices,
  outPoint: Bytes,
  { height, useMempool, hidesSpent }: { height: number; useMempool: boolean; hidesSpent: boolean },
): MaybePromise<UnspentOutput | null> {
  const { mempool, chain } = services;
  if (useMempool) {
    if (hidesSpent && mempool.isSpent(outPoint)) return null;
    const unconfirmed = mempool.output(outPoint);
    if (unconfirmed !== null) return { ...unconfirmed, confirmations: 0, isCoinbase: false };
  }
  return whenResolved(chain.coin(outPoint), (coin) =>
    coin === null
      ? null
      : {
          amountSat: coin.amount,
          script: coin.script,
          confirmations: height - (coin.heightCode >>> 1) + 1,
          isCoinbase: (coin.heightCode & 1) !== 0,
        },
  );
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
    const { chain, params } = services;
    if (profile === 'lbcd' && args.n < 0)
      throw rpcError(RPC_ERROR.INVALID_PARAMS, `parameter #2 'vout' must be type uint32 (got ${args.n})`);
    const outPoint = new Writer(36).raw(args.txid).u32(args.n).finish();
    if (profile === 'lbcd' && args.include_mempool) checkLbcdOutput(services.mempool, args.txid, outPoint);
    const tip = hashToHex(chain.headers.hash(chain.chain.tip));
    const found = findUnspent(services, outPoint, {
      height: chain.chain.height,
      useMempool: args.include_mempool,
      // lbcd returns outputs that mempool transactions created, but ignores that mempool transactions spend outputs.
      hidesSpent: profile !== 'lbcd',
    });
    return whenResolved(found, (output) =>
      output === null
        ? null
        : {
            bestblock: tip,
            confirmations: output.confirmations,
            value: coins(output.amountSat),
            scriptPubKey: scriptAnswer(output.script, { prefixes: addressPrefixes(params), profile }, true),
            coinbase: output.isCoinbase,
          },
    );
  },
});
