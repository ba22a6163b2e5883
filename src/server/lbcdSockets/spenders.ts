/**
 * `redeemingtx` notifications for outputs that a mempool transaction already spends when a client begins to watch them.
 * Source: lbcd rpcwebsocket.go `addSpentRequests`.
 */
import type { RpcServices } from '../../interfaces/services.js';
import { formatTransaction } from '../../primitives/transaction.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import { fromLatin1, toLatin1 } from '../../util/bytes.js';
import { relevantTransaction } from './notices.js';
import { WatchedTransaction } from './watchedTransaction.js';

interface Notified {
  readonly isGone: boolean;
  notify(text: string): void;
}
type Services = Pick<RpcServices, 'mempool'>;

/** Notifies a client about mempool transactions that spend one of the outputs. `outputs` are watch keys. */
export function tellSpenders(client: Notified, outputs: Iterable<string>, services: Services): void {
  const announced = new Set<string>();
  for (const key of outputs) tellSpender(client, key, services, announced);
}

/** The same for any number of outputs, without blocking the event loop. */
export async function tellManySpenders(
  client: Notified,
  outputs: Iterable<string>,
  services: Services,
): Promise<void> {
  const announced = new Set<string>();
  let since = performance.now();
  for (const key of outputs) {
    if (client.isGone) return;
    tellSpender(client, key, services, announced);
    since = await yieldIfDue(since);
  }
}

function tellSpender(client: Notified, key: string, { mempool }: Services, announced: Set<string>): void {
  const spender = mempool.spender(fromLatin1(key));
  if (spender === null || announced.has(toLatin1(spender))) return;
  announced.add(toLatin1(spender));
  const transaction = mempool.transaction(spender);
  if (transaction === null) return;
  const { hex } = WatchedTransaction.alone(formatTransaction(transaction));
  client.notify(relevantTransaction('redeemingtx', hex, null));
}
