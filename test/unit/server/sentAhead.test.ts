/** Clients that send on and on without waiting: who is read when, and that nothing of theirs is lost. */
import { EventEmitter } from 'node:events';
import net, { type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Connection } from '../../../src/server/connections.js';
import { SentAhead } from '../../../src/server/sentAhead.js';
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

describe('who sends ahead', () => {
  let ahead: SentAhead;
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate'] });
    ahead = new SentAhead();
  });
  afterEach(() => {
    vi.useRealTimers();
  });
  const connect = (): { socket: FakeSocket; send: (requests: number) => void } => {
    const socket = new FakeSocket();
    const connection = new Connection(socket as unknown as Socket, () => true, 0);
    return {
      socket,
      send: (requests) => {
        for (let i = 0; i < requests; i++) ahead.note(connection);
      },
    };
  };

  it('is read on when not much came in a turn of the loop', async () => {
    const { socket, send } = connect();
    for (let turn = 0; turn < 3; turn++) {
      send(FREE);
      expect(socket.isPaused).toBe(false);
      await vi.advanceTimersByTimeAsync(0);
    }
  });

  it('waits, whatever resumes the socket meanwhile, and is read on after a rest, one after the other', async () => {
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
});

describe('a server with callers that send ahead', () => {
  const bench = new ServerBench();
  afterEach(() => bench.close());

  it('answers others meanwhile, and them all in the end', async () => {
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
