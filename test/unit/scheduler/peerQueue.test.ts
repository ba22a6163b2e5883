import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { yieldIfDue, peerQueue, PeerQueue } from '../../../src/scheduler/peerQueue.js';
import { FakeLoop } from '../net/support/fakeLoop.js';

describe('the time of the event loop', () => {
  it('remains with a peer that has not used up its turn', () => {
    // A start in the future, so that a slow machine does not end the turn.
    const since = performance.now() + 60_000;
    expect(yieldIfDue(since)).toBe(since);
    expect(yieldIfDue(performance.now() - 1000)).toBeInstanceOf(Promise);
  });

  it('goes to each waiting peer in turn, and to other work in between', async () => {
    const order: string[] = [];
    let rounds = 0;
    let isOver = false;
    const others = async (): Promise<void> => {
      for (; !isOver; rounds++) await turn();
    };
    const roundsAt: number[] = [];
    const hog = async (peer: { name: string }): Promise<void> => {
      for (let i = 0; i < 4; i++) {
        await yieldIfDue(performance.now() - 1000, peer);
        order.push(peer.name);
        roundsAt.push(rounds);
      }
    };
    const running = others();
    await Promise.all([{ name: 'a' }, { name: 'b' }, { name: 'c' }].map(hog));
    isOver = true;
    await running;
    // Then the peers in ascending order of their used time.
    expect(order.slice(0, 3)).toEqual(['a', 'b', 'c']);
    expect(order).toHaveLength(12);
    expect(new Set(roundsAt).size).toBe(order.length);
  });

  it('is counted from the start of the turn', async () => {
    const before = performance.now();
    expect(await peerQueue.nextTurn()).toBeGreaterThanOrEqual(before);
  });
});

describe('the queue of peers', () => {
  /** Runs turns of a given length until it is stopped. */
  function run(
    line: PeerQueue,
    loop: FakeLoop,
    order: string[],
    name: string,
    tookMs: number,
  ): { name: string } {
    const peer = { name };
    const go = async (): Promise<void> => {
      for (;;) {
        await line.nextTurn(peer);
        order.push(name);
        loop.pass(tookMs);
      }
    };
    void go();
    return peer;
  }

  it('gives each the same time, not the same number of turns', async () => {
    const loop = new FakeLoop();
    const line = new PeerQueue(loop);
    const order: string[] = [];
    run(line, loop, order, 'short', 1);
    run(line, loop, order, 'long', 4);
    await loop.rounds(100);
    const long = order.filter((name) => name === 'long').length;
    expect(order.length - long).toBeGreaterThanOrEqual(4 * (long - 1));
    expect(order.length - long).toBeLessThanOrEqual(4 * (long + 1));
  });

  it('delays a peer with few messages by one or two turns, however many busy peers there are', async () => {
    const loop = new FakeLoop();
    const line = new PeerQueue(loop);
    const order: string[] = [];
    for (let i = 0; i < 50; i++) run(line, loop, order, `flooder ${i}`, 4);
    const honest = { name: 'honest' };
    await loop.rounds(500);
    for (let i = 0; i < 20; i++) {
      const before = order.length;
      let isServed = false;
      void line.nextTurn(honest).then(() => {
        isServed = true;
        loop.pass(0.05);
      });
      while (!isServed) await loop.rounds(1);
      expect(order.length - before).toBeLessThanOrEqual(2);
      await loop.rounds(7);
    }
  });

  it('saves no time for an idle peer', async () => {
    const loop = new FakeLoop();
    const line = new PeerQueue(loop);
    const order: string[] = [];
    run(line, loop, order, 'early', 4);
    await loop.rounds(1000);
    order.length = 0;
    run(line, loop, order, 'late', 4);
    await loop.rounds(100);
    const late = order.filter((name) => name === 'late').length;
    expect(Math.abs(order.length - 2 * late)).toBeLessThanOrEqual(2);
  });

  it('does not count time that serves this node', async () => {
    const loop = new FakeLoop();
    const line = new PeerQueue(loop);
    const order: string[] = [];
    for (let i = 0; i < 20; i++) run(line, loop, order, `flooder ${i}`, 4);
    const bringer = {};
    void (async () => {
      for (;;) {
        await line.nextTurn(bringer);
        order.push('block');
        loop.pass(4);
        line.noteUseful(bringer);
      }
    })();
    await loop.rounds(200);
    // A peer that sends blocks gets at least every other turn.
    expect(order.filter((name) => name === 'block').length).toBeGreaterThanOrEqual(order.length / 2 - 2);
  });

  it('leaves a share to others while more than one peer waits, and none after turns that serve this node', async () => {
    const loop = new FakeLoop();
    const line = new PeerQueue(loop);
    const order: string[] = [];
    const peers = [run(line, loop, order, 'a', 4)];
    await loop.rounds(100);
    expect(loop.restedMs).toBe(0);
    peers.push(run(line, loop, order, 'b', 4));
    const workedMs = loop.workedMs;
    await loop.rounds(100);
    expect(loop.restedMs / (loop.workedMs - workedMs)).toBeCloseTo(0.5, 1);
  });

  it('ends a turn at its time limit, and on request', async () => {
    const loop = new FakeLoop();
    const line = new PeerQueue(loop);
    let seen: boolean[] = [];
    let turnThen = 0;
    void line.nextTurn().then(() => {
      turnThen = line.turn;
      seen = [line.isOver(turnThen)];
      loop.pass(3);
      seen.push(line.isOver(turnThen));
      loop.pass(1);
      seen.push(line.isOver(turnThen));
    });
    await loop.rounds(1);
    expect(seen).toEqual([false, false, true]);
    void line.nextTurn();
    await loop.rounds(1);
    expect(line.isOver(turnThen)).toBe(true);
    expect(line.isOver(line.turn)).toBe(true);
  });
});
