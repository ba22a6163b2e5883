/**
 * Calls that ask chain and mempool: none answers of the middle of a reorganisation (`chain/reorganisation.ts`), however many
 * blocks that exchanges. Source: what lbrycrd does under one hold of `cs_main`.
 */
import type { Reorganisation } from '../../chain/reorganisation.js';
import { isPromise, type MaybePromise } from '../../util/maybePromise.js';
import { RPC_ERROR, rpcError } from '../declare/errors.js';
import type { RpcContext } from '../declare/method.js';

type Seen = Pick<Reorganisation, 'isWhole' | 'over' | 'count'>;
type Caller = Pick<RpcContext, 'signal' | 'outOfTurn'>;

/** Runs a call when tip and mempool belong together. What may change or begin something runs once, so it waits before. */
export function onChain<T>(
  reorganisation: Seen,
  caller: Caller,
  call: () => MaybePromise<T>,
): MaybePromise<T> {
  return reorganisation.isWhole ? call() : whenWhole(reorganisation, caller).then(call);
}

/**
 * The same for a call that only reads: where a reorganisation began before it had its answer, that counts for nothing, and
 * the call is run again.
 */
export function readingChain<T>(
  reorganisation: Seen,
  caller: Caller,
  call: () => MaybePromise<T>,
): MaybePromise<T> {
  if (!reorganisation.isWhole)
    return whenWhole(reorganisation, caller).then(() => readingChain(reorganisation, caller, call));
  const { count } = reorganisation;
  const answer = call();
  if (!isPromise(answer)) return answer;
  const again = (): MaybePromise<T> => readingChain(reorganisation, caller, call);
  return answer.then(
    (found) => (reorganisation.count === count ? found : again()),
    (error: unknown) => {
      if (reorganisation.count === count) throw error;
      return again();
    },
  );
}

/**
 * Resolves when tip and mempool belong together. Rejects when they never will, and when the client goes or the node stops
 * before.
 */
export async function whenWhole(reorganisation: Seen, { signal, outOfTurn }: Caller): Promise<void> {
  while (!reorganisation.isWhole) {
    const { over } = reorganisation;
    if (over === null) throw new Error('the node is stopping after an error');
    await outOfTurn(() => settledOr(over, signal));
    if (signal.aborted) throw rpcError(RPC_ERROR.CLIENT_NOT_CONNECTED, 'Shutting down');
  }
}

function settledOr(over: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      signal.removeEventListener('abort', end);
      resolve();
    };
    signal.addEventListener('abort', end);
    void over.then(end);
    if (signal.aborted) end();
  });
}
