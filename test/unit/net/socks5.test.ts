import { connect, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Networks } from '../../../src/net/networks.js';
import { address, Dialing, DIRECT, failure, nextData, proxyAt, through } from './support/dialing.js';
import { ScriptedServer, type ScriptedPeer } from './support/scriptedServer.js';

let dialing: Dialing;
beforeEach(() => {
  dialing = new Dialing();
});
afterEach(() => {
  vi.useRealTimers();
  return dialing.end();
});

/** Accepts a request to a proxy without authentication, bound to an IPv4 address. Resolves to the requested name and port. */
async function grant(peer: ScriptedPeer): Promise<{ host: string; port: number }> {
  expect((await peer.read(3)).toString('hex')).toBe('050100');
  peer.write([5, 0]);
  const request = await readRequest(peer);
  peer.write([5, 0, 0, 1, 1, 2, 3, 4, 0, 80]);
  return request;
}

async function readRequest(peer: ScriptedPeer): Promise<{ host: string; port: number }> {
  expect((await peer.read(4)).toString('hex')).toBe('05010003');
  const [length] = await peer.read(1);
  const host = (await peer.read(length!)).toString();
  return { host, port: (await peer.read(2)).readUInt16BE(0) };
}

describe('connecting through a proxy', () => {
  it.each([
    ['1.2.3.4:9246', '1.2.3.4', 9246],
    ['[2a01::1]:8000', '2a01::1', 8000],
    ['expyuzz4wqqyqhjn.onion:65535', 'expyuzz4wqqyqhjn.onion', 65535],
  ])('requests %s', async (text, host, port) => {
    const asked: unknown[] = [];
    const server = await dialing.serve(async (peer) => {
      asked.push(await grant(peer));
      peer.write('hello from there');
      expect((await peer.read(7)).toString()).toBe('and you');
      peer.write('bye');
    });
    const socket = await dialing.connect(dialing.dialer(through(proxyAt(server.port))), address(text));
    expect(asked).toEqual([{ host, port }]);
    expect(await nextData(socket)).toBe('hello from there');
    socket.write('and you');
    expect(await nextData(socket)).toBe('bye');
  });

  it('loses no bytes that arrive with the answer, and accepts answers byte by byte', async () => {
    const server = await dialing.serve(async (peer, index) => {
      await peer.read(3);
      peer.write([5, 0]);
      await readRequest(peer);
      const answer = Buffer.concat([Buffer.from([5, 0, 0, 1, 1, 2, 3, 4, 0, 80]), Buffer.from('hello')]);
      if (index === 0) peer.write(answer);
      else {
        for (const byte of answer) {
          peer.socket.setNoDelay(true);
          peer.write([byte]);
          await new Promise(setImmediate);
        }
      }
    });
    const made = dialing.dialer(through(proxyAt(server.port)));
    for (let i = 0; i < 2; i++) {
      const socket = await dialing.connect(made, address('1.2.3.4:1'));
      let text = '';
      while (text.length < 5) text += await nextData(socket);
      expect(text).toBe('hello');
    }
  });

  it.each([
    ['IPv4', [1, 1, 2, 3, 4]],
    ['IPv6', [4, ...Array<number>(16).fill(7)]],
    ['a name', [3, 3, 97, 98, 99]],
    ['an empty name', [3, 0]],
  ])('accepts an answer with %s', async (_, bound) => {
    const server = await dialing.serve(async (peer) => {
      await peer.read(3);
      peer.write([5, 0]);
      await readRequest(peer);
      peer.write([5, 0, 0, ...bound, 0, 80, 0x21]);
    });
    const socket = await dialing.connect(dialing.dialer(through(proxyAt(server.port))), address('1.2.3.4:1'));
    expect(await nextData(socket)).toBe('!');
  });

  it('uses separate credentials for each connection', async () => {
    const seen: string[] = [];
    const server = await dialing.serve(async (peer) => {
      expect((await peer.read(4)).toString('hex')).toBe('05020002');
      peer.write([5, 2]);
      expect((await peer.read(1))[0]).toBe(1);
      const user = (await peer.read((await peer.read(1))[0]!)).toString();
      const password = (await peer.read((await peer.read(1))[0]!)).toString();
      expect(password).toBe(user);
      seen.push(user);
      peer.write([1, 0]);
      await readRequest(peer);
      peer.write([5, 0, 0, 1, 1, 2, 3, 4, 0, 80]);
    });
    const made = dialing.dialer(through(proxyAt(server.port, true)));
    for (let i = 0; i < 3; i++) await dialing.connect(made, address('1.2.3.4:1'));
    expect(new Set(seen).size).toBe(3);
  });

  it('uses no credentials if the proxy needs none', async () => {
    const server = await dialing.serve(async (peer) => {
      await peer.read(4);
      peer.write([5, 0]);
      await readRequest(peer);
      peer.write([5, 0, 0, 1, 1, 2, 3, 4, 0, 80]);
    });
    await dialing.connect(dialing.dialer(through(proxyAt(server.port, true))), address('1.2.3.4:1'));
  });

  it.each([
    [1, 'general failure'],
    [2, 'connection not allowed'],
    [3, 'network unreachable'],
    [4, 'host unreachable'],
    [5, 'connection refused'],
    [6, 'TTL expired'],
    [7, 'protocol error'],
    [8, 'address type not supported'],
    [9, 'unknown'],
    [255, 'unknown'],
  ])('describes reply %i', async (code, text) => {
    let isClosed: Promise<void> | null = null;
    const server = await dialing.serve(async (peer) => {
      isClosed = peer.closed();
      await peer.read(3);
      peer.write([5, 0]);
      await readRequest(peer);
      peer.write([5, code, 0, 1]);
    });
    const error = await failure(
      dialing.connect(dialing.dialer(through(proxyAt(server.port))), address('1.2.3.4:77')),
    );
    expect(error.message).toBe(`Socks5() connect to 1.2.3.4:77 failed: ${text}`);
    expect(error.isProxyFailure).toBe(false);
    await isClosed;
  });

  it.each<[string, number[][], string]>([
    ['speaks another version', [[4, 0]], 'Proxy failed to initialize'],
    ['requires a method that was not offered', [[5, 2]], 'Proxy requested wrong authentication method 02'],
    ['accepts no method', [[5, 255]], 'Proxy requested wrong authentication method ff'],
    [
      'answers with another version',
      [
        [5, 0],
        [4, 0, 0, 1],
      ],
      'Proxy failed to accept request',
    ],
    [
      'sets the reserved byte',
      [
        [5, 0],
        [5, 0, 1, 1],
      ],
      'Error: malformed proxy response',
    ],
    [
      'binds to an invalid address type',
      [
        [5, 0],
        [5, 0, 0, 2],
      ],
      'Error: malformed proxy response',
    ],
  ])('fails when the proxy %s', async (_, answers, message) => {
    const server = await dialing.serve(async (peer) => {
      await peer.read(3);
      peer.write(answers[0]!);
      if (answers.length === 1) return;
      await readRequest(peer);
      peer.write(answers[1]!);
    });
    const error = await failure(
      dialing.connect(dialing.dialer(through(proxyAt(server.port))), address('1.2.3.4:77')),
    );
    expect(error.message).toBe(message);
    expect(error.isProxyFailure).toBe(true);
    expect(dialing.logged).toEqual([message]);
  });

  it.each([
    [[1, 1], 'Proxy authentication unsuccessful'],
    [[5, 0], 'Proxy authentication unsuccessful'],
  ])('fails when the proxy refuses the credentials', async (answer, message) => {
    const server = await dialing.serve(async (peer) => {
      await peer.read(4);
      peer.write([5, 2]);
      await peer.read(3);
      peer.write(answer);
    });
    const error = await failure(
      dialing.connect(dialing.dialer(through(proxyAt(server.port, true))), address('1.2.3.4:77')),
    );
    expect(error.message).toBe(message);
  });

  it.each<[string, number[], string]>([
    ['the method', [], 'Socks5() connect to 1.2.3.4:77 failed: InterruptibleRecv() timeout or other failure'],
    [
      'half of the method',
      [5],
      'Socks5() connect to 1.2.3.4:77 failed: InterruptibleRecv() timeout or other failure',
    ],
    ['the reply', [5, 0], 'Error while reading proxy response'],
    ['half of the reply', [5, 0, 5, 0], 'Error while reading proxy response'],
    ['the bound address', [5, 0, 5, 0, 0, 1, 9], 'Error reading from proxy'],
    ['the length of the bound name', [5, 0, 5, 0, 0, 3], 'Error reading from proxy'],
    ['the bound port', [5, 0, 5, 0, 0, 1, 1, 2, 3, 4, 0], 'Error reading from proxy'],
  ])('fails when the proxy ends before %s', async (_, sent, message) => {
    const server = await dialing.serve(async (peer) => {
      await peer.read(3);
      peer.write(sent.slice(0, 2));
      if (sent.length > 1) await readRequest(peer);
      peer.write(sent.slice(2));
      peer.socket.end();
    });
    expect(
      (await failure(dialing.connect(dialing.dialer(through(proxyAt(server.port))), address('1.2.3.4:77'))))
        .message,
    ).toBe(message);
  });

  it.each<[string, number, boolean, RegExp]>([
    ['says nothing', 0, true, /timeout or other failure$/],
    ['is silent about the destination', 2, false, /^Socks5\(\) connect to 1\.2\.3\.4:77 timed out$/],
  ])('fails at the time limit if the proxy %s', async (_, upTo, isProxyFailure, message) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const server = await dialing.serve(async (peer) => {
      await peer.read(3);
      peer.write([5, 0].slice(0, upTo));
      if (upTo > 0) await readRequest(peer);
      // The dialer is already waiting for the answer.
      vi.advanceTimersByTime(400);
      await peer.closed();
    });
    const made = dialing.dialer(through(proxyAt(server.port)), { proxyTimeoutMs: 400 });
    const error = await failure(dialing.connect(made, address('1.2.3.4:77')));
    expect(error.message).toMatch(message);
    expect(error.isProxyFailure).toBe(isProxyFailure);
  });

  it('fails at the time limit if the proxy answers slowly', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    let dripped = 0;
    let socket: Socket;
    const server = await dialing.serve(async (peer) => {
      await peer.read(3);
      peer.write([5, 0]);
      await readRequest(peer);
      peer.write([5, 0, 0, 3, 255]);
      // Each byte arrives within the time limit of a read, but the whole answer takes longer than the total limit.
      while (!socket.destroyed) {
        peer.write([97]);
        dripped++;
        while (!socket.destroyed && socket.bytesRead < 7 + dripped) await turn();
        vi.advanceTimersByTime(10);
        await turn();
      }
    });
    const made = dialing.dialer(
      through(proxyAt(server.port)),
      { proxyTimeoutMs: 400 },
      { connect: (to) => (socket = connect(to)) },
    );
    expect((await failure(dialing.connect(made, address('1.2.3.4:77')))).message).toBe(
      'Error reading from proxy',
    );
    expect(dripped).toBeGreaterThan(1);
    expect(dripped).toBeLessThan(255);
  });

  it('ends when it is aborted', async () => {
    let isClosed: Promise<void> | null = null;
    const server = await dialing.serve(async (peer) => {
      isClosed = peer.closed();
      await peer.read(3);
      peer.write([5, 0]);
      await readRequest(peer);
      dialing.abort.abort();
    });
    await failure(dialing.connect(dialing.dialer(through(proxyAt(server.port))), address('1.2.3.4:77')));
    await isClosed;
    expect(dialing.logged).toEqual([]);
  });

  it('distinguishes an unreachable proxy from an unreachable target', async () => {
    const server = await ScriptedServer.start(() => undefined);
    await server.stop();
    const error = await failure(
      dialing.connect(dialing.dialer(through(proxyAt(server.port))), address('1.2.3.4:77')),
    );
    expect(error.isProxyFailure).toBe(true);
    expect(error.message).toContain(`connect() to 127.0.0.1:${server.port} failed: connection refused`);
    expect(dialing.logged).toEqual([error.message]);
  });

  it('refuses names that are too long', async () => {
    const server = await dialing.serve((peer) => peer.closed());
    const proxy = proxyAt(server.port);
    const target = { address: null, host: 'x'.repeat(256), port: 1, proxy };
    const error = await failure(
      dialing.dialer(through(proxy)).connect(target, { signal: dialing.abort.signal }),
    );
    expect(error.message).toBe('Hostname too long');
  });

  it('is direct for addresses of no public network', async () => {
    const { port } = await dialing.serve((peer) => peer.write('direct'));
    const socket = await dialing.connect(dialing.dialer(through(proxyAt(1))), address(`127.0.0.1:${port}`));
    expect(await nextData(socket)).toBe('direct');
  });

  it('uses the proxy of the network', async () => {
    const asked: string[] = [];
    const server = await dialing.serve(async (peer) => void asked.push((await grant(peer)).host));
    const onion = { isLimited: false, proxy: proxyAt(server.port) };
    const made = dialing.dialer(new Networks({ ipv4: DIRECT, ipv6: DIRECT, onion }, null));
    await dialing.connect(made, address('expyuzz4wqqyqhjn.onion:1'));
    const target = await made.locate(`${'a'.repeat(56)}.onion`, { signal: dialing.abort.signal });
    const socket = await made.connect(target, { signal: dialing.abort.signal });
    dialing.keep(socket);
    expect(asked).toEqual(['expyuzz4wqqyqhjn.onion', `${'a'.repeat(56)}.onion`]);
  });
});
