/** Reports of the dispatcher about calls, for metrics. */
import { expect, it } from 'vitest';
import { RpcDispatcher } from '../../../src/rpc/call/dispatch.js';
import { METHODS } from '../../../src/rpc/declare/methodTable.js';
import { MethodTable } from '../../../src/rpc/declare/table.js';
import { SILENT_LOGGER } from '../../../src/util/logging.js';
import { send, testServices } from './support.js';

it('counts only calls of declared methods, under the names of the methods', async () => {
  const calls: [string, boolean][] = [];
  const dispatcher = new RpcDispatcher(
    { deprecated: new Set() },
    {
      table: new MethodTable(METHODS),
      services: testServices(),
      logger: SILENT_LOGGER,
      onException: () => undefined,
      onCall: (method, ms, failed) => {
        expect(ms).toBeGreaterThanOrEqual(0);
        calls.push([method, failed]);
      },
    },
  );
  expect(dispatcher.warmup).not.toBeNull();
  await send(dispatcher, '{"method":"uptime"}');
  expect(calls).toEqual([]);
  dispatcher.finishWarmup();
  expect(dispatcher.warmup).toBeNull();
  await send(dispatcher, '[{"method":"uptime"},{"method":"nosuch"},{"method":"getblockhash"}]');
  expect(calls).toEqual([
    ['uptime', false],
    ['getblockhash', true],
  ]);
});
