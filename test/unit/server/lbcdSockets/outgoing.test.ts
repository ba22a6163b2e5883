/** The queue of messages for one client: order, limit, answers in chunks. */
import { describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { Outgoing } from '../../../../src/server/lbcdSockets/outgoing.js';

/** A socket whose client reads only when the test says so. */
class FakeSocket {
  readonly OPEN = 1;
  readyState = 1;
  bufferedAmount = 0;
  readonly sent: [string, boolean][] = [];
  private taken: (() => void)[] = [];

  send(text: string, { fin }: { fin: boolean }, onTaken?: () => void): void {
    this.sent.push([text, fin]);
    this.bufferedAmount += text.length;
    if (onTaken) this.taken.push(onTaken);
  }

  take(): void {
    this.bufferedAmount = 0;
    for (const each of this.taken.splice(0)) each();
  }
}

function setUp(maxBytes: number) {
  const socket = new FakeSocket();
  const events: string[] = [];
  const outgoing = new Outgoing(socket as unknown as WebSocket, maxBytes, {
    onTooSlow: () => void events.push('too slow'),
    onTaken: () => void events.push('taken'),
    onFailure: (error) => void events.push(String(error)),
  });
  return { socket, events, outgoing };
}

/** Resolves when everything that can run without waiting has run. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
const LARGE = 'x'.repeat(70_000);

describe('Outgoing', () => {
  it('sends in order, and waits for the client in between', async () => {
    const { socket, events, outgoing } = setUp(1 << 20);
    for (const text of [LARGE, 'second', 'third']) outgoing.push(text);
    await settled();
    expect(socket.sent.map(([text]) => text.length)).toEqual([70_000, 6]);
    socket.take();
    await settled();
    expect(socket.sent.slice(1)).toEqual([
      ['second', true],
      ['third', true],
    ]);
    expect(events).toEqual(['taken']);
  });

  it('reports when more is queued than allowed, with the bytes in the socket', async () => {
    const { events, outgoing, socket } = setUp(100_000);
    outgoing.push(LARGE);
    await settled();
    outgoing.push('x'.repeat(20_000));
    expect(events).toEqual([]);
    outgoing.push('x'.repeat(20_000));
    expect(events).toEqual(['too slow']);
    socket.readyState = 3;
    outgoing.clear();
  });

  it('sends an answer in pieces as the client reads, and nothing between them', async () => {
    const { socket, outgoing } = setUp(1 << 20);
    let made = 0;
    async function* pieces(): AsyncGenerator<string> {
      for (; made < 4; made++) yield LARGE;
    }
    const sent = outgoing.send(pieces());
    outgoing.push('after');
    await settled();
    expect(made).toBeLessThan(3);
    for (let i = 0; i < 8; i++) {
      socket.take();
      await settled();
    }
    await sent;
    expect(socket.sent.map(([text, fin]) => [text.length, fin])).toEqual([
      ...Array.from({ length: 4 }, () => [70_000, false]),
      [0, true],
      [5, true],
    ]);
  });

  it('reports an answer that fails midway', async () => {
    const { events, outgoing } = setUp(1 << 20);
    async function* broken(): AsyncGenerator<string> {
      throw new Error('midway');
    }
    void outgoing.send(broken());
    await settled();
    expect(events).toEqual(['Error: midway']);
  });

  it('delays senders that produce more than the client reads', async () => {
    const { socket, outgoing } = setUp(400_000);
    await outgoing.drained();
    outgoing.push(LARGE);
    outgoing.push(LARGE);
    outgoing.push('last');
    let isDrained = false;
    void outgoing.drained().then(() => (isDrained = true));
    await settled();
    expect(isDrained).toBe(false);
    for (let i = 0; i < 4; i++) {
      socket.take();
      await settled();
    }
    expect(isDrained).toBe(true);
  });

  it('continues every waiting sender after it is cleared', async () => {
    const { socket, outgoing } = setUp(200_000);
    const sent = [outgoing.send(LARGE), outgoing.send('b'), outgoing.send('c')];
    const drained = outgoing.drained();
    await settled();
    socket.readyState = 3;
    outgoing.clear();
    await Promise.all([sent[0], sent[2], drained]);
    await outgoing.send('after the end');
    await outgoing.drained();
    socket.take();
    await sent[1];
  });
});
