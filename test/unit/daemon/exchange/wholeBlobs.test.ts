import { beforeEach, expect, it } from 'vitest';
import { PeerBlobs, WholeBlobs, type WholeBlob } from '../../../../src/daemon/exchange/wholeBlobs.js';
import { FakeClock } from '../../../support/fakeClock.js';

const MAX_BUFFERS = 8;

let clock: FakeClock;
let reads: string[];
let buffers: Set<Uint8Array>;
let blobs: WholeBlobs;

beforeEach(() => {
  clock = new FakeClock();
  reads = [];
  buffers = new Set();
  const readInto = (hash: string, into: Uint8Array): Promise<number | null> => {
    reads.push(hash);
    buffers.add(into);
    if (hash === 'failing') return Promise.reject(new Error('the disk failed'));
    return Promise.resolve(hash === 'missing' ? null : hash.length);
  };
  blobs = new WholeBlobs({ readInto }, clock);
});

const many = (count: number): Promise<(WholeBlob | null)[]> =>
  Promise.all(Array.from({ length: count }, () => blobs.read('blob')));

it('has a limited number of blobs in memory, and reuses their memory', async () => {
  const all = await many(MAX_BUFFERS + 1);
  expect(all.map((one) => one?.bytes.length)).toEqual([...Array<number>(MAX_BUFFERS).fill(4), undefined]);
  all[0]!.release(true);
  expect((await blobs.read('another'))!.bytes.buffer).toBe(all[0]!.bytes.buffer);
  // The system still uses this memory.
  all[1]!.release(false);
  expect((await blobs.read('another'))!.bytes.buffer).not.toBe(all[1]!.bytes.buffer);
  expect([buffers.size, blobs.bufferCount]).toEqual([MAX_BUFFERS + 1, MAX_BUFFERS]);
});

it('keeps no memory for a blob that cannot be read', async () => {
  for (const hash of ['missing', 'failing']) expect(await blobs.read(hash)).toBeNull();
  expect([buffers.size, blobs.bufferCount]).toEqual([1, 1]);
  expect((await many(MAX_BUFFERS)).every((one) => one !== null)).toBe(true);
  expect(await new WholeBlobs({}, clock).read('blob')).toBeNull();
});

it('releases memory that was not used for some time', async () => {
  const [one, other] = await many(2);
  one!.release(true);
  await clock.advance(4_000);
  (await blobs.read('blob'))!.release(true);
  await clock.advance(4_000);
  expect(blobs.bufferCount).toBe(2);
  await clock.advance(6_000);
  expect(blobs.bufferCount).toBe(1);
  other!.release(true);
  blobs.close();
  expect(blobs.bufferCount).toBe(0);
});

it('reads one blob ahead for a fast peer, and releases it when the peer does not request it', async () => {
  const peer = new PeerBlobs(blobs, clock);
  peer.readAhead('early');
  expect(await peer.take('first')).toBeNull();
  peer.readAhead('second');
  expect(reads).toEqual([]);
  (await peer.take('second'))!.release(true);
  peer.readAhead('third');
  peer.readAhead('fourth');
  const third = (await peer.take('third'))!;
  expect(reads).toEqual(['second', 'third']);
  peer.readAhead('fourth');
  (await peer.take('fifth'))!.release(true);
  third.release(true);
  peer.readAhead('sixth');
  peer.close();
  await clock.advance(6_000);
  expect(blobs.bufferCount).toBe(0);
});

it('reads nothing for a peer that requests its next blob late', async () => {
  const peer = new PeerBlobs(blobs, clock);
  for (const hash of ['a', 'b', 'c']) {
    expect(await peer.take(hash)).toBeNull();
    peer.readAhead('d');
    await clock.advance(251);
  }
  expect(reads).toEqual([]);
});
