/**
 * An S3-compatible store in memory for tests: put, head and get of objects in one bucket. It verifies signatures with its own
 * code (AWS General Reference, "Signature Version 4"), and fails in the ways that a test sets.
 */
import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export const ACCESS_KEY = 'AKIDEXAMPLE';
export const SECRET_KEY = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
export const BUCKET = 'blobs';

/**
 * The failure of a request: a status with a code; no answer; a closed connection; half of the bytes; other bytes; a success
 * that stores nothing.
 */
export type Fault =
  | { readonly status: number; readonly code: string; readonly headers?: Readonly<Record<string, string>> }
  | 'hang'
  | 'reset'
  | 'truncate'
  | 'wrong'
  | 'forget';

export interface StoredObject {
  bytes: Buffer;
  readonly meta: Readonly<Record<string, string>>;
}

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const sha256 = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex');

export class S3StandIn {
  readonly objects = new Map<string, StoredObject>();
  /** Requests as `PUT key`, in their order. */
  readonly requests: string[] = [];
  /** Called for each request with a valid signature. */
  fault: (method: string, key: string) => Fault | null = () => null;
  /** Awaited before the answer. */
  delay: () => Promise<void> = () => Promise.resolve();
  sessionToken: string | null = null;
  running = 0;
  mostRunning = 0;
  private readonly nowSec: () => number;
  private server: Server | null = null;
  private port = 0;

  constructor(nowSec = (): number => Math.floor(Date.now() / 1000)) {
    this.nowSec = nowSec;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Listens on the same port as before. */
  async start(): Promise<void> {
    this.server = createServer((request, response) => {
      this.running++;
      this.mostRunning = Math.max(this.mostRunning, this.running);
      response.once('close', () => this.running--);
      this.serve(request, response).catch(() => response.destroy());
    });
    this.server.listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
    this.port = (this.server.address() as AddressInfo).port;
  }

  /** Closes all connections. */
  async stop(): Promise<void> {
    const server = this.server;
    if (server === null) return;
    this.server = null;
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const { method = '', url = '' } = request;
    const refusal = this.refusal(request, body);
    if (refusal !== null) return answerError(response, 403, refusal);
    const path = decodeURIComponent(url.split('?')[0]!);
    if (!path.startsWith(`/${BUCKET}/`)) return answerError(response, 404, 'NoSuchBucket');
    const key = path.slice(BUCKET.length + 2);
    this.requests.push(`${method} ${key}`);
    const fault = this.fault(method, key);
    await this.delay();
    if (fault === 'hang') return;
    if (fault === 'reset') return void response.destroy();
    if (typeof fault === 'object' && fault !== null)
      return answerError(response, fault.status, fault.code, fault.headers);
    if (method === 'PUT') {
      if (fault !== 'forget') this.objects.set(key, { bytes: body, meta: metaOf(request) });
      return void response.writeHead(200, { 'content-length': 0 }).end();
    }
    const found = this.objects.get(key);
    if (found === undefined) return answerError(response, 404, 'NoSuchKey');
    const bytes = fault === 'wrong' ? Buffer.alloc(found.bytes.length, 7) : found.bytes;
    response.writeHead(200, { 'content-length': bytes.length, ...found.meta });
    if (method === 'HEAD') return void response.end();
    if (fault !== 'truncate') return void response.end(bytes);
    response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
  }

  /** The error code of S3 for an invalid signature; null if it is valid. */
  private refusal({ method = '', url = '', headers }: IncomingMessage, body: Buffer): string | null {
    const form =
      /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/;
    const found = form.exec(headers.authorization ?? '');
    if (found === null) return 'AccessDenied';
    const [, accessKey, day = '', region = '', signed = '', signature] = found;
    if (accessKey !== ACCESS_KEY) return 'InvalidAccessKeyId';
    const date = String(headers['x-amz-date']);
    const parts = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date);
    if (parts === null || !date.startsWith(day)) return 'AccessDenied';
    const [year, month, dayOfMonth, hour, minute, second] = parts.slice(1).map(Number) as number[];
    const sentSec = Date.UTC(year!, month! - 1, dayOfMonth, hour, minute, second) / 1000;
    if (Math.abs(sentSec - this.nowSec()) > 900) return 'RequestTimeTooSkewed';
    const names = signed.split(';');
    for (const name of ['host', 'x-amz-content-sha256', 'x-amz-date'])
      if (!names.includes(name)) return 'AccessDenied';
    // All headers of Amazon must be signed.
    for (const name of Object.keys(headers))
      if (name.startsWith('x-amz-') && !names.includes(name)) return 'AccessDenied';
    if ((headers['x-amz-security-token'] ?? null) !== this.sessionToken) return 'InvalidToken';
    const payload = String(headers['x-amz-content-sha256']);
    if (payload !== 'UNSIGNED-PAYLOAD' && payload !== sha256(body)) return 'XAmzContentSHA256Mismatch';
    if (method === 'PUT' && payload === 'UNSIGNED-PAYLOAD') return 'XAmzContentSHA256Mismatch';
    const [path = '', query = ''] = url.split('?');
    const lines = names.map((name) => `${name}:${String(headers[name]).trim().replace(/ +/g, ' ')}\n`);
    const canonical = [method, path, query, lines.join(''), signed, payload].join('\n');
    const text = ['AWS4-HMAC-SHA256', date, `${day}/${region}/s3/aws4_request`, sha256(canonical)].join('\n');
    const key = ['s3', 'aws4_request'].reduce(
      (secret, word) => hmac(secret, word),
      hmac(hmac(`AWS4${SECRET_KEY}`, day), region),
    );
    return hmac(key, text).toString('hex') === signature ? null : 'SignatureDoesNotMatch';
  }
}

function metaOf({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => name.startsWith('x-amz-meta-'))
      .map(([name, value]) => [name, String(value)]),
  );
}

function answerError(
  response: ServerResponse,
  status: number,
  code: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const text = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>no</Message></Error>`;
  response.writeHead(status, { 'content-type': 'application/xml', ...headers }).end(text);
}
