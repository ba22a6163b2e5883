/** What unconfirmed transactions do to scripts: outputs made and outputs spent, read from the transactions. */
import { scriptKeyOf } from '../../../index/addressScripts.js';
import { formatOutPoint, type OutPoint } from '../../../primitives/transaction.js';
import type { Bytes } from '../../../util/bytes.js';
import type { AddressService, RpcServices } from '../../services.js';
import type { AddressQuery } from './query.js';

export interface MempoolMove {
  /** Id of the transaction in wire order. */
  readonly txid: Buffer;
  readonly timeSec: number;
  /** Number of the output, or of the input that spends. */
  readonly index: number;
  readonly amountSat: bigint;
  readonly script: Bytes;
  readonly scriptKey: string;
  /** What an input spends; null for an output. */
  readonly spends: OutPoint | null;
}

/** In the order in which the transactions came; of each the inputs first. */
export async function mempoolMoves(
  { mempool, chain }: RpcServices,
  addresses: AddressService,
  query: AddressQuery,
): Promise<MempoolMove[]> {
  const moves: MempoolMove[] = [];
  for (const txid of addresses.mempoolTransactions(query.keys)) {
    const tx = mempool.transaction(txid);
    const timeSec = mempool.entry(txid)?.entryTimeSec;
    // It may leave while others are looked at.
    if (!tx || timeSec === undefined) continue;
    const add = (index: number, amountSat: bigint, script: Bytes, spends: OutPoint | null): void => {
      const scriptKey = scriptKeyOf(script);
      if (scriptKey === null || !query.asked.has(scriptKey)) return;
      moves.push({ txid, timeSec, index, amountSat, script, scriptKey, spends });
    };
    for (const [index, { prevout }] of tx.inputs.entries()) {
      const outPoint = formatOutPoint(prevout);
      const made = mempool.output(outPoint);
      if (made) add(index, made.amountSat, made.script, prevout);
      else {
        const coin = await chain.coin(outPoint);
        if (coin) add(index, coin.amount, coin.script, prevout);
      }
    }
    tx.outputs.forEach(({ value, script }, index) => add(index, value, script, null));
  }
  return moves;
}
