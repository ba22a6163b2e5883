/**
 * Twenty peers that send each command of the protocol and other bytes as fast as possible. Measures how many of their messages
 * are handled while an honest peer waits for an answer, and how many of their bytes are in memory. Event loop and time are
 * simulated.
 */
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { PeerQueue } from '../../../../src/scheduler/peerQueue.js';
import { MESSAGES, type Command } from '../../../../src/net/messages/table.js';
import type { Handlers, MessageHandler, Peer } from '../../../../src/net/messageHandler.js';
import type { PeerSession } from '../../../../src/net/peers/peerSession.js';
import { at } from '../addressBook/support.js';
import { SAMPLES } from '../messages/samples.js';
import { FakeLoop } from '../support/fakeLoop.js';
import { frame, makeManager, versionFrame } from './support.js';

const FLOODERS = 20;
const CHUNK_BYTES = 65_536;
const MAX_RECEIVE_BYTES = 200_000;
/** Simulated time of each reading of the clock, which happens once per message. */
const STEP_MS = 0.05;
/** Maximum number of messages in a turn of four milliseconds. */
const MESSAGES_A_TURN = 4 / STEP_MS + 1;

/** The members of a socket that a connection uses. The peer accepts all sent bytes at once. */
class FakeSocket extends EventEmitter {
  isPaused = false;
  isEnded = false;
  readonly writableLength = 0;
  readonly writableNeedDrain = false;
  /** Commands that it was sent. */
  readonly commands: string[] = [];
  /** The bytes that it sends repeatedly, and the position of the next one. */
  private stream = Buffer.alloc(0);
  private from = 0;
  pouredBytes = 0;

  setNoDelay(): this {
    return this;
  }
  pause(): this {
    this.isPaused = true;
    return this;
  }
  resume(): this {
    this.isPaused = false;
    return this;
  }
  end(): this {
    this.isEnded = true;
    return this;
  }
  destroy(): this {
    return this.end();
  }
  write(bytes: Buffer): boolean {
    this.commands.push(bytes.toString('latin1', 4, 16).replace(/\0+$/, ''));
    return true;
  }

  say(...frames: Buffer[]): void {
    this.emit('data', Buffer.concat(frames));
  }

  /** Sends `bytes` repeatedly, in chunks that do not end at messages. */
  floodWith(bytes: Buffer): void {
    const copies = Math.ceil(CHUNK_BYTES / bytes.length) + 1;
    this.stream = Buffer.concat(Array.from({ length: copies }, () => bytes));
    this.period = bytes.length;
  }
  private period = 1;

  /** Sends as many bytes as are accepted. */
  pour(): void {
    while (this.stream.length > 0 && !this.isPaused && !this.isEnded) {
      this.emit('data', Buffer.from(this.stream.subarray(this.from, this.from + CHUNK_BYTES)));
      this.from = (this.from + CHUNK_BYTES) % this.period;
      this.pouredBytes += CHUNK_BYTES;
    }
  }
}

/** Accepts all commands and ignores them. */
class Sink implements MessageHandler {
  readonly handlers: Handlers;
  constructor(take: () => void | Promise<void>) {
    const handle = (_peer: Peer): void | Promise<void> => take();
    this.handlers = Object.fromEntries(Object.keys(MESSAGES).map((command) => [command, handle]));
  }
}

const payloads = new Map(SAMPLES.map(([command, , hex]) => [command, Buffer.from(hex, 'hex')]));
const corrupt = (bytes: Buffer): Buffer => {
  const copy = Buffer.from(bytes);
  copy[20]! ^= 1;
  return copy;
};
const floods: [string, Buffer][] = [
  ...(Object.keys(MESSAGES) as Command[]).map((command): [string, Buffer] => [
    command,
    frame(command, payloads.get(command)),
  ]),
  ['an unknown command', frame('nonsense')],
  ['an unknown command that is long', frame('nonsense', Buffer.alloc(3000))],
  ['a wrong checksum', corrupt(frame('ping', Buffer.alloc(8, 1)))],
  ['what cannot be parsed', frame('inv', Buffer.of(5))],
];

describe('floods', () => {
  it.each(floods)('of %s delay no other peer', (_what, bytes) => expectNoDelay(bytes, () => undefined));

  it('of expensive requests delay no other peer', () =>
    expectNoDelay(frame('addr', payloads.get('addr')), () => Promise.resolve()));

  async function expectNoDelay(bytes: Buffer, take: () => void | Promise<void>): Promise<void> {
    const loop = new FakeLoop(STEP_MS);

    const manager = makeManager([], { turns: new PeerQueue(loop) }, { maxReceiveBytes: MAX_RECEIVE_BYTES });
    manager.parts.push(new Sink(take));
    const meet = (host: string): { socket: FakeSocket; session: PeerSession } => {
      const socket = new FakeSocket();
      const what = { kind: 'inbound', remote: at(host, 1), local: null, isWhitelisted: true } as const;
      const session = manager.add(socket as unknown as Socket, what);
      socket.say(versionFrame(), frame('verack'));
      return { socket, session };
    };
    const flooders = Array.from({ length: FLOODERS }, (_, i) => meet(`8.8.8.${i}`));
    const honest = meet('9.9.9.9');
    await loop.rounds(2 * FLOODERS + 2);
    expect([honest, ...flooders].every(({ session }) => session.isReady)).toBe(true);
    // Messages that were processed are removed from the buffer of a peer.
    const handled = (): number => {
      let count = 0;
      for (const { socket, session } of flooders) {
        const held = session.connection.bufferedBytes;
        expect(held).toBeLessThanOrEqual(MAX_RECEIVE_BYTES + CHUNK_BYTES);
        count += (socket.pouredBytes - held) / bytes.length;
      }
      return Math.floor(count);
    };
    const round = async (): Promise<void> => {
      for (const { socket } of flooders) socket.pour();
      const before = handled();
      await loop.rounds(1);
      expect(handled() - before).toBeLessThanOrEqual(MESSAGES_A_TURN + 1);
    };
    for (const { socket } of flooders) socket.floodWith(bytes);
    for (let i = 0; i < 30; i++) await round();
    for (let question = 0; question < 3; question++) {
      const before = handled();
      honest.socket.commands.length = 0;
      honest.socket.say(frame('ping', Buffer.alloc(8, 5)));
      let rounds = 0;
      while (!honest.socket.commands.includes('pong')) {
        await round();
        expect(++rounds).toBeLessThanOrEqual(3);
      }
      expect(handled() - before).toBeLessThanOrEqual(2 * MESSAGES_A_TURN + 2);
      for (let i = 0; i < 5; i++) await round();
    }
    // The flooding peers are served too.
    expect(handled()).toBeGreaterThan(FLOODERS);
    manager.stop();
  }
});
