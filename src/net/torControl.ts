/**
 * Runs an onion service for the node through Tor's control port (`-listenonion`). Uses Tor's SOCKS proxy for onion addresses
 * when it finds one. Reconnects after a lost connection. Errors do not affect the rest of the node. Source: Core
 * torcontrol.cpp `TorController`; Tor control-spec.txt.
 *
 * Deviations: the reference requests a service of version 2, which Tor has not supported since 2021. This node creates a
 * service of version 3. The address of such a service does not fit into addr messages, so it is not announced; the operator
 * finds it in the log. An existing key of version 2 is tried, and its address is announced if it works.
 */
import { createHmac } from 'node:crypto';
import { open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { equalBytes, fromHex, fromLatin1, isHex, toHex } from '../util/bytes.js';
import { splitHostPort } from '../util/network/hostPort.js';
import type { Logger } from '../util/logging.js';
import { isSpecialFile, refuseSpecialFile } from '../util/files/specialFile.js';
import { LOCAL_SCORE, type LocalAddresses } from './localAddresses.js';
import { parseNetAddress, type NetAddress } from './netAddress.js';
import type { Networks } from './networks.js';
import type { RandomSource } from './messageHandler.js';
import { ControlConnection, ControlError, type ControlReply } from './tor/controlConnection.js';
import { parseReplyArguments, quote, splitReplyLine } from './tor/replies.js';

const DEFAULT_CONTROL_PORT = 9051;
/** Default address of Tor's SOCKS proxy. */
const TOR_PROXY = { host: '127.0.0.1', port: 9050, randomizesCredentials: true };

const COOKIE_BYTES = 32;
const NONCE_BYTES = 32;
const SERVER_KEY = 'Tor safe cookie authentication server-to-controller hash';
const CLIENT_KEY = 'Tor safe cookie authentication controller-to-server hash';

const OK = 250;
const UNRECOGNIZED_COMMAND = 510;

const RETRY_START_MS = 1000;
const RETRY_GROWTH = 1.5;
const RETRY_MAX_MS = 600_000;

/** Formats of onion service keys: version 2 only, and both versions 2 and 3. */
const OLD_KEY = /^RSA1024:/;
const ANY_KEY = /^(RSA1024|ED25519-V3):[A-Za-z0-9+/=]+$/;

export interface TorControlOptions {
  /** Address of Tor's control port as `host:port` (`-torcontrol`). */
  readonly target: string;
  /** Password for Tor's control port (`-torpassword`); empty for none. */
  readonly password: string;
  /** Path of the service's private key: `onion_private_key` in the network's folder. */
  readonly keyPath: string;
  /** P2P port of this node. The onion service uses the same port. */
  readonly port: number;
  /** Whether the operator set a proxy for onion addresses (`-onion`). If so, Tor is not asked for its own proxy. */
  readonly hasOnionProxy: boolean;
  /** Pause in ms before the first reconnection attempt; default one second. */
  readonly retryStartMs?: number;
}

export interface TorControlDeps {
  readonly networks: Networks;
  readonly localAddresses: LocalAddresses;
  readonly random: RandomSource;
  readonly log: Logger;
}

/** Error: Tor or the disk reported an error. The message tells the operator how to fix it. */
class TorRefusal extends Error {
  override readonly name = 'TorRefusal';
}

export class TorControl {
  private readonly options: TorControlOptions;
  private readonly deps: TorControlDeps;
  private readonly abort = new AbortController();
  private running: Promise<void> = Promise.resolve();
  /** Text of the last logged error. If the next attempt fails with the same error, it is not logged again. */
  private lastComplaint = '';
  /** Onion address of this node while it is announced to peers. */
  private advertised: NetAddress | null = null;

  constructor(options: TorControlOptions, deps: TorControlDeps) {
    this.options = options;
    this.deps = deps;
  }

  start(): void {
    this.running = this.run();
  }

  /** Ends the onion service and the connection to Tor. */
  async stop(): Promise<void> {
    this.abort.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    const { signal } = this.abort;
    const startMs = this.options.retryStartMs ?? RETRY_START_MS;
    let delayMs = startMs;
    while (!signal.aborted) {
      if (await this.session()) delayMs = startMs;
      if (signal.aborted) return;
      this.deps.log.debug(
        'tor',
        `tor: Not connected to Tor control port ${this.options.target}, trying to reconnect`,
      );
      await sleep(delayMs, undefined, { signal }).catch(() => undefined);
      delayMs = Math.min(delayMs * RETRY_GROWTH, RETRY_MAX_MS);
    }
  }

  /** Runs one connection to Tor until it ends. Resolves to whether Tor accepted the authentication of this node. */
  private async session(): Promise<boolean> {
    const { host, port } = splitHostPort(this.options.target, DEFAULT_CONTROL_PORT);
    const { log } = this.deps;
    let connection: ControlConnection | null = null;
    let isLetIn = false;
    try {
      connection = await ControlConnection.open(host, port, this.abort.signal);
      log.debug('tor', 'tor: Successfully connected!');
      await this.authenticate(connection);
      isLetIn = true;
      this.useProxy();
      await this.addService(connection);
      await connection.closed;
    } catch (error) {
      if (error instanceof TorRefusal) this.complain(error.message);
      else if (error instanceof ControlError) log.debug('tor', `tor: ${error.message}`);
      else this.complain(`tor: ${(error as Error).message}`);
      // The connection stays open even if creating the service failed, because other settings from Tor, such as its proxy,
      // are used.
      if (isLetIn) await connection?.closed;
    } finally {
      connection?.close();
      if (this.advertised !== null) this.deps.localAddresses.remove(this.advertised);
      this.advertised = null;
    }
    return isLetIn;
  }

  private complain(message: string): void {
    if (message === this.lastComplaint) this.deps.log.debug('tor', message);
    else this.deps.log.info(message);
    this.lastComplaint = message;
  }

  private async authenticate(connection: ControlConnection): Promise<void> {
    const { log } = this.deps;
    const info = await connection.command('PROTOCOLINFO 1');
    if (info.code !== OK) throw new TorRefusal('tor: Requesting protocol info failed');
    const version = argumentsOf(info, 'VERSION').get('Tor');
    if (version !== undefined) log.debug('tor', `tor: Connected to Tor version ${printable(version)}`);
    const auth = argumentsOf(info, 'AUTH');
    const methods = (auth.get('METHODS') ?? '').split(',');
    log.debug('tor', `tor: Supported authentication methods: ${printable(methods.join(', '))}`);
    const command = await this.credentials(connection, methods, auth.get('COOKIEFILE') ?? '');
    const reply = await connection.command(command);
    if (reply.code !== OK) throw new TorRefusal('tor: Authentication failed');
    log.debug('tor', 'tor: Authentication successful');
  }

  /**
   * Returns the authentication command. A cookie is never sent in clear, because a program that imitates Tor could in this
   * way obtain the content of a file of this user.
   */
  private async credentials(
    connection: ControlConnection,
    methods: readonly string[],
    cookieFile: string,
  ): Promise<string> {
    const { password } = this.options;
    if (password !== '') {
      if (methods.includes('HASHEDPASSWORD')) return `AUTHENTICATE ${quote(password)}`;
      throw new TorRefusal(
        'tor: Password provided with -torpassword, but HASHEDPASSWORD authentication is not available',
      );
    }
    if (methods.includes('NULL')) return 'AUTHENTICATE';
    if (methods.includes('SAFECOOKIE'))
      return `AUTHENTICATE ${toHex(await this.answerChallenge(connection, cookieFile))}`;
    if (methods.includes('HASHEDPASSWORD')) {
      throw new TorRefusal(
        'tor: The only supported authentication mechanism left is password, but no password provided with -torpassword',
      );
    }
    throw new TorRefusal('tor: No supported authentication method');
  }

  /**
   * Authenticates with SAFECOOKIE: both sides prove that they know the cookie without revealing it. Returns the proof to
   * send.
   */
  private async answerChallenge(connection: ControlConnection, cookieFile: string): Promise<Buffer> {
    const cookie = await readCookie(cookieFile);
    const clientNonce = this.deps.random.bytes(NONCE_BYTES);
    const reply = await connection.command(`AUTHCHALLENGE SAFECOOKIE ${toHex(clientNonce)}`);
    if (reply.code !== OK) throw new TorRefusal('tor: SAFECOOKIE authentication challenge failed');
    const found = argumentsOf(reply, 'AUTHCHALLENGE');
    const serverHash = hexArgument(found, 'SERVERHASH');
    const serverNonce = hexArgument(found, 'SERVERNONCE');
    if (serverHash === null || serverNonce === null)
      throw new TorRefusal('tor: Invalid reply to AUTHCHALLENGE');
    if (serverNonce.length !== NONCE_BYTES) {
      throw new TorRefusal('tor: ServerNonce is not 32 bytes, as required by spec');
    }
    const prove = (key: string): Buffer =>
      createHmac('sha256', key).update(cookie).update(clientNonce).update(serverNonce).digest();
    if (!equalBytes(prove(SERVER_KEY), serverHash)) {
      throw new TorRefusal('tor: ServerHash does not match expected ServerHash');
    }
    return prove(CLIENT_KEY);
  }

  private useProxy(): void {
    if (this.options.hasOnionProxy) return;
    this.deps.networks.setRoute('onion', { isLimited: false, proxy: TOR_PROXY });
  }

  private async addService(connection: ControlConnection): Promise<void> {
    const { port } = this.options;
    const cached = await this.readKey();
    const reply = await connection.command(
      `ADD_ONION ${cached ?? 'NEW:ED25519-V3'} Port=${port},127.0.0.1:${port}`,
    );
    if (reply.code !== OK) throw new TorRefusal(this.addFailure(reply.code, cached));
    const found = new Map(reply.lines.flatMap((line) => [...parseReplyArguments(line)]));
    const id = found.get('ServiceID') ?? '';
    if (!/^[a-z2-7]+$/.test(id)) throw new TorRefusal('tor: Error parsing ADD_ONION parameters');
    this.announce(`${id}.onion`);
    const key = found.get('PrivateKey');
    if (key !== undefined && key !== cached) await this.keepKey(key);
  }

  private async keepKey(key: string): Promise<void> {
    const { keyPath } = this.options;
    await writePrivately(keyPath, key).catch((error: Error) => {
      throw new TorRefusal(`tor: Error writing service private key to ${keyPath}: ${error.message}`);
    });
    this.deps.log.debug('tor', `tor: Cached service private key to ${keyPath}`);
  }

  private announce(name: string): void {
    const { port } = this.options;
    const { log, localAddresses } = this.deps;
    const address = parseNetAddress(name, port);
    if (address === null) {
      log.info(
        `tor: Got onion service ${name}:${port}. Its address is too long for the network's address messages, ` +
          'so that it cannot be announced to peers; distribute it yourself.',
      );
      return;
    }
    log.info(`tor: Got service ID ${name}, advertising service ${name}:${port}`);
    if (localAddresses.add(address, LOCAL_SCORE.manual)) this.advertised = address;
  }

  private addFailure(code: number, cached: string | null): string {
    if (code === UNRECOGNIZED_COMMAND) {
      return 'tor: Add onion failed with unrecognized command (You probably need to upgrade Tor)';
    }
    if (cached !== null && OLD_KEY.test(cached)) {
      return `tor: Tor no longer serves onion services of version 2 (error code ${code}); remove ${this.options.keyPath} to get one of version 3`;
    }
    return `tor: Add onion failed; error code ${code}`;
  }

  /** Reads the stored private key of the onion service; null if none is stored. */
  private async readKey(): Promise<string | null> {
    const { keyPath } = this.options;
    let text: string;
    try {
      refuseSpecialFile(keyPath);
      text = (await readFile(keyPath, 'latin1')).trim();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
    if (!ANY_KEY.test(text)) {
      throw new TorRefusal(
        `tor: ${keyPath} contains no private key; remove it to create a new onion service`,
      );
    }
    this.deps.log.debug('tor', `tor: Reading cached private key from ${keyPath}`);
    return text;
  }
}

/** Returns the arguments of the reply line with this type; empty if the reply has no such line. */
function argumentsOf(reply: ControlReply, type: string): Map<string, string> {
  for (const line of reply.lines) {
    const parts = splitReplyLine(line);
    if (parts.type === type) return parseReplyArguments(parts.rest);
  }
  return new Map();
}

function hexArgument(found: ReadonlyMap<string, string>, name: string): Buffer | null {
  const text = found.get(name);
  return text === undefined || !isHex(text) ? null : fromHex(text);
}

/** Reads Tor's cookie file. `path` is latin1. Throws `TorRefusal`. */
async function readCookie(path: string): Promise<Buffer> {
  const named = printable(path);
  const refused = (): never => {
    throw new TorRefusal(`tor: Authentication cookie ${named} could not be opened (check permissions)`);
  };
  if (isSpecialFile(fromLatin1(path))) refused();
  const file = await open(fromLatin1(path), 'r').catch(refused);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(COOKIE_BYTES + 1), 0, COOKIE_BYTES + 1, 0);
    if (bytesRead === COOKIE_BYTES) return buffer.subarray(0, COOKIE_BYTES);
  } finally {
    await file.close();
  }
  throw new TorRefusal(
    `tor: Authentication cookie ${named} is not exactly 32 bytes, as is required by the spec`,
  );
}

/** Replaces a file by a file that only its owner can read. */
async function writePrivately(path: string, text: string): Promise<void> {
  const fresh = `${path}.new`;
  // An existing temporary file is removed first, because writing to it would keep its access mode.
  await rm(fresh, { force: true });
  await writeFile(fresh, text, { mode: 0o600 });
  await rename(fresh, path);
}

/** Returns text from Tor with unprintable characters replaced, for logs. */
function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?');
}
