/** Which connections are closed when there are too many. */
import { once } from 'node:events';
import net from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { held, holdSlow, ServerBench } from './support.js';

let bench: ServerBench;
const clients: Client[] = [];
beforeEach(() => {
  bench = new ServerBench();
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.socket.destroy();
  await bench.close();
});

/** A connection that remains open. */
class Client {
  readonly socket: net.Socket;
  readonly connected: Promise<unknown>;
  readonly closed: Promise<unknown>;
  isClosed = false;
  private text = '';

  constructor(port: number) {
    this.socket = net.connect(port, '127.0.0.1');
    this.connected = once(this.socket, 'connect');
    this.closed = new Promise((resolve) => this.socket.once('close', resolve));
    void this.closed.then(() => (this.isClosed = true));
    this.socket.on('error', () => undefined);
    this.socket.on('data', (part) => (this.text += part.toString()));
    clients.push(this);
  }

  /** Calls a method. Returns the HTTP status. */
  async call(method: string, auth = 'user:pass'): Promise<number> {
    const body = JSON.stringify({ id: 1, method });
    const header = auth === '' ? '' : `Authorization: Basic ${Buffer.from(auth).toString('base64')}\r\n`;
    this.text = '';
    this.socket.write(`POST / HTTP/1.1\r\n${header}Content-Length: ${body.length}\r\n\r\n${body}`);
    while (!this.text.includes('\r\n\r\n')) {
      if (this.isClosed) throw new Error('the connection was closed');
      await Promise.race([once(this.socket, 'data'), this.closed]);
    }
    return Number(this.text.slice(9, 12));
  }
}

async function connect(port: number): Promise<Client> {
  const client = new Client(port);
  await client.connected;
  return client;
}

describe('above the maximum number of connections', () => {
  it('the longest idle one without a password is closed first', async () => {
    const port = await bench.start({ maxConnections: 3 });
    const known = await connect(port);
    expect(await known.call('echo')).toBe(200);
    const silent = await connect(port);
    const refused = await connect(port);
    // This connection is not authenticated either, but it was used later than the silent one.
    expect(await refused.call('echo', '')).toBe(401);
    const fourth = await connect(port);
    await silent.closed;
    expect(await refused.call('echo', '')).toBe(401);
    expect(await fourth.call('echo')).toBe(200);
    expect(await known.call('echo')).toBe(200);
    const fifth = await connect(port);
    await refused.closed;
    // All connections are authenticated now except the new one. If another one is opened, the one with the longest idle time is
    // closed.
    expect(await fifth.call('echo')).toBe(200);
    const sixth = await connect(port);
    await fourth.closed;
    expect(await sixth.call('echo')).toBe(200);
    expect(await known.call('echo')).toBe(200);
  });

  it('one with a running call stays, and a new one is closed if all have one', async () => {
    const port = await bench.start({ maxConnections: 2 });
    const letGo = holdSlow();
    held.slow = 0;
    const busy = [await connect(port), await connect(port)];
    const answers = busy.map((client) => client.call('test_slow'));
    while (held.slow < 2) await new Promise(setImmediate);
    const newcomer = await connect(port);
    await newcomer.closed;
    letGo();
    expect(await Promise.all(answers)).toEqual([200, 200]);
    const next = await connect(port);
    expect(await next.call('echo')).toBe(200);
  });

  it('many idle ones exclude no caller, and the maximum is not exceeded', async () => {
    const port = await bench.start({ maxConnections: 50 });
    const honest = await connect(port);
    expect(await honest.call('echo')).toBe(200);
    const crowd = await Promise.all(Array.from({ length: 300 }, () => connect(port)));
    expect(await honest.call('echo')).toBe(200);
    expect(await (await connect(port)).call('echo')).toBe(200);
    while (crowd.filter((client) => !client.isClosed).length > 48) await new Promise(setImmediate);
    expect(crowd.filter((client) => !client.isClosed)).toHaveLength(48);
  });
});
