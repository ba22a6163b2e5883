/** Results that combine chain and mempool: both must be read at one tip. */
import type { RpcServices } from '../../../interfaces/services.js';

/** Number of attempts interrupted by a new block, after which the chain is held during the read. */
const MAX_ATTEMPTS = 3;

/**
 * The result of `read`, if no block was connected or disconnected during it, so that a transaction is counted once: in the
 * mempool or in the chain. `read` may run several times.
 */
export async function atOneTip<T>(
  { chain: { chain } }: Pick<RpcServices, 'chain'>,
  read: () => Promise<T>,
): Promise<T> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    // Waits for a chain step in progress: during a step the mempool is not up to date.
    const before = await chain.exclusively(async () => chain.tip);
    const answer = await read();
    if (chain.tip === before) return answer;
  }
  return chain.exclusively(read);
}
