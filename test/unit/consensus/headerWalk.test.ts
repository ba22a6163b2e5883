import { describe, expect, it } from 'vitest';
import { ActiveChain } from '../../../src/chain/index/activeChain.js';
import { contextualCheckHeader } from '../../../src/consensus/checkHeader.js';
import { blockWork } from '../../../src/primitives/compactTarget.js';
import { HeaderWalk } from '../../../src/consensus/headerWalk.js';
import { nextWorkRequired } from '../../../src/primitives/retarget.js';
import { mainParams } from '../../../src/params/main.js';
import { regtestParams } from '../../../src/params/regtest.js';
import { testParams } from '../../../src/params/test.js';
import type { NetworkParams } from '../../../src/params/network.js';
import { NO_HEADER } from '../../../src/store/files/headerTable.js';
import { NO_ROWS } from '../chain/headers.js';
import { HeaderTable } from '../../../src/store/files/headerTable.js';
import { sha256 } from '../../../src/crypto/hash.js';

const NOW_SEC = 1_900_000_000;

/** A chain in a header table, with the verdicts for its headers. */
class KeptChain {
  readonly table = new HeaderTable(NO_ROWS);
  readonly tree = new ActiveChain(this.table);
  last = NO_HEADER;
  private readonly params: NetworkParams;

  constructor(params: NetworkParams) {
    this.params = params;
    this.add({ version: 4, timeSec: 1_450_000_000, bits: params.powLimitBits });
  }

  add(header: { version: number; timeSec: number; bits: number }): void {
    const empty = Buffer.alloc(32);
    const { table, last } = this;
    const below = last === NO_HEADER ? 0n : table.work(last);
    const full = { ...header, prevHash: empty, merkleRoot: empty, claimRoot: empty, nonce: 0 };
    const hash = sha256(Buffer.from(`${table.count}`));
    this.last = table.add(full, hash, last, below + blockWork(header.bits));
  }

  required(timeSec: number): number {
    return nextWorkRequired(this.tree, this.last, timeSec, this.params);
  }

  verdict(header: { version: number; timeSec: number; bits: number }, lastCheckpointHeight: number | null) {
    return contextualCheckHeader(
      header,
      {
        height: this.table.height(this.last) + 1,
        requiredBits: this.required(header.timeSec),
        parentMedianTimeSec: this.tree.medianTimeOf(this.last),
        adjustedTimeSec: NOW_SEC,
        lastCheckpointHeight,
      },
      this.params,
    );
  }
}

describe('HeaderWalk', () => {
  // The heights of version rules are low enough for this short chain to cross them.
  const near = { bip34Height: 20, bip66Height: 60, bip65Height: 100 };
  it.each<[string, NetworkParams]>([
    ['main', { ...mainParams, ...near }],
    ['test', { ...testParams, ...near, minDifficultyRange: { minHeight: 50, maxHeight: 250 } }],
    ['regtest', { ...regtestParams, ...near }],
  ])('gives the verdicts of a stored chain: %s', (_, params) => {
    let state = 7;
    const random = (below: number): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return (state >>> 8) % below;
    };
    const chain = new KeptChain(params);
    for (let i = 0; i < 5; i++) {
      const timeSec = 1_450_000_100 + i * 100;
      chain.add({ version: 4, timeSec, bits: chain.required(timeSec) });
    }
    const walk = new HeaderWalk(chain.tree, chain.last, chain.table.work(chain.last), {
      params,
      adjustedTimeSec: () => NOW_SEC,
      lastCheckpointHeight: 3,
    });
    const reasons = new Set<string>();
    for (let i = 0; i < 600; i++) {
      const before = chain.table.timeSec(chain.last);
      const timeSec = random(50) === 0 ? NOW_SEC + 7000 + random(400) : before - 300 + random(900);
      const version = random(20) === 0 ? 1 + random(4) : 4;
      const bits = random(20) === 0 ? params.powLimitBits - random(2) : chain.required(timeSec);
      const header = { version, timeSec, bits };
      const expected = chain.verdict(header, 3);
      expect(walk.next(header)).toEqual(expected);
      if (expected) reasons.add(expected.reason.replace(/\(.*/, ''));
      else chain.add(header);
      expect(walk.height).toBe(chain.table.height(chain.last));
      expect(walk.work).toBe(chain.table.work(chain.last));
      expect(walk.medianTimeSec).toBe(chain.tree.medianTimeOf(chain.last));
    }
    expect(walk.height).toBeGreaterThan(260);
    expect([...reasons].sort()).toEqual(['bad-diffbits', 'bad-version', 'time-too-new', 'time-too-old']);
  });

  it('knows the checkpoint', () => {
    const chain = new KeptChain(mainParams);
    const walk = new HeaderWalk(chain.tree, chain.last, 0n, {
      params: mainParams,
      adjustedTimeSec: () => NOW_SEC,
      lastCheckpointHeight: 4000,
    });
    const timeSec = 1_450_000_150;
    const header = { version: 4, timeSec, bits: chain.required(timeSec) };
    expect(walk.next(header)?.reason).toBe('bad-fork-prior-to-checkpoint');
  });
});
