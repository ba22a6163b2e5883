/** One HTTP call to the node: request text in, status and body out. */
import {
  request as requestPlain,
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import type { CallSettings, TlsSettings } from './options.js';

/** Thrown if no connection to the node was possible. With `-rpcwait` the call is repeated. */
export class ConnectionFailed extends Error {
  override readonly name = 'ConnectionFailed';
  /** Whether the connection was refused, because no program listens on the port. */
  readonly isRefused: boolean;

  constructor(message: string, isRefused = false) {
    super(message);
    this.isRefused = isRefused;
  }
}

export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

/** Error codes of node:tls and OpenSSL for a certificate that cannot be trusted. */
const DISTRUST = /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_|ERR_TLS_CERT_)/;
/** Error codes of OpenSSL when the server answers without TLS. */
const NO_TLS = /^(EPROTO|ERR_SSL_)/;

function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  if (code !== undefined && DISTRUST.test(code))
    return (
      `its certificate is not trusted, ${code}: copy rpc.cert of the node to this machine and pass its ` +
      'path with -rpccert'
    );
  if (code !== undefined && NO_TLS.test(code)) return `it does not use TLS, ${code}: omit -tls`;
  return code ?? message;
}

type RequestFunction = (
  options: RequestOptions,
  answered: (response: IncomingMessage) => void,
) => ClientRequest;

async function requestFunction(tls: TlsSettings | null): Promise<RequestFunction> {
  if (tls === null) return requestPlain;
  // `node:https` is loaded only when it is needed, because loading it takes some milliseconds.
  const { request } = await import('node:https');
  const { certificate, isVerified } = tls;
  const trust = { rejectUnauthorized: isVerified, ...(certificate === null ? {} : { ca: certificate }) };
  return (options, answered) => request({ ...options, ...trust }, answered);
}

export async function postRequest(settings: CallSettings, body: string): Promise<HttpAnswer> {
  const { host, port, path, credentials, timeoutSec, tls } = settings;
  const request = await requestFunction(tls);
  const authorization = `Basic ${Buffer.from(credentials ?? '').toString('base64')}`;
  return new Promise((resolve, reject) => {
    const fail = (reason: string, isRefused = false): void => {
      const where = `${host}:${port}${reason === '' ? '' : ` (${reason})`}`;
      const hint =
        'Make sure the lbcnode server is running and that you are connecting to the correct RPC port.';
      reject(new ConnectionFailed(`Could not connect to the server ${where}\n\n${hint}`, isRefused));
    };
    const call = request(
      {
        host,
        port,
        path,
        method: 'POST',
        agent: false,
        headers: {
          Host: host,
          'User-Agent': 'lbcnode-cli',
          Connection: 'close',
          Authorization: authorization,
          'Content-Length': Buffer.byteLength(body),
        },
      },
      (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', (error) => fail(error.message));
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, body: Buffer.concat(parts).toString() }),
        );
      },
    );
    call.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNREFUSED' ? fail('', true) : fail(reasonOf(error)),
    );
    if (timeoutSec > 0) call.setTimeout(timeoutSec * 1000, () => call.destroy(new Error('timeout reached')));
    call.end(body);
  });
}
