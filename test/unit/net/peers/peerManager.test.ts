/** Tests of peers that misbehave, of feelers, and of several peers at one address. */
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { formatNetAddress } from '../../../../src/net/netAddress.js';
import type { ConnectionKind, MessageHandler } from '../../../../src/net/messageHandler.js';
import type { PeerManager } from '../../../../src/net/peers/peerManager.js';
import type { PeerSession } from '../../../../src/net/peers/peerSession.js';
import { SILENT_LOGGER } from '../../../../src/util/logging.js';
import { at } from '../addressBook/support.js';
import { frame, makeManager, versionFrame } from './support.js';

describe('the manager of peers', () => {
  let server: Server;
  let manager: PeerManager;
  let deps: Parameters<typeof makeManager>[1];
  const remotes: Socket[] = [];
  const banned: string[] = [];
  const good: string[] = [];
  const received: string[] = [];
  const reasons: string[] = [];

  beforeEach(async () => {
    for (const list of [banned, good, received, reasons]) list.length = 0;
    server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    deps = {
      addresses: {
        good: (address) => good.push(formatNetAddress(address)),
        connected: () => undefined,
        setServices: () => undefined,
      },
      ban: (address) => void banned.push(formatNetAddress(address)),
    };
    manager = makeManager(reasons, deps);
    const part: MessageHandler = {
      handlers: {},
      onVersion: ({ id }) => void received.push(`version ${id}`),
      onGone: ({ id }) => void received.push(`gone ${id}`),
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

  it('bans a misbehaving peer, and disconnects all peers of its address', async () => {
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

  it('does not ban a peer on this machine, but disconnects it', async () => {
    const { session: one } = await meet('inbound', '127.0.0.1');
    await meet('inbound', '127.0.0.1');
    one.punish(100, 'test');
    expect(banned).toEqual([]);
    expect(left()).toEqual(['127.0.0.1:1']);
  });

  it('keeps peers of the operator and whitelisted ones, whatever they send', async () => {
    const sessions = [await meet('manual', '8.8.8.8'), await meet('inbound', '8.8.4.4', true)];
    for (const { session } of sessions) session.punish(1000, 'test');
    expect(banned).toEqual([]);
    expect(manager.count).toBe(2);
  });

  it.each([true, false])('writes addresses to the log according to -logips: %s', async (logsAddresses) => {
    const lines: string[] = [];
    const note = (message: string | (() => string)): void =>
      void lines.push(typeof message === 'string' ? message : message());
    const log = { ...SILENT_LOGGER, info: note, debug: (_: string, message: string) => note(message) };
    manager.stop();
    manager = makeManager(reasons, { log }, { logsAddresses });
    const { session, remote } = await meet('outbound', '8.8.8.8');
    remote.write(Buffer.concat([versionFrame(), frame('verack')]));
    await settle(() => session.isReady);
    const own = /^(Added connection|send version|receive version|New outbound peer)/;
    expect(lines.filter((line) => own.test(line) && line.includes('8.8.8.8:1'))).toHaveLength(
      logsAddresses ? 4 : 0,
    );
    expect(lines.filter((line) => own.test(line))).toHaveLength(4);
  });

  it('disconnects a feeler once it has answered, and reports it to the address book only', async () => {
    const { session, remote } = await meet('feeler', '8.8.8.8');
    remote.write(versionFrame({ services: 0n }));
    await settle(() => session.isGone);
    expect(reasons).toEqual(['0: feeler connection completed']);
    expect(good).toEqual(['8.8.8.8:1']);
    expect(received.filter((what) => what.startsWith('version'))).toEqual([]);
    expect(manager.count).toBe(0);
  });

  it('requires from outbound peers the services that the reference requires, and from others none', async () => {
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

  it('reports how long it was blocked', async () => {
    let nowMs = 1_000_000;
    const held: number[] = [];
    let turns = 0;
    manager = makeManager(reasons, { ...deps, nowMs: () => nowMs });
    manager.parts.push({ handlers: {}, onTick: () => void turns++, onHeldUp: (ms) => void held.push(ms) });
    const { session, remote } = await meet('inbound', '8.8.8.8');
    remote.write(Buffer.concat([versionFrame(), frame('verack')]));
    await settle(() => session.isReady);
    manager.start((error) => {
      throw error;
    });
    // The fake clock stops between the turns, so a turn is only late after the test advances the clock.
    const turn = async (): Promise<void> => {
      const before = turns;
      await settle(() => turns > before);
    };
    await turn();
    nowMs += 200;
    await turn();
    expect(held).toEqual([]);
    nowMs += 1600;
    await turn();
    await turn();
    expect(held).toEqual([1500]);
  });

  it('drops one message of the given number with -dropmessagestest', async () => {
    let dropped = 0;
    const log = { ...SILENT_LOGGER, info: () => void dropped++ };
    manager = makeManager(reasons, { ...deps, log }, { dropsOneIn: 3 });
    let asked = 0;
    manager.parts.push({ handlers: { getaddr: () => void asked++ } });
    const { session, remote } = await meet('inbound', '8.8.8.8');
    const introduction = Buffer.concat([versionFrame(), frame('verack')]);
    while (!session.isReady) {
      // The manager may drop either message. It accepts one that arrives a second time.
      remote.write(introduction);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const before = dropped;
    remote.write(Buffer.concat(Array.from({ length: 300 }, () => frame('getaddr'))));
    // Introductions that were still on the way may be among those dropped.
    await settle(() => asked + dropped - before >= 300);
    expect(asked).toBeGreaterThan(120);
    expect(asked).toBeLessThan(240);
  });
});
