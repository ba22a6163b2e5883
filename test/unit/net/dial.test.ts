import { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Dialer } from '../../../src/net/dial.js';
import { formatHost, formatNetAddress } from '../../../src/net/netAddress.js';
import { address, Dialing, failure, nextData, proxyAt, through } from './support/dialing.js';
import { ScriptedServer } from './support/scriptedServer.js';

let dialing: Dialing;
beforeEach(() => {
  dialing = new Dialing();
});
afterEach(() => dialing.end());

describe('connecting directly', () => {
  it('returns a socket that has lost no data', async () => {
    const { port } = await dialing.serve((peer) => peer.write('hello'));
    const socket = await dialing.connect(dialing.dialer(through(null)), address(`127.0.0.1:${port}`));
    expect(await nextData(socket)).toBe('hello');
  });

  it('fails if the port is closed, with a message if the operator requested it', async () => {
    const server = await ScriptedServer.start(() => undefined);
    const target = address(`127.0.0.1:${server.port}`);
    await server.stop();
    const made = dialing.dialer(through(null));
    const error = await failure(dialing.connect(made, target));
    expect(error.message).toMatch(/^connect\(\) to 127\.0\.0\.1:\d+ failed: connection refused \(\d+\)$/);
    expect(error.isProxyFailure).toBe(false);
    expect(dialing.logged).toEqual([]);
    await failure(dialing.connect(made, target, true));
    expect(dialing.logged).toEqual([error.message]);
  });

  it('fails after -timeout', async () => {
    const silent = new Socket();
    const made = dialing.dialer(through(null), { connectTimeoutMs: 20 }, { connect: () => silent });
    const error = await failure(dialing.connect(made, address('1.2.3.4:1')));
    expect(error.message).toBe('connection to 1.2.3.4:1 timeout');
    expect(silent.destroyed).toBe(true);
  });

  it('ends when it is aborted', async () => {
    const silent = new Socket();
    const made = dialing.dialer(through(null), {}, { connect: () => silent });
    const running = failure(dialing.connect(made, address('1.2.3.4:1'), true));
    dialing.abort.abort();
    expect((await running).message).toBe('connection to 1.2.3.4:1 interrupted');
    expect(silent.destroyed).toBe(true);
    expect((await failure(dialing.connect(made, address('1.2.3.4:1')))).message).toBe(
      'connection to 1.2.3.4:1 interrupted',
    );
    expect(dialing.logged).toEqual([]);
  });

  it('does not reach an onion service', async () => {
    const error = await failure(
      dialing.connect(dialing.dialer(through(null)), address('expyuzz4wqqyqhjn.onion:9246')),
    );
    expect(error.message).toBe('Cannot create socket for expyuzz4wqqyqhjn.onion:9246: unsupported network');
  });
});

describe('resolving', () => {
  const answering =
    (answer: string[], asked: string[] = []) =>
    (host: string) => {
      asked.push(host);
      return Promise.resolve(answer);
    };
  const locate = (made: Dialer, text: string) => made.locate(text, { signal: dialing.abort.signal });

  it('reads numeric addresses, with the default port', async () => {
    const made = dialing.dialer(through(null), { allowsLookup: false });
    for (const [text, printed] of [
      ['1.2.3.4', '1.2.3.4:9246'],
      ['1.2.3.4:5', '1.2.3.4:5'],
      ['[2a01::1]:5', '[2a01::1]:5'],
      ['2a01::1', '[2a01::1]:9246'],
      ['expyuzz4wqqyqhjn.onion', 'expyuzz4wqqyqhjn.onion:9246'],
    ]) {
      expect(formatNetAddress((await locate(made, text!)).address!)).toBe(printed);
    }
    await failure(locate(made, '0.0.0.0'));
  });

  it('resolves names and returns one of their addresses', async () => {
    const asked: string[] = [];
    const made = dialing.dialer(
      through(null),
      {},
      { lookUp: answering(['1.2.3.4', '5.6.7.8', '2a01::1'], asked) },
    );
    const found = new Set<string>();
    for (let i = 0; i < 40; i++)
      found.add(formatNetAddress((await locate(made, 'node.example:77')).address!));
    expect([...found].sort()).toEqual(['1.2.3.4:77', '5.6.7.8:77', '[2a01::1]:77']);
    expect(new Set(asked)).toEqual(new Set(['node.example']));
  });

  it('resolves no name with -dns=0, without an answer, or for an empty string', async () => {
    expect(
      (await failure(locate(dialing.dialer(through(null), { allowsLookup: false }), 'a.example'))).message,
    ).toBe('Cannot look up a.example: -dns=0');
    expect((await failure(locate(dialing.dialer(through(null)), 'a.example'))).message).toBe(
      'Cannot look up a.example',
    );
    await failure(locate(dialing.dialer(through(null), {}, { lookUp: answering([]) }), 'a.example'));
    await failure(locate(dialing.dialer(through(null)), ''));
  });

  it('refuses answers that are not addresses', async () => {
    const made = dialing.dialer(through(null), {}, { lookUp: answering(['0.0.0.0']) });
    expect((await failure(locate(made, 'a.example'))).message).toBe(
      'Resolver returned invalid address 0.0.0.0:9246 for a.example',
    );
  });

  it('passes names to the proxy', async () => {
    const proxy = proxyAt(1);
    const made = dialing.dialer(through(proxy), {}, { lookUp: answering(['1.2.3.4']) });
    expect(await locate(made, 'a.example:7')).toEqual({ address: null, host: 'a.example', port: 7, proxy });
    expect(await made.resolve('a.example', dialing.abort.signal)).toEqual([]);
  });

  it('sends no onion name to a name server', async () => {
    const asked: string[] = [];
    const made = dialing.dialer(through(null), {}, { lookUp: answering(['1.2.3.4'], asked) });
    const name = `${'a'.repeat(56)}.onion`;
    expect((await failure(locate(made, name))).message).toContain('needs a proxy');
    expect((await failure(locate(made, `${name.toUpperCase()}.`))).message).toContain('needs a proxy');
    expect(await made.resolve(name, dialing.abort.signal)).toEqual([]);
    expect(asked).toEqual([]);
  });

  it('resolves seeds regardless of -dns, and returns 256 answers', async () => {
    const many = Array.from({ length: 300 }, (_, i) => `1.2.${i >> 8}.${i & 255}`);
    const made = dialing.dialer(through(null), { allowsLookup: false }, { lookUp: answering(many) });
    const found = await made.resolve('seed.example', dialing.abort.signal);
    expect(found).toHaveLength(256);
    expect(formatHost({ ip: found[1]! })).toBe('1.2.0.1');
  });

  it('ends when it is aborted', async () => {
    const made = dialing.dialer(through(null), {}, { lookUp: () => new Promise(() => undefined) });
    const running = failure(locate(made, 'slow.example'));
    dialing.abort.abort();
    expect((await running).message).toBe('Cannot look up slow.example');
  });
});
