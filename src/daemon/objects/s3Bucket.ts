/**
 * Client for a bucket of an S3-compatible store: put, head and get. Each function sends one signed request with limits on
 * time and size. The caller limits the concurrency and retries. Source: Amazon S3 API reference, PutObject, HeadObject,
 * GetObject; AWS Signature Version 4 (package `aws4fetch`).
 */
import { AwsV4Signer } from 'aws4fetch';
import type { Clock } from '../base/clock.js';
import { MAX_BLOB_BYTES } from '../content/blobHash.js';

/** Milliseconds for the transfer of a blob, enough for 2 MiB at 35 kB/s. Arbitrary. */
const TRANSFER_MS = 60_000;
/** Time limit in ms for a request without a blob in its body. Arbitrary. */
const LOOK_MS = 10_000;
/** Maximum number of bytes read from an error response. Arbitrary. */
const MAX_REFUSAL_BYTES = 4096;
const MAX_RETRY_AFTER_SEC = 300;
/** Name of the metadata of an object that contains the descriptor hash of the blob's stream. */
const STREAM_HEADER = 'x-amz-meta-lbry-stream';

export interface S3Place {
  /** URL of the store: `https://host:port`, with or without a path. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** Prefix of object names in the bucket; empty, or ends with a slash. */
  readonly prefix: string;
}

export interface S3Credentials {
  readonly accessKey: string;
  readonly secretKey: string;
  /** Session token of temporary credentials; null for permanent credentials. */
  readonly sessionToken: string | null;
}

export interface S3BucketDeps {
  readonly place: S3Place;
  readonly credentials: S3Credentials;
  readonly clock: Clock;
  /** Signal that aborts when the reflector stops, which ends all requests. */
  readonly stopping: AbortSignal;
}

/** Metadata of a stored object. */
export interface ObjectHead {
  readonly lengthBytes: number;
  /** Descriptor hash of the blob's stream; null if the object was not uploaded by a reflector of this kind. */
  readonly sdHash: string | null;
}

/** Error: a request to the object store failed. The message is part of a sentence and contains no secrets. */
export class ObjectStoreError extends Error {
  override readonly name: string = 'ObjectStoreError';
  /** Milliseconds before a retry, as requested by the store; null if it requests no delay. */
  readonly retryAfterMs: number | null;

  constructor(message: string, retryAfterMs: number | null = null) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

interface Request {
  readonly method: 'PUT' | 'HEAD' | 'GET';
  readonly timeoutMs: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array<ArrayBuffer>;
}

const hexOf = (buffer: ArrayBuffer): string => Buffer.from(buffer).toString('hex');

/**
 * Error text of a failed `fetch`. The cause contains the text of the system error, but only an error code if several
 * addresses failed.
 */
function failureText(error: unknown): string {
  const { cause, message } = error as Error;
  if (!(cause instanceof Error)) return message;
  return cause.message || (cause as NodeJS.ErrnoException).code || message;
}

export class S3Bucket {
  readonly #deps: S3BucketDeps;
  /** Cached signing keys. The map's key contains the day, since a signing key is valid for one day. */
  #signingKeys = new Map<string, ArrayBuffer>();

  constructor(deps: S3BucketDeps) {
    this.#deps = deps;
  }

  /** Writes an object. An object with the same name is replaced. Resolves when the store has confirmed the write. */
  async put(name: string, bytes: Uint8Array, sdHash: string): Promise<void> {
    const body = new Uint8Array(bytes);
    // The store verifies the received bytes against this hash.
    const hash = hexOf(await crypto.subtle.digest('SHA-256', body));
    const headers = {
      'content-type': 'application/octet-stream',
      'x-amz-content-sha256': hash,
      [STREAM_HEADER]: sdHash,
    };
    await this.#ask(name, { method: 'PUT', timeoutMs: TRANSFER_MS, headers, body }, async (response) => {
      if (response.status !== 200) throw await refusalOf(response);
      await response.arrayBuffer();
    });
  }

  /** Metadata of an object; null if the object does not exist. */
  head(name: string): Promise<ObjectHead | null> {
    return this.#ask(name, { method: 'HEAD', timeoutMs: LOOK_MS }, async (response) => {
      const { status, headers } = response;
      if (status === 404) return null;
      if (status !== 200) throw await refusalOf(response);
      return { lengthBytes: Number(headers.get('content-length')), sdHash: headers.get(STREAM_HEADER) };
    });
  }

  /**
   * Returns the bytes of an object, at most as many as a blob may have; null if the object does not exist. The bytes are not
   * verified. Rejects if their number differs from the length that the store announced.
   */
  get(name: string): Promise<Uint8Array | null> {
    return this.#ask(name, { method: 'GET', timeoutMs: TRANSFER_MS }, async (response) => {
      const { status, headers, body } = response;
      // Status 404 can mean that the object or the bucket is missing. A missing bucket must not be mistaken for a missing
      // object.
      if (status === 404) {
        const refusal = await refusalOf(response);
        if (refusal.message.includes('NoSuchBucket')) throw refusal;
        return null;
      }
      if (status !== 200 || body === null) throw await refusalOf(response);
      const promised = headers.get('content-length');
      const bytes = await readAtMost(body, MAX_BLOB_BYTES);
      if (bytes === null) throw new ObjectStoreError('it sent more bytes than a blob can have');
      if (promised !== null && bytes.length !== Number(promised))
        throw new ObjectStoreError(`it sent ${bytes.length} bytes, not ${promised}`);
      return bytes;
    });
  }

  /** Sends a request and runs `use` with the response, both within one timeout. Rejects with `ObjectStoreError`. */
  async #ask<T>(name: string, request: Request, use: (response: Response) => Promise<T>): Promise<T> {
    const { clock, stopping } = this.#deps;
    const late = new AbortController();
    const timer = clock.after(request.timeoutMs, () => late.abort());
    try {
      const signal = AbortSignal.any([late.signal, stopping]);
      const { method, url, headers } = await this.#signed(name, request);
      return await use(
        await fetch(url, { method, headers, body: request.body ?? null, signal, redirect: 'manual' }),
      );
    } catch (error) {
      if (error instanceof ObjectStoreError) throw error;
      if (late.signal.aborted)
        throw new ObjectStoreError(`it did not answer within ${request.timeoutMs / 1000} seconds`);
      throw new ObjectStoreError(failureText(error));
    } finally {
      timer.cancel();
    }
  }

  #signed(
    name: string,
    { method, headers = {} }: Request,
  ): Promise<{ method: string; url: URL; headers: Headers }> {
    const { place, credentials, clock } = this.#deps;
    // A signing key is valid for one day. The cache is emptied when it has keys of several days.
    if (this.#signingKeys.size > 1) this.#signingKeys = new Map();
    return new AwsV4Signer({
      url: `${place.endpoint}/${place.bucket}/${place.prefix}${name}`,
      method,
      headers: { ...headers },
      accessKeyId: credentials.accessKey,
      secretAccessKey: credentials.secretKey,
      ...(credentials.sessionToken !== null && { sessionToken: credentials.sessionToken }),
      service: 's3',
      region: place.region,
      datetime: new Date(clock.nowSec() * 1000).toISOString().replace(/[:-]|\.\d{3}/g, ''),
      cache: this.#signingKeys,
    }).sign();
  }
}

/** Reads the body of a response. Returns null if the body exceeds the limit. */
async function readAtMost(body: ReadableStream<Uint8Array>, limitBytes: number): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    // Leaving the loop early aborts the transfer.
    if (bytes > limitBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Converts a response with an error status to an error. Source: Amazon S3 API reference, "Error responses". */
async function refusalOf(response: Response): Promise<ObjectStoreError> {
  const { status, headers, body } = response;
  const bytes = body === null ? null : await readAtMost(body, MAX_REFUSAL_BYTES);
  const code = /<Code>([A-Za-z0-9]{1,64})<\/Code>/.exec(Buffer.from(bytes ?? []).toString('latin1'))?.[1];
  const isElsewhere = status >= 300 && status < 400 ? '; the bucket is in another region' : '';
  const seconds = Number(headers.get('retry-after') ?? NaN);
  return new ObjectStoreError(
    `it answered with the HTTP status ${status}${code === undefined ? '' : ` (${code})`}${isElsewhere}`,
    seconds > 0 ? Math.min(seconds, MAX_RETRY_AFTER_SEC) * 1000 : null,
  );
}
