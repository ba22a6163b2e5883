/** Attempts of the pool to find a hub. */
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
