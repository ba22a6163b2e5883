/** Clients that send requests continuously without waiting for answers: when each is read, and that no request is lost. */
import { EventEmitter, once } from 'node:events';
import net, { type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { HttpConnection } from '../../../src/server/connections.js';
import { PipeliningLimit } from '../../../src/server/pipeliningLimit.js';
import { ask, ServerBench } from './support.js';

/** A socket that notes whether it is read. */
class FakeSocket extends EventEmitter {
  destroyed = false;
  isPaused = false;
  pause(): void {
    this.isPaused = true;
  }
  resume(): void {
    this.isPaused = false;
    this.emit('resume');
  }
}

const FREE = 64;
/** Time of an iteration for clients without a password, and the number of requests that are then read at a time. */
const SLICE_MS = 5;
const GROUP = 8;

describe('a connection with pipelined requests', () => {
  let ahead: PipeliningLimit;
  let connections: HttpConnection[];
  /** Time that passes within an iteration of the event loop. */
  const clock = { ms: 0 };
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate'] });
    vi.spyOn(performance, 'now').mockImplementation(() => clock.ms);
    connections = [];
    ahead = new PipeliningLimit(() => connections);
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });
  const connect = (isKnown = true): { socket: FakeSocket; send: (requests: number) => void } => {
    const socket = new FakeSocket();
    const connection = new HttpConnection(socket as unknown as Socket, () => true, 0);
    connection.isKnown = isKnown;
    connections.push(connection);
    return {
      socket,
      send: (requests) => {
        for (let i = 0; i < requests; i++) ahead.note(connection);
      },
    };
  };

  it('is read again if little arrived in a turn of the event loop', async () => {
    const { socket, send } = connect();
    for (let turn = 0; turn < 3; turn++) {
      send(FREE);
      expect(socket.isPaused).toBe(false);
      await vi.advanceTimersByTimeAsync(0);
    }
  });

  it('stays paused if other code resumes the socket, and is read after a pause, one at a time', async () => {
    const [first, second, gone, third] = [connect(), connect(), connect(), connect()];
    const all = [first, second, third];
    for (const { send } of [first, second, gone, third]) send(FREE + 1);
    gone.socket.destroyed = true;
    const held = (): number => all.filter(({ socket }) => socket.isPaused).length;
    expect(held()).toBe(3);
    first.socket.resume();
    expect(held()).toBe(3);
    for (const left of [2, 1, 0]) {
      await vi.advanceTimersToNextTimerAsync();
      await vi.advanceTimersToNextTimerAsync();
      while (held() > left) await vi.advanceTimersToNextTimerAsync();
      expect(held()).toBe(left);
    }
    expect([first.socket, second.socket].map((socket) => socket.listenerCount('resume'))).toEqual([0, 0]);
  });

  it('waits with all others without a password once they have used their slice of a turn', async () => {
    const known = connect();
    const open = Array.from({ length: 3 }, () => connect(false));
    const [first, second] = open;
    first?.send(1);
    clock.ms += SLICE_MS - 1;
    known.send(1);
    second?.send(1);
    expect(open.some(({ socket }) => socket.isPaused)).toBe(false);
    clock.ms += 1;
    second?.send(1);
    expect(open.every(({ socket }) => socket.isPaused)).toBe(true);
    expect(known.socket.isPaused).toBe(false);
    // The slice belongs to one iteration. A client that connects now may send in the next one.
    const late = connect(false);
    await vi.advanceTimersByTimeAsync(0);
    clock.ms += SLICE_MS;
    late.send(1);
    expect(late.socket.isPaused).toBe(false);
    await vi.runAllTimersAsync();
    expect(open.some(({ socket }) => socket.isPaused)).toBe(false);
  });

  it('is read sooner the less it sent recently, and the last of equals first', async () => {
    const many = Array.from({ length: 2 * GROUP }, () => connect(false));
    for (const { send } of many) send(1);
    const few = Array.from({ length: GROUP + 1 }, () => connect(false));
    clock.ms += SLICE_MS;
    many[0]?.send(1);
    const isHeld = (each: typeof many): boolean[] => each.map(({ socket }) => socket.isPaused);
    expect([...isHeld(many), ...isHeld(few)]).not.toContain(false);
    const released = async (): Promise<void> => {
      const before = connections.filter(({ isHeld: held }) => held).length;
      while (connections.filter(({ isHeld: held }) => held).length === before) {
        await vi.advanceTimersToNextTimerAsync();
      }
    };
    await released();
    expect(isHeld(few)).toEqual([true, ...Array<boolean>(GROUP).fill(false)]);
    expect(isHeld(many)).not.toContain(false);
    await released();
    expect(isHeld(few)).not.toContain(true);
    expect(isHeld(many)).toEqual([
      ...Array<boolean>(GROUP + 1).fill(true),
      ...Array<boolean>(GROUP - 1).fill(false),
    ]);
    await vi.runAllTimersAsync();
    expect(isHeld(many)).not.toContain(true);
  });
});

describe('a server with pipelining callers', () => {
  let bench: ServerBench;
  beforeEach(() => {
    bench = new ServerBench();
  });
  afterEach(() => bench.close());

  it('answers a caller with a password while many have none, and all in the end', async () => {
    const port = await bench.start();
    const REQUESTS = 60;
    const CALLERS = 100;
    let answered = 0;
    const ends = Array.from({ length: CALLERS }, async () => {
      const socket = net.connect({ port, host: '127.0.0.1' }, () =>
        socket.write('POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n'.repeat(REQUESTS)),
      );
      let count = 0;
      for await (const part of socket) {
        const refusals = (part as Buffer).toString('latin1').split('HTTP/1.1 401').length - 1;
        count += refusals;
        answered += refusals;
        if (count >= REQUESTS) break;
      }
      return count;
    });
    while (answered === 0) await nextTurn();
    expect((await ask(port, '{"method":"echo"}')).status).toBe(200);
    expect(await Promise.all(ends)).toEqual(Array(CALLERS).fill(REQUESTS));
  });

  it('reads bytes that arrived while the loop was busy before it treats a connection as idle', async () => {
    const port = await bench.start({ timeoutSec: 1 });
    const socket = net.connect({ port, host: '127.0.0.1' });
    await once(socket, 'connect');
    // The server has received the first request when a later one from another connection was answered.
    expect((await ask(port, '{"method":"echo"}')).status).toBe(200);
    socket.write('GET /nothing HTTP/1.1\r\n\r\n');
    for (const until = performance.now() + 1500; performance.now() < until;);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString('latin1')).toMatch(/^HTTP\/1\.1 404 /);
    socket.destroy();
  });

  it('answers others meanwhile, and all in the end', async () => {
    const port = await bench.start();
    const REQUESTS = 1000;
    let answered = 0;
    const ends = Array.from({ length: 4 }, () => {
      const socket = net.connect({ port, host: '127.0.0.1' }, () =>
        socket.write('GET /nothing HTTP/1.1\r\n\r\n'.repeat(REQUESTS)),
      );
      let text = '';
      return new Promise<number>((resolve) => {
        socket.on('data', (part) => {
          answered++;
          text += part.toString('latin1');
          const count = text.split('HTTP/1.1 404').length - 1;
          if (count < REQUESTS) return;
          socket.destroy();
          resolve(count);
        });
      });
    });
    while (answered === 0) await nextTurn();
    expect((await ask(port, '{"method":"echo"}')).status).toBe(200);
    expect(await Promise.all(ends)).toEqual(Array(4).fill(REQUESTS));
  });
});
