/** The part of Node's `ServerResponse` that the answers of calls use. `plain/plainResponse.ts` implements it, too. */
export interface HttpResponse {
  readonly destroyed: boolean;
  readonly writableEnded: boolean;
  readonly writableFinished: boolean;
  /** The socket of Node's class. */
  readonly socket?: { uncork(): void } | null;
  writeHead(status: number, headers?: Record<string, string | number> | string[]): unknown;
  /** Returns false if the caller should wait for `drain`. */
  write(data: string | Uint8Array): boolean;
  write(data: string, encoding: BufferEncoding): boolean;
  end(data?: string | Uint8Array): unknown;
  destroy(): unknown;
  once(event: 'close' | 'drain', listener: () => void): unknown;
  off(event: 'close' | 'drain', listener: () => void): unknown;
  /** Sends head and body, which is in that encoding, in one write, and ends the response. Absent in Node's class. */
  sendWhole?(status: number, headers: readonly string[], body: string, encoding: BufferEncoding): void;
}
