/** The addresses on which a node listens, and the errors for those on which it cannot. */
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Listener, type Binding } from '../../../../src/net/peers/listener.js';
import type { PeerManager } from '../../../../src/net/peers/peerManager.js';
import { SILENT_LOGGER } from '../../../../src/util/logging.js';

describe('listening', () => {
  let taken: Server;
  let takenPort: number;
  const added: { kind: string; isWhitelisted: boolean }[] = [];
  const listeners: Listener[] = [];

  beforeEach(async () => {
    added.length = 0;
    taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    takenPort = (taken.address() as AddressInfo).port;
  });
  afterEach(async () => {
    await Promise.all(listeners.splice(0).map((listener) => listener.close()));
    await new Promise((resolve) => taken.close(resolve));
  });

  function listener(...bindings: Binding[]): Listener {
    const peers = {
      isActive: true,
      countOf: () => 0,
      add: (socket: { destroy(): void }, what: (typeof added)[number]) => {
        added.push(what);
        socket.destroy();
      },
    };
    const made = new Listener(
      { bindings, maxInbound: 10 },
      {
        peers: peers as unknown as PeerManager,
        log: SILENT_LOGGER,
        isBanned: () => false,
        isWhitelisted: () => false,
        relayOf: () => ({ relaysTransactions: false, hasBloomFilter: false }),
      },
    );
    listeners.push(made);
    return made;
  }
  async function free(): Promise<number> {
    const probe = createServer();
    await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
    const { port } = probe.address() as AddressInfo;
    await new Promise((resolve) => probe.close(resolve));
    return port;
  }
  const at = (port: number, isWhitelisted = false): Binding => ({ host: '127.0.0.1', port, isWhitelisted });
  const knock = (port: number): Promise<void> =>
    new Promise((resolve) => {
      connect({ port, host: '127.0.0.1' })
        .on('error', () => undefined)
        .on('close', () => resolve())
        .resume();
    });

  it('works at all possible addresses, and reports the others', async () => {
    const port = await free();
    const made = listener(at(takenPort), at(port, true));
    expect(await made.listen()).toEqual([
      `Unable to bind to 127.0.0.1:${takenPort} on this computer. lbcnode is probably already running.`,
    ]);
    expect(made.isListening).toBe(true);
    await knock(port);
    expect(added).toMatchObject([{ kind: 'inbound', isWhitelisted: true }]);
  });

  it('may fail at all addresses', async () => {
    // An address for documentation (RFC 5737), which the machine does not have.
    const made = listener(at(takenPort), { host: '192.0.2.1', port: takenPort, isWhitelisted: false });
    const failures = await made.listen();
    expect(failures).toHaveLength(2);
    expect(failures[1]).toMatch(
      /^Unable to bind to 192\.0\.2\.1:[0-9]+ on this computer \(bind returned error address not available \(EADDRNOTAVAIL\)\)$/,
    );
    expect(made.isListening).toBe(false);
  });
});
