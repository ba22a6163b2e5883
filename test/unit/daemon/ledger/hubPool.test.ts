/** Attempts of the pool to find a hub. */
import { createServer, type AddressInfo } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { HubPool, POOL_TIMES } from '../../../../src/daemon/ledger/hub/hubPool.js';
import { HUB_LIMITS } from '../../../../src/daemon/ledger/hub/hubSession.js';
import { SILENT_LOGGER } from '../../../../src/util/logging.js';

afterEach(() => void vi.useRealTimers());

it('tries the servers every 30 seconds during a long outage', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  let rounds = 0;
  const servers = () => {
    rounds++;
    return [];
  };
  const options = {
    ...POOL_TIMES,
    servers,
    further: null,
    genesis: '',
    limits: HUB_LIMITS,
    country: () => null,
  };
  const user = { joined: () => Promise.resolve(), notified: () => undefined, left: () => undefined };
  const pool = new HubPool(options, user, SILENT_LOGGER);
  pool.start();
  await vi.advanceTimersByTimeAsync(600_000);
  const before = rounds;
  await vi.advanceTimersByTimeAsync(30_000);
  expect(rounds).toBeGreaterThan(before);
  await pool.stop();
});

it('logs once during an outage that a server cannot be reached', async () => {
  const closed = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => closed.once('listening', resolve));
  const { port } = closed.address() as AddressInfo;
  await new Promise((resolve) => closed.close(resolve));
  const lines: string[] = [];
  let rounds = 0;
  let ended = (): void => undefined;
  const fourthRound = new Promise<void>((resolve) => (ended = resolve));
  const options = {
    ...POOL_TIMES,
    pingMs: 1,
    retryMs: [1, 1] as const,
    servers: () => [{ host: '127.0.0.1', port }],
    further: null,
    genesis: '',
    limits: HUB_LIMITS,
    country: () => {
      if (++rounds === 4) ended();
      return null;
    },
  };
  const user = { joined: () => Promise.resolve(), notified: () => undefined, left: () => undefined };
  const pool = new HubPool(options, user, { ...SILENT_LOGGER, info: (line) => void lines.push(line) });
  pool.start();
  await fourthRound;
  await pool.stop();
  expect(lines).toEqual([
    `The hub 127.0.0.1:${port} cannot be reached: connect ECONNREFUSED 127.0.0.1:${port}`,
  ]);
});
