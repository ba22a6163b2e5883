/** Delays after wrong passwords, in time that the test controls. */
import { createHmac } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RpcDispatcher } from '../../../src/rpc/call/dispatch.js';
import { Authenticator, type AuthOptions } from '../../../src/server/auth.js';
import type { CallQueue } from '../../../src/server/callQueue.js';
import { HttpConnection } from '../../../src/server/connections.js';
import { PasswordChecks } from '../../../src/server/passwordChecks.js';
import { RpcEndpoint } from '../../../src/server/rpcEndpoint.js';
import { SILENT_LOGGER } from '../../../src/util/logging.js';
import { AuthThrottle } from '../../../src/server/authThrottle.js';

let guard: AuthThrottle;
beforeEach(() => {
  vi.useFakeTimers();
  guard = new AuthThrottle();
});
afterEach(() => {
  guard.close();
  vi.useRealTimers();
});

/** Makes this number of attempts. Returns how many were answered and how many were cut. */
function attempts(address: string, count: number): { answered: number; cut: number } {
  const outcome = { answered: 0, cut: 0 };
  for (let i = 0; i < count; i++)
    void guard.cost(address).then((mayAnswer) => (mayAnswer ? outcome.answered++ : outcome.cut++));
  return outcome;
}

describe('wrong passwords', () => {
  it('are answered four a second for one caller, however many connections it has', async () => {
    const outcome = attempts('10.0.0.1', 200);
    await vi.advanceTimersByTimeAsync(249);
    expect(outcome).toEqual({ answered: 0, cut: 0 });
    await vi.advanceTimersByTimeAsync(1);
    expect(outcome.answered).toBe(1);
    await vi.advanceTimersByTimeAsync(9750);
    expect(outcome).toEqual({ answered: 40, cut: 0 });
  });

  it('delay no other caller', async () => {
    attempts('10.0.0.1', 200);
    const other = attempts('10.0.0.2', 2);
    await vi.advanceTimersByTimeAsync(500);
    expect(other.answered).toBe(2);
  });

  it('count for one caller in both notations of its address, and for the network in IPv6', async () => {
    const callers = ['10.0.0.1', '::ffff:10.0.0.1', '2001:db8::1', '2001:db8::ffff:2', '2001:db8:0:1::1'];
    const outcomes = callers.map((address) => attempts(address, 1));
    expect(guard.callers).toBe(3);
    await vi.advanceTimersByTimeAsync(250);
    expect(outcomes.map(({ answered }) => answered)).toEqual([1, 0, 1, 0, 1]);
  });

  it('wait in a limited number: connections above it are closed', async () => {
    const one = attempts('10.0.0.1', 1000);
    await Promise.resolve();
    expect(one).toEqual({ answered: 0, cut: 1000 - 256 });
    expect([guard.isFull('10.0.0.1'), guard.isFull('10.0.0.2')]).toEqual([true, false]);
    const others = Array.from({ length: 5000 }, (_, i) => attempts(`10.1.${i >> 8}.${i & 255}`, 1));
    await Promise.resolve();
    expect(others.reduce((sum, { cut }) => sum + cut, 0)).toBe(5000 - (4096 - 256));
    expect(guard.callers).toBe(4096 - 256 + 1);
    expect(guard.isFull('10.0.0.2')).toBe(true);
  });

  it('leave no state behind', async () => {
    attempts('10.0.0.1', 3);
    await vi.advanceTimersByTimeAsync(750);
    expect(guard.callers).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('are answered at once during the stop', async () => {
    const outcome = attempts('10.0.0.1', 5);
    guard.close();
    await Promise.resolve();
    expect(outcome).toEqual({ answered: 5, cut: 0 });
    expect(vi.getTimerCount()).toBe(0);
  });
});

type Outcome = 'unknown' | 'right' | 'wrong' | 'cut';

/** An endpoint, and connections that send passwords. */
class ThrottledEndpoint {
  readonly reports: string[] = [];
  /** Number of checked headers. */
  checked = 0;
  readonly checks = new PasswordChecks((address, cutOff) => this.reports.push(`${address} ${cutOff}`));
  readonly opened: Promise<void>;
  private readonly endpoint: RpcEndpoint;

  constructor(options: Partial<AuthOptions> = {}) {
    const authenticator = new Authenticator(
      { user: 'user', password: 'pass', rpcAuth: [], cookieFile: '', ...options },
      SILENT_LOGGER,
    );
    this.opened = authenticator.open();
    const check = authenticator.check.bind(authenticator);
    vi.spyOn(authenticator, 'check').mockImplementation((header) => {
      this.checked++;
      return check(header);
    });
    this.endpoint = new RpcEndpoint(
      { profile: 'documented', logIps: false, suggestsProfile: false },
      {
        dispatcher: {} as RpcDispatcher,
        callQueue: {
          serve: (_connection: HttpConnection, response: Response) => response.tell('right'),
        } as unknown as CallQueue,
        authenticator,
        authThrottle: guard,
        passwordChecks: this.checks,
        logger: SILENT_LOGGER,
      },
    );
  }

  connect(address = '10.0.0.1'): HttpConnection {
    const socket = Object.assign(new EventEmitter(), {
      remoteAddress: address,
      remotePort: 1,
      destroyed: false,
      destroy: () => (socket.destroyed = true),
    });
    return new HttpConnection(socket as unknown as Socket, () => true, 0);
  }

  /** Sends a call with a password. Returns its outcome. */
  send(password: string, connection = this.connect(), user = 'user'): { readonly outcome: Outcome } {
    const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
    const request = Object.assign(new EventEmitter(), {
      method: 'POST',
      url: '/',
      headers: { authorization },
    });
    request.on('newListener', (name) => {
      if (name === 'end') queueMicrotask(() => request.emit('end'));
    });
    const response = new Response(connection);
    this.endpoint.receive(
      request as unknown as IncomingMessage,
      response as unknown as ServerResponse,
      connection,
      'documented',
    );
    return response;
  }
}

class Response {
  private reported: Outcome = 'unknown';
  private readonly connection: HttpConnection;

  constructor(connection: HttpConnection) {
    this.connection = connection;
  }
  tell(outcome: Outcome): void {
    this.reported = outcome;
  }
  get destroyed(): boolean {
    return this.connection.socket.destroyed;
  }
  get outcome(): Outcome {
    return this.reported === 'unknown' && this.destroyed ? 'cut' : this.reported;
  }
  writeHead(status: number): this {
    if (status === 401) this.tell('wrong');
    return this;
  }
  setHeader(): void {}
  removeHeader(): void {}
  end(): void {}
  destroy(): void {
    this.connection.socket.destroy();
  }
}

describe('password checks', () => {
  let endpoint: ThrottledEndpoint;
  beforeEach(() => {
    endpoint = new ThrottledEndpoint();
  });
  afterEach(() => endpoint.checks.close());

  it('are limited to sixteen a second after the first sixteen, however fast connections open', async () => {
    for (let second = 0; second < 30; second++) {
      for (let i = 0; i < 700; i++) endpoint.send(`wrong${second}-${i}`);
      await vi.advanceTimersByTimeAsync(1000);
    }
    expect(endpoint.checked).toBeGreaterThan(16 * 30);
    expect(endpoint.checked).toBeLessThan(16 + 17 * 30);
  });

  it('of right passwords wait with the wrong ones, and are closed with them', async () => {
    for (let i = 0; i < 100; i++) endpoint.send(`wrong${i}`);
    const right = endpoint.send('pass');
    await vi.advanceTimersByTimeAsync(84 * 62);
    expect([right.outcome, endpoint.checked]).toEqual(['unknown', 100]);
    await vi.advanceTimersByTimeAsync(62);
    expect(right.outcome).toBe('right');
    const outcomes = Array.from({ length: 600 }, (_, i) => endpoint.send(i === 500 ? 'pass' : 'wrong'));
    const checked = endpoint.checked;
    expect(outcomes.slice(300).every(({ outcome }) => outcome === 'cut')).toBe(true);
    expect(endpoint.checked).toBe(checked);
    await vi.advanceTimersByTimeAsync(60_000);
    const reported = endpoint.reports.map((report) => Number(report.split(' ')[1]));
    expect(reported.length).toBeLessThan(10);
    expect(reported.reduce((sum, count) => sum + count, 0)).toBe(
      outcomes.filter(({ outcome }) => outcome === 'cut').length,
    );
  });

  it('delay neither authenticated connections nor other callers, nor the same caller for long', async () => {
    const known = endpoint.connect();
    const before = endpoint.send('pass', known);
    for (let i = 0; i < 1000; i++) endpoint.send(`wrong${i}`);
    const meanwhile = [endpoint.send('pass', known), endpoint.send('pass', endpoint.connect('10.0.0.2'))];
    await Promise.resolve();
    expect([before, ...meanwhile].map(({ outcome }) => outcome)).toEqual(['right', 'right', 'right']);
    await vi.advanceTimersByTimeAsync((256 + 16) * 62 + 1000);
    const later = Array.from({ length: 500 }, () => endpoint.send('pass'));
    await Promise.resolve();
    expect(later.every(({ outcome }) => outcome === 'right')).toBe(true);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('over an authenticated connection are no faster', async () => {
    const known = endpoint.connect();
    endpoint.send('pass', known);
    for (let i = 0; i < 200; i++) endpoint.send(`wrong${i}`, known);
    const right = endpoint.send('pass', known);
    await Promise.resolve();
    expect([endpoint.checked, right.outcome]).toEqual([17, 'unknown']);
    await vi.advanceTimersByTimeAsync(16_000);
    expect(right.outcome).toBe('right');
  });

  it('that wait when their connection ends are not done', async () => {
    const connections = Array.from({ length: 100 }, () => endpoint.connect());
    for (const connection of connections) endpoint.send('wrong', connection);
    for (const connection of connections) connection.socket.destroy();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(endpoint.checked).toBe(16);
  });
});

describe('the cookie', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lbcnode-cookie-'));
  let endpoint: ThrottledEndpoint;
  let cookie: string;
  beforeEach(async () => {
    const rpcAuth = ['user:salt$' + createHmac('sha256', 'salt').update('pass').digest('hex')];
    endpoint = new ThrottledEndpoint({ password: '', rpcAuth, cookieFile: join(folder, '.cookie') });
    await endpoint.opened;
    cookie = readFileSync(join(folder, '.cookie'), 'utf8').slice('__cookie__:'.length);
  });
  afterEach(() => endpoint.checks.close());
  afterAll(() => rmSync(folder, { recursive: true }));

  const sendCookie = (secret = cookie, connection = endpoint.connect()): { readonly outcome: Outcome } =>
    endpoint.send(secret, connection, '__cookie__');

  it('is accepted at once on any connection while wrong passwords come from its address', async () => {
    const guessed = endpoint.connect();
    for (let i = 0; i < 100; i++) endpoint.send(`wrong${i}`, i % 2 === 0 ? guessed : endpoint.connect());
    const password = endpoint.send('pass');
    const answers = [sendCookie(), sendCookie(cookie, guessed), sendCookie()];
    await Promise.resolve();
    expect(answers.map(({ outcome }) => outcome)).toEqual(['right', 'right', 'right']);
    for (let i = 0; i < 1000; i++) endpoint.send(`more${i}`);
    const [late, lateCookie] = [endpoint.send('pass'), sendCookie()];
    await Promise.resolve();
    expect([password.outcome, late.outcome, lateCookie.outcome]).toEqual(['unknown', 'cut', 'right']);
    await vi.advanceTimersByTimeAsync(16_000);
    expect(password.outcome).toBe('right');
  });

  it('is queued with the wrong passwords if it is wrong, in part or altogether', async () => {
    const last = cookie.at(-1) === '0' ? '1' : '0';
    const near = [
      cookie.slice(0, -1) + last,
      cookie.slice(0, -1),
      `${cookie}0`,
      '',
      cookie.toUpperCase() + '!',
    ];
    for (let i = 0; i < 100; i++) sendCookie(near[i % near.length]);
    expect(endpoint.checked).toBe(16);
    await vi.advanceTimersByTimeAsync(1000);
    expect(endpoint.checked).toBe(16 + 16);
  });

  it('authenticates its connection as a right password does, until a wrong one arrives', async () => {
    const connection = endpoint.connect();
    sendCookie(cookie, connection);
    expect(connection.isKnown).toBe(true);
    for (let i = 0; i < 100; i++) endpoint.send(`wrong${i}`, connection);
    expect([connection.isKnown, endpoint.checked]).toEqual([false, 1 + 16]);
  });

  it('does not exist if there is a password', async () => {
    const other = new ThrottledEndpoint();
    await other.opened;
    for (let i = 0; i < 100; i++) other.send(`wrong${i}`);
    const answer = other.send('pass');
    await Promise.resolve();
    expect(answer.outcome).toBe('unknown');
    other.checks.close();
  });
});
