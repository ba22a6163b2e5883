import type { BodyPiece } from '../util/json/jsonWrite.js';

/** The part of Node's `ServerResponse` that responses to calls use. `plain/plainResponse.ts` implements this interface too. */
export interface HttpResponse {
  readonly destroyed: boolean;
  readonly writableEnded: boolean;
  readonly writableFinished: boolean;
  /** The socket of the response. Only Node's class has it. */
  readonly socket?: { uncork(): void } | null;
  writeHead(status: number, headers?: Record<string, string | number> | string[]): unknown;
  /** Writes a part of the body. Returns false if the caller should wait for the event `drain`. */
  write(data: string | Uint8Array): boolean;
  write(data: string, encoding: BufferEncoding): boolean;
  end(data?: string | Uint8Array): unknown;
  destroy(): unknown;
  once(event: 'close' | 'drain', listener: () => void): unknown;
  off(event: 'close' | 'drain', listener: () => void): unknown;
  /** Sends a response with status 200 and a JSON body in one write, and ends the response. The connection stays open. Absent in Node's class. */
  sendJson?(body: string): void;
  /** Sends head and body in one write, and ends the response. `body` has the encoding `encoding`. Absent in Node's class. */
  sendWhole?(status: number, headers: readonly string[], body: string, encoding: BufferEncoding): void;
  /** Like `sendWhole`, with a body in pieces. Texts are sent as UTF-8. */
  sendPieces?(status: number, headers: readonly string[], pieces: readonly BodyPiece[]): void;
}
