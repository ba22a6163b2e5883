/**
 * Error responses that no request handler sends, in the format of the reference's HTTP library, and the closing of
 * connections with invalid HTTP. Source: libevent `evhttp_send_error`, `evhttp_send_page`.
 */
import { STATUS_CODES } from 'node:http';
import type { HttpConnection } from './connections.js';
import type { HttpResponse } from './httpResponse.js';

/** Content type of responses that are not JSON-RPC. Source: libevent's `default_content_type`. */
export const DEFAULT_CONTENT_TYPE = 'text/html; charset=ISO-8859-1';
/**
 * Maximum milliseconds for a client to read an error response and to finish its request. After that, the connection is
 * closed.
 */
const LEAVE_MS = 2000;

function pageOf(status: number): string {
  const title = STATUS_CODES[status] ?? '';
  return `<HTML><HEAD>\n<TITLE>${status} ${title}</TITLE>\n</HEAD><BODY>\n<H1>${title}</H1>\n</BODY></HTML>\n`;
}

/** Sends the error page for a status code, and closes the connection. */
export function sendErrorPage(response: HttpResponse, status: 400 | 501 | 503): void {
  const page = pageOf(status);
  const headers = { 'Content-Type': 'text/html', Connection: 'close', 'Content-Length': page.length };
  response.writeHead(status, headers);
  response.end(page);
}

/** Sends an error response as plain text to a request from an authorized client. */
export function sendText(
  response: HttpResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, {
    'Content-Type': DEFAULT_CONTENT_TYPE,
    'Content-Length': Buffer.byteLength(text),
    ...headers,
  });
  response.end(text);
}

/** Status codes for errors of Node's HTTP parser. Other parser errors get status 400. */
const STATUS_OF_ERROR: Readonly<Record<string, number>> = {
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/**
 * Sends an error response and closes a connection with invalid HTTP or too long headers. Remaining input is read and
 * discarded; otherwise the client's system would report a connection reset instead of the response.
 */
export function refuseConnection(error: NodeJS.ErrnoException, connection: HttpConnection): void {
  const { socket } = connection;
  if (connection.isLeaving) return;
  connection.isLeaving = true;
  // While calls are running, the error response could be mixed up with the responses of these calls.
  if (error.code === 'ECONNRESET' || !socket.writable || connection.busy > 0) {
    socket.destroy();
    return;
  }
  const status = STATUS_OF_ERROR[error.code ?? ''] ?? 400;
  const page = pageOf(status);
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: text/html\r\nConnection: close\r\n` +
      `Date: ${new Date().toUTCString()}\r\nContent-Length: ${page.length}\r\n\r\n${page}`,
  );
  const cut = setTimeout(() => socket.destroy(), LEAVE_MS).unref();
  socket.once('close', () => clearTimeout(cut));
}
