import { describe, expect, it } from 'vitest';
import { RpcError } from '../../../src/rpc/declare/errors.js';
import { invokeMethod } from '../../../src/rpc/call/callMethod.js';
import type { RpcContext, RpcMethod } from '../../../src/rpc/declare/method.js';
import { discover } from '../../../src/rpc/methods/control/discover.js';
import { getMemoryInfo } from '../../../src/rpc/methods/control/getMemoryInfo.js';
import { help } from '../../../src/rpc/methods/control/help.js';
import { logging } from '../../../src/rpc/methods/control/logging.js';
import { stop } from '../../../src/rpc/methods/control/stop.js';
import { uptime } from '../../../src/rpc/methods/control/uptime.js';
import { echo, echoJson } from '../../../src/rpc/methods/hidden/echo.js';
import { checkResult } from '../../../src/schema/schemaCheck.js';
import { LOG_CATEGORIES } from '../../../src/util/logging.js';
import { parseJson } from '../../../src/util/json/jsonParse.js';
import type { JsonValue } from '../../../src/util/json/json.js';
import { stringifyJson } from '../../../src/util/json/jsonStream.js';
import { testContext, testServices } from './support.js';

async function run(method: RpcMethod, params = '[]', ctx: RpcContext = testContext()): Promise<string> {
  const answer = await invokeMethod(method, ctx, parseJson(params) as JsonValue[]);
  expect(await checkResult(method.result, answer)).toEqual([]);
  return stringifyJson(answer);
}

describe('help', () => {
  it('lists the methods by category', async () => {
    const text = JSON.parse(await run(help)) as string;
    expect(text).toMatch(/(^|\n\n)== Control ==\n/);
    expect(text).toContain('\ngetmemoryinfo ( "mode" )\n');
    expect(text).toContain('\nhelp ( "command" )\n');
    expect(text).not.toContain('echo');
    expect(text.endsWith('\n')).toBe(false);
  });

  it('describes one method, also a hidden one', async () => {
    expect(JSON.parse(await run(help, '["uptime"]'))).toMatch(
      /^uptime\n\nReturns the total uptime of the server\.\n\nResult:\n/,
    );
    expect(JSON.parse(await run(help, '["echo"]'))).toMatch(/^echo \( arg0 /);
    expect(JSON.parse(await run(help, '["nosuch"]'))).toBe('help: unknown command: nosuch');
    expect(JSON.parse(await run(help, JSON.stringify(['x'.repeat(5000)])))).toHaveLength(1000);
    expect(JSON.parse(await run(help, '[""]'))).toBe(JSON.parse(await run(help)));
    await expect(run(help, '[5]')).rejects.toThrow('JSON value is not a string as expected');
    await expect(run(help, '["a","b"]')).rejects.toThrow(
      'help takes at most 1 argument, 2 were given.\nUsage: help ( "command" )',
    );
    expect(JSON.parse(await run(help, '["uptme"]'))).toBe(
      'help: unknown command: uptme. Did you mean uptime?',
    );
    const asLbrycrd = testContext({ profile: 'lbrycrd' });
    expect(JSON.parse(await run(help, '["uptme"]', asLbrycrd))).toBe('help: unknown command: uptme');
    const asLbcd = testContext({ profile: 'lbcd' });
    await expect(run(help, '["uptme"]', asLbcd)).rejects.toMatchObject({
      code: -8,
      message: 'Unknown command: uptme',
    });
  });
});

describe('logging', () => {
  it('shows and sets categories, and applies exclusions last', async () => {
    const ctx = testContext();
    const all = (active: number): Record<string, number> =>
      Object.fromEntries(LOG_CATEGORIES.map((name) => [name, active]));
    const call = async (params: string): Promise<unknown> => JSON.parse(await run(logging, params, ctx));
    expect(Object.keys((await call('[]')) as object)).toEqual([...LOG_CATEGORIES]);
    expect(await call('[]')).toEqual(all(0));
    expect(await call('[["net","rpc"]]')).toEqual({ ...all(0), net: 1, rpc: 1 });
    expect(await call('[["all"],["http","net"]]')).toEqual({ ...all(1), http: 0, net: 0 });
    expect(await call('[["net"],["net"]]')).toMatchObject({ net: 0 });
    expect(await call('[["none","0"]]')).toEqual({ ...all(1), http: 0, net: 0 });
    expect(await call('[null,["1"]]')).toEqual(all(0));
    expect(await call('["net",7]')).toEqual(all(0));
  });

  it('returns booleans in the lbrycrd profile', async () => {
    expect(JSON.parse(await run(logging, '[["net"]]', testContext({ profile: 'lbrycrd' })))).toMatchObject({
      net: true,
      tor: false,
    });
  });

  it('refuses unknown categories', async () => {
    await expect(run(logging, '[["nosuch"]]')).rejects.toEqual(
      new RpcError(-8, 'unknown logging category nosuch'),
    );
    await expect(run(logging, '[[],["nosuch"]]')).rejects.toThrow('unknown logging category nosuch');
    await expect(run(logging, '[[5]]')).rejects.toThrow('JSON value is not a string as expected');
  });
});

describe('the other methods of control', () => {
  it('stop requests the stop and returns a message', async () => {
    const services = testServices();
    expect(await run(stop, '[true]', testContext({ services }))).toBe('"LBRYcrd server stopping"');
    expect(await run(stop, '[]', testContext({ services, profile: 'lbcd' }))).toBe('"lbcd stopping."');
    expect(services.stops.length).toBe(2);
  });

  it('uptime returns seconds', async () => {
    expect(Number(await run(uptime))).toBeGreaterThanOrEqual(5);
    expect(Number(await run(uptime, '["ignored"]'))).toBeLessThan(3600);
    await expect(run(uptime, '["ignored"]', testContext({ profile: 'lbcd' }))).rejects.toMatchObject({
      code: -32602,
      message: 'wrong number of params (expected 0, received 1)',
    });
    const services = testServices();
    const { startTimeSec } = services.lifecycle;
    const mocked = { ...services, clock: { ...services.clock, nowSec: () => startTimeSec + 1000 } };
    expect(await run(uptime, '[]', testContext({ services: mocked }))).toBe('1000');
  });

  it('getmemoryinfo returns numbers or XML', async () => {
    const stats = JSON.parse(await run(getMemoryInfo)) as { locked: object; process: { rss: number } };
    expect(Object.keys(stats.locked)).toEqual([
      'used',
      'free',
      'total',
      'locked',
      'chunks_used',
      'chunks_free',
    ]);
    expect(stats.process.rss).toBeGreaterThan(1e6);
    expect(stats).toMatchObject({
      native: { used: 6, free: 7, mapped: 8 },
      threads: [{ name: 'hub', heap_used: 1, heap_total: 2, external: 3 }],
      caches: [
        { name: 'coins', bytes: 10, bound: 20 },
        { name: 'headers', bytes: 30 },
        { name: 'hub/lines', bytes: 4, bound: 5 },
      ],
    });
    const xml = JSON.parse(await run(getMemoryInfo, '["mallocinfo"]')) as string;
    expect(xml).toMatch(/^<malloc version="1">\n<heap nr="0"[^]*<\/malloc>\n$/);
    await expect(run(getMemoryInfo, '["x"]')).rejects.toEqual(new RpcError(-8, 'unknown mode x'));
  });

  it('echo returns its arguments unchanged', async () => {
    const params = '[1.10,12345678901234567890,{"b":1,"a":null,"b":2},null,"é",1,2,3,4,5,6,7]';
    expect(await run(echo, params)).toBe(params);
    expect(await run(echoJson, '[]')).toBe('[]');
  });

  it('rpc.discover describes the methods', async () => {
    const document = JSON.parse(await run(discover)) as { methods: { name: string }[] };
    expect(document.methods.map((method) => method.name)).toContain('rpc.discover');
  });
});
