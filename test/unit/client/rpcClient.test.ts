import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { RpcClient, RpcCallError, RpcTransportError } from '../../../src/client/index.js';
import { RpcHttpServer } from '../../../src/server/httpServer.js';
import { numberText, type JsonNumber } from '../../../src/util/json/json.js';
import { SILENT_LOGGER } from '../../../src/util/logging.js';
import { testDispatcher } from '../rpc/support.js';

const closers: (() => Promise<unknown> | void)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function startNode(): Promise<number> {
  const server = new RpcHttpServer(
    {
      auth: {
        user: 'us er',
        password: 'p@ss',
        rpcAuth: [],
        cookieFile: join(tmpdir(), 'lbcnode-unused-cookie'),
      },
      port: 0,
      binds: [],
      allowIps: undefined,
      timeoutSec: 30,
      threads: 4,
      workQueueDepth: 16,
      profile: 'documented',
    },
    { dispatcher: testDispatcher().dispatcher, logger: SILENT_LOGGER },
  );
  await server.listen();
  closers.push(() => server.close());
  return server.addresses()[0]!.port;
}

async function startOdd(listener: RequestListener): Promise<number> {
  const server: Server = createServer(listener);
  await new Promise<void>((done) => server.listen({ port: 0, host: '127.0.0.1' }, done));
  closers.push(() => new Promise((done) => (server.closeAllConnections(), server.close(done))));
  return (server.address() as AddressInfo).port;
}

function connect(port: number, credentials = 'us%20er:p%40ss', timeoutMs = 0): RpcClient {
  const client = new RpcClient({ url: `http://${credentials}@127.0.0.1:${port}/`, timeoutMs });
  closers.push(() => client.close());
  return client;
}

describe('RpcClient', () => {
  it('calls by position and by name, with types', async () => {
    const client = connect(await startNode());
    const seconds: number = await client.call('uptime');
    expect(seconds).toBeGreaterThanOrEqual(5);
    expect(await client.call('echo', 1, 'x', null)).toEqual([1, 'x', null]);
    expect(await client.callNamed('echojson', { arg1: { a: [] } })).toEqual([null, { a: [] }]);
    const help: string = await client.callNamed('help', { command: 'stop' });
    expect(help).toContain('Stop the server.');
    // @ts-expect-error Methods that do not exist do not compile.
    await expect(client.call('nosuch')).rejects.toMatchObject({ code: -32601, message: 'Method not found' });
  });

  it('keeps numbers exact on request', async () => {
    const client = connect(await startNode());
    const answer = (await client.callExact('echo', [1.5, 'x'])) as JsonNumber[];
    expect(numberText(answer[0]!)).toBe('1.5');
  });

  it('sends batches', async () => {
    const client = connect(await startNode());
    const answers = await client.batch([
      { method: 'echo', params: ['a'] },
      { method: 'nosuch' },
      { method: 'echojson', params: { arg0: 1 } },
    ]);
    expect(answers[0]).toEqual({ result: ['a'] });
    expect(answers[1]).toMatchObject({ error: { code: -32601 } });
    expect(answers[2]).toEqual({ result: [1] });
    expect(await client.batch([])).toEqual([]);
  });

  it('distinguishes errors of methods from transport errors', async () => {
    const port = await startNode();
    await expect(connect(port).call('help', 'x', ...([1] as unknown as []))).rejects.toBeInstanceOf(
      RpcCallError,
    );
    await expect(connect(port, 'us%20er:wrong').call('uptime')).rejects.toMatchObject({ status: 401 });
    await expect(connect(1).call('uptime')).rejects.toBeInstanceOf(RpcTransportError);
    const busy = await startOdd((_request, response) =>
      response.writeHead(503).end('Work queue depth exceeded'),
    );
    await expect(connect(busy).call('uptime')).rejects.toMatchObject({
      status: 503,
      message: 'Work queue depth exceeded',
    });
    const odd = await startOdd((_request, response) => response.end('[]'));
    await expect(connect(odd).call('uptime')).rejects.toThrow('not a JSON-RPC response');
    await expect(connect(odd).batch([{ method: 'uptime' }])).rejects.toThrow('does not match');
    const mute = await startOdd(() => undefined);
    await expect(connect(mute, 'a:b', 200).call('uptime')).rejects.toThrow('did not answer in time');
  });

  it('requests a wallet in the profile of the URL', async () => {
    const asked: (string | undefined)[] = [];
    const port = await startOdd((request, response) => {
      asked.push(request.url);
      response.end('{"result":null,"error":null,"id":1}');
    });
    for (const path of ['', 'lbrycrd', 'lbcd/', 'wallet/other', 'lbcd/wallet/other', 'lbcdx']) {
      const client = new RpcClient({ url: `http://a:b@127.0.0.1:${port}/${path}`, wallet: 'one/two' });
      closers.push(() => client.close());
      await client.call('uptime');
    }
    const wallet = '/wallet/one%2Ftwo';
    expect(asked).toEqual([wallet, `/lbrycrd${wallet}`, `/lbcd${wallet}`, wallet, `/lbcd${wallet}`, wallet]);
    const profiled = new RpcClient({ url: `http://a:b@127.0.0.1:${port}/lbcd` }).forWallet('w');
    closers.push(() => profiled.close());
    await profiled.call('uptime');
    expect(asked.at(-1)).toBe('/lbcd/wallet/w');
  });
});
