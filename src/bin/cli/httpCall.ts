/** One HTTP call to the node: request text in, status and body out. */
import { request } from 'node:http';
import type { CallSettings } from './options.js';

/** The node could not be reached: with `-rpcwait` the call is made again. */
export class ConnectionFailed extends Error {
  override readonly name = 'ConnectionFailed';
  /** Whether nothing listens there. */
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

export function postRequest(settings: CallSettings, body: string): Promise<HttpAnswer> {
  const { host, port, path, credentials, timeoutSec } = settings;
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
      error.code === 'ECONNREFUSED' ? fail('', true) : fail(error.code ?? error.message),
    );
    if (timeoutSec > 0) call.setTimeout(timeoutSec * 1000, () => call.destroy(new Error('timeout reached')));
    call.end(body);
  });
}
