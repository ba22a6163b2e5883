/** Shared by the RPC tests: a context with working services, a dispatcher, and the text of a reply. */
import { Reorganisation } from '../../../src/chain/reorganisation.js';
import { RpcDispatcher, type RpcOrigin } from '../../../src/rpc/call/dispatch.js';
import type { RpcContext, RpcMethod } from '../../../src/rpc/declare/method.js';
import { METHODS } from '../../../src/rpc/declare/methodTable.js';
import type { RpcServices } from '../../../src/interfaces/services.js';
import { MethodTable } from '../../../src/rpc/declare/table.js';
import { LogCategorySet, SILENT_LOGGER, type Logger } from '../../../src/util/logging.js';

export function testServices(): RpcServices & { stops: number[] } {
  const stops: number[] = [];
  return {
    stops,
    lifecycle: {
      startTimeSec: Math.floor(Date.now() / 1000) - 5,
      requestStop: () => void stops.push(1),
    },
    memory: {
      caches: () =>
        Promise.resolve([
          { name: 'coins', bytes: 10, maxBytes: 20 },
          { name: 'headers', bytes: 30, maxBytes: null },
        ]),
      threads: () =>
        Promise.resolve([
          {
            name: 'hub',
            heapUsed: 1,
            heapTotal: 2,
            external: 3,
            caches: [{ name: 'lines', bytes: 4, maxBytes: 5 }],
          },
        ]),
      nativeHeap: () => ({ usedBytes: 6, freeBytes: 7, mappedBytes: 8 }),
    },
    clock: { nowSec: () => Math.floor(Date.now() / 1000) },
    logging: new LogCategorySet(),
    options: { claimMetadata: false },
    chain: { chain: { reorganisation: new Reorganisation() } },
  } as unknown as RpcServices & { stops: number[] };
}

export function testContext(overrides: Partial<RpcContext> = {}): RpcContext {
  return {
    profile: 'documented',
    services: testServices(),
    signal: new AbortController().signal,
    outOfTurn: (wait) => wait(),
    walletName: undefined,
    table: new MethodTable(METHODS),
    isDeprecatedEnabled: () => false,
    ...overrides,
  };
}

export interface DispatcherSetup {
  readonly dispatcher: RpcDispatcher;
  readonly exceptions: unknown[];
}

/** A dispatcher that has finished warming up. */
export function testDispatcher(
  extra: readonly RpcMethod[] = [],
  deprecated: readonly string[] = [],
  logger: Logger = SILENT_LOGGER,
): DispatcherSetup {
  const exceptions: unknown[] = [];
  const dispatcher = new RpcDispatcher(
    { deprecated: new Set(deprecated) },
    {
      table: new MethodTable([...METHODS, ...extra]),
      services: testServices(),
      logger,
      onException: (error) => exceptions.push(error),
    },
  );
  dispatcher.finishWarmup();
  return { dispatcher, exceptions };
}

export const TEST_ORIGIN: RpcOrigin = {
  profile: 'documented',
  walletName: undefined,
  user: 'tester',
  gone: new AbortController().signal,
  signal: new AbortController().signal,
};

/** Sends a body and collects the answer. */
export async function send(
  dispatcher: RpcDispatcher,
  body: string | Uint8Array,
  origin: RpcOrigin = TEST_ORIGIN,
): Promise<{ status: number; text: string }> {
  const reply = await dispatcher.handle(typeof body === 'string' ? Buffer.from(body) : body, origin);
  let text = '';
  for await (const chunk of reply.chunks) text += chunk;
  return { status: reply.status, text };
}
