import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/daemon/base/clock.js';
import { blobHashOf } from '../../../../src/daemon/content/blobHash.js';
import { Bandwidth } from '../../../../src/daemon/exchange/bandwidth.js';
import type { Line, LineEvents, LineOutcome } from '../../../../src/daemon/exchange/blobHolders.js';
import { HttpHolder, HttpServerMemory } from '../../../../src/daemon/exchange/httpHolder.js';
import { dialTcp } from '../../../../src/daemon/exchange/links.js';
import { PeerHolder, type LineDeps } from '../../../../src/daemon/exchange/peerLine.js';
import { RateLimiter } from '../../../../src/daemon/exchange/rateLimiter.js';
import { ScriptedServer } from '../../../support/exchangePeers.js';
import { FakeClock } from '../../../support/fakeClock.js';

const BLOB = randomBytes(100_000);
const HASH = blobHashOf(BLOB);
const OTHER = 'ab'.repeat(48);
const HEAD = `{"incoming_blob": {"blob_hash": "${HASH}", "length": ${BLOB.length}}, "blob_data_payment_rate": "RATE_ACCEPTED", "available_blobs": ["${HASH}"], "lbrycrd_address": true}`;
const ANSWER = Buffer.concat([Buffer.from(HEAD), BLOB]);

let server: ScriptedServer | null;
let line: Line;
let closes: number;
let deps: LineDeps;
const given = new AbortController();
let endings: number;
const availability: [readonly string[], readonly string[]][] = [];
const events: LineEvents = {
  onComing: () => undefined,
  onEnding: () => endings++,
  onAvailability: (asked, available) => void availability.push([asked, available]),
};

beforeEach(() => {
  closes = 0;
  endings = 0;
  server = null;
  availability.length = 0;
  deps = {
    dial: dialTcp,
    clock: systemClock,
    bandwidth: new Bandwidth(systemClock, () => false),
    rate: new RateLimiter(systemClock, () => 0),
    connectTimeoutMs: () => 3000,
    blobTimeoutMs: () => 30_000,
  };
});
afterEach(async () => {
  line?.close();
  await server?.close();
});

/** Connects to a server that calls `onRequest` for each request. */
async function open(onRequest: (socket: Socket, text: string) => void): Promise<void> {
  server = new ScriptedServer(onRequest);
  const port = await server.listen();
  line = await new PeerHolder({ host: '127.0.0.1', port }, deps).open(() => closes++, given.signal);
}

const request = (
  lengthBytes: number | null = BLOB.length,
  others: readonly string[] = [],
): Promise<LineOutcome> => line.request(HASH, lengthBytes, others, events);

async function expectBlob(outcome: Promise<LineOutcome>): Promise<void> {
  const found = await outcome;
  expect(found.kind).toBe('blob');
  expect(found.kind === 'blob' && found.blob.bytes.equals(BLOB)).toBe(true);
}

/** Sends the bytes in pieces of this size, each in its own iteration of the event loop. */
function sendPieces(socket: Socket, bytes: Uint8Array, size: number): void {
  if (bytes.length === 0 || socket.destroyed) return;
  socket.write(bytes.subarray(0, size), () =>
    setImmediate(() => sendPieces(socket, bytes.subarray(size), size)),
  );
}

describe('PeerLine', () => {
  it('sends requests like lbry-sdk, for two more blobs at most', async () => {
    await open((socket) => socket.write(ANSWER));
    await expectBlob(request());
    await expectBlob(request(null, [OTHER, OTHER, OTHER, OTHER]));
    expect(server!.requests).toEqual([
      `{"requested_blobs": ["${HASH}"], "lbrycrd_address": true, "blob_data_payment_rate": 0.0, "requested_blob": "${HASH}"}`,
      `{"requested_blobs": ["${HASH}", "${OTHER}", "${OTHER}"], "lbrycrd_address": true, "blob_data_payment_rate": 0.0, "requested_blob": "${HASH}"}`,
    ]);
    expect(Math.max(...server!.requests.map(({ length }) => length))).toBeLessThanOrEqual(512);
    expect(availability).toEqual([
      [[], [HASH]],
      [[OTHER, OTHER], [HASH]],
    ]);
    expect(server!.connections).toBe(1);
  });

  it.each([1, 50])('reads an answer in pieces of %i bytes', async (size) => {
    await open((socket) =>
      sendPieces(socket, ANSWER.subarray(0, HEAD.length + (size === 1 ? 500 : BLOB.length)), size),
    );
    if (size === 50) return expectBlob(request());
    const outcome = request();
    await expect.poll(() => line.receivedBytes).toBe(500);
    line.close();
    expect((await outcome).kind).toBe('failed');
  });

  it('recognizes the answers of lbry-sdk and reflector.go for a missing blob', async () => {
    const answers = [
      '{"blob_data_payment_rate": "RATE_ACCEPTED", "available_blobs": [], "lbrycrd_address": true}',
      '{"lbrycrd_address":"b","available_blobs":[],"blob_data_payment_rate":"RATE_ACCEPTED","incoming_blob":{"error":"blob not found","blob_hash":"","length":0}}',
    ];
    await open((socket) => socket.write(answers.shift()!));
    expect(await request()).toEqual({ kind: 'lacks' });
    expect(await request()).toEqual({ kind: 'lacks' });
    expect(line.isOpen).toBe(true);
  });

  const head = (members: object): string => JSON.stringify(members);
  const incoming = (length: unknown, hash = HASH) => ({
    incoming_blob: { blob_hash: hash, length },
    blob_data_payment_rate: 'RATE_ACCEPTED',
    available_blobs: [HASH],
  });
  it.each<[string, string]>([
    ['is not JSON', 'nonsense'],
    ['is broken JSON', '{"incoming_blob": nothing}'],
    ['has other members', head({ ...incoming(BLOB.length), more: 1 })],
    ['has no members', '{}'],
    ['refuses the rate', head({ ...incoming(BLOB.length), blob_data_payment_rate: 'RATE_TOO_LOW' })],
    ['sends another blob', head(incoming(BLOB.length, OTHER))],
    ['has another length', head(incoming(BLOB.length + 1))],
    ['has no length', head(incoming(null))],
    ['has a negative length', head(incoming(-1))],
    ['has a fraction as length', head(incoming(1.5))],
    ['lists many blobs', head({ ...incoming(BLOB.length), available_blobs: Array(1000).fill(HASH) })],
    ['does not end', '{"available_blobs": ["'.padEnd(20_000, 'a')],
    ['nests without end', '{"available_blobs": ['.padEnd(20_000, '{')],
  ])('closes the connection if the answer %s', async (_, text) => {
    await open((socket) => socket.write(text));
    expect((await request()).kind).toBe('failed');
    expect(line.isOpen).toBe(false);
  });

  it('refuses more than 2 MiB if the length is not known', async () => {
    await open((socket) => socket.write(head(incoming(2_097_153))));
    expect((await request(null)).kind).toBe('failed');
  });

  it.each([0, 10, HEAD.length - 1, HEAD.length, HEAD.length + 1, HEAD.length + BLOB.length - 1])(
    'fails if the connection is interrupted after %i bytes',
    async (count) => {
      await open((socket) => socket.end(ANSWER.subarray(0, count)));
      expect((await request()).kind).toBe('failed');
      expect((await request()).kind).toBe('failed');
    },
  );

  it('drops surplus bytes and does not use the connection again', async () => {
    await open((socket) => socket.write(Buffer.concat([ANSWER, BLOB])));
    await expectBlob(request());
    await expect.poll(() => line.isOpen).toBe(false);
  });

  /** Opens a line to a server that sends the second half of its first answer, and its second answer, after `more`. */
  async function openHalting(): Promise<{ more: () => void }> {
    let more = (): void => undefined;
    const half = HEAD.length + BLOB.length / 2;
    await open((socket) => {
      if (server!.requests.length > 1) return;
      socket.write(ANSWER.subarray(0, half));
      more = () => socket.write(Buffer.concat([ANSWER.subarray(half), ANSWER]));
    });
    return { more: () => more() };
  }

  it('sends the next request while a blob arrives, and gets both blobs', async () => {
    const { more } = await openHalting();
    const first = request();
    await expect.poll(() => endings).toBe(1);
    (line as Required<Line>).requestEarly(HASH, [OTHER]);
    await expect.poll(() => server!.requests.length).toBe(2);
    expect(server!.requests[1]).toContain(`["${HASH}", "${OTHER}"]`);
    // The line takes one early request.
    (line as Required<Line>).requestEarly(OTHER, []);
    const second = first.then(() => request());
    more();
    await expectBlob(first);
    await expectBlob(second);
    expect(server!.requests).toHaveLength(2);
    expect(availability).toEqual([
      [[], [HASH]],
      [[OTHER], [HASH]],
    ]);
  });

  it('closes if another blob is requested than early', async () => {
    const { more } = await openHalting();
    const first = request();
    await expect.poll(() => endings).toBe(1);
    (line as Required<Line>).requestEarly(HASH, []);
    const second = first.then(() => line.request(OTHER, null, [], events));
    more();
    await expectBlob(first);
    expect((await second).kind).toBe('failed');
    expect(line.isOpen).toBe(false);
  });

  it('sends no early request before a blob arrives', async () => {
    await open((socket) => void setImmediate(() => socket.write(ANSWER)));
    (line as Required<Line>).requestEarly(HASH, []);
    const first = request();
    (line as Required<Line>).requestEarly(OTHER, []);
    await expectBlob(first);
    expect(server!.requests).toHaveLength(1);
  });

  it('closes after unsolicited bytes, and when the peer disconnects', async () => {
    await open((socket) => {
      socket.write(ANSWER);
      setTimeout(() => socket.write('x'), 20);
    });
    await expectBlob(request());
    await expect.poll(() => closes).toBe(1);
    expect(line.isOpen).toBe(false);
  });

  it('aborts at the time limit of an answer or a blob', async () => {
    const clock = new FakeClock();
    deps = { ...deps, clock };
    await open((socket, text) => {
      if (text.includes(OTHER)) socket.write(ANSWER.subarray(0, HEAD.length + 10));
    });
    expect(await clock.until(request())).toEqual({ kind: 'failed', reason: 'no answer in time' });
    expect(clock.nowMs()).toBe(30_000);
    await server!.close();
    await open((socket) => socket.write(ANSWER.subarray(0, HEAD.length + 10)));
    const outcome = request();
    await expect.poll(() => line.receivedBytes).toBe(10);
    expect(await clock.until(outcome)).toEqual({ kind: 'failed', reason: 'no blob in time' });
  });

  it('aborts at the time limit of a connection', async () => {
    const clock = new FakeClock();
    const dial: LineDeps['dial'] = (_place, _events, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
    const opened = new PeerHolder({ host: '10.0.0.1', port: 1 }, { ...deps, clock, dial }).open(
      () => undefined,
      given.signal,
    );
    await expect(clock.until(opened)).rejects.toThrow('the connection was not established in time');
    expect(clock.nowMs()).toBe(3000);
  });
});

describe('HttpHolder', () => {
  let http: Server;
  let answers: (request: IncomingMessage, response: ServerResponse) => void;
  let urls: string[];
  let token: string | null;

  beforeEach(async () => {
    urls = [];
    token = null;
    http = createServer((request, response) => {
      urls.push(request.url!);
      answers(request, response);
    });
    await new Promise<void>((resolve) => {
      http.listen(0, '127.0.0.1', resolve);
    });
    const base = `http://127.0.0.1:${(http.address() as AddressInfo).port}/`;
    line = await new HttpHolder(base, 1, new HttpServerMemory(), { ...deps, edgeToken: () => token }).open();
  });
  afterEach(() => {
    http.closeAllConnections();
    http.close();
  });

  it('downloads a blob', async () => {
    answers = (_, response) => void response.end(BLOB);
    await expectBlob(request());
    await expectBlob(request(null));
    expect(urls).toEqual([`/blob?hash=${HASH}`, `/blob?hash=${HASH}`]);
  });

  it('remembers a missing blob', async () => {
    answers = (_, response) => void response.writeHead(404).end();
    expect(await request()).toEqual({ kind: 'lacks' });
    expect(await request()).toEqual({ kind: 'lacks' });
    expect(urls).toHaveLength(1);
  });

  it('sends its token only for a protected blob', async () => {
    answers = ({ url }, response) =>
      void (url!.endsWith('&edge_token=a%26b')
        ? response.end(BLOB)
        : response.writeHead(403).end('protected'));
    expect(await request()).toEqual({ kind: 'lacks' });
    token = 'a&b';
    line = await new HttpHolder(
      `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
      1,
      new HttpServerMemory(),
      { ...deps, edgeToken: () => token },
    ).open();
    await expectBlob(request());
    expect(urls.slice(1)).toEqual([`/blob?hash=${HASH}`, `/blob?hash=${HASH}&edge_token=a%26b`]);
  });

  it('fails at errors, endless answers, wrong lengths and truncated ones', async () => {
    const base = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
    const outcomes: LineOutcome[] = [];
    const wrong: (typeof answers)[] = [
      (_, response) => void response.writeHead(500).end('no'),
      (_, response) => void response.end(BLOB.subarray(1)),
      (_, response) => {
        const more = (): void => {
          while (!response.destroyed && response.write(BLOB));
          response.once('drain', more);
        };
        more();
      },
      (_, response) => {
        response.writeHead(200, { 'content-length': BLOB.length });
        response.write(BLOB.subarray(0, 1000), () => response.destroy());
      },
    ];
    for (const one of wrong) {
      answers = one;
      line = await new HttpHolder(base, 1, new HttpServerMemory(), {
        ...deps,
        edgeToken: () => token,
      }).open();
      outcomes.push(await request());
    }
    expect(outcomes.map(({ kind }) => kind)).toEqual(['failed', 'failed', 'failed', 'failed']);
  });
});
