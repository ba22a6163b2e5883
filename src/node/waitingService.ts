/** What is kept of the mempool for questions about it as a whole: figures, and claim operations. */
import type { Mempool } from '../mempool/mempool.js';
import { MempoolClaims } from '../mempool/mempoolClaims.js';
import { MempoolSummary } from '../mempool/mempoolSummary.js';
import { parseTransaction } from '../primitives/transaction.js';
import type { RpcServices } from '../rpc/services.js';
import { Reader } from '../util/reader.js';

/** Follows the mempool from its first transaction on. */
export function waitingService(mempool: Pick<Mempool, 'listen'>): RpcServices['waiting'] {
  const summary = new MempoolSummary();
  const claims = new MempoolClaims();
  mempool.listen({
    added(entry, bytes, spentScripts, spentAmountsSat) {
      summary.add(entry);
      claims.add(entry, parseTransaction(new Reader(bytes)), spentScripts, spentAmountsSat);
    },
    removed({ txid }) {
      summary.remove(txid);
      claims.remove(txid);
    },
  });
  return { summary, claims };
}
