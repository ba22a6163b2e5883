import { afterAll, beforeAll, expect, it } from 'vitest';
import { apiServer } from '../../../../src/daemon/http/apiServer.js';

const app = apiServer({
  dispatcher: {
    call: (request) => Promise.resolve({ jsonrpc: '2.0', result: request.get('method') ?? null }),
  },
  allowedOrigin: () => '',
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
