/**
 * JSON-RPC over HTTP: the paths, authentication, the request body, dispatch and the reply. Nearly all requests are JSON-RPC,
 * so they bypass fastify, which handles the other routes. Owns no sockets. Source: lbrycrd httprpc.cpp.
 */
import type { IncomingMessage } from 'node:http';
import type { RpcDispatcher, RpcOrigin } from '../rpc/call/dispatch.js';
import type { Profile } from '../rpc/declare/method.js';
import { AT_ONCE_BYTES } from '../rpc/call/requestText.js';
import { UsualCalls } from '../rpc/call/usualCall.js';
import type { Logger } from '../util/logging.js';
import type { Authenticator } from './auth.js';
import type { CallQueue } from './callQueue.js';
import type { CallSource, VerifiedHead } from './callSource.js';
import type { HttpConnection } from './connections.js';
import { sendText } from './errorPages.js';
import type { HttpResponse } from './httpResponse.js';
import { LbrycrdClients } from './lbrycrdClients.js';
import type { PasswordChecks } from './passwordChecks.js';
import type { PlainRequest } from './plain/plainRequest.js';
import type { CallSignals } from './routes.js';
import type { AuthThrottle } from './authThrottle.js';

/** Maximum size of a request body in bytes. Source: `MAX_SIZE`. */
export const MAX_BODY_BYTES = 0x02000000;
/** Path prefix of wallet calls, followed by the percent-encoded wallet name. */
const WALLET_PATH = '/wallet/';
/** RPC profiles that have their own path prefix. A wallet path may follow the prefix. */
const PROFILE_PATHS = ['lbrycrd', 'lbcd'] as const;
const WALLET_TARGET = /^(?:\/(?:lbrycrd|lbcd))?\/wallet\/(.*)$/s;

export interface RpcEndpointOptions {
  /** RPC profile (the set of methods and formats) of the paths `/` and `/wallet/…`. */
  readonly profile: Profile;
  /** Whether to log the address of each call (`-logips`). */
  readonly logIps: boolean;
  /** Whether to log a hint when a client of lbrycrd calls the profile of `/`. */
  readonly suggestsProfile: boolean;
}

export interface RpcEndpointDeps {
  readonly dispatcher: RpcDispatcher;
  readonly callQueue: CallQueue;
  readonly authenticator: Authenticator;
  readonly authThrottle: AuthThrottle;
  readonly passwordChecks: PasswordChecks;
  readonly logger: Logger;
}

export class RpcEndpoint {
  private readonly options: RpcEndpointOptions;
  private readonly deps: RpcEndpointDeps;
  private readonly lbrycrdClients: LbrycrdClients | null;

  constructor(options: RpcEndpointOptions, deps: RpcEndpointDeps) {
    this.options = options;
    this.deps = deps;
    this.lbrycrdClients = options.suggestsProfile ? new LbrycrdClients(deps.logger) : null;
  }

  /** RPC profile of a request target; null if the target is not an RPC path. The target is compared without decoding. */
  profileAt(target = ''): Profile | null {
    const profile = PROFILE_PATHS.find(
      (path) =>
        target === `/${path}` || target === `/${path}/` || target.startsWith(`/${path}${WALLET_PATH}`),
    );
    if (profile !== undefined) return profile;
    return target === '/' || target.startsWith(WALLET_PATH) ? this.options.profile : null;
  }

  /** Handles a request to an RPC path. */
  receive(
    request: IncomingMessage,
    response: HttpResponse,
    connection: HttpConnection,
    profile: Profile,
  ): void {
    if (request.method !== 'POST') {
      sendText(response, 405, 'JSONRPC server handles only POST requests');
      return;
    }
    const { authorization } = request.headers;
    if (authorization === undefined) {
      refuseCaller(response);
      return;
    }
    this.authorize(authorization, connection, response, (user) =>
      this.readBody(request, response, (body) => {
        const walletName = walletNameOf(request.url ?? '');
        const from = { profile, user, walletName, userAgent: request.headers['user-agent'] };
        this.call(body, response, connection, from);
      }),
    );
  }

  /**
   * Handles a request that was received completely (called by `plain/plainConnections.ts`). Credentials of a head that were
   * verified on the connection are not checked again.
   */
  receivePlain(request: PlainRequest, response: HttpResponse, connection: HttpConnection): void {
    const { head } = request;
    const { verified } = connection;
    if (
      verified !== null &&
      verified.head === head &&
      connection.isKnown &&
      connection.uncheckedCount === 0
    ) {
      this.callPlain(verified, request, response, connection);
      return;
    }
    const { target, authorization, userAgent } = head;
    this.authorize(authorization, connection, response, (user) => {
      const profile = this.profileAt(target) ?? this.options.profile;
      const [calls, walletName] = [new UsualCalls(profile), walletNameOf(target)];
      connection.verified = { head, calls, profile, user, walletName, userAgent };
      this.callPlain(connection.verified, request, response, connection);
    });
  }

  private callPlain(
    from: VerifiedHead,
    request: PlainRequest,
    response: HttpResponse,
    connection: HttpConnection,
  ): void {
    const { profile, userAgent, calls } = from;
    const call = request.bodyText === null ? null : calls.read(request.bodyText);
    if (call === null) this.call(request.body, response, connection, from);
    else {
      if (profile === 'documented' && this.lbrycrdClients?.concerns(call.method, userAgent) === true)
        this.lbrycrdClients.look(userAgent, request.body);
      this.deps.callQueue.serve(connection, response, (signals) =>
        this.deps.dispatcher.handleCall(call, this.originOf(signals, from, connection)),
      );
    }
  }

  /** Whether the credentials were verified before or can be verified without a wait. */
  isVerified(authorization: string, connection: HttpConnection): boolean {
    return (
      (connection.isKnown && connection.uncheckedCount === 0) ||
      this.deps.authenticator.isCookie(authorization)
    );
  }

  /**
   * Checks the credentials of a call. If they are correct, `use` is called with the user; otherwise an error response is
   * sent.
   */
  private authorize(
    authorization: string,
    connection: HttpConnection,
    response: HttpResponse,
    use: (user: string) => void,
  ): void {
    this.inTurn(authorization, connection, (mayCheck) => {
      if (!mayCheck) {
        this.cutOff(connection);
        return;
      }
      const user = this.userOf(authorization, connection);
      if (user === null) void this.refuse(response, connection);
      else use(user);
    });
  }

  /** Passes an authenticated call to the dispatcher. */
  private call(body: Buffer, response: HttpResponse, connection: HttpConnection, from: CallSource): void {
    if (from.profile === 'documented') this.lbrycrdClients?.look(from.userAgent, body);
    this.deps.callQueue.serve(connection, response, (signals) =>
      this.deps.dispatcher.handle(body, this.originOf(signals, from, connection)),
    );
  }

  private originOf(signals: CallSignals, from: CallSource, connection: HttpConnection): Origin {
    return new Origin(signals, from, this.options.logIps ? connection.peer : undefined);
  }

  /** Checks credentials for a connection of another protocol (WebSocket), by the same rules as for RPC. */
  async isAuthentic(authorization: string, connection: HttpConnection): Promise<boolean> {
    const isRight = await new Promise<boolean | null>((resolve) =>
      this.inTurn(authorization, connection, (mayCheck) =>
        resolve(mayCheck ? this.userOf(authorization, connection) !== null : null),
      ),
    );
    if (isRight === true) return true;
    if (isRight === null) this.cutOff(connection);
    else await this.makeWait(connection);
    return false;
  }

  /**
   * Runs a password check. The check runs immediately if the connection is authenticated or the cookie is used, otherwise
   * when it is the caller's turn. If the connection is closed before, the check is not run.
   */
  private inTurn(
    authorization: string,
    connection: HttpConnection,
    check: (mayCheck: boolean) => void,
  ): void {
    if (this.isVerified(authorization, connection)) {
      check(true);
      return;
    }
    connection.uncheckedCount++;
    this.deps.passwordChecks.inTurn(connection.address, (mayCheck) => {
      connection.uncheckedCount--;
      check(mayCheck && !connection.socket.destroyed);
    });
  }

  /** Closes the connection immediately. All its pipelined requests are dropped. */
  private cutOff(connection: HttpConnection): void {
    if (connection.socket.destroyed) return;
    this.deps.passwordChecks.noteCutOff(connection.address);
    connection.socket.destroy();
  }

  /** The user name of these credentials; null if the credentials are wrong. */
  private userOf(authorization: string, connection: HttpConnection): string | null {
    const { ok, user } = this.deps.authenticator.check(authorization);
    connection.isKnown = ok;
    if (ok) return user;
    this.deps.passwordChecks.noteWrong(connection.address);
    return null;
  }

  /** Delays the response to a wrong password. Resolves with false if the connection must be closed instead. */
  private async makeWait(connection: HttpConnection): Promise<boolean> {
    const mayAnswer = await this.deps.authThrottle.cost(connection.address);
    this.deps.logger.info(`ThreadRPCServer incorrect password attempt from ${connection.peer}`);
    return mayAnswer;
  }

  private async refuse(response: HttpResponse, connection: HttpConnection): Promise<void> {
    if (this.deps.authThrottle.isFull(connection.address)) this.cutOff(connection);
    else if (!(await this.makeWait(connection))) response.destroy();
    else if (!response.destroyed) refuseCaller(response);
  }

  /** Reads a request body up to the limit. If the client disconnects before the end, the request is ignored. */
  private readBody(request: IncomingMessage, response: HttpResponse, use: (body: Buffer) => void): void {
    const announcedBytes = Number(request.headers['content-length'] ?? 0);
    if (announcedBytes > MAX_BODY_BYTES) {
      refuseBody(response);
      return;
    }
    let first: Buffer | null = null;
    let further: Buffer[] | null = null;
    /**
     * Buffer for a large body, filled while the body arrives. Joining all chunks after the end would block the event loop.
     */
    let whole: Buffer | null = null;
    let sizeBytes = 0;
    const onData = (part: Buffer): void => {
      const at = sizeBytes;
      sizeBytes += part.length;
      if (whole !== null) part.copy(whole, at);
      else if (first === null) first = part;
      else (further ??= [first]).push(part);
      if (further !== null && whole === null && sizeBytes > AT_ONCE_BYTES && announcedBytes >= sizeBytes) {
        whole = Buffer.allocUnsafeSlow(announcedBytes);
        let end = 0;
        for (const each of further) end += each.copy(whole, end);
        further = null;
      }
      if (sizeBytes <= MAX_BODY_BYTES) return;
      request.off('data', onData);
      request.off('end', onEnd);
      refuseBody(response);
    };
    const onEnd = (): void => use(whole ?? (further !== null ? Buffer.concat(further) : (first ?? NO_BYTES)));
    request.on('data', onData);
    request.on('end', onEnd);
  }
}

const NO_BYTES = Buffer.alloc(0);

function refuseCaller(response: HttpResponse): void {
  sendText(response, 401, '', { 'WWW-Authenticate': 'Basic realm="jsonrpc"' });
}

function refuseBody(response: HttpResponse): void {
  sendText(response, 413, 'Request body is too large', {
    'Content-Type': 'text/plain; charset=utf-8',
    Connection: 'close',
  });
}

/**
 * Origin of an RPC call: its profile, user and wallet name, and the caller's address for the log. The abort signals are
 * created when they are first read.
 */
class Origin implements RpcOrigin {
  readonly profile: Profile;
  readonly user: string;
  readonly peer?: string;
  readonly walletName: string | undefined;
  private readonly signals: CallSignals;

  constructor(signals: CallSignals, { profile, walletName, user }: CallSource, peer: string | undefined) {
    this.signals = signals;
    this.profile = profile;
    this.walletName = walletName;
    this.user = user;
    if (peer !== undefined) this.peer = peer;
  }

  get gone(): AbortSignal {
    return this.signals.gone;
  }

  get signal(): AbortSignal {
    return this.signals.signal;
  }

  get outOfTurn(): CallSignals['outOfTurn'] {
    return this.signals.outOfTurn;
  }

  giveWay(): Promise<void> | null {
    return this.signals.giveWay();
  }
}

/**
 * The wallet that the path names, percent-decoded. A name with an invalid percent-encoding is used as it is. QUIRK: a name
 * ends at a zero byte, as in lbrycrd httpserver.cpp `urlDecode`.
 */
function walletNameOf(target: string): string | undefined {
  const encoded = WALLET_TARGET.exec(target)?.[1];
  if (encoded === undefined) return undefined;
  try {
    return decodeURIComponent(encoded).replace(/\0.*$/s, '');
  } catch {
    return encoded;
  }
}
