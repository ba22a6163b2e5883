import { describe, expect, it } from 'vitest';
import { ipKey } from '../../../../src/net/addressBook/entry.js';
import { BUCKET_SIZE } from '../../../../src/net/addressBook/limits.js';
import { Placement } from '../../../../src/net/addressBook/placement.js';
import { at, numberedKey } from './support.js';

const placed = (text: string, port: number, source = text) => ({
  ip: ipKey(at(text)),
  port,
  source: ipKey(at(source)),
});
const source = (text: string): string => ipKey(at(text));

// Expected values are from the reference's addrman_tests.cpp, caddrinfo_get_tried_bucket and caddrinfo_get_new_bucket.
describe('positions', () => {
  const one = new Placement(numberedKey(1));
  const two = new Placement(numberedKey(2));

  it('have a tried bucket by key, group and whole address', () => {
    const entry = placed('250.1.1.1', 8333);
    expect(one.triedBucket(entry)).toBe(40);
    expect(two.triedBucket(entry)).not.toBe(40);
    expect(one.triedBucket(placed('250.1.1.1', 9999))).not.toBe(40);
  });

  it('of one group are in at most 8 tried buckets, those of many groups in many', () => {
    const near = new Set(Array.from({ length: 255 }, (_, i) => one.triedBucket(placed(`250.1.1.${i}`, 0))));
    const far = new Set(Array.from({ length: 255 }, (_, i) => one.triedBucket(placed(`250.${i}.1.1`, 0))));
    expect(near.size).toBe(8);
    expect(far.size).toBe(160);
  });

  it('have a new bucket by key, group and source group, for any port', () => {
    const entry = placed('250.1.2.1', 8333);
    expect(one.newBucket(entry, entry.source)).toBe(786);
    expect(two.newBucket(entry, entry.source)).not.toBe(786);
    expect(one.newBucket(placed('250.1.2.1', 9999), entry.source)).toBe(786);
  });

  it('of one group and one source are in a single new bucket', () => {
    const buckets = Array.from({ length: 255 }, (_, i) =>
      one.newBucket(placed(`250.1.1.${i}`, 0), source(`250.1.1.${i}`)),
    );
    expect(new Set(buckets).size).toBe(1);
  });

  it('of one source group are in at most 64 new buckets, those of many in more', () => {
    const reported = new Set<number>();
    for (let j = 0; j < 4 * 255; j++) {
      const text = `${250 + Math.floor(j / 255)}.${j % 256}.1.1`;
      reported.add(one.newBucket(placed(text, 0), source('251.4.1.1')));
    }
    expect(reported.size).toBeLessThanOrEqual(64);
    const tellers = new Set(
      Array.from({ length: 255 }, (_, p) => one.newBucket(placed('250.1.1.1', 0), source(`250.${p}.1.1`))),
    );
    expect(tellers.size).toBeGreaterThan(64);
  });

  it('depend on the table', () => {
    const entry = placed('250.1.2.1', 8333);
    const newSlot = one.newSlot(entry, entry.source);
    expect(Math.floor(newSlot / BUCKET_SIZE)).toBe(786);
    expect(newSlot).toBe(one.slotInNewBucket(entry, 786));
    expect(Math.floor(one.triedSlot(placed('250.1.1.1', 8333)) / BUCKET_SIZE)).toBe(40);
  });
});
