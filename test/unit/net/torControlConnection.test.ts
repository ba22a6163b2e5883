import { getEventListeners, once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControlConnection, ControlError } from '../../../src/net/tor/controlConnection.js';

let server: Server;
let port: number;

beforeEach(async () => {
  server = createServer((socket) => socket.on('error', () => undefined).resume());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});
afterEach(() => server.close());

describe('the signal of many connections', () => {
  it('has no listener left after a connection has ended', async () => {
    const { signal } = new AbortController();
    const open: ControlConnection[] = [];
    for (let n = 0; n < 3; n++) open.push(await ControlConnection.open('127.0.0.1', port, signal));
    expect(getEventListeners(signal, 'abort')).toHaveLength(3);
    for (const connection of open) connection.close();
    await Promise.all(open.map(({ closed }) => closed));
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('has no listener left after a refused connection', async () => {
    server.close();
    await once(server, 'close');
    const { signal } = new AbortController();
    for (let n = 0; n < 3; n++)
      await expect(ControlConnection.open('127.0.0.1', port, signal)).rejects.toThrow('ECONNREFUSED');
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});

describe('an abort', () => {
  it('closes a connection', async () => {
    const abort = new AbortController();
    const connection = await ControlConnection.open('127.0.0.1', port, abort.signal);
    const reply = expect(connection.command('PROTOCOLINFO 1')).rejects.toThrow(ControlError);
    abort.abort();
    await connection.closed;
    await reply;
  });

  it('prevents one, before and meanwhile', async () => {
    const abort = new AbortController();
    const attempt = expect(ControlConnection.open('127.0.0.1', port, abort.signal)).rejects.toThrow(
      ControlError,
    );
    abort.abort();
    await attempt;
    await expect(ControlConnection.open('127.0.0.1', port, abort.signal)).rejects.toThrow(ControlError);
    expect(getEventListeners(abort.signal, 'abort')).toHaveLength(0);
  });
});
