/** Results that combine data of chain and mempool. Both parts must be read at the same tip. */
import type { RpcServices } from '../../../interfaces/services.js';

/** Number of attempts that a new block may interrupt. In a further attempt no block is connected during the read. */
const MAX_ATTEMPTS = 3;

/**
 * Returns the result of `read` if no block was connected or disconnected during the read. Each transaction is therefore
 * counted once, in the mempool or in the chain. `read` may run several times.
 */
export async function atOneTip<T>(
  { chain: { chain } }: Pick<RpcServices, 'chain'>,
  read: () => Promise<T>,
): Promise<T> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    // Waits for the end of a running block connection, during which the mempool is not up to date.
    const before = await chain.exclusively(async () => chain.tip);
    const answer = await read();
    if (chain.tip === before) return answer;
  }
  return chain.exclusively(read);
}
