/** Summaries of the mempool for RPC methods: statistics, claim operations, and the claims as changed by mempool transactions. */
import { WaitingFeed } from '../../index/waiting/waitingFeed.js';
import type { Mempool } from '../../mempool/mempool.js';
import { MempoolClaims } from '../../mempool/mempoolClaims.js';
import { MempoolSummary } from '../../mempool/mempoolSummary.js';
import type { NetworkParams } from '../../params/network.js';
import { parseTransaction } from '../../primitives/transaction.js';
import type { RpcServices } from '../../interfaces/services.js';
import { Reader } from '../../util/reader.js';

/** Data that is needed to format claims as changed by the mempool. Available only with a claim index. */
export interface ShownWaiting {
  readonly params: NetworkParams;
  readonly maxBytes: number;
  readonly warn: (text: string) => void;
}

/** Creates the summaries, which follow the mempool from its first transaction on. */
export function waitingService(
  mempool: Pick<Mempool, 'listen'>,
  shown: ShownWaiting | null,
): RpcServices['waiting'] {
  const summary = new MempoolSummary();
  const claims = new MempoolClaims();
  const feed = shown && new WaitingFeed(shown.params, shown.maxBytes, shown.warn);
  mempool.listen({
    added(entry, bytes, spentScripts, spentAmountsSat) {
      summary.add(entry);
      const tx = parseTransaction(new Reader(bytes));
      claims.add(entry, tx, spentScripts, spentAmountsSat);
      feed?.add(entry, tx, spentScripts, spentAmountsSat);
    },
    removed({ txid }) {
      summary.remove(txid);
      claims.remove(txid);
      feed?.remove(txid);
    },
  });
  return { summary, claims, feed };
}
