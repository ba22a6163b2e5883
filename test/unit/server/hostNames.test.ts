import { describe, expect, it } from 'vitest';
import { HostNames } from '../../../src/server/hostNames.js';
import { addHealthRoute } from '../../../src/server/health.js';
import { ask, ServerBench } from './support.js';

describe('HostNames', () => {
  const names = new HostNames(['Node.Example', 'bound.example']);

  it.each([
    undefined,
    '',
    'localhost',
    'LocalHost:9245',
    'localhost.',
    'localhost.:9245',
    '127.0.0.1',
    '127.0.0.1:9245',
    '10.1.2.3:80',
    '[::1]',
    '[::1]:9245',
    '[fe80::1%eth0]:9245',
    'node.example:9245',
    'NODE.example',
    'bound.example',
  ])('accepts %j', (header) => {
    // Twice, because the second time the result comes from the cache.
    expect([names.allows(header), names.allows(header)]).toEqual([true, true]);
  });

  it.each([
    'evil.example',
    'evil.example:9245',
    'localhost.evil.example',
    'notlocalhost',
    'node.example.evil',
    '127.0.0.1.evil.example',
    '1.2.3',
    '0x7f000001',
    '[evil]',
    '[::1].evil.example',
    'evil.example, localhost',
    'localhost:9245:1',
    '*',
  ])('refuses %j', (header) => {
    expect([names.allows(header), names.allows(header)]).toEqual([false, false]);
  });

  it('accepts any name on request', () => {
    expect(new HostNames(['*']).allows('evil.example')).toBe(true);
  });

  it('stores a limited number', () => {
    const many = new HostNames([]);
    for (let i = 0; i < 1000; i++) many.allows(`127.0.0.1:${i}`);
    expect((many as unknown as { good: Set<string> }).good.size).toBe(64);
    expect(many.allows('127.0.0.1:999')).toBe(true);
  });
});

describe('a request for a foreign host name', () => {
  it('is refused on every path without a password, with advice', async () => {
    const bench = new ServerBench();
    try {
      const deps = {
        warmupStatus: () => null,
        isStopping: () => false,
        chain: () => null,
        peerCount: () => 0,
      };
      const port = await bench.start({ allowHosts: ['node.example'], binds: ['[::1]:1'] }, undefined, {
        extraRoutes: (app) => addHealthRoute(app, deps),
      });
      const asked = (host: string, path: string, method = 'POST'): ReturnType<typeof ask> =>
        ask(port, method === 'POST' ? '{"method":"echo"}' : '', { path, method, headers: { host } });
      for (const [path, method] of [['/health', 'GET'], ['/nosuch']] as const) {
        const refused = await asked('evil.example', path, method);
        expect(refused.status, path).toBe(403);
        expect(refused.text).toContain('-rpcallowhost=<name>');
      }
      for (const path of ['/', '/lbcd', '/wallet/x'])
        expect((await asked('evil.example', path)).status, path).toBe(200);
      expect((await asked('node.example:1', '/nosuch')).status).toBe(404);
      expect((await asked('localhost', '/health', 'GET')).status).toBe(200);
    } finally {
      await bench.close();
    }
  });
});
