/**
 * Waits until a miner needs a new template: for another tip, or after some time for a changed mempool (BIP22 long
 * polling). Source: lbrycrd rpc/mining.cpp `getblocktemplate`.
 */
import type { Chain } from '../chain/chain.js';
import { equalBytes, type Bytes } from '../util/bytes.js';

/**
 * `FIRST_LOOK_MS`: time after which a changed mempool ends the wait. `NEXT_LOOK_MS`: interval of further checks of the
 * mempool.
 */
const FIRST_LOOK_MS = 60_000;
const NEXT_LOOK_MS = 10_000;

export interface KnownWork {
  /** Id of the parent of the miner's template, in wire order. */
  readonly tip: Bytes;
  /** `changeCount` of the mempool when the miner's template was created. */
  readonly changeCount: number;
}

/** Resolves when the work for miners (tip or mempool) differs from `known`, or when `signal` aborts. */
export async function waitForWork(
  chain: Chain,
  source: { readonly changeCount: number },
  known: KnownWork,
  signal: AbortSignal,
): Promise<void> {
  const isStale = (): boolean => !equalBytes(chain.index.headers.hash(chain.tip), known.tip);
  if (isStale() || signal.aborted) return;
  await new Promise<void>((resolve) => {
    const look = (): void => {
      if (source.changeCount !== known.changeCount) end();
      else timer = setTimeout(look, NEXT_LOOK_MS);
    };
    let timer = setTimeout(look, FIRST_LOOK_MS);
    const stopListening = chain.events.on('tipChanged', () => {
      if (isStale()) end();
    });
    const end = (): void => {
      clearTimeout(timer);
      stopListening();
      signal.removeEventListener('abort', end);
      resolve();
    };
    signal.addEventListener('abort', end);
  });
}
