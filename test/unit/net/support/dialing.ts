/** Shared parts of the tests of outgoing connections: servers that are stopped after a test, and a log that is stored. */
import type { Socket } from 'node:net';
import { expect } from 'vitest';
import { Dialer, DialError, type DialerDeps, type DialerOptions } from '../../../../src/net/dial.js';
import { parseNetAddress, type NetAddress } from '../../../../src/net/netAddress.js';
import { Networks, type Proxy } from '../../../../src/net/networks.js';
import { SILENT_LOGGER, type Logger } from '../../../../src/util/logging.js';
import { seededRandom } from '../addressBook/support.js';
import { ScriptedServer, type ScriptedPeer } from './scriptedServer.js';

const DEFAULTS: DialerOptions = {
  defaultPort: 9246,
  connectTimeoutMs: 5000,
  proxyTimeoutMs: 5000,
  allowsLookup: true,
};

export const DIRECT = { isLimited: false, proxy: null };

/** Every public network, and names, through `proxy`. */
export function through(proxy: Proxy | null): Networks {
  const route = { isLimited: false, proxy };
  return new Networks({ ipv4: route, ipv6: route, onion: route }, proxy);
}

export const proxyAt = (port: number, randomizesCredentials = false): Proxy => ({
  host: '127.0.0.1',
  port,
  randomizesCredentials,
});

export const address = (text: string): NetAddress => parseNetAddress(text, 9246)!;

const noNames = (): Promise<string[]> => Promise.reject(new Error('no names here'));

/** One test's connections. */
export class Dialing {
  readonly abort = new AbortController();
  /** Lines of the log at levels that the operator sees. */
  readonly logged: string[] = [];
  private readonly log: Logger;
  private readonly failures: unknown[] = [];
  private readonly closing: (() => Promise<unknown> | void)[] = [];

  constructor() {
    const keep = (message: string): void => void this.logged.push(message);
    this.log = { ...SILENT_LOGGER, info: keep, warn: keep, error: keep };
  }

  /** Stops everything. Fails if the script of a server failed. */
  async end(): Promise<void> {
    for (const close of this.closing.reverse()) await close();
    expect(this.failures).toEqual([]);
  }

  async serve(script: (peer: ScriptedPeer, index: number) => Promise<void> | void): Promise<ScriptedServer> {
    const server = await ScriptedServer.start(script, this.failures);
    this.closing.push(() => server.stop());
    return server;
  }

  dialer(networks: Networks, options: Partial<DialerOptions> = {}, deps: Partial<DialerDeps> = {}): Dialer {
    return new Dialer(
      { ...DEFAULTS, ...options },
      { networks, random: seededRandom(3), log: this.log, lookUp: noNames, ...deps },
    );
  }

  async connect(dialer: Dialer, target: NetAddress, isManual = false): Promise<Socket> {
    const socket = await dialer.connect({ address: target }, { signal: this.abort.signal, isManual });
    this.keep(socket);
    return socket;
  }

  keep(socket: Socket): void {
    this.closing.push(() => void socket.destroy());
  }
}

/** The error with which the promise rejects. */
export async function failure(promise: Promise<unknown>): Promise<DialError> {
  const error = await promise.then(
    () => new Error('it did not fail'),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(DialError);
  return error as DialError;
}

export const nextData = (socket: Socket): Promise<string> =>
  new Promise((resolve) => socket.once('data', (chunk: Buffer) => resolve(chunk.toString())));
