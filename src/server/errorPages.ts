/**
 * Answers to what no handler was asked for, as the reference's library gives them, and the end of connections on which no
 * HTTP was spoken. Source: libevent `evhttp_send_error`, `evhttp_send_page`.
 */
import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { HttpConnection } from './connections.js';

/** What an answer that is not JSON-RPC calls itself. Source: libevent's `default_content_type`. */
export const DEFAULT_CONTENT_TYPE = 'text/html; charset=ISO-8859-1';
/** So long a caller may take to read why it was refused, and to send what it was about to. */
const LEAVE_MS = 2000;

function pageOf(status: number): string {
  const title = STATUS_CODES[status] ?? '';
  return `<HTML><HEAD>\n<TITLE>${status} ${title}</TITLE>\n</HEAD><BODY>\n<H1>${title}</H1>\n</BODY></HTML>\n`;
}

/** Answers with the page of a status and ends the connection. */
export function sendErrorPage(response: ServerResponse, status: 400 | 501 | 503): void {
  const page = pageOf(status);
  const headers = { 'Content-Type': 'text/html', Connection: 'close', 'Content-Length': page.length };
  response.writeHead(status, headers).end(page);
}

/** Answers a request of a caller that may ask, but not this. */
export function sendText(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response
    .writeHead(status, {
      'Content-Type': DEFAULT_CONTENT_TYPE,
      'Content-Length': Buffer.byteLength(text),
      ...headers,
    })
    .end(text);
}

/** What is answered to errors of the HTTP parser besides 400. */
const STATUS_OF_ERROR: Readonly<Record<string, number>> = {
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/**
 * Ends a connection on which no HTTP came, or headers that are too long. What is still on its way is read and thrown away
 * meanwhile: else the system would tell the caller that the connection broke, not what was answered.
 */
export function refuseConnection(error: NodeJS.ErrnoException, connection: HttpConnection): void {
  const { socket } = connection;
  if (connection.isLeaving) return;
  connection.isLeaving = true;
  // Answers under way would be mixed up with this one.
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
