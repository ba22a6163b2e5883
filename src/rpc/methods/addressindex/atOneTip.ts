/** Answers that put chain and mempool together: both must be seen at one tip. */
import type { RpcServices } from '../../../interfaces/services.js';

/** This often an answer is started over because the chain moved; then the chain is held until it is read. */
const MAX_ATTEMPTS = 3;

/**
 * What `read` gives when no block came or went between its beginning and its end, so that what a block confirms counts
 * once: in the mempool or in the chain. `read` may run several times.
 */
export async function atOneTip<T>(
  { chain: { chain } }: Pick<RpcServices, 'chain'>,
  read: () => Promise<T>,
): Promise<T> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    // Behind a step that is under way: in its middle the mempool has not caught up.
    const before = await chain.exclusively(async () => chain.tip);
    const answer = await read();
    if (chain.tip === before) return answer;
  }
  return chain.exclusively(read);
}
