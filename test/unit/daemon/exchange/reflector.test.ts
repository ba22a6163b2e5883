import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock, systemRandom, type Clock } from '../../../../src/daemon/base/clock.js';
import { BlobThreads } from '../../../../src/daemon/blobs/blobThreads.js';
import { encryptPiece } from '../../../../src/daemon/blobs/cipher.js';
import { makeStream } from '../../../../src/daemon/blobs/makeStream.js';
import { blobHashOf } from '../../../../src/daemon/content/blobHash.js';
import {
  descriptorBytes,
  streamHashOf,
  type StreamDescriptor,
} from '../../../../src/daemon/content/descriptor.js';
import { Bandwidth } from '../../../../src/daemon/exchange/bandwidth.js';
import { BlobHttpServer } from '../../../../src/daemon/exchange/blobHttpServer.js';
import { dialTcp, type BlobPlace } from '../../../../src/daemon/exchange/links.js';
import { RateLimiter } from '../../../../src/daemon/exchange/rateLimiter.js';
import { Reflecting, type ReflectingSettings } from '../../../../src/daemon/exchange/reflecting.js';
import { ReflectorServer } from '../../../../src/daemon/exchange/reflectorServer.js';
import { ReflectorStore } from '../../../../src/daemon/exchange/reflectorStore.js';
import { ContentFolder } from '../../../support/contentFolder.js';
import { MemoryBlobs, RawPeer, ScriptedServer } from '../../../support/exchangePeers.js';
import { keepDatabaseThread } from '../../../support/databaseThread.js';

keepDatabaseThread();

const threads = new BlobThreads(2);
const unlimited = new RateLimiter(systemClock, () => 0);
const bandwidth = new Bandwidth(systemClock, () => false);
/** Pauses between attempts take no time. */
const hurried: Clock = {
  ...systemClock,
  after: (delayMs, task) => systemClock.after(delayMs < 30_000 ? 1 : delayMs, task),
};

let folder: ContentFolder;
let store: ReflectorStore;
let server: ReflectorServer;
let ours: MemoryBlobs;
let noted: string[];
let due: string[];
let settings: ReflectingSettings;
let reflecting: Reflecting;
let place: BlobPlace;
let quotaMb: number;
let failures: unknown[];
/** Number of connections to reflectors that were attempted. */
let dials: number;

beforeEach(async () => {
  folder = new ContentFolder(threads);
  await folder.open();
  [quotaMb, failures, noted, due, dials] = [0, [], [], [], 0];
  store = new ReflectorStore({
    blobs: folder.store,
    database: folder.database,
    clock: systemClock,
    quotaMb: () => quotaMb,
  });
  await store.open();
  server = new ReflectorServer({
    store,
    limits: () => ({ total: 64, perAddress: 64 }),
    rate: unlimited,
    bandwidth,
    clock: systemClock,
    onFailure: (error) => failures.push(error),
  });
  place = {
    host: '127.0.0.1',
    port: await server.listen(0, '127.0.0.1', { what: 'reflector', settings: 'reflector_port' }),
  };
  ours = new MemoryBlobs();
  settings = { isOn: true, servers: [[place.host, place.port]], concurrent: 10 };
  reflecting = new Reflecting({
    blobs: ours,
    notes: {
      streamsToReflect: () => Promise.resolve({ hashes: due, next: null }),
      noteReflected: (sdHash, address) => {
        noted.push(`${sdHash} ${address}`);
        return Promise.resolve();
      },
    },
    dial: (...args) => {
      dials++;
      return dialTcp(...args);
    },
    clock: hurried,
    random: systemRandom,
    bandwidth,
    rate: unlimited,
    settings: () => settings,
    debug: () => undefined,
  });
});
afterEach(async () => {
  await reflecting.stop();
  await server.close();
  await folder.close();
  folder.remove();
  expect(failures).toEqual([]);
});
afterAll(() => threads.close());

/** A stream in our memory with data blobs of these sizes. */
function addStream(sizes: readonly number[]): { sdHash: string; hashes: string[] } {
  const key = randomBytes(16);
  const blobs = sizes.map((size, blobNum) => {
    const iv = randomBytes(16);
    const bytes = encryptPiece(randomBytes(size), key, iv);
    return { blobHash: ours.put(bytes), blobNum, iv: iv.toString('hex'), length: bytes.length };
  });
  const end = { blobHash: null, blobNum: sizes.length, iv: randomBytes(16).toString('hex'), length: 0 };
  const name = randomBytes(4).toString('hex');
  const stream = {
    streamName: name,
    suggestedFileName: name,
    key: key.toString('hex'),
    blobs: [...blobs, end],
  };
  const descriptor: StreamDescriptor = { ...stream, streamHash: streamHashOf(stream) };
  return { sdHash: ours.put(descriptorBytes(descriptor)), hashes: blobs.map(({ blobHash }) => blobHash) };
}

/** Forwards bytes to the reflector and counts them. Closes each connection after a given number of bytes. */
class CuttingProxy {
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  cuts: number[];
  bytesToReflector = 0;

  constructor(cuts: readonly number[], isBack = false) {
    this.cuts = [...cuts];
    this.server = createServer((near) => {
      const far = connect(place.port, place.host);
      let left = this.cuts.shift() ?? Infinity;
      for (const socket of [near, far]) {
        this.sockets.add(socket);
        socket.on('error', () => undefined);
      }
      const pass = (from: Socket, to: Socket, isCounted: boolean): void => {
        from.on('data', (bytes) => {
          if (isCounted !== isBack) {
            const part = (bytes as Buffer).subarray(0, left);
            left -= part.length;
            to.write(part);
            if (to === far) this.bytesToReflector += part.length;
            if (left <= 0) {
              // The request arrives, but the response is lost.
              near.destroy();
              far.end();
            }
          } else to.write(bytes as Buffer);
        });
        from.on('close', () => to.destroy());
      };
      pass(near, far, true);
      pass(far, near, false);
    });
  }

  async listen(): Promise<BlobPlace> {
    await new Promise<void>((resolve) => {
      this.server.listen(0, '127.0.0.1', resolve);
    });
    return { host: '127.0.0.1', port: (this.server.address() as AddressInfo).port };
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }
}

describe('uploads', () => {
  it('send a whole stream once, and save the reflector', async () => {
    const { sdHash, hashes } = addStream([100_000, 2_097_151, 5]);
    const result = await reflecting.reflectStream(sdHash);
    expect(result).toMatchObject({ isComplete: true, reason: null });
    expect([...result.sent].sort()).toEqual([sdHash, ...hashes].sort());
    expect(noted).toEqual([`${sdHash} 127.0.0.1:${place.port}`]);
    for (const hash of [sdHash, ...hashes]) {
      expect(store.finished.has(hash)).toBe(true);
      expect(Buffer.from((await store.read(hash))!).equals(ours.blobs.get(hash)!)).toBe(true);
    }
    expect(await reflecting.reflectStream(sdHash)).toMatchObject({ isComplete: true, sent: [] });
    expect(server.received).toBe(4);
  });

  it('send again only blobs that a reflector lost', async () => {
    const { sdHash, hashes } = addStream([1000, 2000, 3000]);
    await reflecting.reflectStream(sdHash);
    await folder.store.delete([hashes[1]!]);
    expect((await reflecting.reflectStream(sdHash)).sent).toEqual([hashes[1]]);
  });

  it('report blobs that are missing locally', async () => {
    const { sdHash, hashes } = addStream([1000, 2000, 3000]);
    ours.finished.delete(hashes[2]!);
    const result = await reflecting.reflectStream(sdHash);
    expect(result).toMatchObject({
      isComplete: false,
      reason: '1 blobs that the reflector requested are not stored here',
    });
    expect(result.sent).toHaveLength(3);
    expect(noted).toEqual([]);
    expect(store.finished.has(hashes[0]!)).toBe(false);
    ours.finished.add(hashes[2]!);
    expect(await reflecting.reflectStream(sdHash)).toMatchObject({ isComplete: true, sent: [hashes[2]] });
    expect(store.finished.has(hashes[0]!)).toBe(true);
  });

  it('resume after an interruption at 20 positions, and send no blob twice', async () => {
    const sizes = Array.from({ length: 12 }, () => 200_000);
    const { sdHash, hashes } = addStream(sizes);
    const whole = [sdHash, ...hashes].reduce((sum, hash) => sum + ours.blobs.get(hash)!.length, 0);
    const sd = ours.blobs.get(sdHash)!.length;
    // The connection is cut in a greeting, in an offer, in a blob, or directly after a blob, so that only the acknowledgement is
    // lost.
    const offer = 16 + 145;
    const cuts = [
      3,
      16,
      100,
      offer,
      offer + 10,
      offer + sd - 1,
      offer + sd,
      16,
      20,
      160,
      170,
      320,
      350,
      1000,
      50_000,
      offer + 140 + 200_009,
      offer + 140 + 200_010,
      300_000,
      450_000,
      123_456,
    ];
    expect(cuts).toHaveLength(20);
    const proxy = new CuttingProxy(cuts);
    try {
      const there = await proxy.listen();
      let result = await reflecting.reflectStream(sdHash, there);
      // Each call gives up after six failures without progress.
      while (!result.isComplete) result = await reflecting.reflectStream(sdHash, there);
      expect(proxy.cuts).toEqual([]);
      expect(server.received).toBe(13);
      // A blob that was cut is sent again. A complete blob is not.
      expect(proxy.bytesToReflector).toBeLessThan(whole + 20 * 200_000);
    } finally {
      proxy.close();
    }
  });

  it('send no blob twice if every acknowledgement is lost for a while', async () => {
    const { sdHash, hashes } = addStream(Array.from({ length: 6 }, () => 50_000));
    // Cuts the direction from the reflector: the greeting passes, later answers are cut at many positions.
    const proxy = new CuttingProxy(
      Array.from({ length: 20 }, (_, n) => 13 + n * 9),
      true,
    );
    try {
      const there = await proxy.listen();
      let result = await reflecting.reflectStream(sdHash, there);
      while (!result.isComplete) result = await reflecting.reflectStream(sdHash, there);
      expect(server.received).toBe(7);
      for (const hash of hashes) expect(store.finished.has(hash)).toBe(true);
    } finally {
      proxy.close();
    }
  });

  it('continue as long as blobs arrive, although each acknowledgement is lost', async () => {
    const { sdHash, hashes } = addStream(Array.from({ length: 40 }, () => 1000));
    const arrived = new Set<string>();
    const awaited = new Map<Socket, { hash: string; leftBytes: number }>();
    const losing = new ScriptedServer((socket, text) => {
      const blob = awaited.get(socket);
      if (blob !== undefined) {
        if ((blob.leftBytes -= text.length) > 0) return;
        arrived.add(blob.hash);
        socket.destroy();
      } else if (text.includes('version')) socket.write('{"version": 1}');
      else if (text.includes('sd_blob_hash'))
        socket.write(
          JSON.stringify({ send_sd_blob: false, needed_blobs: hashes.filter((hash) => !arrived.has(hash)) }),
        );
      else {
        const offer = JSON.parse(text) as { blob_hash: string; blob_size: number };
        awaited.set(socket, { hash: offer.blob_hash, leftBytes: offer.blob_size });
        socket.write('{"send_blob": true}');
      }
    });
    settings = { ...settings, servers: [['127.0.0.1', await losing.listen()]] };
    try {
      expect(await reflecting.reflectStream(sdHash)).toMatchObject({ isComplete: true, sent: [] });
      expect([...arrived].sort()).toEqual([...hashes].sort());
    } finally {
      await losing.close();
    }
  });

  it('use several connections, and report their progress', async () => {
    const { sdHash } = addStream(Array.from({ length: 8 }, () => 500_000));
    const uploading = reflecting.reflectStream(sdHash);
    let most = 0;
    let seen = reflecting.progressOf(sdHash);
    const watch = setInterval(() => {
      most = Math.max(most, server.connectionCount);
      seen = reflecting.progressOf(sdHash) ?? seen;
    }, 1);
    await uploading;
    clearInterval(watch);
    expect(most).toBeGreaterThan(1);
    expect(seen).toMatchObject({ sdHash, reflector: `127.0.0.1:${place.port}`, blobsToSend: 9 });
    expect(seen!.bytesSent).toBeGreaterThan(0);
    const bytes = [...ours.blobs.values()].reduce((sum, { length }) => sum + length, 0);
    expect(seen!.bytesToSend).toBe(bytes);
    expect(seen!.bytesSent).toBeLessThanOrEqual(bytes);
    expect(reflecting.progressOf(sdHash)).toBeNull();
  });

  it('start automatically for streams that were never sent, unless turned off', async () => {
    const [one, two] = [addStream([10]), addStream([20])];
    due = [one.sdHash, 'ab'.repeat(48), two.sdHash];
    settings = { ...settings, concurrent: 1 };
    reflecting.start();
    await expect.poll(() => noted.length).toBe(2);
  });

  it('start at once for a new stream, unless turned off', async () => {
    const [one, two] = [addStream([10]), addStream([20])];
    settings = { ...settings, isOn: false };
    reflecting.reflectNew(one.sdHash);
    settings = { ...settings, isOn: true, servers: [] };
    reflecting.reflectNew(one.sdHash);
    settings = { ...settings, servers: [[place.host, place.port]] };
    reflecting.reflectNew(two.sdHash);
    await expect.poll(() => noted.length).toBe(1);
    expect(store.finished.has(two.sdHash)).toBe(true);
    expect(store.finished.has(one.sdHash)).toBe(false);
  });

  it('keep the reason of a failed upload of a new stream, until it succeeds', async () => {
    const { sdHash } = addStream([1000]);
    settings = { ...settings, servers: [['127.0.0.1', 1]] };
    reflecting.reflectNew(sdHash);
    await expect.poll(() => reflecting.failureOf(sdHash)).toContain('ECONNREFUSED');
    settings = { ...settings, servers: [[place.host, place.port]] };
    await reflecting.reflectStream(sdHash);
    expect(reflecting.failureOf(sdHash)).toBeNull();
    // A descriptor that cannot be parsed ends the upload with a reason.
    const text = ours.put(Buffer.from('no descriptor'));
    reflecting.reflectNew(text);
    const { reason, isComplete } = await reflecting.reflectStream(text);
    expect([isComplete, typeof reason]).toEqual([false, 'string']);
  });

  it('use a reachable reflector if another is not', async () => {
    const { sdHash } = addStream([1000]);
    settings = { ...settings, servers: [['127.0.0.1', 1]] };
    expect(reflecting.isReached).toBeNull();
    expect((await reflecting.reflectStream(sdHash)).isComplete).toBe(false);
    expect(reflecting.isReached).toBe(false);
    settings = {
      ...settings,
      servers: [
        ['127.0.0.1', 1],
        [place.host, place.port],
      ],
    };
    expect(Array.from({ length: 20 }, () => reflecting.anyServer()!.port)).toEqual(
      Array<number>(20).fill(place.port),
    );
    expect((await reflecting.reflectStream(sdHash)).isComplete).toBe(true);
    expect(reflecting.isReached).toBe(true);
    settings = { ...settings, servers: [['127.0.0.1', 1]] };
    expect(reflecting.anyServer()?.port).toBe(1);
  });

  it('end when their stream is deleted', async () => {
    const { sdHash } = addStream([1000]);
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => {
      silent.listen(0, '127.0.0.1', resolve);
    });
    const { port } = silent.address() as AddressInfo;
    const result = reflecting.reflectStream(sdHash, { host: '127.0.0.1', port });
    await expect.poll(() => reflecting.progressOf(sdHash)).not.toBeNull();
    await reflecting.cancel(sdHash);
    expect(await result).toMatchObject({ isComplete: false, sent: [], reason: 'stopped' });
    expect([reflecting.progressOf(sdHash), reflecting.failureOf(sdHash)]).toEqual([null, null]);
    await reflecting.cancel(sdHash);
    silent.close();
  });

  it('to a named reflector start after an upload to another reflector, and others join that upload', async () => {
    const { sdHash, hashes } = addStream([1000]);
    const silent = createServer((socket) => void accepted.push(socket));
    const accepted: Socket[] = [];
    await new Promise<void>((resolve) => {
      silent.listen(0, '127.0.0.1', resolve);
    });
    const { port } = silent.address() as AddressInfo;
    const first = reflecting.reflectStream(sdHash, { host: '127.0.0.1', port });
    await expect.poll(() => accepted.length).toBe(1);
    const [joined, named] = [
      reflecting.reflectStream(sdHash),
      reflecting.reflectStream(sdHash, place, true),
      reflecting.reflectStream(sdHash, { host: '127.0.0.1', port }, true),
    ];
    silent.close();
    accepted[0]!.destroy();
    expect(await joined).toBe(await first);
    expect(await first).toMatchObject({ isComplete: false, sent: [] });
    expect(await named).toMatchObject({ isComplete: true, sent: [sdHash, ...hashes] });
    expect(noted).toEqual([`${sdHash} ${place.host}:${place.port}`]);
  });

  it('end at once when their stream is deleted while they wait for another upload', async () => {
    settings = { ...settings, concurrent: 1 };
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => {
      silent.listen(0, '127.0.0.1', resolve);
    });
    const { port } = silent.address() as AddressInfo;
    const [first, second, third] = [addStream([1000]), addStream([1000]), addStream([1000])];
    const results = [first, second, third].map(({ sdHash }, at) =>
      reflecting.reflectStream(sdHash, at === 2 ? place : { host: '127.0.0.1', port }),
    );
    await expect.poll(() => reflecting.uploading.length).toBe(3);
    await reflecting.cancel(second.sdHash);
    expect(await results[1]).toMatchObject({ isComplete: false, reason: 'stopped' });
    expect(reflecting.uploading).toEqual([first.sdHash, third.sdHash]);
    await reflecting.cancel(first.sdHash);
    expect(await results[2]).toMatchObject({ isComplete: true });
    silent.close();
  });

  it('run although the settings allow more of them than there is memory for', async () => {
    settings = { ...settings, concurrent: Number.MAX_SAFE_INTEGER };
    const { sdHash } = addStream([1000]);
    due = [sdHash];
    reflecting.start();
    await expect.poll(() => noted).toEqual([`${sdHash} ${place.host}:${place.port}`]);
  });

  it('send single blobs and skip missing ones', async () => {
    const { hashes } = addStream([1000, 2000]);
    const missing = 'ab'.repeat(48);
    expect(await reflecting.reflectBlobs([...hashes, missing], place)).toEqual(hashes);
    expect(await reflecting.reflectBlobs(hashes, place)).toEqual([]);
    // The server does not store the stream.
    expect(store.finished.has(hashes[0]!)).toBe(false);
  });

  it('succeed at a reflector that requests the descriptor each time and lists no blobs', async () => {
    const stream = addStream([1000, 2000]);
    const taken: string[] = [];
    // A server that answers like reflector.go without a database.
    const other = createServer((socket) => {
      let expected: { hash: string; left: number; isDescriptor: boolean } | null = null;
      socket.on('error', () => undefined);
      socket.on('data', (bytes: Buffer) => {
        if (expected !== null) {
          expected.left -= bytes.length;
          if (expected.left > 0) return;
          taken.push(expected.hash);
          socket.write(expected.isDescriptor ? '{"received_sd_blob":true}' : '{"received_blob":true}');
          expected = null;
          return;
        }
        const asked = JSON.parse(bytes.toString()) as Record<string, string | number>;
        if ('version' in asked) return void socket.write(bytes);
        const isDescriptor = 'sd_blob_hash' in asked;
        const hash = String(asked[isDescriptor ? 'sd_blob_hash' : 'blob_hash']);
        const isWanted = isDescriptor || !taken.includes(hash);
        socket.write(isDescriptor ? '{"send_sd_blob":true}' : JSON.stringify({ send_blob: isWanted }));
        if (isWanted)
          expected = { hash, left: Number(asked[isDescriptor ? 'sd_blob_size' : 'blob_size']), isDescriptor };
      });
    });
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const at = { host: '127.0.0.1', port };
    expect(await reflecting.reflectStream(stream.sdHash, at)).toMatchObject({
      isComplete: true,
      reason: null,
    });
    expect(new Set(taken)).toEqual(new Set([stream.sdHash, ...stream.hashes]));
    expect(await reflecting.reflectStream(stream.sdHash, at)).toMatchObject({
      isComplete: true,
      sent: [stream.sdHash],
    });
    other.close();
  });

  it('end with a reason after the first attempt if the port is closed', async () => {
    const { sdHash } = addStream([10]);
    const result = await reflecting.reflectStream(sdHash, { host: '127.0.0.1', port: 1 });
    expect(result.isComplete).toBe(false);
    expect(result.reason).toContain('ECONNREFUSED');
    expect(dials).toBe(1);
  });

  it('try again if the port is closed after an interruption', async () => {
    const { sdHash } = addStream([10]);
    const cutter = createServer((socket) => {
      cutter.close();
      socket.destroy();
    });
    await new Promise<void>((resolve) => {
      cutter.listen(0, '127.0.0.1', resolve);
    });
    const { port } = cutter.address() as AddressInfo;
    const result = await reflecting.reflectStream(sdHash, { host: '127.0.0.1', port });
    expect(result.reason).toContain('ECONNREFUSED');
    expect(dials).toBe(6);
  });
});

describe('ReflectorServer', () => {
  it('supports both versions, and refuses other protocols', async () => {
    for (const version of [0, 1]) {
      const peer = new RawPeer(place.port);
      peer.send(JSON.stringify({ version }));
      expect(await peer.takeJson()).toEqual({ version });
      peer.close();
    }
    const hash = 'ab'.repeat(48);
    const wrong = [
      [{ version: 2 }],
      [{}],
      ['x'],
      [{ version: 1 }, { blob_hash: hash, blob_size: 0 }],
      [{ version: 1 }, { blob_hash: hash, blob_size: 2_097_153 }],
      [{ version: 1 }, { blob_hash: hash, blob_size: 1.5 }],
      [{ version: 1 }, { blob_hash: '', blob_size: 5 }],
      [{ version: 1 }, { blob_hash: '../'.repeat(32), blob_size: 5 }],
      [{ version: 1 }, {}],
      [{ version: 1 }, '{"a":'.repeat(400)],
    ];
    for (const lines of wrong) {
      const peer = new RawPeer(place.port);
      for (const [n, one] of lines.entries()) {
        peer.send(typeof one === 'string' ? one : JSON.stringify(one));
        if (n < lines.length - 1) await peer.takeJson();
      }
      expect((await peer.untilClosed()).length, JSON.stringify(lines)).toBe(0);
    }
  });

  it('refuses wrong bytes and invalid descriptors', async () => {
    const bytes = randomBytes(1000);
    const hash = blobHashOf(bytes);
    const peer = new RawPeer(place.port);
    peer.send('{"version": 1}');
    await peer.takeJson();
    peer.send(JSON.stringify({ blob_hash: hash, blob_size: 1000 }));
    expect(await peer.takeJson()).toEqual({ send_blob: true });
    peer.send(randomBytes(1000));
    expect(await peer.takeJson()).toEqual({ received_blob: false });
    await peer.untilClosed();
    const other = new RawPeer(place.port);
    other.send('{"version": 1}');
    await other.takeJson();
    other.send(JSON.stringify({ sd_blob_hash: hash, sd_blob_size: 1000 }));
    expect(await other.takeJson()).toEqual({ send_sd_blob: true });
    other.send(bytes);
    expect(await other.takeJson()).toEqual({ received_sd_blob: false });
    await other.untilClosed();
    expect(folder.store.finished.size).toBe(0);
  });

  it('accepts no more than its quota, and reports that', async () => {
    const [one, two] = [addStream([600_000]), addStream([600_000])];
    quotaMb = 1;
    expect(await reflecting.reflectStream(one.sdHash)).toMatchObject({ isComplete: true });
    expect(await reflecting.reflectStream(two.sdHash)).toMatchObject({
      isComplete: false,
      sent: [two.sdHash],
      reason: 'the reflector refuses: the quota of the reflector is used up',
    });
    expect(store.usedBytes).toBeLessThanOrEqual(1_000_000);
    expect(await reflecting.reflectStream(addStream([300_000]).sdHash)).toMatchObject({ isComplete: true });
    quotaMb = 0;
    expect(await reflecting.reflectStream(two.sdHash)).toMatchObject({ isComplete: true });
  });

  it('counts blobs that arrive at the same time towards its quota', async () => {
    quotaMb = 1;
    const offer = async (bytes: Uint8Array) => {
      const peer = new RawPeer(place.port);
      peer.send('{"version": 1}');
      await peer.takeJson();
      peer.send(JSON.stringify({ blob_hash: blobHashOf(bytes), blob_size: bytes.length }));
      return { peer, answer: await peer.takeJson() };
    };
    const [one, two] = [randomBytes(600_000), randomBytes(600_000)];
    const first = await offer(one);
    expect(first.answer).toEqual({ send_blob: true });
    expect((await offer(two)).answer).toEqual({ error: 'the quota of the reflector is used up' });
    first.peer.send(one.subarray(0, 1000));
    first.peer.socket.end();
    await first.peer.untilClosed();
    const again = await offer(two);
    expect(again.answer).toEqual({ send_blob: true });
    again.peer.send(two);
    expect(await again.peer.takeJson()).toEqual({ received_blob: true });
    expect((await offer(one)).answer).toEqual({ error: 'the quota of the reflector is used up' });
  });

  it('neither accepts nor serves blocked streams', async () => {
    const [one, two] = [addStream([1000]), addStream([2000])];
    await reflecting.reflectStream(one.sdHash);
    await store.setBlocked(new Set([one.sdHash, two.sdHash]));
    expect(store.finished.has(one.sdHash) || store.finished.has(one.hashes[0]!)).toBe(false);
    expect(await store.read(one.sdHash)).toBeNull();
    expect(await reflecting.reflectStream(two.sdHash)).toMatchObject({
      isComplete: false,
      sent: [],
      reason: 'the reflector refuses: the stream is blocked',
    });
    await store.setBlocked(new Set());
    expect(store.finished.has(one.hashes[0]!)).toBe(true);
  });

  it('does not serve incomplete streams over a restart, and corrupt ones', async () => {
    const [whole, part] = [addStream([1000, 2000]), addStream([1000, 3000])];
    ours.finished.delete(part.hashes[0]!);
    await reflecting.reflectStream(whole.sdHash);
    await reflecting.reflectStream(part.sdHash);
    await folder.reopen();
    const again = new ReflectorStore({
      blobs: folder.store,
      database: folder.database,
      clock: systemClock,
      quotaMb: () => 0,
    });
    await again.open();
    expect(whole.hashes.every((hash) => again.finished.has(hash))).toBe(true);
    expect([part.sdHash, ...part.hashes].some((hash) => again.finished.has(hash))).toBe(false);
    writeFileSync(folder.blobPath(whole.hashes[0]!), randomBytes(1008));
    expect(await again.read(whole.hashes[0]!)).toBeNull();
    expect(again.finished.has(whole.hashes[1]!)).toBe(false);
  });

  it('deletes blobs without a stream after a day', async () => {
    const { hashes } = addStream([1000]);
    await reflecting.reflectBlobs(hashes, place);
    const later = new ReflectorStore({
      blobs: folder.store,
      database: folder.database,
      clock: { ...systemClock, nowSec: () => folder.clock.nowSec() + 86_401 },
      quotaMb: () => 0,
    });
    await later.clean();
    expect(folder.store.finished.size).toBe(0);
  });

  it('serves blobs of complete streams over HTTP', async () => {
    const { sdHash, hashes } = addStream([1000, 2_000_000]);
    ours.finished.delete(hashes[0]!);
    await reflecting.reflectStream(sdHash);
    const http = new BlobHttpServer({
      blobs: store,
      limits: () => ({ total: 10, perAddress: 10 }),
      rate: unlimited,
      bandwidth,
      onFailure: (error) => failures.push(error),
    });
    const port = await http.listen(0, '127.0.0.1', { what: 'reflector', settings: 'reflector_http_port' });
    const ask = (query: string, method = 'GET'): Promise<Response> =>
      fetch(`http://127.0.0.1:${port}/${query}`, { method });
    try {
      expect((await ask(`blob?hash=${hashes[1]}`)).status).toBe(404);
      expect((await ask(`blob?hash=${hashes[1]}`, 'HEAD')).status).toBe(404);
      ours.finished.add(hashes[0]!);
      await reflecting.reflectStream(sdHash);
      const answer = await ask(`blob?hash=${hashes[1]}`);
      expect([
        answer.status,
        answer.headers.get('content-length'),
        answer.headers.get('content-type'),
      ]).toEqual([200, String(ours.blobs.get(hashes[1]!)!.length), 'application/octet-stream']);
      expect(Buffer.from(await answer.arrayBuffer()).equals(ours.blobs.get(hashes[1]!)!)).toBe(true);
      expect((await ask(`blob?hash=${hashes[1]}`, 'HEAD')).status).toBe(204);
      expect((await ask('blob?hash=nothing')).status).toBe(404);
      expect((await ask(`other?hash=${sdHash}`)).status).toBe(404);
      expect((await ask(`blob?hash=${sdHash}`, 'POST')).status).toBe(405);
    } finally {
      await http.close();
    }
  });

  it('accepts a stream created here', async () => {
    const path = join(folder.path, 'film');
    writeFileSync(path, randomBytes(3_000_000));
    const txBuilder = new ContentFolder(threads);
    await txBuilder.open();
    try {
      const { sdHash } = await makeStream(path, txBuilder.making);
      for (const hash of txBuilder.store.finished) ours.put((await txBuilder.store.read(hash))!);
      expect(await reflecting.reflectStream(sdHash)).toMatchObject({ isComplete: true });
    } finally {
      await txBuilder.close();
      txBuilder.remove();
    }
  });
});
