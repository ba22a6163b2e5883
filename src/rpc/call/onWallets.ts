/**
 * Runs wallet calls so that each result describes a consistent state, although wallets process long blocks in slices.
 * Source: lbrycrd `BlockUntilSyncedToCurrentChain`, `cs_wallet`.
 */
import { JsonArrayStream, type JsonOut } from '../../util/json/jsonWrite.js';
import type { Wallets } from '../../wallet/wallets.js';

export type WalletsInUse = Pick<Wallets, 'caughtUp' | 'enter' | 'finish' | 'isBetween'>;

/**
 * Runs a call after the wallets have processed all events that happened before. While the call runs, no event is partly
 * processed.
 */
export function onWallets(
  wallets: WalletsInUse,
  call: () => JsonOut | Promise<JsonOut>,
): JsonOut | Promise<JsonOut> {
  const run = (): JsonOut | Promise<JsonOut> => {
    const leave = wallets.enter();
    let answer: JsonOut | Promise<JsonOut> = null;
    try {
      answer = call();
    } finally {
      if (!(answer instanceof Promise)) leave();
    }
    if (!(answer instanceof Promise)) return ofWholeStates(answer, wallets);
    return answer.finally(leave).then((found) => ofWholeStates(found, wallets));
  };
  const behind = wallets.caughtUp();
  if (behind === null) return run();
  // During the wait the wallets may have begun to process a later event.
  const runWhenWhole = async (): Promise<JsonOut> => {
    while (wallets.isBetween) await wallets.caughtUp();
    return run();
  };
  return behind.then(runWhenWhole);
}

/**
 * Wraps streamed results, which read the wallet while they are sent, so that each item is read from a consistent wallet
 * state.
 */
function ofWholeStates(answer: JsonOut, wallets: Pick<WalletsInUse, 'finish'>): JsonOut {
  if (answer instanceof JsonArrayStream) return new JsonArrayStream(wholeItems(answer, wallets));
  if (answer === null || typeof answer !== 'object' || Object.getPrototypeOf(answer) !== Object.prototype)
    return answer;
  const members = Object.entries(answer as Readonly<Record<string, JsonOut | undefined>>);
  if (!members.some(([, value]) => value instanceof JsonArrayStream)) return answer;
  return Object.fromEntries(
    members.map(([name, value]) => [
      name,
      value instanceof JsonArrayStream ? new JsonArrayStream(wholeItems(value, wallets)) : value,
    ]),
  );
}

function wholeItems(
  { items }: JsonArrayStream,
  wallets: Pick<WalletsInUse, 'finish'>,
): Iterable<JsonOut> | AsyncIterable<JsonOut> {
  return Symbol.asyncIterator in items ? wholeAsync(items, wallets) : whole(items, wallets);
}

function* whole(items: Iterable<JsonOut>, wallets: Pick<WalletsInUse, 'finish'>): Generator<JsonOut> {
  wallets.finish();
  for (const item of items) {
    yield item;
    wallets.finish();
  }
}

async function* wholeAsync(
  items: AsyncIterable<JsonOut>,
  wallets: Pick<WalletsInUse, 'finish'>,
): AsyncGenerator<JsonOut> {
  wallets.finish();
  for await (const item of items) {
    yield item;
    wallets.finish();
  }
}
