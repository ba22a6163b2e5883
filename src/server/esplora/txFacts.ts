/**
 * Finds transactions for the paths that show them: their location, and the outputs that they spend. For a transaction with few
 * inputs these outputs are read from the index. For a transaction with many inputs they are read from the undo data of its block.
 */
import { BlockFileError } from '../../store/files/blockFiles.js';
import { NO_HEADER } from '../../store/files/headerTable.js';
import { parseUndo } from '../../store/cache/coinRow.js';
import type { LoadedBlock } from '../../chain/blocks/loadedBlock.js';
import type { CoinValue } from '../../native/binding.js';
import { TX_FIRST_INPUT, TX_INPUT_COUNT, TX_STRIDE } from '../../primitives/blockLayout.js';
import { isCoinbase, type Transaction } from '../../primitives/transaction.js';
import { findByIndex, type FoundTransaction } from '../../rpc/lookup/blockLookup.js';
import { addressPrefixes } from '../../rpc/format/addresses.js';
import {
  shownStored,
  shownTransaction,
  shownTransactionAt,
  type ShownTransaction,
} from '../../rpc/format/transaction.js';
import { coinsInUndo, coinsOfWaiting, placeInBlock } from '../../rpc/methods/rawtransactions/txInfoFacts.js';
import type { RpcServices } from '../../interfaces/services.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import type { Bytes } from '../../util/bytes.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import { isPromise, whenResolved, type MaybePromise } from '../../util/maybePromise.js';
import { notFound } from './declaration.js';
import { transactionAnswer, type ConfirmedAt, type SpentOutput, type TxFormat } from './txFormat.js';

/**
 * Up to this number of inputs each spent output is looked up in the index. Arbitrary: one look-up takes some tens of
 * microseconds.
 */
const FEW_INPUTS = 16;

export function txFormat({ params, claims, chain }: RpcServices): TxFormat {
  return { prefixes: addressPrefixes(params), rules: claims.rules, height: chain.chain.height };
}

/** Position of block `id` of the active chain. */
export function placeOf({ chain: { headers } }: RpcServices, id: number): ConfirmedAt {
  return { height: headers.height(id), hash: headers.hash(id), timeSec: headers.timeSec(id) };
}

/** A transaction of the mempool or the active chain; null if it is in neither. */
export function findTx(services: RpcServices, txid: Bytes): MaybePromise<FoundTransaction | null> {
  const waiting = services.mempool.transaction(txid);
  if (waiting !== null) return { tx: waiting, block: NO_HEADER, stored: null };
  return whenResolved(findByIndex(services, txid), (found) =>
    found !== null && services.chain.chain.index.active.contains(found.block) ? found : null,
  );
}

/** Like `findTx`, but an unknown transaction is an error with status 404. */
export function requireTx(services: RpcServices, txid: Bytes): MaybePromise<FoundTransaction> {
  return whenResolved(findTx(services, txid), (found) => {
    if (found === null) throw notFound('Transaction not found');
    return found;
  });
}

/** The outputs that a confirmed transaction spends, from the index; null if one is not found. */
async function spentByIndex(services: RpcServices, { inputs }: Transaction): Promise<SpentOutput[] | null> {
  const spent: SpentOutput[] = [];
  let last: { readonly hash: Bytes; readonly tx: Transaction } | null = null;
  for (const { prevout } of inputs) {
    if (last === null || Buffer.compare(last.hash, prevout.hash) !== 0) {
      const soon = findByIndex(services, prevout.hash);
      const found: FoundTransaction | null = isPromise(soon) ? await soon : soon;
      if (found === null) return null;
      last = { hash: prevout.hash, tx: found.tx };
    }
    const output = last.tx.outputs[prevout.index];
    if (output === undefined) return null;
    spent.push({ amount: output.value, script: output.script });
  }
  return spent;
}

async function spentOfConfirmed(
  services: RpcServices,
  { tx, block }: FoundTransaction,
  txid: Bytes,
): Promise<readonly (SpentOutput | null)[]> {
  const few = tx.inputs.length <= FEW_INPUTS ? await spentByIndex(services, tx) : null;
  if (few !== null) return few;
  const place = await placeInBlock(services, block, txid);
  return (place && coinsInUndo(services, block, place)) ?? [];
}

/** A found transaction in Esplora's format. */
export async function txAnswer(
  services: RpcServices,
  found: FoundTransaction,
  txid: Bytes,
  format = txFormat(services),
): Promise<JsonOut> {
  const { tx, block, stored } = found;
  const shown = stored === null ? shownTransaction(tx) : shownStored(stored);
  if (block === NO_HEADER) {
    const spent = await coinsOfWaiting(services, tx.inputs);
    return transactionAnswer(shown, spent, services.mempool.entry(txid)?.feeSat ?? null, null, format);
  }
  const spent = isCoinbase(tx) ? [] : await spentOfConfirmed(services, found, txid);
  return transactionAnswer(shown, spent, null, placeOf(services, block), format);
}

/** Transactions by their ids, in this order. Transactions that no longer exist are left out. */
export async function txAnswers(services: RpcServices, txids: readonly Bytes[]): Promise<JsonOut[]> {
  const format = txFormat(services);
  const answers: JsonOut[] = [];
  let since = performance.now();
  for (const txid of txids) {
    const found = await findTx(services, txid);
    if (found !== null) answers.push(await txAnswer(services, found, txid, format));
    since = await yieldIfDue(since);
  }
  return answers;
}

/** Undo data of a block; null if it was deleted. */
function undoOf({ chain }: RpcServices, id: number): CoinValue[] | null {
  try {
    return parseUndo(chain.readUndo(id));
  } catch (error) {
    if (error instanceof BlockFileError) return null;
    throw error;
  }
}

/** Transactions `from` to `to` (excluded) of a block. `at` is null for a block outside of the active chain. */
export async function blockTxAnswers(
  services: RpcServices,
  id: number,
  block: LoadedBlock,
  [from, to]: readonly [number, number],
): Promise<JsonOut[]> {
  const format = txFormat(services);
  const { txs } = block.parsed;
  const at = services.chain.chain.index.active.contains(id) ? placeOf(services, id) : null;
  const undo = at === null ? null : undoOf(services, id);
  const answers: JsonOut[] = [];
  let since = performance.now();
  for (let n = from; n < to; n++) {
    const shown: ShownTransaction = shownTransactionAt(block, n);
    const row = n * TX_STRIDE;
    // Undo data does not include the coinbase, which is the first transaction, so its inputs are subtracted.
    const first = txs[row + TX_FIRST_INPUT]! - txs[TX_INPUT_COUNT]!;
    const spent = n === 0 || undo === null ? [] : undo.slice(first, first + txs[row + TX_INPUT_COUNT]!);
    answers.push(transactionAnswer(shown, spent, null, at, format));
    since = await yieldIfDue(since);
  }
  return answers;
}
