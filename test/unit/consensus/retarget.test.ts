import { describe, expect, it } from 'vitest';
import { checkHeader, contextualCheckHeader } from '../../../src/consensus/checkHeader.js';
import { medianTime, medianTimePast, NO_HEADER } from '../../../src/consensus/headerTree.js';
import { nextWorkRequired, retarget, retargetIntervalBlocks } from '../../../src/primitives/retarget.js';
import { mainParams } from '../../../src/params/main.js';
import { regtestParams } from '../../../src/params/regtest.js';
import { testParams } from '../../../src/params/test.js';
import { headerHash, parseHeaderBytes } from '../../../src/primitives/header.js';
import { fromHex, hashToHex } from '../../../src/util/bytes.js';
import { MemoryHeaders } from './support/memoryHeaders.js';
import { hasShared, sharedLines } from './support/shared.js';

describe('retarget', () => {
  it('compares a block with the previous one', () => {
    for (const params of [mainParams, testParams, regtestParams])
      expect(retargetIntervalBlocks(params)).toBe(1);
  });

  it('keeps the target if a block took the target time, otherwise changes it by an eighth of the deviation', () => {
    const bits = 0x1d400000;
    expect(retarget(bits, 150, mainParams)).toBe(bits);
    expect(retarget(bits, 158, mainParams)).toBe(0x1d000000 + Math.floor((0x400000 * 151) / 150));
    // Deviations of less than eight seconds have no effect, because the division truncates towards zero.
    for (const actual of [143, 149, 151, 157]) expect(retarget(bits, actual, mainParams)).toBe(bits);
    expect(retarget(bits, 142, mainParams)).toBeLessThan(bits);
    expect(retarget(bits, 158, mainParams)).toBeGreaterThan(bits);
  });

  it('moves by 22% down and 50% up at most', () => {
    const bits = 0x1d400000;
    // (0 - 150) / 8 is truncated to -18, which gives 132 of 150. The clamp at 150 - 18 allows that.
    expect(retarget(bits, 0, mainParams)).toBe(0x1d3851eb);
    expect(retarget(bits, -100_000, mainParams)).toBe(0x1d3851eb);
    expect(retarget(bits, 150 + 75 * 8, mainParams)).toBe(0x1d600000);
    expect(retarget(bits, 1_000_000, mainParams)).toBe(0x1d600000);
  });

  it('never passes the limit', () => {
    expect(retarget(0x1f00ffff, 1_000_000, mainParams)).toBe(0x1f00ffff);
    expect(retarget(0x1f00f000, 1_000_000, mainParams)).toBe(0x1f00ffff);
  });

  it('stays on regtest, whatever the times: the clamp leaves a factor of one', () => {
    for (const actual of [-1000, 0, 1, 8, 9, 10_000])
      expect(retarget(0x207fffff, actual, regtestParams)).toBe(0x207fffff);
  });

  it('can be switched off', () => {
    expect(retarget(0x1d400000, 0, { ...mainParams, noRetargeting: true })).toBe(0x1d400000);
  });
});

describe('nextWorkRequired', () => {
  it('starts at the limit, and ignores the time for block 1', () => {
    const tree = new MemoryHeaders();
    expect(nextWorkRequired(tree, NO_HEADER, 0, mainParams)).toBe(0x1f00ffff);
    const genesis = tree.add(NO_HEADER, { timeSec: 1446058291, bits: 0x1f00ffff });
    expect(nextWorkRequired(tree, genesis, 1466646588, mainParams)).toBe(0x1f00e146);
  });

  /** Bits of a block on the test network whose parent, at `height`, came `tookSec` after its own parent. */
  function afterParent(height: number, tookSec: number, newTimeSec: number): number {
    const tree = {
      heightOf: () => height,
      ancestorOf: (_id: number, at: number) => at,
      timeOf: (id: number) => (id === height - 1 ? 10_000 : 10_000 + tookSec),
      bitsOf: () => 0x1d400000,
    };
    return nextWorkRequired(tree, height, newTimeSec, testParams);
  }

  it.each([
    [277_298, 301, 0x1d400000],
    [277_299, 301, 0x1f00ffff],
    [277_299, 300, 0x1d400000],
    [1_099_999, 301, 0x1f00ffff],
    [1_100_000, 301, 0x1d400000],
  ])('test network, parent %i, %i seconds later', (height, later, bits) => {
    expect(afterParent(height, 150, 10_150 + later)).toBe(bits);
  });

  it.skipIf(!hasShared)('holds on main from 1 to 434, with the proof of work and the ids', () => {
    const tree = new MemoryHeaders();
    let parent = NO_HEADER;
    let parentHash: Buffer = Buffer.alloc(32);
    let count = 0;
    for (const line of sharedLines('mainnet/blocks-0-434.hex.gz')) {
      const bytes = fromHex(line).subarray(0, 112);
      const header = parseHeaderBytes(bytes);
      expect(header.prevHash).toEqual(parentHash);
      expect(checkHeader(bytes, header.bits, mainParams)).toBeNull();
      const requiredBits = nextWorkRequired(tree, parent, header.timeSec, mainParams);
      expect(header.bits).toBe(requiredBits);
      if (parent !== NO_HEADER) {
        const context = {
          height: tree.heightOf(parent) + 1,
          requiredBits,
          parentMedianTimeSec: tree.medianTimeOf(parent),
          adjustedTimeSec: 1_500_000_000,
          lastCheckpointHeight: null,
        };
        expect(contextualCheckHeader(header, context, mainParams)).toBeNull();
      }
      parent = tree.add(parent, header);
      parentHash = headerHash(bytes);
      if (tree.heightOf(parent) === 1) expect(parentHash).toEqual(mainParams.bip34Hash);
      count++;
    }
    expect(count).toBe(435);
    expect(hashToHex(parentHash)).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe('medianTimePast', () => {
  it('is the upper median of up to eleven blocks', () => {
    expect(medianTime([5])).toBe(5);
    expect(medianTime([5, 1])).toBe(5);
    expect(medianTime([9, 1, 5])).toBe(5);
    const tree = new MemoryHeaders();
    const times = [100, 90, 300, 200, 250, 260, 10, 20, 30, 40, 50, 60, 70];
    let id = NO_HEADER;
    const medians: number[] = [];
    for (const timeSec of times) {
      id = tree.add(id, { timeSec });
      medians.push(medianTimePast(tree, id));
    }
    expect(medians).toEqual([100, 100, 100, 200, 200, 250, 200, 200, 100, 100, 90, 60, 60]);
  });
});
