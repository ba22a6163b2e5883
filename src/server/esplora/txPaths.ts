/** Esplora paths for transactions. Source: Esplora API.md "Transactions"; electrs rest.rs. */
import { merklePath } from '../../crypto/merkle.js';
import { formatTransaction } from '../../primitives/transaction.js';
import { RpcError } from '../../rpc/declare/errors.js';
import { submitTransaction } from '../../rpc/methods/rawtransactions/sendRawTransaction.js';
import { placeInBlock, Spenders } from '../../rpc/methods/rawtransactions/txInfoFacts.js';
import type { FoundTransaction } from '../../rpc/lookup/blockLookup.js';
import { isUnspendable } from '../../script/script.js';
import type { OutputStatus } from '../../rpc/format/txInfoOutputs.js';
import { t } from '../../schema/schema.js';
import { NO_HEADER } from '../../store/files/headerTable.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import { asBuffer, hashToHex } from '../../util/bytes.js';
import { stringifyJson } from '../../util/json/jsonStream.js';
import { type JsonOut } from '../../util/json/jsonWrite.js';
import { whenResolved, type MaybePromise } from '../../util/maybePromise.js';
import { cacheBlock } from './blockPaths.js';
import { badRequest, notFound, type EsploraCall, type EsploraPath } from './declaration.js';
import { hashParam, numberParam } from './params.js';
import { bytesReply, hexReply, jsonReply, textReply } from './reply.js';
import { STATUS_SCHEMA, statusAnswer, TRANSACTION_SCHEMA } from './txFormat.js';
import { findTx, placeOf, requireTx, txAnswer } from './txFacts.js';

const SPENT_SCHEMA = t.named(
  'EsploraOutspend',
  t.object({
    spent: t.bool('whether a transaction in the chain or the mempool spends it'),
    txid: t.optional(t.hash('that transaction'), 'when it is spent'),
    vin: t.optional(t.int('the number of its input'), 'when it is spent'),
    status: t.optional(STATUS_SCHEMA, 'when it is spent'),
  }),
);

const TXID = { txid: 'txid' } as const;
const BASE = {
  method: 'GET',
  source: 'Esplora',
  needs: ['txindex'],
  cost: 'rows',
  follows: 'chainAndMempool',
} as const;

function found(call: EsploraCall): MaybePromise<FoundTransaction> {
  return whenResolved(requireTx(call, hashParam(call.params['txid'])), (tx) => {
    if (tx.block !== NO_HEADER) cacheBlock(call, tx.block);
    return tx;
  });
}

function bytesOf(found: FoundTransaction): Buffer {
  // The bytes of a stored transaction are returned without parsing them.
  return found.stored?.bytes ?? asBuffer(formatTransaction(found.tx));
}

function spentAnswer(call: EsploraCall, { isSpent, spender }: Omit<OutputStatus, 'state'>): JsonOut {
  if (!isSpent || spender === null) return { spent: isSpent };
  const { height } = spender;
  const { active } = call.services.chain.chain.index;
  const at = height === undefined ? null : placeOf(call.services, active.at(height));
  return { spent: true, txid: hashToHex(spender.txid), vin: spender.n, status: statusAnswer(at) };
}

async function outspends(call: EsploraCall, only?: number): Promise<JsonOut[]> {
  const txid = hashParam(call.params['txid']);
  const { tx, block } = await requireTx(call, txid);
  const spenders = new Spenders(call.services, txid);
  const answers: JsonOut[] = [];
  let since = performance.now();
  for (const [n, { script }] of tx.outputs.entries()) {
    if (only !== undefined && n !== only) continue;
    answers.push(spentAnswer(call, await spenders.of(n, isUnspendable(script), block !== NO_HEADER)));
    since = await yieldIfDue(since);
  }
  return answers;
}

export const TX_PATHS: readonly EsploraPath[] = [
  {
    ...BASE,
    path: '/api/tx/:txid',
    summary: 'A transaction of the mempool or of the active chain, with the outputs that it spends.',
    params: TXID,
    answer: { kind: 'json', schema: TRANSACTION_SCHEMA },
    run: (call) =>
      whenResolved(found(call), (tx) =>
        whenResolved(txAnswer(call, tx, hashParam(call.params['txid'])), jsonReply),
      ),
  },
  {
    ...BASE,
    path: '/api/tx/:txid/hex',
    summary: 'A serialized transaction in hex.',
    params: TXID,
    answer: { kind: 'text', description: 'hex digits' },
    run: (call) => whenResolved(found(call), (tx) => hexReply(bytesOf(tx))),
  },
  {
    ...BASE,
    path: '/api/tx/:txid/raw',
    summary: 'A serialized transaction.',
    params: TXID,
    answer: { kind: 'bytes', description: 'the transaction with its witness' },
    run: (call) => whenResolved(found(call), (tx) => bytesReply(bytesOf(tx))),
  },
  {
    ...BASE,
    path: '/api/tx/:txid/status',
    summary:
      'Whether a transaction is confirmed. An unknown transaction is reported like an unconfirmed one.',
    params: TXID,
    answer: { kind: 'json', schema: STATUS_SCHEMA },
    run: (call) =>
      whenResolved(findTx(call, hashParam(call.params['txid'])), (tx) => {
        if (tx === null || tx.block === NO_HEADER) return jsonReply(statusAnswer(null));
        cacheBlock(call, tx.block);
        return jsonReply(statusAnswer(placeOf(call.services, tx.block)));
      }),
  },
  {
    ...BASE,
    needs: ['txindex', 'spendindex'],
    path: '/api/tx/:txid/outspend/:vout',
    summary: 'Whether an output is spent, and by which input.',
    params: { ...TXID, vout: 'index' },
    answer: { kind: 'json', schema: SPENT_SCHEMA },
    async run(call) {
      const [answer] = await outspends(call, numberParam(call.params['vout']));
      return jsonReply(answer ?? { spent: false });
    },
  },
  {
    ...BASE,
    needs: ['txindex', 'spendindex'],
    path: '/api/tx/:txid/outspends',
    summary: 'The spend status of all outputs of a transaction.',
    params: TXID,
    answer: { kind: 'json', schema: t.array(SPENT_SCHEMA, 'in the order of the outputs') },
    run: async (call) => jsonReply(await outspends(call)),
  },
  {
    ...BASE,
    path: '/api/tx/:txid/merkle-proof',
    summary: "A merkle proof that a block contains a transaction, in Electrum's form.",
    params: TXID,
    cost: 'block',
    answer: {
      kind: 'json',
      schema: t.object({
        block_height: t.int('the height of the block'),
        merkle: t.array(t.hash('a sibling'), 'from the leaves to the root'),
        pos: t.int('the number of the transaction in its block'),
      }),
    },
    async run(call) {
      const txid = hashParam(call.params['txid']);
      const tx = await findTx(call, txid);
      const place =
        tx === null || tx.block === NO_HEADER ? null : await placeInBlock(call.services, tx.block, txid);
      if (tx === null || place === null) throw notFound('Transaction not found or is unconfirmed');
      cacheBlock(call, tx.block);
      const { block, position } = place;
      const ids = asBuffer(block.parsed.txids).subarray(0, 32 * block.parsed.txCount);
      return jsonReply({
        block_height: call.services.chain.headers.height(tx.block),
        merkle: merklePath(ids, position).map(hashToHex),
        pos: position,
      });
    },
  },
  {
    ...BASE,
    method: 'POST',
    path: '/api/tx',
    summary:
      'Sends the transaction in the body (hex). If the node rejects it, the status is 400 and the text is the error of sendrawtransaction.',
    params: {},
    needs: [],
    changes: true,
    answer: { kind: 'text', description: 'the transaction id' },
    async run(call) {
      const hex = call.body.toString('latin1').trim();
      try {
        return textReply(hashToHex(await submitTransaction(call.services, hex, false)));
      } catch (error) {
        if (!(error instanceof RpcError)) throw error;
        const { code, message } = error;
        throw badRequest(`sendrawtransaction RPC error: ${stringifyJson({ code, message })}`);
      }
    },
  },
];
