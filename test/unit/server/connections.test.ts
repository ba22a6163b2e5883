/** The HTTP transport under load: connections, limits, streams, clients that disconnect, and the stop. */
import http from 'node:http';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { MAX_BODY_BYTES } from '../../../src/server/rpcEndpoint.js';
import { ask, given, held, holdSlow, long, ServerBench } from './support.js';

let bench: ServerBench;
beforeEach(() => {
  bench = new ServerBench();
});
afterEach(async () => {
  vi.useRealTimers();
  await bench.close();
});

describe('RpcHttpServer', () => {
  it('keeps connections alive', async () => {
    const port = await bench.start();
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const sockets = new Set<number | undefined>();
    agent.on('free', (socket: net.Socket) => sockets.add(socket.localPort));
    for (let i = 0; i < 5; i++) expect((await ask(port, '{"method":"echo"}', { agent })).status).toBe(200);
    await sleep(10);
    expect(sockets.size).toBe(1);
    agent.destroy();
  });

  it('refuses work beyond the queue', async () => {
    const port = await bench.start({ threads: 1, workQueueDepth: 2 });
    const letGo = holdSlow();
    let answered = 0;
    const answers = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const answer = await ask(port, '{"method":"test_slow"}');
        // Calls beyond the limit are refused first.
        if (++answered === 3) letGo();
        return answer;
      }),
    );
    const refused = answers.filter((answer) => answer.status === 503);
    expect(answers.filter((answer) => answer.status === 200).length).toBe(3);
    expect(refused.length).toBe(3);
    expect(refused[0]?.text).toBe('Work queue depth exceeded');
  });

  it('refuses bodies over the limit', async () => {
    const port = await bench.start();
    const answer = await new Promise<number>((resolve, reject) => {
      const headers = { 'content-length': String(MAX_BODY_BYTES + 1) };
      const request = http.request({
        host: '127.0.0.1',
        port,
        method: 'POST',
        auth: 'user:pass',
        headers,
        agent: false,
      });
      request.on('response', (response) => {
        resolve(response.statusCode ?? 0);
        request.destroy();
      });
      request.on('error', reject);
      request.write('{');
    });
    expect(answer).toBe(413);
  });

  it('accepts a body of several megabytes', async () => {
    const port = await bench.start();
    const text = 'ab'.repeat(4_000_000);
    const answer = await ask(port, JSON.stringify({ method: 'echo', params: [text] }));
    expect((JSON.parse(answer.text) as { result: string[] }).result[0]).toBe(text);
  });

  it('streams large answers in chunks', async () => {
    const port = await bench.start();
    const answer = await ask(port, '{"method":"test_big","params":[5000000]}');
    expect(answer.headers['transfer-encoding']).toBe('chunked');
    expect((JSON.parse(answer.text) as { result: string }).result).toBe('00'.repeat(5_000_000));
  });

  it('closes the connection when an answer fails', async () => {
    const port = await bench.start();
    await expect(ask(port, '{"method":"test_broken"}')).rejects.toThrow(/aborted|hang up|ECONNRESET/);
    expect((await ask(port, '{"method":"echo"}')).status).toBe(200);
  });

  it('aborts work for a client that disconnects', async () => {
    const port = await bench.start();
    given.up = 0;
    await new Promise<void>((resolve) => {
      const request = http.request(
        { host: '127.0.0.1', port, method: 'POST', auth: 'user:pass', agent: false },
        (response) => {
          response.once('data', () => request.destroy());
        },
      );
      request.on('error', () => undefined);
      request.on('close', () => resolve());
      request.end('{"method":"test_endless"}');
    });
    while (given.up === 0) await sleep(5);
    expect(given.up).toBe(1);
  });

  it('closes the connection of a client that does not read, in bounded memory, and serves others meanwhile', async () => {
    const port = await bench.start({ threads: 1, timeoutSec: 3 });
    given.up = given.bytes = 0;
    const socket = net.connect(port, '127.0.0.1');
    const body = '{"method":"test_endless"}';
    const auth = Buffer.from('user:pass').toString('base64');
    socket.write(
      `POST / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic ${auth}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    socket.pause();
    socket.on('error', () => undefined);
    while (given.bytes <= 1e6) await sleep(5);
    expect((await ask(port, '{"method":"echo"}')).status).toBe(200);
    while (given.up === 0) await sleep(5);
    expect(given.up).toBe(1);
    // Only the buffers of the two ends of the connection are filled.
    expect(given.bytes).toBeLessThan(30e6);
    socket.destroy();
  });

  it('serves others while an endless answer is read', async () => {
    const port = await bench.start({ threads: 1 });
    const request = http.request({
      host: '127.0.0.1',
      port,
      method: 'POST',
      auth: 'user:pass',
      agent: false,
    });
    request.on('error', () => undefined);
    given.up = 0;
    const begun = new Promise<void>((resolve) => {
      request.on('response', (response) => {
        response.on('error', () => undefined);
        response.on('data', () => resolve());
      });
    });
    request.end('{"method":"test_endless"}');
    await begun;
    for (let i = 0; i < 3; i++) expect((await ask(port, '{"method":"echo"}')).status).toBe(200);
    expect(given.up).toBe(0);
    request.destroy();
    while (given.up === 0) await sleep(5);
  });

  it('ends long answers in the order of their requests, and short ones before them', async () => {
    const port = await bench.start({ threads: 1 });
    Object.assign(long, { begun: [], ended: [] });
    const CALLS = 8;
    const PARTS = 5;
    const answers: Promise<unknown>[] = [];
    for (let n = 0; n < CALLS; n++) {
      answers.push(ask(port, `{"method":"test_long","params":[${n},${PARTS}]}`));
      while (long.begun.length <= n) await sleep(0);
    }
    expect((await ask(port, '{"method":"echo"}')).status).toBe(200);
    expect(long.ended.length).toBeLessThan(CALLS);
    await Promise.all(answers);
    expect(long.ended).toEqual(long.begun);
  });

  it('is not delayed by fifteen clients that do not read', async () => {
    // Fake time, so that no time limit frees the slots of slow clients.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const port = await bench.start({ threads: 1 });
    const body = '{"method":"test_endless"}';
    const auth = Buffer.from('user:pass').toString('base64');
    given.up = 0;
    const sockets = Array.from({ length: 15 }, () => {
      const socket = net.connect(port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.pause();
      socket.write(
        `POST / HTTP/1.1\r\nAuthorization: Basic ${auth}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      return socket;
    });
    for (let i = 0; i < 5; i++) expect((await ask(port, '{"method":"echo"}')).status).toBe(200);
    // The server has closed none of the connections, because all requests could be served beside them.
    expect(given.up).toBe(0);
    for (const socket of sockets) socket.destroy();
  });

  it('runs pipelined requests one after the other, in one place of the queue', async () => {
    const port = await bench.start({ threads: 1, workQueueDepth: 1 });
    const letGo = holdSlow();
    held.slow = held.waits = 0;
    const auth = Buffer.from('user:pass').toString('base64');
    const call = (method: string): string => {
      const body = `{"method":"${method}","params":[1],"id":"${method}"}`.replace(
        '"params":[1],',
        method === 'test_wait' ? '"params":[1],' : '',
      );
      return `POST / HTTP/1.1\r\nAuthorization: Basic ${auth}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    };
    const socket = net.connect(port, '127.0.0.1');
    let text = '';
    socket.on('data', (part) => (text += part.toString()));
    socket.write(call('test_slow') + call('test_wait').repeat(8) + call('echo'));
    while (held.slow === 0) await sleep(1);
    const other = ask(port, '{"method":"echo"}');
    await sleep(20);
    expect(held.waits).toBe(0);
    letGo();
    expect((await other).status).toBe(200);
    while (!text.includes('"id":"echo"')) await sleep(1);
    expect([...text.matchAll(/"id":"(\w+)"/g)].map((match) => match[1])).toEqual([
      'test_slow',
      ...Array<string>(8).fill('test_wait'),
      'echo',
    ]);
    expect(text).not.toContain(' 503 ');
    socket.destroy();
  });

  it.each([
    [30, 30],
    [0, 50],
    [-1, 50],
  ])('keeps idle connections for the configured time (%i: %i s)', async (timeoutSec, seconds) => {
    const port = await bench.start({ timeoutSec });
    const agent = new http.Agent({ keepAlive: true });
    const { headers } = await ask(port, '{"method":"echo"}', { agent });
    agent.destroy();
    expect(headers['keep-alive']).toBe(`timeout=${seconds}`);
  });

  it('removes a waiting client that disconnects', async () => {
    const port = await bench.start({ threads: 1 });
    const request = http.request({
      host: '127.0.0.1',
      port,
      method: 'POST',
      auth: 'user:pass',
      agent: false,
    });
    request.on('error', () => undefined);
    held.waits = 0;
    request.end('{"method":"test_wait","params":[60000]}');
    while (held.waits === 0) await sleep(2);
    request.destroy();
    expect((await ask(port, '{"method":"echo"}')).status).toBe(200);
  });

  it('survives garbage on the socket', async () => {
    const port = await bench.start();
    const answer = await new Promise<string>((resolve) => {
      let text = '';
      const socket = net.connect(port, '127.0.0.1', () => socket.write('\x16\x03\x01garbage\r\n\r\n'));
      socket.on('data', (part) => (text += part.toString()));
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(text));
    });
    expect(answer).toMatch(/^HTTP\/1.1 400/);
    expect((await ask(port, '{"method":"echo"}')).status).toBe(200);
  });

  it('finishes running answers when it stops, ends waits and accepts no more', async () => {
    const port = await bench.start();
    const agent = new http.Agent({ keepAlive: true });
    await ask(port, '{"method":"echo"}', { agent });
    held.slow = held.waits = 0;
    const letGo = holdSlow();
    const slowAnswer = ask(port, '{"method":"test_slow"}');
    const waitAnswer = ask(port, '{"method":"test_wait","params":[60000]}');
    while (held.slow === 0 || held.waits === 0) await sleep(2);
    const closing = bench.server?.close();
    expect(JSON.parse((await waitAnswer).text)).toMatchObject({ result: 'interrupted' });
    letGo();
    expect(JSON.parse((await slowAnswer).text)).toMatchObject({ result: 'done' });
    await closing;
    await expect(ask(port, '{"method":"echo"}')).rejects.toThrow('ECONNREFUSED');
    agent.destroy();
  });
});
