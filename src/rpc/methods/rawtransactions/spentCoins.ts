/** Finds the outputs that a transaction spends, in mempool and chain. Source: Core `CCoinsViewMemPool`. */
import {
  formatOutPoint,
  type OutPoint,
  type Transaction,
  type TxOutput,
} from '../../../primitives/transaction.js';
import { yieldIfDue } from '../../../scheduler/yield.js';
import { toLatin1 } from '../../../util/bytes.js';
import { SpreadMap } from '../../../util/spreadMap.js';
import type { RpcServices } from '../../../interfaces/services.js';

/** Unspent coins by outpoint. A missing entry means that the output is spent or unknown. */
export class SpentCoins {
  private readonly outputs = new SpreadMap<TxOutput>();

  get(outPoint: OutPoint): TxOutput | null {
    return this.outputs.get(toLatin1(formatOutPoint(outPoint))) ?? null;
  }

  set(outPoint: OutPoint, output: TxOutput): void {
    this.outputs.set(toLatin1(formatOutPoint(outPoint)), output);
  }
}

/**
 * Finds the outputs that a transaction spends. An output in the mempool is included even if another mempool transaction
 * spends it.
 */
export async function findSpentCoins(
  { mempool, chain }: Pick<RpcServices, 'mempool' | 'chain'>,
  tx: Transaction,
): Promise<SpentCoins> {
  const coins = new SpentCoins();
  let since = performance.now();
  for (const { prevout } of tx.inputs) {
    since = await yieldIfDue(since);
    const key = formatOutPoint(prevout);
    const unconfirmed = mempool.output(key);
    if (unconfirmed !== null) {
      coins.set(prevout, { value: unconfirmed.amountSat, script: unconfirmed.script });
      continue;
    }
    const coin = await chain.coin(key);
    if (coin !== null) coins.set(prevout, { value: coin.amount, script: coin.script });
  }
  return coins;
}
