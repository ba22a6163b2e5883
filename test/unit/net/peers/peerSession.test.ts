/** Sockets that send nothing, too little or too slowly: the time after which each is closed. */
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ConnectionKind } from '../../../../src/net/messageHandler.js';
import type { PeerManager } from '../../../../src/net/peers/peerManager.js';
import type { PeerSession } from '../../../../src/net/peers/peerSession.js';
import { at } from '../addressBook/support.js';
import { frame, MAGIC, makeManager, versionFrame } from './support.js';

const MINUTE_MS = 60_000;

describe('an idle connection', () => {
  let nowMs: number;
  let server: Server;
  let manager: PeerManager;
  let remote: Socket;
  const reasons: string[] = [];

  beforeEach(async () => {
    nowMs = 1_000_000;
    reasons.length = 0;
    server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    manager = makeManager(reasons, { nowMs: () => nowMs });
  });
  afterEach(async () => {
    manager.stop();
    remote.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  async function meet(kind: ConnectionKind): Promise<PeerSession> {
    const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve));
    const { port } = server.address() as { port: number };
    remote = connect({ port, host: '127.0.0.1' });
    remote.on('error', () => undefined);
    const socket = await accepted;
    return manager.add(socket, { kind, remote: at('8.8.8.8', 1), local: null, isWhitelisted: false });
  }

  const settle = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await new Promise((resolve) => setTimeout(resolve, 1));
  };
  /** Sends an incomplete message and waits until it was received. */
  async function drip(session: PeerSession, bytes: Buffer): Promise<void> {
    const goal = session.connection.bytesReceived + bytes.length;
    remote.write(bytes);
    await settle(() => session.connection.bytesReceived === goal);
  }
  async function greet(session: PeerSession): Promise<void> {
    remote.write(Buffer.concat([versionFrame(), frame('verack')]));
    await settle(() => session.isReady);
  }

  it.each<[ConnectionKind, boolean, string]>([
    ['inbound', false, 'socket no message in first 60 seconds, 0 0'],
    ['inbound', true, 'socket no message in first 60 seconds, 1 0'],
    ['outbound', false, 'socket no message in first 60 seconds, 0 1'],
    ['outbound', true, 'version handshake timeout'],
  ])('of kind %s without a handshake (slow: %s) ends after a minute', async (kind, drips, reason) => {
    const session = await meet(kind);
    for (let i = 0; i < 6; i++) {
      if (drips) await drip(session, versionFrame().subarray(i, i + 1));
      nowMs += 10_000;
      session.tick(nowMs);
      expect(reasons).toEqual([]);
    }
    nowMs++;
    session.tick(nowMs);
    expect(reasons).toEqual([`0: ${reason}`]);
    expect(manager.count).toBe(0);
  });

  it('ends after twenty minutes without a received message', async () => {
    const session = await meet('inbound');
    await greet(session);
    for (let minute = 0; minute < 20; minute++) {
      nowMs += MINUTE_MS;
      session.tick(nowMs);
    }
    expect(reasons).toEqual([]);
    nowMs++;
    session.tick(nowMs);
    // Nothing was sent after the ping either.
    expect(reasons).toEqual(['0: socket sending timeout: 1200s']);
  });

  it('ends after twenty minutes without a received message, even if we send', async () => {
    const session = await meet('inbound');
    await greet(session);
    for (let minute = 0; minute < 20; minute++) {
      nowMs += MINUTE_MS;
      session.tick(nowMs);
      session.send('getaddr', null);
    }
    nowMs++;
    session.tick(nowMs);
    expect(reasons).toEqual(['0: socket receive timeout: 1200s']);
  });

  it('ends after twenty minutes without a pong, even if other bytes arrive', async () => {
    const session = await meet('inbound');
    await greet(session);
    session.tick(nowMs);
    const endless = frame('block', Buffer.alloc(4_000_000));
    for (let minute = 0; minute < 20; minute++) {
      nowMs += MINUTE_MS;
      await drip(session, endless.subarray(minute, minute + 1));
      session.send('getaddr', null);
      session.tick(nowMs);
    }
    expect(reasons).toEqual([]);
    nowMs++;
    await drip(session, endless.subarray(20, 21));
    session.tick(nowMs);
    expect(reasons).toEqual(['0: ping timeout: 1200.0s']);
  });

  it('ends after twenty minutes without progress in sending', async () => {
    const session = await meet('inbound');
    await greet(session);
    remote.pause();
    while (session.connection.sendQueueBytes === 0) session.sendRaw('tx', Buffer.alloc(3_000_000));
    expect(session.isSendFull).toBe(true);
    session.tick(nowMs);
    // Bytes that the system accepts, and the last ones that we sent.
    await settle(() => session.connection.sendQueueBytes > 0);
    nowMs += 20 * MINUTE_MS + 1;
    await drip(session, Buffer.of(MAGIC[0]!));
    session.tick(nowMs);
    expect(reasons).toEqual(['0: socket sending timeout: 1200s']);
  });
});
