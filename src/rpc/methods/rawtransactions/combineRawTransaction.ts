/** `combinerawtransaction`: combines the signatures of several copies of a transaction. */
import type { Transaction, TxInput } from '../../../primitives/transaction.js';
import { formatTransactionInSlices } from '../../../primitives/transactionSlices.js';
import { PrecomputedSighash, SIGHASH } from '../../../script/sighash.js';
import { dataFromInput } from '../../../signing/extractSignatures.js';
import { produceSignature } from '../../../signing/produceSignature.js';
import { InputSigner } from '../../../signing/signatureCreator.js';
import { combineSignatures, emptySignatureData } from '../../../signing/signatureData.js';
import { NO_KEYS } from '../../../signing/signingProvider.js';
import { yieldIfDue } from '../../../scheduler/yield.js';
import { hexOf } from '../../../util/json/jsonWrite.js';
import { inSlices } from '../../../scheduler/slices.js';
import type { Slices } from '../../../util/slices.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { decodeTransaction } from '../../format/decodeTransaction.js';
import { defineMethod } from '../../declare/method.js';
import { getString } from '../../declare/paramTypes.js';
import { t } from '../../../schema/schema.js';
import { findSpentCoins, type SpentCoins } from './spentCoins.js';

/** Number of inputs copied between two yields to the event loop. */
const COPIED_AT_ONCE = 1024;

function* copiesOf(inputs: readonly TxInput[]): Slices<TxInput[]> {
  const copies: TxInput[] = [];
  for (const input of inputs) {
    if (copies.push({ ...input }) % COPIED_AT_ONCE === 0) yield;
  }
  return copies;
}

function* prepareAll(all: readonly PrecomputedSighash[]): Slices<void> {
  for (const each of all) yield* each.prepareInSlices();
}

async function combine(
  variants: readonly Transaction[],
  merged: Transaction,
  coins: SpentCoins,
): Promise<void> {
  const shared = variants.map((tx) => new PrecomputedSighash(tx));
  const sharedByMerged = new PrecomputedSighash(merged);
  await inSlices(prepareAll([...shared, sharedByMerged]));
  let since = performance.now();
  for (const [i, input] of merged.inputs.entries()) {
    const spent = coins.get(input.prevout);
    if (spent === null) throw rpcError(RPC_ERROR.VERIFY_ERROR, 'Input not found or already spent');
    const data = emptySignatureData();
    for (const [n, variant] of variants.entries()) {
      if (i < variant.inputs.length) combineSignatures(data, dataFromInput(variant, i, spent, shared[n]));
      since = await yieldIfDue(since);
    }
    const signer = new InputSigner(merged, i, spent.value, SIGHASH.ALL, sharedByMerged);
    produceSignature(NO_KEYS, signer, spent.script, data);
    input.scriptSig = data.scriptSig;
    input.witness = data.scriptWitness;
  }
}

export const combineRawTransaction = defineMethod({
  name: 'combinerawtransaction',
  category: 'rawtransactions',
  chainUse: 'reads',
  summary:
    'Combine multiple partially signed transactions into one transaction.\nThe combined transaction may be another ' +
    'partially signed transaction or a fully signed transaction.',
  params: [
    {
      name: 'txs',
      type: 'array',
      required: true,
      description: 'The hex strings of partially signed transactions',
    },
  ],
  result: t.hex('the transaction with the signatures'),
  examples: [['["myhex1", "myhex2", "myhex3"]']],
  async run({ services }, { txs }) {
    const variants: Transaction[] = [];
    let since = performance.now();
    for (const [index, text] of txs.entries()) {
      const tx = await decodeTransaction(getString(text), true, true);
      if (tx === null) throw rpcError(RPC_ERROR.DESERIALIZATION_ERROR, `TX decode failed for tx ${index}`);
      variants.push(tx);
      since = await yieldIfDue(since);
    }
    const [first] = variants;
    if (first === undefined) throw rpcError(RPC_ERROR.DESERIALIZATION_ERROR, 'Missing transactions');
    const merged: Transaction = { ...first, inputs: await inSlices(copiesOf(first.inputs)) };
    await combine(variants, merged, await findSpentCoins(services, merged));
    return hexOf(await inSlices(formatTransactionInSlices(merged)));
  },
});
