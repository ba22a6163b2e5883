/**
 * Finds transactions for the paths that return them: each transaction's block, and the outputs that it spends. For a
 * transaction with few inputs the spent outputs are read from the transaction index. For a transaction with many inputs the
 * spent outputs are read from the undo data of its block.
 */
import { filesNormalized } from '../../claimtrie/rules.js';
import { BlockFileError } from '../../store/files/blockFiles.js';
import { NO_HEADER } from '../../store/files/headerTable.js';
import { undoCoins } from '../../store/cache/coinRow.js';
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
import { rawJson, smallJson, type JsonOut } from '../../util/json/jsonWrite.js';
import { isPromise, whenResolved, type MaybePromise } from '../../util/maybePromise.js';
import { notFound, type EsploraNode } from './declaration.js';
import type { RecentBlockFacts } from './recentReads.js';
import { transactionAnswer, type ConfirmedAt, type SpentOutput, type TxFormat } from './txFormat.js';

/**
 * Maximum number of inputs for which each spent output is looked up in the index. Arbitrary: one look-up takes some tens of
 * microseconds.
 */
const FEW_INPUTS = 16;

export function txFormat({ params, claims, chain }: RpcServices): TxFormat {
  return { prefixes: addressPrefixes(params), rules: claims.rules, height: chain.chain.height };
}

/** Height, hash and time of block `id` of the active chain. */
export function placeOf({ chain: { headers } }: RpcServices, id: number): ConfirmedAt {
  return { height: headers.height(id), hash: headers.hash(id), timeSec: headers.timeSec(id) };
}

/** Finds a transaction in the mempool or in the active chain; null if neither contains it. */
export function findTx(
  { services, recent }: EsploraNode,
  txid: Bytes,
): MaybePromise<FoundTransaction | null> {
  const waiting = services.mempool.transaction(txid);
  if (waiting !== null) return { tx: waiting, block: NO_HEADER, stored: null };
  const { active } = services.chain.chain.index;
  const known = recent.transaction(txid);
  if (known !== undefined && active.contains(known.found.block)) return known.found;
  return whenResolved(findByIndex(services, txid), (found) => {
    if (found === null || !active.contains(found.block)) return null;
    recent.keepTransaction(txid, found);
    return found;
  });
}

/** Like `findTx`, but an unknown transaction is an error with status 404. */
export function requireTx(node: EsploraNode, txid: Bytes): MaybePromise<FoundTransaction> {
  return whenResolved(findTx(node, txid), (found) => {
    if (found === null) throw notFound('Transaction not found');
    return found;
  });
}

/** Reads a transaction by the transaction index; null if the index does not contain it. */
function parentOf({ services, recent }: EsploraNode, txid: Bytes): MaybePromise<Transaction | null> {
  const known = recent.transaction(txid);
  if (known !== undefined) return known.found.tx;
  return whenResolved(findByIndex(services, txid), (found) => {
    if (found !== null) recent.keepTransaction(txid, found);
    return found?.tx ?? null;
  });
}

/**
 * Reads the outputs that a confirmed transaction spends from the transaction index; null if an output is not found. `spent`
 * contains the outputs of the first inputs, if the caller knows them.
 */
function spentByIndex(
  node: EsploraNode,
  tx: Transaction,
  spent: SpentOutput[] = [],
): MaybePromise<SpentOutput[] | null> {
  for (let n = spent.length; n < tx.inputs.length; n++) {
    const { hash, index } = tx.inputs[n]!.prevout;
    const parent = parentOf(node, hash);
    if (isPromise(parent))
      return parent.then((found) => (addOutput(spent, found, index) ? spentByIndex(node, tx, spent) : null));
    if (!addOutput(spent, parent, index)) return null;
  }
  return spent;
}

function addOutput(spent: SpentOutput[], parent: Transaction | null, index: number): boolean {
  const output = parent?.outputs[index];
  if (output === undefined) return false;
  spent.push({ amount: output.value, script: output.script });
  return true;
}

function spentOfConfirmed(
  node: EsploraNode,
  { tx, block }: FoundTransaction,
  txid: Bytes,
): MaybePromise<readonly (SpentOutput | null)[]> {
  const few = tx.inputs.length <= FEW_INPUTS ? spentByIndex(node, tx) : null;
  return whenResolved(few, (spent) => spent ?? spentByUndo(node.services, block, txid));
}

async function spentByUndo(
  services: RpcServices,
  block: number,
  txid: Bytes,
): Promise<readonly (SpentOutput | null)[]> {
  const place = await placeInBlock(services, block, txid);
  return (place && coinsInUndo(services, block, place)) ?? [];
}

/**
 * Formats a found transaction like Esplora. The answer about a confirmed transaction is cached: it changes only when a reorg
 * moves the transaction to another block, or when names become normalized.
 */
export function txAnswer(
  node: EsploraNode,
  found: FoundTransaction,
  txid: Bytes,
  format = txFormat(node.services),
): MaybePromise<JsonOut> {
  const { services, recent } = node;
  const { tx, block, stored } = found;
  if (block === NO_HEADER) {
    const shown = shownTransaction(tx);
    const feeSat = services.mempool.entry(txid)?.feeSat ?? null;
    return coinsOfWaiting(services, tx.inputs).then((spent) =>
      transactionAnswer(shown, spent, feeSat, null, format),
    );
  }
  const isNormalized = filesNormalized(format.rules, format.height);
  const known = recent.transaction(txid);
  if (known?.found.block === block && known.answer?.isNormalized === isNormalized)
    return rawJson(known.answer.text);
  const shown = stored === null ? shownTransaction(tx) : shownStored(stored);
  const isFirst = isCoinbase(tx);
  const spent = isFirst ? [] : spentOfConfirmed(node, found, txid);
  return whenResolved(spent, (outputs) => {
    const answer = transactionAnswer(shown, outputs, null, placeOf(services, block), format);
    const isComplete = isFirst || (outputs.length === tx.inputs.length && !outputs.includes(null));
    // Outputs that are unknown now can become known when the background validation of a snapshot ends.
    const text = isComplete ? smallJson(answer) : null;
    if (text === null) return answer;
    recent.keepTransaction(txid, found, { text, isNormalized });
    return rawJson(text);
  });
}

/** Formats the transactions with these ids, in the order of the ids. Transactions that do not exist any more are left out. */
export async function txAnswers(node: EsploraNode, txids: readonly Bytes[]): Promise<JsonOut[]> {
  const { services } = node;
  const format = txFormat(services);
  const answers: JsonOut[] = [];
  let since = performance.now();
  for (const txid of txids) {
    const soon = findTx(node, txid);
    const found = isPromise(soon) ? await soon : soon;
    if (found !== null) {
      const answer = txAnswer(node, found, txid, format);
      answers.push(isPromise(answer) ? await answer : answer);
    }
    since = await yieldIfDue(since);
  }
  return answers;
}

/** Undo data of block `id`; null if the data was deleted. */
function undoOf({ chain }: RpcServices, id: number, recent: RecentBlockFacts): Buffer | null {
  try {
    return (recent.undo ??= chain.readUndo(id));
  } catch (error) {
    if (error instanceof BlockFileError) return null;
    throw error;
  }
}

/** Formats the transactions `from` to `to` (excluded) of a block. */
export async function blockTxAnswers(
  services: RpcServices,
  id: number,
  recent: RecentBlockFacts,
  [from, to]: readonly [number, number],
): Promise<JsonOut[]> {
  const { block } = recent;
  const format = txFormat(services);
  const { txs } = block.parsed;
  const at = services.chain.chain.index.active.contains(id) ? placeOf(services, id) : null;
  const undo = at === null ? null : undoOf(services, id, recent);
  // Undo data contains no entry for the coinbase, which is the first transaction. So the number of its inputs is
  // subtracted.
  const firstOf = (n: number): number =>
    Math.max(0, txs[n * TX_STRIDE + TX_FIRST_INPUT]! - txs[TX_INPUT_COUNT]!);
  const first = firstOf(from);
  const inputs = to < block.parsed.txCount ? firstOf(to) - first : Infinity;
  const coins = undo === null ? [] : undoCoins(undo, first, inputs);
  const answers: JsonOut[] = [];
  let since = performance.now();
  for (let n = from; n < to; n++) {
    const shown: ShownTransaction = shownTransactionAt(block, n);
    const start = firstOf(n) - first;
    const spent = n === 0 ? [] : coins.slice(start, start + txs[n * TX_STRIDE + TX_INPUT_COUNT]!);
    answers.push(transactionAnswer(shown, spent, null, at, format));
    since = await yieldIfDue(since);
  }
  return answers;
}
