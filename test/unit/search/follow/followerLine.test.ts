import { receiveMessageOnPort } from 'node:worker_threads';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { regtestParams } from '../../../../src/params/regtest.js';
import {
  ChainMirror,
  ChainTeller,
  type BlockFacts,
  type MirroredChain,
} from '../../../../src/search/follow/chainMirror.js';
import { FollowerLine } from '../../../../src/search/follow/followerLine.js';
import { HEARD, type ToFollower } from '../../../../src/search/follow/followerMessages.js';
import { SILENT_LOGGER } from '../../../../src/util/logging.js';
import { Random } from '../../../differential/support.js';

/** Branches of blocks that are no more than numbers. */
class StubChain implements MirroredChain {
  private readonly parents: number[] = [];
  private active: number[] = [];
  disconnects = 0;
  commits = 0;

  get height(): number {
    return this.active.length - 1;
  }

  get tip(): number {
    return this.active.at(-1) ?? -1;
  }

  connect(): void {
    this.parents.push(this.tip);
    this.active.push(this.parents.length - 1);
    this.commits++;
  }

  disconnect(): void {
    this.active.pop();
    this.disconnects++;
    this.commits++;
  }

  /** The blocks of the chain that ended at `tip`. */
  branch(tip: number): number[] {
    const blocks: number[] = [];
    for (let at = tip; at >= 0; at = this.parents[at]!) blocks.unshift(at);
    return blocks;
  }

  forkHeight(tip: number): number {
    return this.branch(tip).findLastIndex((block, height) => this.active[height] === block);
  }

  factsAt(tip: number, height: number): BlockFacts {
    const block = this.branch(tip)[height];
    return block === undefined ? [null, 0, 0] : [`block ${block}`, 10 * block, 100 * block];
  }

  hashAt(height: number): string | null {
    return this.factsAt(this.tip, height)[0];
  }

  timeSec(height: number): number {
    return this.factsAt(this.tip, height)[1];
  }

  transactionsBelow(height: number): number {
    return this.factsAt(this.tip, height)[2];
  }

  exclusively<T>(task: () => Promise<T>): Promise<T> {
    return task();
  }
}

const index = { height: 0, isSynced: true };

describe('what is reported about the chain', () => {
  it.each([1, 2, 3, 4])('is one chain, that of the tip that was told, seed %i', async (seed) => {
    const random = new Random(seed);
    const chain = new StubChain();
    for (let n = 0; n < 40; n++) chain.connect();
    const teller = new ChainTeller(chain, index, 4);
    let asked = 0;
    const answer = ({ tip, heights }: { tip: number; heights: readonly number[] }) => {
      asked++;
      return heights.map((height) => chain.factsAt(tip, height));
    };
    const mirror = new ChainMirror(answer, async (wanted) => {
      const facts = answer(wanted);
      const news = random.chance(2) ? teller.news(false) : null;
      if (news !== null) mirror.take(news);
      return facts;
    });
    mirror.take(teller.news(false)!);
    for (let round = 0; round < 300; round++) {
      for (let n = random.below(8); n > 0 && chain.height > 5; n--) chain.disconnect();
      for (let n = random.below(9); n > 0; n--) chain.connect();
      if (random.chance(3)) {
        const news = teller.news(false);
        if (news !== null) mirror.take(news);
        expect(mirror.tip).toBe(chain.tip);
      }
      const claims = Array.from({ length: 5 }, () => ({
        height: random.below(mirror.height + 1),
        creationHeight: random.below(mirror.height + 1),
      }));
      if (random.chance(2)) await mirror.prepare(claims as never);
      const { tip } = mirror;
      for (let n = 0; n < 6; n++) {
        const height = random.below(mirror.height + 3);
        expect(mirror.hashAt(height)).toBe(chain.factsAt(tip, height)[0]);
        if (height > mirror.height) continue;
        expect(mirror.timeSec(height)).toBe(chain.factsAt(tip, height)[1]);
        expect(mirror.transactionsBelow(height)).toBe(chain.factsAt(tip, height)[2]);
      }
    }
    expect(asked).toBeGreaterThan(100);
  });
});

describe('what waits for the thread', () => {
  afterEach(() => void vi.useRealTimers());

  /** A line, and what the thread is notified of it. */
  function lineOf(chain: StubChain) {
    const line = new FollowerLine(
      {
        rows: { rows: 0, database: 0, path: '' },
        rules: regtestParams.claimForks as never,
        chain,
        index,
        values: async () => [],
        release: async () => {},
        logger: SILENT_LOGGER,
      },
      () => {},
    );
    const { port, facts, signals } = line.setup;
    /** What came since the last time. */
    const hear = (): ToFollower[] => {
      const heard: ToFollower[] = [];
      for (let found = receiveMessageOnPort(port); found; found = receiveMessageOnPort(port)) {
        heard.push(found.message as ToFollower);
        Atomics.add(signals, HEARD, 1);
      }
      return heard;
    };
    const close = (): void => {
      line.cut();
      line.tell('poke');
      port.close();
      facts.close();
    };
    return { line, hear, close };
  }

  it('is bounded, and said when the thread has come to what was before', () => {
    vi.useFakeTimers();
    const chain = new StubChain();
    const { line, hear, close } = lineOf(chain);
    for (let n = 0; n < 1000; n++) {
      chain.connect();
      line.tell('poke');
      if (n === 500) line.tell('scrub');
    }
    vi.advanceTimersByTime(1000);
    expect(hear().length).toBeLessThan(20);
    vi.advanceTimersByTime(100);
    expect(hear()).toMatchObject([
      { kind: 'do', deed: 'poke', news: { height: 999 } },
      { deed: 'scrub', news: null },
    ]);
    vi.advanceTimersByTime(100);
    expect(hear()).toEqual([]);
    close();
  });

  it('is told once of blocks that come together, at first and at last, and at once where someone waits', () => {
    vi.useFakeTimers();
    const chain = new StubChain();
    const { line, hear, close } = lineOf(chain);
    for (let n = 0; n < 10; n++) {
      chain.connect();
      line.tell('pokeSoon');
    }
    expect(hear()).toMatchObject([{ deed: 'pokeSoon', news: { height: 0 } }]);
    line.tell('pokeIfIdle');
    expect(hear()).toMatchObject([{ deed: 'pokeIfIdle', news: { height: 9 } }]);
    chain.connect();
    line.tell('pokeSoon');
    vi.advanceTimersByTime(100);
    expect(hear()).toMatchObject([{ deed: 'pokeSoon', news: { height: 10 } }]);
    vi.advanceTimersByTime(1000);
    expect(hear()).toEqual([]);
    chain.connect();
    line.tell('pokeSoon');
    expect(hear()).toMatchObject([{ deed: 'pokeSoon', news: { height: 11 } }]);
    close();
  });
});
