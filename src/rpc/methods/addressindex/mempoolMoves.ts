/**
 * Effects of unconfirmed transactions on scripts: outputs that they create and spend. Computed from the transactions
 * themselves.
 */
import { scriptKeyOf } from '../../../index/addressScripts.js';
import { formatOutPoint, type OutPoint } from '../../../primitives/transaction.js';
import type { UnconfirmedTransaction } from '../../../index/mempoolAddresses.js';
import { yieldIfDue } from '../../../scheduler/yield.js';
import type { Bytes } from '../../../util/bytes.js';
import type { AddressService, RpcServices } from '../../../interfaces/services.js';
import type { AddressQuery, MempoolMark } from './query.js';

/** One created or spent output. Its page cursor is the arrival number of the transaction and the index of the effect in it. */
export interface MempoolMove extends MempoolMark {
  /** Txid of the transaction in wire order. */
  readonly txid: Buffer;
  readonly timeSec: number;
  /** Number of the created output, or of the spending input. */
  readonly index: number;
  readonly amountSat: bigint;
  readonly script: Bytes;
  readonly scriptKey: string;
  /** Outpoint that the input spends; null for a created output. */
  readonly spends: OutPoint | null;
}

type MoveSources = Pick<RpcServices, 'mempool' | 'chain'>;

/**
 * Yields the effects in order of arrival, starting after the query's cursor. For each transaction the inputs come before the
 * outputs.
 */
export async function* mempoolMoves(
  services: MoveSources,
  addresses: AddressService,
  query: Pick<AddressQuery, 'keys' | 'asked' | 'afterMempool'>,
): AsyncGenerator<MempoolMove> {
  const { keys, afterMempool } = query;
  let since = performance.now();
  for (const transaction of addresses.mempoolTransactions(keys, afterMempool?.arrival)) {
    since = await yieldIfDue(since);
    const skipped = transaction.arrival === afterMempool?.arrival ? afterMempool.order : -1;
    yield* movesOf(services, query, transaction, skipped);
  }
}

/**
 * Yields the effects of one transaction whose number (`order`) is greater than `skipped`. Yields nothing if the transaction has
 * left the mempool.
 */
export async function* movesOf(
  { mempool, chain }: MoveSources,
  { asked }: Pick<AddressQuery, 'asked'>,
  { txid, arrival }: UnconfirmedTransaction,
  skipped = -1,
): AsyncGenerator<MempoolMove> {
  const tx = mempool.transaction(txid);
  const timeSec = mempool.entry(txid)?.entryTimeSec;
  if (!tx || timeSec === undefined) return;
  const move = (
    order: number,
    { index, spends }: Pick<MempoolMove, 'index' | 'spends'>,
    output: { amount: bigint; script: Bytes },
  ): MempoolMove | null => {
    const { amount: amountSat, script } = output;
    const scriptKey = scriptKeyOf(script);
    if (scriptKey === null || !asked.has(scriptKey)) return null;
    return { txid, timeSec, arrival, order, index, amountSat, script, scriptKey, spends };
  };
  for (const [index, { prevout }] of tx.inputs.entries()) {
    if (index <= skipped) continue;
    const outPoint = formatOutPoint(prevout);
    const made = mempool.output(outPoint);
    const coin = made ? { amount: made.amountSat, script: made.script } : await chain.coin(outPoint);
    const found = coin && move(index, { index, spends: prevout }, coin);
    if (found) yield found;
  }
  for (const [index, { value, script }] of tx.outputs.entries()) {
    const order = tx.inputs.length + index;
    const found = order <= skipped ? null : move(order, { index, spends: null }, { amount: value, script });
    if (found) yield found;
  }
}
