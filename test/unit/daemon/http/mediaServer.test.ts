/** The media server over HTTP, with streams in memory. */
import { once } from 'node:events';
import { Agent, request, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { FastifyInstance } from 'fastify';
import { DaemonError, skippedComponent } from '../../../../src/daemon/base/daemonError.js';
import { ResolveError, type ResolveProblem } from '../../../../src/daemon/base/resolveError.js';
import type { MediaOptions, MediaSource } from '../../../../src/daemon/http/mediaPort.js';
import { mediaServer } from '../../../../src/daemon/http/mediaServer.js';

const SIZE_BYTES = 10_007;
const SD_HASH = 'ab'.repeat(48);
const TAG = `"${SD_HASH}"`;
const bytes = Buffer.from(Uint8Array.from({ length: SIZE_BYTES }, (_, n) => (n * 31) ^ (n >> 8)));

/** Size of the pieces of a stream. */
let pieceBytes = 1000;
/** Throws in place of the piece at this position. */
let failAt: { position: number; error: Error } | null = null;
/** The reads so far: the requested range, and the number of returned bytes. */
let reads: { from: number; to: number; given: number; isEnded: boolean; signal: AbortSignal }[] = [];
let asked: { url: string; mayDownload: boolean }[] = [];
let opened: boolean[] = [];
let findError: Error | null = null;
let sizeKnown = true;
let mayGet = true;
let isSkipped = false;
let failures: string[] = [];
let stopping = new AbortController();

async function* read(from: number, to: number, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const record = { from, to, given: 0, isEnded: false, signal };
  reads.push(record);
  try {
    for (let at = from; at < to; at += pieceBytes) {
      if (failAt !== null && at <= failAt.position && failAt.position < at + pieceBytes) throw failAt.error;
      await Promise.resolve();
      signal.throwIfAborted();
      record.given++;
      yield bytes.subarray(at, Math.min(to, at + pieceBytes));
    }
  } finally {
    record.isEnded = true;
  }
}

/** A stream that never ends, for clients that disconnect. */
async function* endless(_from: number, _to: number, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const record = { from: 0, to: 0, given: 0, isEnded: false, signal };
  reads.push(record);
  try {
    for (;;) {
      signal.throwIfAborted();
      record.given++;
      yield Buffer.alloc(1 << 20);
    }
  } finally {
    record.isEnded = true;
  }
}

const source: MediaSource = {
  open(sdHash, { mayDownload }: MediaOptions) {
    opened.push(mayDownload);
    if (sdHash === 'e'.repeat(96))
      return Promise.resolve({ sizeBytes: 2 ** 50, mimeType: 'video/mp4', read: endless });
    if (sdHash !== SD_HASH) return Promise.resolve(null);
    return Promise.resolve({ sizeBytes: sizeKnown ? SIZE_BYTES : null, mimeType: 'video/mp4', read });
  },
  find(url, { mayDownload }) {
    asked.push({ url, mayDownload });
    return findError === null ? Promise.resolve(SD_HASH) : Promise.reject(findError);
  },
};

const servers: FastifyInstance[] = [];
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
let port = 0;

async function listen(): Promise<FastifyInstance> {
  stopping = new AbortController();
  const app = mediaServer({
    gate: {
      check: ([first]) => {
        if (isSkipped) throw skippedComponent(first!);
      },
    },
    mayGet: () => mayGet,
    source: () => source,
    stopping: stopping.signal,
    onFailure: (path, error) => failures.push(`${path}: ${(error as Error).message}`),
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  port = (app.server.address() as AddressInfo).port;
  servers.push(app);
  return app;
}

beforeAll(listen);
afterAll(async () => {
  agent.destroy();
  for (const app of servers) await app.close();
});
beforeEach(() => {
  pieceBytes = 1000;
  failAt = null;
  reads = [];
  asked = [];
  opened = [];
  failures = [];
  findError = null;
  sizeKnown = true;
  mayGet = true;
  isSkipped = false;
});

async function begin(
  path: string,
  headers: OutgoingHttpHeaders = {},
  method = 'GET',
  of: Agent | false = agent,
): Promise<IncomingMessage> {
  const asking = request({ host: '127.0.0.1', port, path, headers, method, agent: of }).end();
  const [response] = (await once(asking, 'response')) as [IncomingMessage];
  return response;
}

async function ask(path: string, headers: OutgoingHttpHeaders = {}, method = 'GET') {
  const response = await begin(path, headers, method);
  const pieces: Buffer[] = [];
  for await (const piece of response) pieces.push(piece as Buffer);
  return { status: response.statusCode!, headers: response.headers, body: Buffer.concat(pieces) };
}

const stream = (headers: OutgoingHttpHeaders = {}, method = 'GET') =>
  ask(`/stream/${SD_HASH}`, headers, method);

/** The ranges of a `multipart/byteranges` and their bytes. */
function partsOf(body: Buffer, type: string): [range: string, part: Buffer][] {
  const boundary = /boundary=(\S+)/.exec(type)![1]!;
  const whole = body.toString('latin1');
  expect(whole.endsWith(`\r\n--${boundary}--\r\n`)).toBe(true);
  const parts = `\r\n${whole}`.split(`\r\n--${boundary}`).slice(1, -1);
  return parts.map((part) => {
    const [head = '', ...rest] = part.split('\r\n\r\n');
    expect(head).toContain('\r\nContent-Type: video/mp4\r\n');
    return [/Content-Range: (.*)/.exec(head)![1]!, Buffer.from(rest.join('\r\n\r\n'), 'latin1')];
  });
}

describe('streams', () => {
  it('are sent whole without a range', async () => {
    const { status, headers, body } = await stream();
    expect([status, body.equals(bytes)]).toEqual([200, true]);
    expect(headers).toMatchObject({
      'content-type': 'video/mp4',
      'content-length': `${SIZE_BYTES}`,
      'accept-ranges': 'bytes',
      etag: TAG,
    });
    expect(headers).not.toHaveProperty('content-range');
  });

  it('are sent from every offset, and up to every offset', async () => {
    pieceBytes = 97;
    const last = SIZE_BYTES - 1;
    for (const [from, to] of [
      [0, 0],
      [0, last],
      [1, 96],
      [96, 97],
      [97, 97],
      [96, 193],
      [last - 1, last],
      [last, last],
      ...Array.from({ length: 60 }, (_, n) => [n * 83, n * 83 + ((n * n * 7) % 4000)]),
    ] as [number, number][]) {
      const { status, headers, body } = await stream({ Range: `bytes=${from}-${to}` });
      expect([from, to, status, headers['content-range'], headers['content-length']]).toEqual([
        from,
        to,
        206,
        `bytes ${from}-${to}/${SIZE_BYTES}`,
        `${to - from + 1}`,
      ]);
      expect(body.equals(bytes.subarray(from, to + 1))).toBe(true);
    }
  });

  it.each([
    ['bytes=0-', 0, SIZE_BYTES],
    ['bytes=10000-20000', 10_000, SIZE_BYTES],
    ['bytes=-500', SIZE_BYTES - 500, SIZE_BYTES],
    ['bytes=-99999', 0, SIZE_BYTES],
  ])('are cut at their ends: %s', async (range, from, to) => {
    const { status, headers, body } = await stream({ Range: range });
    expect([status, headers['content-range']]).toEqual([206, `bytes ${from}-${to - 1}/${SIZE_BYTES}`]);
    expect(body.equals(bytes.subarray(from, to))).toBe(true);
  });

  it('are sent in several ranges', async () => {
    const { status, headers, body } = await stream({ Range: 'bytes=5000-5009,0-1,-3' });
    expect([status, headers['content-length']]).toEqual([206, `${body.length}`]);
    const parts = partsOf(body, headers['content-type']!);
    expect(parts.map(([range]) => range)).toEqual([
      `bytes 5000-5009/${SIZE_BYTES}`,
      `bytes 0-1/${SIZE_BYTES}`,
      `bytes ${SIZE_BYTES - 3}-${SIZE_BYTES - 1}/${SIZE_BYTES}`,
    ]);
    const wanted = Buffer.concat([bytes.subarray(5000, 5010), bytes.subarray(0, 2), bytes.subarray(-3)]);
    expect(Buffer.concat(parts.map(([, part]) => part)).equals(wanted)).toBe(true);
  });

  it('have no bytes beyond their end', async () => {
    const { status, headers, body } = await stream({ Range: `bytes=${SIZE_BYTES}-` });
    expect([status, headers['content-range'], body.toString()]).toEqual([
      416,
      `bytes */${SIZE_BYTES}`,
      '416: Range Not Satisfiable',
    ]);
    expect(reads).toEqual([]);
  });

  it.each(['bytes=5-2', 'bytes=x', 'lines=1-2'])(
    'are sent whole for a meaningless range: %s',
    async (range) => {
      const { status, body } = await stream({ Range: range });
      expect([status, body.equals(bytes)]).toEqual([200, true]);
    },
  );

  it('are sent under conditions of the request', async () => {
    const Range = 'bytes=0-9';
    const statusOf = async (headers: OutgoingHttpHeaders) => (await stream(headers)).status;
    expect(await statusOf({ Range, 'If-Range': TAG })).toBe(206);
    expect(await statusOf({ Range, 'If-Range': `W/${TAG}` })).toBe(200);
    expect(await statusOf({ Range, 'If-Range': '"another"' })).toBe(200);
    expect(await statusOf({ Range, 'If-Range': 'Fri, 27 Nov 2026 15:00:00 GMT' })).toBe(200);
    expect(await statusOf({ 'If-Match': TAG })).toBe(200);
    expect(await statusOf({ 'If-Match': '*' })).toBe(200);
    expect(await statusOf({ 'If-None-Match': '"another"' })).toBe(200);
    reads = [];
    expect(await statusOf({ 'If-Match': `W/${TAG}, "another"` })).toBe(412);
    const same = await stream({ 'If-None-Match': `"another", W/${TAG}` });
    expect([same.status, same.headers['etag'], same.body.length, reads.length]).toEqual([304, TAG, 0, 0]);
  });

  it('are described by HEAD, which reads and downloads nothing', async () => {
    const { status, headers, body } = await stream({ Range: 'bytes=0-9' }, 'HEAD');
    expect([status, headers['content-length'], headers['accept-ranges'], body.length]).toEqual([
      200,
      `${SIZE_BYTES}`,
      'bytes',
      0,
    ]);
    sizeKnown = false;
    const unknown = await stream({}, 'HEAD');
    expect([unknown.status, unknown.headers['content-length']]).toEqual([200, undefined]);
    expect([reads, opened]).toEqual([[], [false, false]]);
  });

  it('are sent one after another over one connection', async () => {
    const responses = [];
    for (let n = 0; n < 3; n++) {
      const response = await begin(`/stream/${SD_HASH}`, { Range: `bytes=${n}-${n + 5}` });
      responses.push(response.socket.localPort);
      response.resume();
      await once(response, 'end');
    }
    expect(new Set(responses).size).toBe(1);
  });

  it('are not found under an unknown hash', async () => {
    const { status, body } = await ask(`/stream/${'0'.repeat(96)}`);
    expect([status, body.toString()]).toEqual([404, '404: Not Found']);
    for (const path of ['/stream/', `/stream/${SD_HASH}/more`]) expect((await ask(path)).status).toBe(404);
    expect((await ask('/stream/%zz')).status).toBe(400);
    expect((await stream({}, 'POST')).status).toBe(405);
  });
});

describe('streams that fail', () => {
  it('return the error before the first byte', async () => {
    failAt = { position: 0, error: new DOMException('The blob did not arrive in time.', 'TimeoutError') };
    const late = await stream();
    expect([late.status, late.body.toString()]).toEqual([504, 'The blob did not arrive in time.']);
    failAt = { position: 0, error: new DaemonError('InvalidStreamDescriptorError', 'no descriptor') };
    expect([(await stream()).status, (await stream()).body.toString()]).toEqual([502, 'no descriptor']);
    expect(failures).toEqual([]);
    failAt = { position: 0, error: new Error('a bug') };
    const bug = await stream();
    expect([bug.status, bug.body.toString(), failures]).toEqual([
      500,
      '500: Internal Server Error',
      [`/stream/${SD_HASH}: a bug`],
    ]);
  });

  it('are aborted later, so that a part is not mistaken for the whole', async () => {
    failAt = { position: 5500, error: new Error('lost') };
    for (const headers of [{}, { Range: 'bytes=1000-9000' }, { Range: 'bytes=0-1,5000-9000' }])
      await expect(stream(headers)).rejects.toThrow(/^(aborted|socket hang up)$/);
    expect(failures).toEqual(Array.from({ length: 3 }, () => `/stream/${SD_HASH}: lost`));
  });

  it('are not read any more when the player disconnects, and wait for a slow one', async () => {
    const response = await begin(`/stream/${'e'.repeat(96)}`, {}, 'GET', false);
    await once(response, 'readable');
    const [record] = reads;
    // The pieces that fit in the buffers of both sockets, which are far fewer than all.
    let given = -1;
    while (given !== record!.given) {
      given = record!.given;
      for (let n = 0; n < 50; n++) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(given).toBeLessThan(100);
    expect(record!.isEnded).toBe(false);
    const left = once(record!.signal, 'abort');
    response.destroy();
    await left;
    while (!record!.isEnded) await new Promise((resolve) => setImmediate(resolve));
    expect([record!.given - given < 100, failures]).toEqual([true, []]);
  });

  it('end when the daemon stops', async () => {
    const app = await listen();
    const responses = [];
    for (let n = 0; n < 3; n++) responses.push(await begin(`/stream/${'e'.repeat(96)}`, {}, 'GET', false));
    const ends = responses.map(
      (response) =>
        new Promise<void>((resolve) => {
          response.on('error', () => undefined).on('close', resolve);
        }),
    );
    stopping.abort(new Error('the daemon is stopping'));
    await app.close();
    responses.forEach((response) => response.resume());
    await Promise.all(ends);
    expect([reads.every(({ isEnded }) => isEnded), failures]).toEqual([true, []]);
    await listen();
  });
});

describe('names', () => {
  it.each([
    ['/get/film', 'lbry://film'],
    ['/get/film?autoplay=1', 'lbry://film'],
    [`/get/film/${'a1'.repeat(20)}`, `lbry://film#${'a1'.repeat(20)}`],
    ['/get/film:a1', 'lbry://film:a1'],
    ['/get/@txBuilder:1/film:2', 'lbry://@txBuilder:1/film:2'],
    ['/get/%40maker%231/caf%C3%A9', 'lbry://@maker#1/café'],
    [`/get/${'%F0%9F%90%8B'.repeat(63)}abc`, `lbry://${'🐋'.repeat(63)}abc`],
  ])('lead to their streams: %s', async (path, url) => {
    const { status, headers, body } = await ask(path);
    expect([status, headers.location, body.toString()]).toEqual([302, `/stream/${SD_HASH}`, '302: Found']);
    expect(asked).toEqual([{ url, mayDownload: true }]);
  });

  it.each(['/get/', '/get/a/', '/get//b', '/get/a/b/c'])('are missing: %s', async (path) => {
    expect((await ask(path)).status).toBe(404);
    expect(asked).toEqual([]);
  });

  it.each(['/get/%zz', '/get/a%', '/get/%ff', '/stream/%zz', '/%zz', '/other/%', `/get/${'%'.repeat(300)}`])(
    'are malformed, which the media server reports: %s',
    async (path) => {
      const { status, headers, body } = await ask(path);
      expect([status, headers['content-type'], body.toString()]).toEqual([
        400,
        'text/plain; charset=utf-8',
        '400: Bad Request',
      ]);
      expect(asked).toEqual([]);
    },
  );

  it('are looked up by HEAD without a download', async () => {
    expect((await ask('/get/film', {}, 'HEAD')).headers.location).toBe(`/stream/${SD_HASH}`);
    expect(asked).toEqual([{ url: 'lbry://film', mayDownload: false }]);
  });

  it.each([
    ['InvalidStreamURLError', 400],
    ['KeyFeeAboveMaxAllowedError', 402],
    ['InsufficientFundsError', 402],
    ['CurrencyConversionError', 402],
    ['AssertionError', 402],
    ['RPCError', 502],
    ['ConnectionError', 502],
    ['InvalidStreamDescriptorError', 502],
    ['NameError', 501],
    ['ComponentsNotStartedError', 503],
    ['ResolveTimeoutError', 504],
    ['DownloadSDTimeoutError', 504],
    ['DownloadDataTimeoutError', 504],
    ['OSError', 500],
  ])('return errors with their text: %s', async (name, status) => {
    findError = new DaemonError(name, 'why “not”');
    const answer = await ask('/get/film');
    expect([answer.status, answer.body.toString(), answer.headers['cache-control']]).toEqual([
      status,
      'why “not”',
      'no-store',
    ]);
    expect(answer.headers['retry-after']).toBe(status >= 502 ? '5' : undefined);
    const head = await ask('/get/film', {}, 'HEAD');
    expect([head.status, head.body.length]).toEqual([status, 0]);
  });

  it.each<[ResolveProblem, number]>([
    ['not found', 404],
    ['no file', 404],
    ['collision', 409],
    ['blocked', 451],
    ['hub failed', 502],
    ['no hub', 503],
  ])('return the reason of an unresolved URL: %s', async (problem, status) => {
    findError = new ResolveError(problem, 'this');
    const answer = await ask('/get/film');
    expect([answer.status, answer.body.toString()]).toEqual([status, "Failed to resolve 'this'."]);
  });

  it('are refused if the setting or a component is off', async () => {
    mayGet = false;
    expect((await ask('/get/film')).status).toBe(403);
    expect((await stream()).status).toBe(200);
    mayGet = true;
    isSkipped = true;
    for (const path of ['/get/film', `/stream/${SD_HASH}`]) {
      const response = await begin(path);
      expect([response.statusCode, await text(response)]).toEqual([
        501,
        'file_manager is not a known Component: it is skipped',
      ]);
    }
    expect(asked).toEqual([]);
  });
});
