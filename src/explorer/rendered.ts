/** Cached responses: their bytes, ETags and compressed forms, with limited memory. */
import { createHash } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

export type Encoding = '' | 'br' | 'gzip';

/** Minimum size in bytes of a response that is compressed. */
const PACK_FROM_BYTES = 1024;
/**
 * Brotli quality of pages and of files. A page is compressed once per block. A file is compressed once per start, so that
 * more time can be spent.
 */
const PAGE_QUALITY = 1;
const FILE_QUALITY = 11;
/**
 * Base-2 logarithm of the window of brotli in bytes. Pages and files are smaller than this window. The encoder allocates memory
 * for the whole window, which takes long with the default of 4 MiB.
 */
const WINDOW_BITS = 18;

export interface Rendered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly etag: string;
  readonly type: string;
  /** Whether the response never changes while the process runs. If so, it is compressed with the higher quality. */
  readonly isFile: boolean;
  /** Compressed forms, created on first request. */
  readonly packed: Map<Encoding, Buffer>;
  /** Called with the number of bytes of each new compressed form. `RenderedCache` sets it while it contains the response. */
  onPacked?: ((bytes: number) => void) | undefined;
}

export function renderedOf(
  status: number,
  type: string,
  body: Buffer,
  headers: Readonly<Record<string, string>>,
  isFile = false,
): Rendered {
  const digest = createHash('sha256').update(body).update(JSON.stringify(headers)).digest('base64url');
  return { status, type, body, headers, etag: `"${digest.slice(0, 22)}"`, isFile, packed: new Map() };
}

/** Returns the bytes of a response, with its head, that is the last one of its connection and is not stored by caches. */
export function lastResponse({ status, type, body, headers }: Rendered): Buffer {
  const lines = Object.entries({
    ...headers,
    'Cache-Control': 'no-store',
    'Content-Type': type,
    'Content-Length': body.length,
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([
    Buffer.from(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n`, 'latin1'),
    body,
  ]);
}

/** Whether an `Accept-Encoding` header accepts an encoding. A weight of 0 refuses it (RFC 9110, section 12.4.2). */
function accepts(accepted: string, encoding: Encoding): boolean {
  return accepted.split(',').some((item) => {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
    return name === encoding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}

/**
 * Whether an `If-None-Match` header contains the ETag. Proxies that compress responses make ETags weak (RFC 9110, section
 * 13.1.2: weak comparison).
 */
export function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  return (ifNoneMatch ?? '').split(',').some((item) => [etag, `W/${etag}`, '*'].includes(item.trim()));
}

/** Chooses the compression for an `Accept-Encoding` header and a size in bytes. */
export function encodingOf(accepted: string | string[] | undefined, bytes: number): Encoding {
  if (bytes < PACK_FROM_BYTES || typeof accepted !== 'string') return '';
  if (accepts(accepted, 'br')) return 'br';
  return accepts(accepted, 'gzip') ? 'gzip' : '';
}

export function packed(rendered: Rendered, encoding: Encoding): Buffer {
  const { body, packed: known, isFile } = rendered;
  if (encoding === '') return body;
  const before = known.get(encoding);
  if (before) return before;
  const quality = isFile ? FILE_QUALITY : PAGE_QUALITY;
  const made =
    encoding === 'gzip'
      ? gzipSync(body, { level: isFile ? 9 : 6 })
      : brotliCompressSync(body, {
          params: {
            [constants.BROTLI_PARAM_QUALITY]: quality,
            [constants.BROTLI_PARAM_LGWIN]: WINDOW_BITS,
            [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
          },
        });
  known.set(encoding, made);
  rendered.onPacked?.(made.length);
  return made;
}

/** Bytes of a response and of its compressed forms. */
const sizeOf = ({ body, packed: known }: Rendered): number =>
  [...known.values()].reduce((sum, { length }) => sum + length, body.length);

/** Cache of the most recently used responses, limited by the sum of their sizes, with their compressed forms. */
export class RenderedCache {
  private readonly entries = new Map<string, Rendered>();
  private readonly maxBytes: number;
  private bytes = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  get sizeBytes(): number {
    return this.bytes;
  }

  has(key: string): boolean {
    return this.entries.has(key);
  }

  get(key: string): Rendered | undefined {
    const known = this.entries.get(key);
    if (known === undefined) return undefined;
    this.entries.delete(key);
    this.entries.set(key, known);
    return known;
  }

  put(key: string, rendered: Rendered): void {
    this.delete(key);
    this.entries.set(key, rendered);
    rendered.onPacked = (bytes) => this.grow(key, bytes);
    this.grow(key, sizeOf(rendered));
  }

  /** Counts new bytes of an entry, and deletes the least recently used other entries above the limit. */
  private grow(key: string, bytes: number): void {
    this.bytes += bytes;
    for (const oldest of this.entries.keys()) {
      if (this.bytes <= this.maxBytes) break;
      if (oldest !== key) this.delete(oldest);
    }
  }

  delete(key: string): void {
    const known = this.entries.get(key);
    if (known === undefined) return;
    this.entries.delete(key);
    known.onPacked = undefined;
    this.bytes -= sizeOf(known);
  }
}
