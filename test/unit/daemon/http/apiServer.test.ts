import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { apiServer } from '../../../../src/daemon/http/apiServer.js';

let allowed = '';
const app = apiServer({
  dispatcher: {
    call: (request) => Promise.resolve({ jsonrpc: '2.0', result: request.get('method') ?? null }),
  },
  eventSockets: { take: (_request, socket) => void socket.destroy() },
  events: { answer: (_request, response) => void response.end('events') },
  allowedOrigin: () => allowed,
  stopping: new AbortController().signal,
  onRefusedOrigin: () => undefined,
});
let url = '';

beforeAll(async () => {
  url = await app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(() => app.close());

it.each([
  'text/plain',
  'bogus',
  ';',
  ',',
  'application/json, text/plain',
  'a b/c',
  'multipart/form-data',
  '',
])('reads a body whatever its type is called: %j', async (type) => {
  for (const path of ['/', '/lbryapi']) {
    const answer = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': type },
      body: '{"method": "version"}',
    });
    expect([answer.status, await answer.json()]).toEqual([200, { jsonrpc: '2.0', result: 'version' }]);
  }
});

it.each([`GET /${'x'.repeat(40_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 'no HTTP\r\n\r\n'])(
  'refuses an unreadable request as plain text: %#',
  async (request) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write(request);
    const [head = '', body] = (await text(socket)).split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\nContent-Type: text\/plain; charset=utf-8\r\n/);
    expect(body).toBe('400: Bad Request');
  },
);

describe('a page of an allowed origin', () => {
  const ORIGIN = 'chrome-extension://abcdefgh';
  const PREFLIGHT = {
    'Access-Control-Request-Method': 'POST',
    'Access-Control-Request-Headers': 'authorization,content-type',
  };
  const post = (origin: string): Promise<Response> =>
    fetch(`${url}/`, { method: 'POST', headers: { Origin: origin }, body: '{"method": "version"}' });

  beforeEach(() => {
    allowed = '';
  });

  it.each([ORIGIN, `${ORIGIN}/`])('may send JSON and a password when the setting is %s', async (setting) => {
    allowed = setting;
    for (const path of ['/', '/lbryapi', '/lbcnet']) {
      const { status, headers } = await fetch(`${url}${path}`, {
        method: 'OPTIONS',
        headers: { Origin: ORIGIN, ...PREFLIGHT, 'Access-Control-Request-Private-Network': 'true' },
      });
      expect([path, status]).toEqual([path, 200]);
      expect(headers.get('access-control-allow-origin')).toBe(ORIGIN);
      expect(headers.get('access-control-allow-methods')).toBe('GET, HEAD, OPTIONS, POST');
      expect(headers.get('access-control-allow-headers')).toMatch(/\bAuthorization\b.*\bContent-Type\b/);
      expect(headers.get('access-control-allow-private-network')).toBe('true');
    }
    const answer = await post(ORIGIN);
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, ORIGIN]);
    expect((await post('http://other.example')).status).toBe(403);
  });

  it('can be any with *, and none without the setting', async () => {
    allowed = '*';
    expect((await post('http://other.example')).headers.get('access-control-allow-origin')).toBe('*');
    allowed = '';
    expect((await post(ORIGIN)).status).toBe(403);
    const { status, headers } = await fetch(`${url}/`, { method: 'OPTIONS', headers: PREFLIGHT });
    expect([status, headers.get('access-control-allow-origin')]).toEqual([204, null]);
  });
});

it('reads bodies of up to 10 MiB', async () => {
  const send = (bytes: number): Promise<Response> => {
    const frame = '{"method": ""}'.length;
    return fetch(`${url}/`, { method: 'POST', body: `{"method": "${'x'.repeat(bytes - frame)}"}` });
  };
  expect((await send(10 << 20)).status).toBe(200);
  expect((await send((10 << 20) + 1)).status).toBe(413);
});

describe('events', () => {
  beforeEach(() => {
    allowed = '';
  });
  const ask = async (headers: Record<string, string>, method = 'GET') => {
    const answer = await fetch(`${url}/events`, { method, headers });
    return [answer.status, await answer.text()];
  };

  it('are for programs, and for pages of the allowed origin', async () => {
    expect(await ask({})).toEqual([200, 'events']);
    expect(await ask({ Origin: 'http://other.example' })).toEqual([403, '403: Forbidden']);
    expect(await ask({ 'Sec-Fetch-Site': 'cross-site' })).toEqual([403, '403: Forbidden']);
    allowed = 'http://page.example';
    expect(await ask({ Origin: allowed, 'Sec-Fetch-Site': 'cross-site' })).toEqual([200, 'events']);
    expect((await ask({}, 'POST'))[0]).toBe(405);
  });
});
