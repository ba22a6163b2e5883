import { createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { HubGone } from '../../../../src/daemon/ledger/hub/hubErrors.js';
import { LineReader } from '../../../../src/util/text/lineReader.js';
import { HUB_LIMITS, HubSession } from '../../../../src/daemon/ledger/hub/hubSession.js';

const GENESIS = '00'.repeat(32);
const TIMEOUT_SEC = HUB_LIMITS.callTimeoutMs / 1000;

let server: Server;
let socket: Socket;
let session: HubSession;
let reported: number;

/** A hub that answers only the calls of a connection's start. */
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  const answers: Readonly<Record<string, unknown>> = {
    'server.version': ['0.107.0', '0.113.0'],
    'server.features': { genesis_hash: GENESIS },
  };
  server = createServer((one) => {
    socket = one;
    one.on('error', () => undefined);
    one.on('data', (line) => {
      const { id, method } = JSON.parse(line.toString()) as { id: number; method: string };
      const result = answers[method];
      if (result !== undefined) one.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  session = await HubSession.open({ host: '127.0.0.1', port }, GENESIS, HUB_LIMITS);
  reported = 0;
  session.listen({ notified: () => void reported++, ended: () => undefined });
});

afterEach(async () => {
  session.end(new HubGone('The test is over'));
  vi.useRealTimers();
  await new Promise((resolve) => server.close(resolve));
});

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 2));

describe('HubSession', () => {
  it('waits for an answer no longer than its time limit, whatever else the hub sends', async () => {
    let failure: unknown = null;
    session.call('a', []).catch((error: unknown) => (failure = error));
    for (let sec = 1; sec <= TIMEOUT_SEC; sec++) {
      socket.write('{"method": "news", "params": []}\n');
      while (reported < sec) await turn();
      vi.advanceTimersByTime(1000);
    }
    expect(session.isOpen).toBe(true);
    vi.advanceTimersByTime(1000);
    await turn();
    expect(failure).toBeInstanceOf(HubGone);
    expect(String(failure)).toContain('did not answer a request for 31 seconds');
  });

  it('waits for a long answer that is still arriving', async () => {
    let came = 0;
    const push = vi.spyOn(LineReader.prototype, 'push');
    const start = '{"id": 3, "result": "';
    const answer = session.call('a', []);
    socket.write(start);
    for (let sec = 1; sec <= 3 * TIMEOUT_SEC; sec++) {
      socket.write('x'.repeat(4096));
      while (came < start.length + sec * 4096) {
        await turn();
        came = push.mock.calls.reduce((sum, [chunk]) => sum + chunk.length, 0);
      }
      vi.advanceTimersByTime(1000);
    }
    push.mockRestore();
    socket.write('"}\n');
    expect(await answer).toBe('x'.repeat(4096 * 3 * TIMEOUT_SEC));
  });
});
