/** A snapshot depends only on the chain, not on reorganisations, on flushes, or on how an index was filled. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hashToHex } from '../../../../src/util/bytes.js';
import { ClaimIndexRun, WITH_INDEX } from '../../../support/claimIndexRun.js';
import { dumpOf, verify } from '../../../support/snapshots.js';

/** Above the last fork and the expiry of some claims. */
const END = 270;

describe('dumpsnapshot', () => {
  const run = new ClaimIndexRun(34);
  /** Hash of the snapshot at the tip by block id. */
  const hashes = new Map<string, string>();
  let serial = 0;

  const blockAt = (height: number): string => {
    const { active, headers } = run.chain.opened.chain.index;
    return hashToHex(headers.hash(active.at(height)));
  };

  beforeAll(async () => {
    await run.open();
    while (run.height < END) {
      await run.mine(5);
      if (run.height % 20 === 7) await run.reorganise(4, 5, false);
      if (run.height % 6 > 0) continue;
      const { block, hash, height } = await dumpOf(run.chain, `tip${serial++}`);
      expect(block).toBe(blockAt(height));
      hashes.set(block, hash);
    }
  }, 120_000);
  afterAll(() => run.close());

  it('writes the same bytes after blocks are undone to a height', async () => {
    let compared = 0;
    for (let height = run.firstClaims; height <= run.height; height++) {
      const atTip = hashes.get(blockAt(height));
      if (atTip === undefined) continue;
      const { hash } = await dumpOf(run.chain, `back${serial++}`, height);
      expect(hash, `height ${height}`).toBe(atTip);
      compared++;
    }
    expect(compared).toBeGreaterThan(15);
  }, 120_000);

  it('writes the same bytes on a node with another history whose index was built afterwards', async () => {
    const here = await dumpOf(run.chain, 'here');
    run.other = await run.other.reopen({ ...WITH_INDEX });
    while (await run.other.fill.round());
    const there = await dumpOf(run.other, 'there');
    expect(there).toEqual(here);
    expect(here.parts.map(({ name }) => name)).toEqual(['headers', 'coins', 'claims', 'claimindex']);
    expect(here.parts.every(({ rows }) => rows > 0)).toBe(true);
    const read = await verify(run.other, join(run.other.folder, 'there'));
    expect({ hash: read.hash, parts: read.parts }).toEqual({ hash: here.hash, parts: here.parts });
  }, 120_000);
});
