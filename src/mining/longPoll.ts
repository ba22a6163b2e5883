/**
 * Waits for work that is better than a miner's current work: another tip, or after some time a changed mempool (BIP22 long
 * polling). Source: lbrycrd rpc/mining.cpp `getblocktemplate`.
 */
import type { Chain } from '../chain/chain.js';
import { equalBytes, type Bytes } from '../util/bytes.js';

/** A changed mempool ends the wait only after this time; it is then checked at this interval. */
const FIRST_LOOK_MS = 60_000;
const NEXT_LOOK_MS = 10_000;

export interface KnownWork {
  /** The parent of the miner's template, wire order. */
  readonly tip: Bytes;
  /** The mempool's `changeCount` of that template. */
  readonly changeCount: number;
}

/** Resolves when the work differs from `known`, or `signal` aborts. */
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
