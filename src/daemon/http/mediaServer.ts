/**
 * The media server: streams by name and by the hash of their descriptor. Source: lbry-sdk lbry/extras/daemon/daemon.py
 * `handle_stream_get_request`, `handle_stream_range_request`.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { EnvironmentError } from '../../util/environmentError.js';
import { boundedErrorText } from '../../util/errorText.js';
import type { ComponentName } from '../api/declaration.js';
import type { ComponentGate } from '../api/dispatch.js';
import { DaemonError } from '../base/daemonError.js';
import { sendStream } from './mediaAnswer.js';
import type { MediaSource } from './mediaPort.js';
import { plainServer, TEXT_TYPE, type Routes } from './plainServer.js';

const ROUTES: Routes = { '/get/*': 'GET,HEAD', '/stream/*': 'GET,HEAD' };

export interface MediaServerDeps {
  readonly gate: ComponentGate;
  /** The setting `streaming_get`. */
  readonly mayGet: () => boolean;
  /** Called while the component `file_manager` runs; `find` also needs `wallet`. */
  readonly source: () => MediaSource;
  /** Aborted when the daemon stops: what is being sent is cut off then. */
  readonly stopping: AbortSignal;
  /** Takes errors that have no text for the client, and those that cut an answer off. */
  readonly onFailure: (path: string, error: unknown) => void;
}

/** Statuses of the errors of `get`; all others are 500. lbry-sdk sends a status line that HTTP does not know. */
const STATUS_BY_NAME: Readonly<Record<string, number>> = {
  ResolveError: 404,
  InvalidStreamURLError: 404,
  KeyFeeAboveMaxAllowedError: 402,
  InsufficientFundsError: 402,
  CurrencyConversionError: 402,
  ResolveTimeoutError: 504,
  DownloadSDTimeoutError: 504,
  DownloadDataTimeoutError: 504,
  TimeoutError: 504,
};

function sendText(response: ServerResponse, status: number, text: string, location?: string): void {
  response
    .writeHead(status, {
      'Content-Type': TEXT_TYPE,
      'Content-Length': Buffer.byteLength(text),
      ...(location === undefined ? {} : { Location: location }),
    })
    .end(text);
}

/** The parts of a path behind its first, decoded; null where they are not valid UTF-8 in percent encoding. */
function partsOf(path: string): readonly string[] | null {
  try {
    return path
      .split('/')
      .slice(2)
      .map((part) => decodeURIComponent(part));
  } catch {
    return null;
  }
}

/**
 * The URL that a path names: `/get/<name>`, `/get/<name>/<claim id>` as lbry-sdk has it, and `/get/@<channel>/<name>`, since a
 * channel alone has nothing to play. Null for other paths.
 */
export function urlOfPath(parts: readonly string[]): string | null {
  const [first, second] = parts;
  if (parts.length > 2 || !first || second === '') return null;
  if (second === undefined) return `lbry://${first}`;
  return first.startsWith('@') ? `lbry://${first}/${second}` : `lbry://${first}#${second}`;
}

/** Aborted when the client has gone, and when the daemon stops. */
function endOf(response: ServerResponse, stopping: AbortSignal): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => gone.abort(new Error('the client left')));
  return AbortSignal.any([gone.signal, stopping]);
}

export function mediaServer(deps: MediaServerDeps): FastifyInstance {
  const { gate, mayGet, source, stopping, onFailure } = deps;

  /** Whether the components run; else their error is the answer. */
  function isReady(response: ServerResponse, needs: readonly ComponentName[]): boolean {
    try {
      gate.check(needs);
      return true;
    } catch (error) {
      sendText(response, 500, (error as Error).message);
      return false;
    }
  }

  async function answerGet(response: ServerResponse, parts: readonly string[], mayDownload: boolean) {
    const url = urlOfPath(parts);
    if (url === null) return sendText(response, 404, '404: Not Found');
    if (!mayGet()) return sendText(response, 403, '403: Forbidden');
    if (!isReady(response, ['file_manager', 'wallet'])) return undefined;
    const sdHash = await source().find(url, { mayDownload, signal: endOf(response, stopping) });
    return sendText(response, 302, '302: Found', `/stream/${sdHash}`);
  }

  async function answerStream(request: IncomingMessage, response: ServerResponse, parts: readonly string[]) {
    const [sdHash = ''] = parts;
    if (parts.length > 1 || sdHash === '') return sendText(response, 404, '404: Not Found');
    if (!isReady(response, ['file_manager'])) return undefined;
    const signal = endOf(response, stopping);
    const stream = await source().open(sdHash, { mayDownload: request.method === 'GET', signal });
    if (stream === null) return sendText(response, 404, '404: Not Found');
    return sendStream(request, response, { sdHash, stream, signal });
  }

  /** Tells the client what went wrong, by a status, or by cutting off what it gets. */
  function fail(path: string, response: ServerResponse, error: unknown): void {
    const isGone = response.destroyed || stopping.aborted;
    if (isGone || response.headersSent) {
      if (!isGone) onFailure(path, error);
      response.destroy();
      return;
    }
    const { name, message } = error as Error;
    const isKnown =
      error instanceof DaemonError || error instanceof EnvironmentError || name === 'TimeoutError';
    if (!isKnown) onFailure(path, error);
    sendText(
      response,
      STATUS_BY_NAME[name] ?? 500,
      isKnown ? boundedErrorText(message) : '500: Internal Server Error',
    );
  }

  return plainServer(ROUTES, (request, response) => {
    const { method, url = '' } = request;
    const [path = ''] = url.split('?');
    const isGet = path.startsWith('/get/');
    if ((method !== 'GET' && method !== 'HEAD') || !(isGet || path.startsWith('/stream/'))) return false;
    const parts = partsOf(path);
    if (parts === null) sendText(response, 400, '400: Bad Request');
    else
      (isGet ? answerGet(response, parts, method === 'GET') : answerStream(request, response, parts)).catch(
        (error: unknown) => fail(path, response, error),
      );
    return true;
  });
}
