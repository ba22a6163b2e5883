/**
 * Requests a connection from a SOCKS5 proxy, over a socket connected to the proxy (RFC 1928; user name and password by RFC
 * 1929). Host names are sent unresolved. Source: Core netbase.cpp `Socks5`, `InterruptibleRecv`.
 */
import type { Socket } from 'node:net';
import type { Logger } from '../util/logging.js';

const VERSION = 5;
const METHOD = { none: 0x00, userPassword: 0x02 } as const;
const USER_PASSWORD_VERSION = 1;
const CMD_CONNECT = 1;
const ADDRESS_TYPE = { ipv4: 1, name: 3, ipv6: 4 } as const;
const MAX_NAME_BYTES = 255;
const SUCCEEDED = 0;

/** Error texts of a SOCKS5 proxy, indexed by reply code. */
const REPLY_TEXTS: readonly string[] = [
  'succeeded',
  'general failure',
  'connection not allowed',
  'network unreachable',
  'host unreachable',
  'connection refused',
  'TTL expired',
  'protocol error',
  'address type not supported',
];

/** Time limit in ms for each response of the proxy. Tor needs many seconds. */
export const SOCKS5_TIMEOUT_MS = 20_000;

export interface Socks5Options {
  readonly host: string;
  readonly port: number;
  /** User name and password that are offered to the proxy, up to 255 bytes each. The proxy need not require them. */
  readonly credentials: { readonly user: string; readonly password: string } | null;
  readonly timeoutMs: number;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

export class Socks5Error extends Error {
  override readonly name = 'Socks5Error';
  /** Whether the proxy could not reach the destination. If false, the proxy itself failed. */
  readonly isDestinationFailure: boolean;

  constructor(message: string, isDestinationFailure = false) {
    super(message);
    this.isDestinationFailure = isDestinationFailure;
  }
}

/** Error: the expected bytes did not arrive because of a timeout, a disconnection or an abort. */
class ReceiveError extends Error {
  override readonly name = 'ReceiveError';
  readonly isTimeout: boolean;

  constructor(message: string, isTimeout = false) {
    super(message);
    this.isTimeout = isTimeout;
  }
}

/**
 * Connects to the destination through the proxy. Resolves when the connection is established; bytes received after that stay
 * readable on the socket. Rejects with `Socks5Error`; the caller must then destroy the socket.
 */
export async function socks5Connect(socket: Socket, options: Socks5Options): Promise<void> {
  const { host, port, log } = options;
  log.debug('net', `SOCKS5 connecting ${host}`);
  if (Buffer.byteLength(host) > MAX_NAME_BYTES) throw new Socks5Error('Hostname too long');
  await agreeOnMethod(socket, options);
  const name = Buffer.from(host);
  const head = [VERSION, CMD_CONNECT, 0, ADDRESS_TYPE.name, name.length];
  socket.write(Buffer.concat([Buffer.from(head), name, Buffer.of(port >> 8, port & 0xff)]));
  await readReply(socket, options);
  log.debug('net', `SOCKS5 connected ${host}`);
}

async function agreeOnMethod(socket: Socket, options: Socks5Options): Promise<void> {
  const { host, port, credentials } = options;
  const methods = credentials === null ? [METHOD.none] : [METHOD.none, METHOD.userPassword];
  socket.write(Buffer.from([VERSION, methods.length, ...methods]));
  const [version, method] = await receive(
    socket,
    2,
    options,
    `Socks5() connect to ${host}:${port} failed: InterruptibleRecv() timeout or other failure`,
  );
  if (version !== VERSION) throw new Socks5Error('Proxy failed to initialize');
  if (method === METHOD.userPassword && credentials !== null) await authenticate(socket, options);
  else if (method !== METHOD.none) {
    const hex = method!.toString(16).padStart(2, '0');
    throw new Socks5Error(`Proxy requested wrong authentication method ${hex}`);
  }
}

async function authenticate(socket: Socket, options: Socks5Options): Promise<void> {
  const user = Buffer.from(options.credentials!.user);
  const password = Buffer.from(options.credentials!.password);
  if (user.length > MAX_NAME_BYTES || password.length > MAX_NAME_BYTES) {
    throw new Socks5Error('Proxy username or password too long');
  }
  options.log.debug('proxy', 'SOCKS5 sending proxy authentication');
  socket.write(
    Buffer.concat([
      Buffer.of(USER_PASSWORD_VERSION, user.length),
      user,
      Buffer.of(password.length),
      password,
    ]),
  );
  const [version, status] = await receive(socket, 2, options, 'Error reading proxy authentication response');
  if (version !== USER_PASSWORD_VERSION || status !== SUCCEEDED) {
    throw new Socks5Error('Proxy authentication unsuccessful');
  }
}

async function readReply(socket: Socket, options: Socks5Options): Promise<void> {
  const { host, port } = options;
  let head: Buffer;
  try {
    head = await receiveExactly(socket, 4, options);
  } catch (error) {
    if (!(error instanceof ReceiveError)) throw error;
    // The destination does not respond, which is frequent with Tor.
    if (error.isTimeout) throw new Socks5Error(`Socks5() connect to ${host}:${port} timed out`, true);
    throw new Socks5Error('Error while reading proxy response');
  }
  const [version, status, reserved, addressType] = head;
  if (version !== VERSION) throw new Socks5Error('Proxy failed to accept request');
  if (status !== SUCCEEDED) {
    const text = REPLY_TEXTS[status!] ?? 'unknown';
    throw new Socks5Error(`Socks5() connect to ${host}:${port} failed: ${text}`, true);
  }
  if (reserved !== 0) throw new Socks5Error('Error: malformed proxy response');
  // The reply contains the address and port from which the proxy connects. They are skipped.
  await receive(socket, await boundAddressBytes(socket, addressType!, options), options);
  await receive(socket, 2, options);
}

async function boundAddressBytes(socket: Socket, type: number, options: Socks5Options): Promise<number> {
  if (type === ADDRESS_TYPE.ipv4) return 4;
  if (type === ADDRESS_TYPE.ipv6) return 16;
  if (type !== ADDRESS_TYPE.name) throw new Socks5Error('Error: malformed proxy response');
  return (await receive(socket, 1, options))[0]!;
}

/** Reads exactly `count` bytes within the time limit. The error message states the cause of a failure. */
async function receive(
  socket: Socket,
  count: number,
  options: Socks5Options,
  message = 'Error reading from proxy',
): Promise<Buffer> {
  try {
    return await receiveExactly(socket, count, options);
  } catch (error) {
    throw error instanceof ReceiveError ? new Socks5Error(message) : error;
  }
}

function receiveExactly(
  socket: Socket,
  count: number,
  { timeoutMs, signal }: Socks5Options,
): Promise<Buffer> {
  if (count === 0) return Promise.resolve(Buffer.alloc(0));
  return new Promise((resolve, reject) => {
    const finish = (outcome: Buffer | Error): void => {
      clearTimeout(timer);
      socket.off('readable', onReadable).off('end', onEnd).off('close', onEnd).off('error', onError);
      signal.removeEventListener('abort', onAbort);
      if (outcome instanceof Error) reject(outcome);
      else resolve(outcome);
    };
    const onReadable = (): void => {
      const got = socket.read(count) as Buffer | null;
      // `read` returns fewer bytes than requested only when the stream has ended.
      if (got !== null) finish(got.length === count ? got : new ReceiveError('disconnected'));
    };
    const onEnd = (): void => finish(new ReceiveError('disconnected'));
    const onError = (error: Error): void => finish(new ReceiveError(error.message));
    const onAbort = (): void => finish(new ReceiveError('interrupted'));
    const timer = setTimeout(() => finish(new ReceiveError('timeout', true)), timeoutMs);
    socket.on('readable', onReadable).on('end', onEnd).on('close', onEnd).on('error', onError);
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
    else if (socket.destroyed) onEnd();
    else onReadable();
  });
}
