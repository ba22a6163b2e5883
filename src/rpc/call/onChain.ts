/**
 * Runs calls that read chain and mempool so that their results never show the state during a reorg
 * (`chain/reorganisation.ts`), however many blocks it replaces. Source: lbrycrd's code that holds `cs_main`.
 */
import type { Reorganisation } from '../../chain/reorganisation.js';
import { isPromise, type MaybePromise } from '../../util/maybePromise.js';
import { RPC_ERROR, rpcError } from '../declare/errors.js';
import type { RpcContext } from '../declare/method.js';

type Seen = Pick<Reorganisation, 'isWhole' | 'over' | 'count'>;
type Caller = Pick<RpcContext, 'signal' | 'outOfTurn'>;

/**
 * Runs a call when tip and mempool are consistent. The call may change or start something, so it must not be repeated.
 * Therefore it waits for the end of a reorg before it runs.
 */
export function onChain<T>(
  reorganisation: Seen,
  caller: Caller,
  call: () => MaybePromise<T>,
): MaybePromise<T> {
  return reorganisation.isWhole ? call() : whenWhole(reorganisation, caller).then(call);
}

/**
 * Runs a call that only reads chain and mempool. If a reorg begins before the call has its result, the result is discarded
 * and the call is repeated.
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
 * Resolves when tip and mempool are consistent. Rejects if the node failed, if the client disconnects, or if the node stops.
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
