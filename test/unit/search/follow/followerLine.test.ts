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
import type { NodeItem } from '../../../../src/search/follow/followerMessages.js';
import { SILENT_LOGGER } from '../../../../src/util/logging.js';
import { Random } from '../../../differential/support.js';

/** A chain whose blocks are only numbers. */
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

  /** The blocks of the branch that ends at `tip`. */
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

describe('the reported chain', () => {
  it.each([1, 2, 3, 4])('is one chain, that of the reported tip, seed %i', async (seed) => {
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

describe('messages for the thread', () => {
  afterEach(() => void vi.useRealTimers());

  /** A `FollowerLine`, and the messages to its thread. */
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
    const { port, facts, received } = line.setup;
    /** The messages since the last call: the operation, and the height of the tip if it changed. */
    const receive = (): (readonly [command: string, height: number | null])[] => {
      const messages: (readonly [string, number | null])[] = [];
      for (let found = receiveMessageOnPort(port); found; found = receiveMessageOnPort(port)) {
        const items = found.message as readonly NodeItem[];
        const news = items.find((item) => item[0] === 'news');
        const command = items.at(-1) as Extract<NodeItem, readonly ['command', unknown]>;
        expect(command[0]).toBe('command');
        messages.push([command[1], news === undefined ? null : news[1].height]);
        Atomics.add(received, 0, 1);
      }
      return messages;
    };
    const close = (): void => {
      line.cut();
      line.tell('poke');
      port.close();
      facts.port.close();
    };
    return { line, receive, close };
  }

  it('are bounded, and sent when the thread has processed the earlier ones', () => {
    vi.useFakeTimers();
    const chain = new StubChain();
    const { line, receive, close } = lineOf(chain);
    for (let n = 0; n < 1000; n++) {
      chain.connect();
      line.tell('poke');
      if (n === 500) line.tell('scrub');
    }
    vi.advanceTimersByTime(1000);
    expect(receive().length).toBeLessThan(20);
    vi.advanceTimersByTime(100);
    expect(receive()).toEqual([
      ['poke', 999],
      ['scrub', null],
    ]);
    vi.advanceTimersByTime(100);
    expect(receive()).toEqual([]);
    close();
  });

  it('are combined for blocks in quick succession, and sent at once if a caller waits', () => {
    vi.useFakeTimers();
    const chain = new StubChain();
    const { line, receive, close } = lineOf(chain);
    for (let n = 0; n < 10; n++) {
      chain.connect();
      line.tell('pokeSoon');
    }
    expect(receive()).toEqual([['pokeSoon', 0]]);
    line.tell('pokeIfIdle');
    expect(receive()).toEqual([['pokeIfIdle', 9]]);
    chain.connect();
    line.tell('pokeSoon');
    vi.advanceTimersByTime(100);
    expect(receive()).toEqual([['pokeSoon', 10]]);
    vi.advanceTimersByTime(1000);
    expect(receive()).toEqual([]);
    chain.connect();
    line.tell('pokeSoon');
    expect(receive()).toEqual([['pokeSoon', 11]]);
    close();
  });
});
