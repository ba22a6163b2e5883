/** `sendrawtransaction`: submits a transaction to the mempool. Source: lbrycrd rpc/rawtransaction.cpp. */
import { formatVerdict } from '../../../consensus/reject.js';
import { formatOutPoint, type Transaction } from '../../../primitives/transaction.js';
import { txidInSlices } from '../../../primitives/transactionSlices.js';
import { yieldIfDue } from '../../../scheduler/yield.js';
import { hashToHex } from '../../../util/bytes.js';
import { inSlices } from '../../../scheduler/slices.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { decodeTransaction } from '../../format/decodeTransaction.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import type { RpcServices } from '../../../interfaces/services.js';

/** Decodes a transaction that a caller passed as hex. Throws error -22 if it is invalid. */
export async function requireTransaction(hex: string): Promise<Transaction> {
  const tx = await decodeTransaction(hex, false, true);
  if (tx === null) throw rpcError(RPC_ERROR.DESERIALIZATION_ERROR, 'TX decode failed');
  return tx;
}

/** Whether the chain has at least one unspent output of the transaction, so that the transaction is confirmed. */
async function isOnChain(
  { chain }: RpcServices,
  { outputs }: Transaction,
  hash: Uint8Array,
): Promise<boolean> {
  let since = performance.now();
  for (let index = 0; index < outputs.length; index++) {
    if (await chain.coin(formatOutPoint({ hash, index }))) return true;
    since = await yieldIfDue(since);
  }
  return false;
}

/**
 * Submits a transaction from a caller to the mempool and announces it to peers. Returns its txid in wire order. Throws
 * `RpcError` if it is rejected.
 */
export async function submitTransaction(
  services: RpcServices,
  hex: string,
  allowHighFees: boolean,
): Promise<Buffer> {
  const { mempool, mempoolGate, options } = services;
  const tx = await requireTransaction(hex);
  const txid = await inSlices(txidInSlices(tx));
  if (await isOnChain(services, tx, txid)) {
    throw rpcError(RPC_ERROR.VERIFY_ALREADY_IN_CHAIN, 'transaction already in block chain');
  }
  if (mempool.entry(txid) === null) {
    const { error, missingInputs } = await mempoolGate.acceptToMempool(tx, {
      maxFeeSat: allowHighFees ? 0n : options.maxTxFeeSat,
    });
    if (missingInputs) throw rpcError(RPC_ERROR.VERIFY_ERROR, 'Missing inputs');
    // The same transaction may have arrived from a peer while this call waited; this is not an error.
    if (error && error.reason !== 'txn-already-in-mempool') {
      throw rpcError(RPC_ERROR.VERIFY_REJECTED, formatVerdict(error));
    }
  }
  mempoolGate.keepAnnouncing(txid);
  services.peers?.announce(txid);
  return txid;
}

export const sendRawTransaction = defineMethod({
  name: 'sendrawtransaction',
  category: 'rawtransactions',
  summary:
    'Submits raw transaction (serialized, hex-encoded) to local node and network.\nAlso see createrawtransaction and ' +
    'signrawtransaction calls.',
  params: [
    {
      name: 'hexstring',
      type: 'string',
      required: true,
      strict: true,
      description: 'The hex string of the raw transaction',
    },
    {
      name: 'allowhighfees',
      type: 'boolean',
      default: false,
      strict: true,
      description: 'Allow high fees',
    },
  ],
  result: t.hash('the transaction hash'),
  examples: [['"signedhex"']],
  run: async ({ services }, { hexstring, allowhighfees }) =>
    hashToHex(await submitTransaction(services, hexstring, allowhighfees)),
});
