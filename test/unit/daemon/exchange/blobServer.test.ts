import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bandwidth } from '../../../../src/daemon/exchange/bandwidth.js';
import { BlobServer, type BlobServerDeps } from '../../../../src/daemon/exchange/blobServer.js';
import { blobRequestBytes } from '../../../../src/daemon/exchange/messages.js';
import { RateLimiter } from '../../../../src/daemon/exchange/rateLimiter.js';
import { systemClock } from '../../../../src/daemon/base/clock.js';
import { MemoryBlobs, RawPeer } from '../../../support/exchangePeers.js';
import { FakeClock } from '../../../support/fakeClock.js';

const MISSING = 'ab'.repeat(48);

let blobs: MemoryBlobs;
let server: BlobServer;
let port: number;
let failures: unknown[];
let peers: RawPeer[];

async function start(deps: Partial<BlobServerDeps> = {}): Promise<void> {
  const clock = deps.clock ?? systemClock;
  server = new BlobServer({
    blobs,
    address: () => 'bAddress',
    limits: () => ({ total: 200, perAddress: 100 }),
    rate: new RateLimiter(clock, () => 0),
    bandwidth: new Bandwidth(clock, () => true),
    clock,
    onFailure: (error) => failures.push(error),
    ...deps,
  });
  port = await server.listen(0, '127.0.0.1', { what: 'blob exchange', settings: 'tcp_port' });
}

function peer(): RawPeer {
  const one = new RawPeer(port);
  peers.push(one);
  return one;
}

beforeEach(() => {
  blobs = new MemoryBlobs();
  failures = [];
  peers = [];
});
afterEach(async () => {
  for (const one of peers) one.close();
  await server.close();
  expect(failures).toEqual([]);
});

/** Resolves `done` after `calls` calls of `count`. */
class Latch {
  readonly done: Promise<void>;
  private resolve!: () => void;
  private calls: number;

  constructor(calls: number) {
    this.calls = calls;
    this.done = new Promise((resolve) => (this.resolve = resolve));
  }

  count(): void {
    if (--this.calls === 0) this.resolve();
  }
}

const ask = (members: object): string => JSON.stringify(members);

describe('BlobServer', () => {
  it('sends a blob after the answer in the order and form of lbry-sdk', async () => {
    await start();
    const hash = blobs.add(2_097_152);
    const one = peer();
    for (let n = 0; n < 3; n++) {
      one.send(blobRequestBytes(hash));
      const head = `{"incoming_blob": {"blob_hash": "${hash}", "length": 2097152}, "blob_data_payment_rate": "RATE_ACCEPTED", "available_blobs": ["${hash}"], "lbrycrd_address": "bAddress"}`;
      expect((await one.take(head.length)).toString()).toBe(head);
      expect((await one.take(2_097_152)).equals(blobs.blobs.get(hash)!)).toBe(true);
    }
  });

  it('reads one piece of a blob for each of many peers, and sends each the right bytes', async () => {
    const hash = blobs.add(300_000);
    let reads = 0;
    const read = (at: number, count: number): Promise<Uint8Array> => {
      reads++;
      return Promise.resolve(blobs.blobs.get(hash)!.subarray(at, at + count));
    };
    const open = { lengthBytes: 300_000, read, close: () => Promise.resolve() };
    const opened = new Latch(40);
    const [limited, allowed] = [new Latch(40), new Latch(1)];
    const rate = {
      isLimited: true,
      take: async () => {
        limited.count();
        await allowed.done;
        return true;
      },
    };
    await start({
      rate: rate as unknown as RateLimiter,
      blobs: Object.assign(Object.create(blobs) as MemoryBlobs, {
        // All transfers have begun before the first one reads.
        openParts: async () => {
          opened.count();
          await opened.done;
          return open;
        },
      }),
    });
    const many = Array.from({ length: 40 }, () => peer());
    for (const one of many) one.send(ask({ requested_blob: hash }));
    await limited.done;
    expect(reads).toBe(40);
    allowed.count();
    for (const one of many) {
      await one.takeJson();
      expect((await one.take(300_000)).equals(blobs.blobs.get(hash)!)).toBe(true);
    }
  });

  describe('with blobs that are read whole', () => {
    /** Hashes of the blobs that were read whole, and of those that were opened. */
    let [whole, opened]: [string[], string[]] = [[], []];
    let clock: FakeClock;

    beforeEach(async () => {
      [whole, opened] = [[], []];
      clock = new FakeClock();
      const reader = Object.assign(Object.create(blobs) as MemoryBlobs, {
        readInto: (hash: string, into: Uint8Array) => {
          whole.push(hash);
          const bytes = blobs.blobs.get(hash)!;
          into.set(bytes);
          return Promise.resolve(blobs.finished.has(hash) ? bytes.length : null);
        },
        read: (hash: string) => {
          opened.push(hash);
          return blobs.read(hash);
        },
      });
      await start({ clock, blobs: reader });
    });

    const take = async (from: RawPeer, hash: string, next: readonly string[] = []): Promise<void> => {
      from.send(blobRequestBytes(hash, next));
      const { incoming_blob: incoming } = await from.takeJson();
      const bytes = blobs.blobs.get(hash)!;
      expect(incoming).toEqual({ blob_hash: hash, length: bytes.length });
      expect((await from.take(bytes.length)).equals(bytes)).toBe(true);
    };

    it('reads the next blob of a fast peer while it sends the present one', async () => {
      const [a, b, c, d] = [500_000, 2_097_152, 1, 300_000].map((size) => blobs.add(size)) as [
        string,
        string,
        string,
        string,
      ];
      const one = peer();
      await take(one, a, [b, c]);
      await take(one, b, [c, d]);
      await expect.poll(() => whole).toEqual([b, c]);
      await take(one, c, [d]);
      // The peer requests another blob than the one that it named.
      await take(one, a);
      await take(one, d);
      expect([whole, opened]).toEqual([[b, c, d, a, d], [a]]);
    });

    it('sends blobs in pieces to a slow peer', async () => {
      const [a, b] = [blobs.add(100_000), blobs.add(100_000)];
      const one = peer();
      for (const hash of [a, b, a]) {
        await take(one, hash, [hash === a ? b : a]);
        await clock.advance(251);
      }
      expect([whole, opened]).toEqual([[], [a, b, a]]);
    });

    it('opens a blob that cannot be read whole, and reports a missing one', async () => {
      const [a, b] = [blobs.add(10), blobs.add(20)];
      const one = peer();
      await take(one, a, [b]);
      await take(one, a, [b]);
      await expect.poll(() => whole).toEqual([a, b]);
      blobs.finished.delete(b);
      await take(one, a, [b]);
      blobs.finished.add(b);
      await take(one, b);
      expect([whole, opened]).toEqual([
        [a, b, a, b],
        [a, b],
      ]);
    });
  });

  it('accepts a request in single bytes', async () => {
    await start();
    const hash = blobs.add(1000);
    const one = peer();
    for (const byte of blobRequestBytes(hash)) {
      one.send(Uint8Array.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await one.takeJson())['incoming_blob']).toEqual({ blob_hash: hash, length: 1000 });
    expect((await one.take(1000)).equals(blobs.blobs.get(hash)!)).toBe(true);
  });

  it('answers each question separately', async () => {
    await start();
    const [a, b] = [blobs.add(10), blobs.add(20)];
    const one = peer();
    const cases: [object, string][] = [
      [{ blob_data_payment_rate: -1 }, '{"blob_data_payment_rate": "RATE_ACCEPTED"}'],
      [{ lbrycrd_address: true }, '{"lbrycrd_address": "bAddress"}'],
      [{ requested_blobs: [] }, '{"available_blobs": [], "lbrycrd_address": true}'],
      [
        { requested_blobs: [b, MISSING, a, b], other: 1 },
        `{"available_blobs": ["${b}", "${a}"], "lbrycrd_address": true}`,
      ],
      [
        { requested_blobs: [MISSING], requested_blob: MISSING },
        '{"available_blobs": [], "lbrycrd_address": true}',
      ],
    ];
    for (const [request, answer] of cases) {
      one.send(ask(request));
      expect((await one.take(answer.length)).toString()).toBe(answer);
    }
    // A request for only a missing blob gets no answer, and the connection remains open.
    one.send(ask({ requested_blob: MISSING }));
    await new Promise((resolve) => setTimeout(resolve, 50));
    one.send(ask({ lbrycrd_address: true }));
    expect((await one.takeJson())['lbrycrd_address']).toBe('bAddress');
  });

  it('closes the connection at an invalid request', async () => {
    await start();
    const hash = blobs.add(10);
    const wrong = [
      '{}',
      '{"other": 1}',
      '{"requested_blob": }',
      'x',
      '[]',
      ask({ requested_blob: 'ab' }),
      ask({ requested_blob: 5 }),
      ask({ requested_blob: '../'.repeat(32) }),
      ask({ requested_blobs: hash }),
      ask({ requested_blobs: [hash, 1] }),
      `${blobRequestBytes(hash).toString()}${blobRequestBytes(hash).toString()}`,
      '{'.repeat(1200),
    ];
    for (const text of wrong) {
      const one = peer();
      one.send(text);
      expect((await one.untilClosed()).length, text).toBe(0);
    }
  });

  it('accepts 1,199 bytes and closes at 1,200', async () => {
    await start();
    const request = (size: number): string => {
      const bare = ask({ lbrycrd_address: true, pad: '' });
      return ask({ lbrycrd_address: true, pad: 'x'.repeat(size - bare.length) });
    };
    const one = peer();
    one.send(request(1199));
    expect((await one.takeJson())['lbrycrd_address']).toBe('bAddress');
    const two = peer();
    two.send(request(1200));
    expect((await two.untilClosed()).length).toBe(0);
  });

  it('closes idle connections, also those that only query availability', async () => {
    const clock = new FakeClock();
    await start({ clock });
    const one = peer();
    one.send(ask({ lbrycrd_address: true }));
    await one.takeJson();
    await clock.advance(20_000);
    one.send(ask({ requested_blobs: [MISSING], requested_blob: MISSING }));
    await one.takeJson();
    await clock.advance(9_999);
    one.send(ask({ lbrycrd_address: true }));
    await one.takeJson();
    await clock.advance(1);
    await one.untilClosed();
    const hash = blobs.add(10);
    const two = peer();
    two.send(ask({ requested_blob: hash }));
    await two.take(Buffer.byteLength(`{"incoming_blob": {"blob_hash": "${hash}", "length": 10}}`) + 10);
    await clock.advance(29_999);
    two.send(ask({ lbrycrd_address: true }));
    await two.takeJson();
    await clock.advance(1);
    await two.untilClosed();
  });

  it('aborts a transfer that takes too long', async () => {
    const clock = new FakeClock();
    await start({ clock, rate: new RateLimiter(clock, () => 1000) });
    const hash = blobs.add(2_097_152);
    const one = peer();
    one.send(ask({ requested_blob: hash }));
    await one.takeJson();
    await clock.advance(60_000);
    expect((await one.untilClosed()).length).toBeLessThan(1_000_000);
  });

  it('limits connections in total and per address', async () => {
    await start({ limits: () => ({ total: 3, perAddress: 2 }) });
    const [one, two, three] = [peer(), peer(), peer()];
    for (const taken of [one, two]) {
      taken.send(ask({ lbrycrd_address: true }));
      await taken.takeJson();
    }
    await three.untilClosed();
    one.close();
    for (;;) {
      const again = peer();
      again.send(ask({ lbrycrd_address: true }));
      if (await again.takeJson().catch(() => null)) break;
    }
    expect(server.status()).toMatchObject({ connections: 2 });
  });

  it('limits the upload rate of all peers together', async () => {
    const clock = new FakeClock();
    await start({ clock, rate: new RateLimiter(clock, () => 1_000_000) });
    const hash = blobs.add(2_000_000);
    const both = [peer(), peer()];
    let received = 0;
    for (const one of both) {
      one.socket.on('data', (bytes) => (received += bytes.length));
      one.send(ask({ requested_blob: hash }));
    }
    await Promise.all(both.map((one) => one.takeJson()));
    await clock.advance(1000);
    expect(received).toBeLessThan(1_700_000);
    const done = Promise.all(both.map((one) => one.take(2_000_000)));
    const began = clock.nowMs();
    await clock.until(done);
    expect(clock.nowMs() - began).toBeGreaterThan(2000);
  });

  it('reads a blob once for concurrent requests of peers', async () => {
    const clock = new FakeClock();
    await start({ clock, rate: new RateLimiter(clock, () => 4_000_000) });
    const hash = blobs.add(1_000_000);
    const many = Array.from({ length: 20 }, peer);
    for (const one of many) one.send(ask({ requested_blob: hash }));
    await Promise.all(many.map((one) => one.takeJson()));
    await clock.until(Promise.all(many.map((one) => one.take(1_000_000))));
    expect(blobs.reads).toBeLessThan(5);
  });

  it('reports a corrupt blob as missing', async () => {
    await start();
    const hash = blobs.add(100);
    blobs.read = () => {
      blobs.finished.delete(hash);
      return Promise.resolve(null);
    };
    const one = peer();
    one.send(blobRequestBytes(hash));
    const answer = await one.takeJson();
    expect(answer['incoming_blob']).toBeUndefined();
    expect(answer['available_blobs']).toEqual([]);
  });
});
