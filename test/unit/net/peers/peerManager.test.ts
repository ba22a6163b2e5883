/** What becomes of peers that misbehave, of feelers, and of others at the same address. */
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { formatFrame } from '../../../../src/net/framing.js';
import { formatPayload } from '../../../../src/net/messages/codec.js';
import { versionCodec, type VersionMessage } from '../../../../src/net/messages/version.js';
import { formatNetAddress, NO_ADDRESS } from '../../../../src/net/netAddress.js';
import type { ConnectionKind, NetPart } from '../../../../src/net/part.js';
import { PeerManager } from '../../../../src/net/peers/peerManager.js';
import type { PeerSession } from '../../../../src/net/peers/peerSession.js';
import { SILENT_LOGGER } from '../../../../src/util/logging.js';
import { at, seededRandom, START_SEC } from '../addressBook/support.js';

const MAGIC = Buffer.from('fae4aad1', 'hex');
const VERSION: VersionMessage = {
  version: 70_015,
  services: 13n,
  timeSec: BigInt(START_SEC),
  receiver: NO_ADDRESS,
  receiverServices: 0n,
  sender: NO_ADDRESS,
  senderServices: 13n,
  nonce: 5n,
  userAgent: '/other/',
  startHeight: 0,
  relay: true,
};
const frame = (command: string, payload = Buffer.alloc(0)): Buffer => formatFrame(MAGIC, command, payload);
const versionFrame = (changes: Partial<VersionMessage> = {}): Buffer =>
  frame('version', Buffer.from(formatPayload(versionCodec, { ...VERSION, ...changes })));

describe('the manager of peers', () => {
  let server: Server;
  let manager: PeerManager;
  const remotes: Socket[] = [];
  const banned: string[] = [];
  const good: string[] = [];
  const heard: string[] = [];
  const reasons: string[] = [];

  beforeEach(async () => {
    for (const list of [banned, good, heard, reasons]) list.length = 0;
    server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const log = {
      ...SILENT_LOGGER,
      debug: (_category: string, message: string | (() => string)) => {
        const text = typeof message === 'string' ? message : message();
        const reason = /^disconnecting peer=([0-9]+: .*)$/.exec(text)?.[1];
        if (reason !== undefined) reasons.push(reason);
      },
    };
    manager = new PeerManager(
      {
        magic: MAGIC,
        banScore: 100,
        maxReceiveBytes: 5_000_000,
        maxSendBytes: 1_000_000,
        sendsRejects: true,
        userAgent: '/test/',
        relaysTransactions: true,
      },
      {
        log,
        random: seededRandom(1),
        addresses: {
          good: (address) => good.push(formatNetAddress(address)),
          connected: () => undefined,
          setServices: () => undefined,
        },
        ban: (address) => void banned.push(formatNetAddress(address)),
        nowMs: () => 1_000_000,
        nowSec: () => START_SEC,
        adjustedTimeSec: () => START_SEC,
        height: () => 0,
        localServices: () => 13n,
        onSent: () => undefined,
        onVersion: () => undefined,
      },
    );
    const part: NetPart = {
      handlers: {},
      onVersion: ({ id }) => void heard.push(`version ${id}`),
      onGone: ({ id }) => void heard.push(`gone ${id}`),
    };
    manager.parts.push(part);
  });
  afterEach(async () => {
    manager.stop();
    for (const remote of remotes.splice(0)) remote.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  interface Meeting {
    session: PeerSession;
    remote: Socket;
  }
  async function meet(kind: ConnectionKind, address: string, isWhitelisted = false): Promise<Meeting> {
    const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve));
    const { port } = server.address() as { port: number };
    const remote = connect({ port, host: '127.0.0.1' });
    remote.on('error', () => undefined).resume();
    remotes.push(remote);
    const socket = await accepted;
    return {
      remote,
      session: manager.add(socket, { kind, remote: at(address, 1), local: null, isWhitelisted }),
    };
  }
  const settle = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await new Promise((resolve) => setTimeout(resolve, 1));
  };
  const left = (): string[] => [...manager.peers()].map(({ remote }) => formatNetAddress(remote));

  it('bans who misbehaves too much, and parts with all who come from its address', async () => {
    const { session: one } = await meet('inbound', '8.8.8.8');
    await meet('inbound', '8.8.8.8');
    await meet('outbound', '8.8.8.8', true);
    await meet('inbound', '8.8.4.4');
    one.punish(99, 'test');
    expect(manager.count).toBe(4);
    one.punish(1, 'test');
    expect(banned).toEqual(['8.8.8.8:1']);
    expect(left()).toEqual(['8.8.4.4:1']);
  });

  it('bans no neighbour on this machine, and parts with the one alone', async () => {
    const { session: one } = await meet('inbound', '127.0.0.1');
    await meet('inbound', '127.0.0.1');
    one.punish(100, 'test');
    expect(banned).toEqual([]);
    expect(left()).toEqual(['127.0.0.1:1']);
  });

  it('keeps whom the operator chose or trusts, whatever they do', async () => {
    const sessions = [await meet('manual', '8.8.8.8'), await meet('inbound', '8.8.4.4', true)];
    for (const { session } of sessions) session.punish(1000, 'test');
    expect(banned).toEqual([]);
    expect(manager.count).toBe(2);
  });

  it('parts with a feeler once it has answered, and tells nobody but the address book of it', async () => {
    const { session, remote } = await meet('feeler', '8.8.8.8');
    remote.write(versionFrame({ services: 0n }));
    await settle(() => session.isGone);
    expect(reasons).toEqual(['0: feeler connection completed']);
    expect(good).toEqual(['8.8.8.8:1']);
    expect(heard.filter((what) => what.startsWith('version'))).toEqual([]);
    expect(manager.count).toBe(0);
  });

  it('wants of those it chose the services that the reference wants, and of no others', async () => {
    const { session, remote } = await meet('outbound', '8.8.8.8');
    remote.write(versionFrame({ services: 9n }));
    await settle(() => session.isGone);
    expect(reasons).toEqual([
      '0: does not offer the expected services (00000009 offered, 00000005 expected)',
    ]);
    expect(good).toEqual([]);
    const { session: manual, remote: other } = await meet('manual', '8.8.4.4');
    other.write(Buffer.concat([versionFrame({ services: 0n }), frame('verack')]));
    await settle(() => manual.isReady);
    expect(good).toEqual(['8.8.4.4:1']);
  });
});
