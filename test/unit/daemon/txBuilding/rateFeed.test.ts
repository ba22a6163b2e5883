/** The price of an exchange, with a fake server and fake time. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ratesPart } from '../../../../src/daemon/main/parts/ratesPart.js';
import { exchangeBy } from '../../../../src/daemon/txBuilding/exchangeRates.js';
import { CALL_INTERVAL_MS, RateFeed, RETRY_INTERVAL_MS } from '../../../../src/daemon/txBuilding/rateFeed.js';

const GOOD = '{"symbol":"LBCUSDT","price":"0.0025"}';
const HOUR_MS = 3_600_000;

let server: Server | null = null;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = null;
});

/** A feed after its first request. `answer` is what the server returns from then on. */
async function started(answer: string | RequestListener, source = 'mexc') {
  const state = { answer, source, calls: 0, nowMs: 0 };
  server = createServer((request, response) => {
    state.calls++;
    if (typeof state.answer === 'function') state.answer(request, response);
    else response.end(state.answer);
  });
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const lines: string[] = [];
  let timer: { delayMs: number; task: () => void } | null = null;
  let isSet = (): void => undefined;
  const feed = new RateFeed({
    clock: {
      nowSec: () => Math.floor(state.nowMs / 1000),
      nowMs: () => state.nowMs,
      after: (delayMs, task) => {
        timer = { delayMs, task };
        isSet();
        return { cancel: () => (timer = null) };
      },
    },
    log: { info: (line: string) => void lines.push(line), warn: (line: string) => void lines.push(line) },
    source: () => state.source,
    url: () => `http://127.0.0.1:${port}/ticker`,
  });
  const asked = (begin: () => void): Promise<void> =>
    new Promise((resolve) => {
      isSet = resolve;
      begin();
    });
  /** Advances the time to the next call. Resolves to its delay after its answer. */
  const next = async (): Promise<number> => {
    const { delayMs, task } = timer!;
    state.nowMs += delayMs;
    await asked(task);
    return delayMs;
  };
  if (source !== '') await asked(() => feed.start());
  return { feed, state, lines, next, port, waits: () => timer !== null };
}

const usd = (feed: RateFeed, amount: string, rates: readonly string[] = []): bigint =>
  exchangeBy(rates, feed).toDewies('USD', amount);

describe('the price of an exchange', () => {
  it('converts USD, after fixed rates, and no other currency', async () => {
    const { feed, lines } = await started(GOOD);
    expect(usd(feed, '1')).toBe(40_000_000_000n);
    expect(usd(feed, '0.01')).toBe(400_000_000n);
    expect(usd(feed, '1', ['USD=38.5'])).toBe(3_850_000_000n);
    expect(() => exchangeBy([], feed).toDewies('BTC', '1')).toThrow(/Unable to convert 1 from BTC/);
    expect(lines).toEqual(['The price of LBC from mexc is 0.0025 USD']);
  });

  it('is rounded to a dewie', async () => {
    const { feed } = await started('{"symbol":"LBCUSDT","price":"0.003"}');
    expect(usd(feed, '1')).toBe(33_333_333_333n);
    expect(usd(feed, '0.00000003')).toBe(1000n);
  });

  it('is queried once an hour, and sooner after a failure; its age is shown', async () => {
    const { feed, state, next } = await started(GOOD);
    expect(feed.status()).toEqual({
      source: 'mexc',
      usd_per_lbc: '0.0025',
      age_seconds: 0,
      is_usable: true,
      error: null,
    });
    state.answer = '{"symbol":"LBCUSDT","price":"0.005"}';
    expect(await next()).toBe(CALL_INTERVAL_MS);
    expect([usd(feed, '1'), state.calls]).toEqual([20_000_000_000n, 2]);
    state.answer = (_, response) => void response.writeHead(503).end();
    expect(await next()).toBe(CALL_INTERVAL_MS);
    expect(await next()).toBe(RETRY_INTERVAL_MS);
    expect(feed.status()).toMatchObject({
      usd_per_lbc: '0.005',
      age_seconds: (CALL_INTERVAL_MS + RETRY_INTERVAL_MS) / 1000,
      error: 'the HTTP status is 503',
    });
  });

  it('is refused when it is older than a day, and used again after the next answer', async () => {
    const { feed, state, next, lines } = await started(GOOD);
    state.answer = 'no';
    while (state.nowMs <= 24 * HOUR_MS) {
      expect(usd(feed, '1')).toBe(40_000_000_000n);
      await next();
    }
    expect(feed.status()).toMatchObject({ is_usable: false });
    expect(() => usd(feed, '1')).toThrow(/the price of mexc is 24 hours old: the answer is not JSON/);
    expect(usd(feed, '1', ['USD=38.5'])).toBe(3_850_000_000n);
    expect(lines.filter((line) => line.includes('No price'))).toHaveLength(1);
    state.answer = GOOD;
    await next();
    expect(usd(feed, '1')).toBe(40_000_000_000n);
  });

  it.each<[string, string | RequestListener, RegExp]>([
    ['another symbol', '{"symbol":"BTCUSDT","price":"60000"}', /the answer is for "BTCUSDT"/],
    ['no symbol', '{"price":"1"}', /the answer is for nothing/],
    ['a list', '[]', /the answer is for nothing/],
    ['a price of zero', '{"symbol":"LBCUSDT","price":"0"}', /has no price/],
    ['a negative price', '{"symbol":"LBCUSDT","price":"-1"}', /has no price/],
    ['a price that is a number', '{"symbol":"LBCUSDT","price":1}', /has no price/],
    ['a huge price', '{"symbol":"LBCUSDT","price":"1e30"}', /has no price/],
    ['a price of many digits', `{"symbol":"LBCUSDT","price":"1.${'1'.repeat(60)}"}`, /has no price/],
    ['text', '<html>', /not JSON/],
    ['a long answer', ' '.repeat(5000), /too long/],
    ['an error', (_, response) => void response.writeHead(429).end('{}'), /HTTP status is 429/],
    ['a redirect', (_, response) => void response.writeHead(302, { location: '/' }).end(), /./],
    ['a cut connection', (request) => void request.socket.destroy(), /./],
  ])('is not accepted from %s', async (_, answer, error) => {
    const { feed } = await started(answer);
    expect(feed.status()).toMatchObject({ usd_per_lbc: null, is_usable: false });
    expect(feed.status()!.error).toMatch(error);
    expect(() => usd(feed, '1')).toThrow(/mexc has not sent a price yet: /);
  });

  it('is not awaited for longer than 30 seconds, also if the answer has begun', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const { feed, waits } = await started((_, response) => {
        response.write(' ', () => setImmediate(() => vi.advanceTimersByTime(30_000)));
      });
      expect(feed.status()!.error).toBe('the answer is not complete after 30 seconds');
      expect([vi.getTimerCount(), waits()]).toEqual([0, true]);
    } finally {
      vi.useRealTimers();
    }
  });

  it('is not queried without a source', async () => {
    const { feed, state, waits } = await started(GOOD, '');
    feed.start();
    expect([feed.status(), feed.lbcPerUsd(), state.calls, waits()]).toEqual([null, null, 0, false]);
    expect(() => usd(feed, '1')).toThrow(/Unable to convert 1 from USD to LBC/);
  });

  it('starts and stops with the component, and with a change of the setting', async () => {
    const listeners = new Map<string, () => void>();
    const { feed, state, waits } = await started(GOOD);
    const part = ratesPart(feed, { onChange: (name, listener) => void listeners.set(name, listener) });
    await part.stop();
    expect([waits(), feed.status()!.usd_per_lbc]).toEqual([false, null]);
    listeners.get('exchange_rate_source')!();
    expect(waits()).toBe(false);
    state.source = '';
    await part.start();
    expect(part.status()).toBeNull();
    state.source = 'mexc';
    listeners.get('exchange_rate_source')!();
    await expect.poll(() => waits()).toBe(true);
    expect(part.status()).toMatchObject({ source: 'mexc', usd_per_lbc: '0.0025' });
    await part.stop();
  });
});
