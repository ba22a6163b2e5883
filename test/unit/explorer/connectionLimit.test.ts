/** Limits of the number of connections of the explorer. */
import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { ConnectionLimit } from '../../../src/explorer/connectionLimit.js';

class FakeSocket extends EventEmitter {
  isDestroyed = false;
  readonly remoteAddress: string | undefined;
  constructor(remoteAddress: string | undefined) {
    super();
    this.remoteAddress = remoteAddress;
  }
  destroy(): void {
    this.isDestroyed = true;
  }
}

function limited(max: number, maxOfVisitor: number, uncounted = () => 0): (address?: string) => FakeSocket {
  const server = new EventEmitter();
  new ConnectionLimit(server as never, {
    max,
    maxOfVisitor,
    isShared: (address) => address === '127.0.0.1',
    uncounted,
  });
  return (address) => {
    const socket = new FakeSocket(address);
    server.emit('connection', socket);
    return socket;
  };
}

describe('the limit of connections', () => {
  it('closes those of one visitor beyond its limit, and accepts others', () => {
    const connect = limited(10, 2);
    const first = connect('2001:db8::1');
    expect([first, connect('2001:db8::2')].map(({ isDestroyed }) => isDestroyed)).toEqual([false, false]);
    expect(connect('2001:db8::3').isDestroyed).toBe(true);
    expect(connect('2001:db8:0:1::3').isDestroyed).toBe(false);
    expect(connect('203.0.113.1').isDestroyed).toBe(false);
    first.emit('close');
    expect(connect('2001:db8::3').isDestroyed).toBe(false);
    expect(connect('2001:db8::3').isDestroyed).toBe(true);
  });

  it('does not limit an address that many visitors share', () => {
    const connect = limited(5, 1);
    const sockets = Array.from({ length: 6 }, () => connect('127.0.0.1'));
    expect(sockets.map(({ isDestroyed }) => isDestroyed)).toEqual([false, false, false, false, false, true]);
  });

  it('counts only open connections, without those that have a limit of their own', () => {
    let uncounted = 0;
    const connect = limited(1, 5, () => uncounted);
    const first = connect('203.0.113.1');
    expect(connect('203.0.113.2').isDestroyed).toBe(true);
    uncounted = 1;
    const second = connect('203.0.113.2');
    expect(second.isDestroyed).toBe(false);
    uncounted = 0;
    first.emit('close');
    second.emit('close');
    expect(connect(undefined).isDestroyed).toBe(false);
    expect(connect('203.0.113.2').isDestroyed).toBe(true);
  });
});
