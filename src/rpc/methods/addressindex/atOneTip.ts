/** Results that combine data of chain and mempool. Both must be read at the same tip. */
import type { RpcServices } from '../../../interfaces/services.js';

/** Number of attempts that new blocks may interrupt. After that, no block is connected during the read. */
const MAX_ATTEMPTS = 3;

/**
 * Returns the result of `read` if no block was connected or disconnected during the read. A transaction is therefore counted
 * only once: in the mempool or in the chain. `read` may run several times.
 */
export async function atOneTip<T>(
  { chain: { chain } }: Pick<RpcServices, 'chain'>,
  read: () => Promise<T>,
): Promise<T> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    // Waits for the end of a block connection in progress, because the mempool is not up to date during it.
    const before = await chain.exclusively(async () => chain.tip);
    const answer = await read();
    if (chain.tip === before) return answer;
  }
  return chain.exclusively(read);
}
