/** Common parts of the three methods that wait for a block: the wait, the timeout parameter and the result. */
import { hashToHex } from '../../../util/bytes.js';
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import type { RpcContext } from '../../declare/method.js';
import { whenWhole } from '../../call/onChain.js';
import { t } from '../../../schema/schema.js';

export const TIMEOUT_PARAM = {
  name: 'timeout',
  type: 'integer',
  default: 0,
  description: 'Time in milliseconds to wait for a response. 0 indicates no timeout',
} as const;

export const TIP_SCHEMA = t.named(
  'Tip',
  t.object({ hash: t.hash('the hash of the tip'), height: t.int('the height of the block') }),
);

/**
 * Waits until `isReached` is true for the tip, the timeout expires, the client disconnects or the node stops. Returns the
 * tip at the end of the wait.
 */
export async function waitForTip(
  { services: { chain }, signal, outOfTurn }: RpcContext,
  timeoutMs: number,
  isReached: () => boolean,
): Promise<JsonOut> {
  if (timeoutMs >= 0 && !signal.aborted && !isReached()) {
    const reached = (): Promise<void> =>
      new Promise((resolve) => {
        const timer = timeoutMs > 0 ? setTimeout(() => end(), timeoutMs) : undefined;
        const stopListening = chain.chain.events.on('tipChanged', () => {
          if (isReached()) end();
        });
        const end = (): void => {
          clearTimeout(timer);
          stopListening();
          signal.removeEventListener('abort', end);
          resolve();
        };
        signal.addEventListener('abort', end);
      });
    await outOfTurn(reached);
    await whenWhole(chain.chain.reorganisation, { signal, outOfTurn });
  }
  const { tip, height } = chain.chain;
  return { hash: hashToHex(chain.headers.hash(tip)), height };
}
