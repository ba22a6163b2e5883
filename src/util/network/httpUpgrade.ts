/**
 * Handles requests with an `Upgrade` header in a server with WebSockets: rejects them, or serves them as if they did not
 * have the header. Source: RFC 9110, section 7.8.
 */
import { STATUS_CODES, type IncomingMessage, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Whether the request asks for a WebSocket. */
export const asksForWebSocket = ({ headers: { upgrade } }: IncomingMessage): boolean =>
  upgrade?.toLowerCase() === 'websocket';

/** Responds with a status and no body, and ends the connection. `headers` contains complete header lines with their line ends. */
export function refuseUpgrade(socket: Duplex, status: number, headers = ''): void {
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers}Connection: close\r\nContent-Length: 0\r\n\r\n`,
  );
}

/** Headers that only offer to change the protocol. A server may ignore them. */
const OFFERS = ['upgrade', 'connection', 'http2-settings'];

/**
 * Returns an upgrade connection to its HTTP server, which then handles the request as if it did not have an `Upgrade`
 * header. Clients that prefer HTTP/2 send such requests.
 */
export function handBack(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const lines = [`${request.method} ${request.url} HTTP/${request.httpVersion}`];
  const { rawHeaders } = request;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (!OFFERS.includes(rawHeaders[i]!.toLowerCase())) lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`);
  }
  if (/\bclose\b/i.test(request.headers.connection ?? '')) lines.push('Connection: close');
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('connection', socket as Socket);
}
