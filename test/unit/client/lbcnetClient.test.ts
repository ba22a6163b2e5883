/** The typed client of lbcnet, with a server whose answers the test sets. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LbcnetCallError, LbcnetClient, LbcnetTransportError } from '../../../src/client/lbcnet/index.js';

let server: Server;
let client: LbcnetClient;
let reported = '';
let asked: unknown = null;
beforeAll(async () => {
  server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      asked = JSON.parse(body);
      response.end(reported);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  client = new LbcnetClient({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` });
});
afterAll(() => {
  client.close();
  server.close();
});

describe('a call', () => {
  it('sends named parameters and returns the result', async () => {
    reported = '{"jsonrpc": "2.0", "result": "mAddress"}';
    expect(await client.call('address_unused')).toBe('mAddress');
    expect(asked).toEqual({ method: 'address_unused', params: {} });
    await client.call('address_is_mine', { address: 'a' });
    expect(asked).toEqual({ method: 'address_is_mine', params: { address: 'a' } });
  });

  it('fails with the class of the error', async () => {
    reported = '{"error": {"code": -32500, "message": "No.", "data": {"name": "InsufficientFundsError"}}}';
    const failure = client.call('wallet_send', { amount: '1.0', addresses: 'a' });
    await expect(failure).rejects.toBeInstanceOf(LbcnetCallError);
    await expect(failure).rejects.toMatchObject({
      code: -32500,
      kind: 'InsufficientFundsError',
      message: 'No.',
    });
  });

  it('fails if the answer is not JSON', async () => {
    reported = '403: Forbidden';
    await expect(client.call('status')).rejects.toMatchObject({ status: 200, message: '403: Forbidden' });
    const unreachable = new LbcnetClient({ url: 'http://127.0.0.1:1/' });
    await expect(unreachable.call('status')).rejects.toBeInstanceOf(LbcnetTransportError);
  });
});
