/**
 * The media server: serves streams by name and by the hash of their descriptor. Source: lbry-sdk
 * lbry/extras/daemon/daemon.py `handle_stream_get_request`, `handle_stream_range_request`.
 */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { ComponentName } from '../api/declaration.js';
import type { ComponentGate } from '../api/dispatch.js';
import { DaemonError } from '../base/daemonError.js';
import { sendStream } from './mediaAnswer.js';
import { mediaFailure, type MediaFailure } from './mediaErrors.js';
import type { MediaSource } from './mediaPort.js';
import { plainServer, TEXT_TYPE, type Routes } from './plainServer.js';

const ROUTES: Routes = { '/get/*': 'GET,HEAD', '/stream/*': 'GET,HEAD' };

export interface MediaServerDeps {
  readonly gate: ComponentGate;
  /** Returns the setting `streaming_get`: whether a request may start a download. */
  readonly mayGet: () => boolean;
  /**
   * Returns the source of streams. Called only while the component `file_manager` runs; `find` also needs the component
   * `wallet`.
   */
  readonly source: () => MediaSource;
  /** Signal that aborts when the daemon stops, which cuts off running responses. */
  readonly stopping: AbortSignal;
  /** Called with errors that have no text for the client, and with errors that cut off a response. */
  readonly onFailure: (path: string, error: unknown) => void;
}

/** Seconds after which a client may retry a temporary failure. Arbitrary. */
const RETRY_SEC = 5;

function sendText(
  response: ServerResponse,
  status: number,
  text: string,
  headers: OutgoingHttpHeaders = {},
): void {
  response
    .writeHead(status, {
      'Content-Type': TEXT_TYPE,
      'Content-Length': Buffer.byteLength(text),
      // Caches must not store a temporary error.
      ...(status >= 400 && { 'Cache-Control': 'no-store' }),
      ...headers,
    })
    .end(text);
}

function sendFailure(response: ServerResponse, { status, text, isPassing }: MediaFailure): void {
  sendText(response, status, text, isPassing ? { 'Retry-After': String(RETRY_SEC) } : {});
}

/** Decoded segments of a path, without the first segment; null if a segment is not valid percent-encoded UTF-8. */
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
 * URL for a path: `/get/<name>`, `/get/<name>/<claim id>` as in lbry-sdk, or `/get/@<channel>/<name>`, since a channel alone
 * is not playable. Null for other paths.
 */
function urlOfPath(parts: readonly string[]): string | null {
  const [first, second] = parts;
  if (parts.length > 2 || !first || second === '') return null;
  if (second === undefined) return `lbry://${first}`;
  return first.startsWith('@') ? `lbry://${first}/${second}` : `lbry://${first}#${second}`;
}

/** Signal that aborts when the client disconnects or the daemon stops. */
function endOf(response: ServerResponse, stopping: AbortSignal): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => gone.abort(new Error('the client disconnected')));
  return AbortSignal.any([gone.signal, stopping]);
}

export function mediaServer(deps: MediaServerDeps): FastifyInstance {
  const { gate, mayGet, source, stopping, onFailure } = deps;

  /** Whether the needed components run. If not, sends the error of the component as the response. */
  function isReady(response: ServerResponse, needs: readonly ComponentName[]): boolean {
    try {
      gate.check(needs);
      return true;
    } catch (error) {
      sendFailure(response, mediaFailure(error)!);
      return false;
    }
  }

  async function answerGet(response: ServerResponse, parts: readonly string[], mayDownload: boolean) {
    const url = urlOfPath(parts);
    if (url === null) return sendText(response, 404, '404: Not Found');
    if (!mayGet()) return sendText(response, 403, '403: Forbidden');
    if (!isReady(response, ['file_manager', 'wallet'])) return undefined;
    const sdHash = await source().find(url, { mayDownload, signal: endOf(response, stopping) });
    return sendText(response, 302, '302: Found', { Location: `/stream/${sdHash}` });
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

  /** Reports an error to the client by a status, or by cutting off a response that has started. */
  function fail(path: string, response: ServerResponse, error: unknown): void {
    const isGone = response.destroyed || stopping.aborted;
    if (isGone || response.headersSent) {
      const isDeleted = error instanceof DaemonError && error.name === 'DownloadCancelledError';
      if (!isGone && !isDeleted) onFailure(path, error);
      response.destroy();
      return;
    }
    const failure = mediaFailure(error);
    if (failure !== null) sendFailure(response, failure);
    else {
      onFailure(path, error);
      sendText(response, 500, '500: Internal Server Error');
    }
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
