/**
 * A thread that follows the claim index while blocks are connected, up to 100 blocks are disconnected and the chain is flushed,
 * and while the thread ends, values arrive late, or its file is corrupted. Each time it is at the tip, its index equals one
 * that the node's own thread builds from the start. Takes two minutes. LBCNODE_FOLLOW_ROUNDS sets the number of rounds,
 * LBCNODE_FOLLOW_SEED repeats a run.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { loadNative } from '../../../src/native/binding.js';
import { randomOf } from '../../support/claimLife.js';
import { ClaimIndexRun } from '../../support/claimIndexRun.js';
import { LONG_MS, RemoteSearch } from '../../support/remoteSearch.js';

const ROUNDS = Number(process.env['LBCNODE_FOLLOW_ROUNDS'] ?? 60);
const seed = Number(process.env['LBCNODE_FOLLOW_SEED'] ?? Date.now() % 2 ** 31);
const random = randomOf(seed);

describe.skipIf(!loadNative())('the follower in the thread that writes the index', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lbcnode-follow-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it(`has the chain after each of ${ROUNDS} rounds`, { timeout: 3_600_000 }, async () => {
    console.log(`LBCNODE_FOLLOW_SEED=${seed}`);
    const run = new ClaimIndexRun(seed);
    await run.open();
    const { chain, flusher, store } = run.chain.opened;
    const remote = await RemoteSearch.open(join(folder, 'search.sqlite'), run.chain, {
      sentBlocks: 1 + random(40),
      pausesMs: Array.from({ length: 3 * ROUNDS }, () => 1),
    });
    const forget = chain.events.on('tipChanged', () => remote.follower.pokeSoon());
    const done = { reorganised: 0, ended: 0, remade: 0, held: 0 };
    /** Ends the writing thread, and waits for its replacement. */
    const endWriter = async (): Promise<void> => {
      const { threads } = remote;
      const before = threads.length;
      await threads[before - 1]!.terminate();
      await expect.poll(() => threads.length, { timeout: LONG_MS, interval: 1 }).toBe(before + 1);
      done.ended++;
    };
    try {
      await expect.poll(() => remote.threads.length, { timeout: LONG_MS }).toBe(1);
      remote.follower.poke();
      for (let round = 0; round < ROUNDS; round++) {
        let ends = random(4) === 0 ? 1 : 0;
        remote.onValues = async () => {
          if (random(6) === 0) await new Promise((resolve) => setTimeout(resolve, random(40)));
          if (ends > 0 && random(3) === 0) {
            ends--;
            await endWriter();
          }
        };
        for (let n = random(8); n >= 0; n--) {
          await run.mine(6);
          if (random(6) === 0) await flusher.flush();
          if (random(12) === 0) await chain.exclusively(() => store.compact());
        }
        if (random(4) === 0) {
          const depth = 1 + random(random(5) === 0 ? 100 : 12);
          await run.reorganise(Math.min(depth, run.height - run.firstClaims + 1), 4, false);
          done.reorganised++;
        }
        if (random(8) === 0) {
          await chain.exclusively(() => new Promise((resolve) => setTimeout(resolve, random(60))));
          done.held++;
        }
        if (random(3) !== 0) continue;
        await remote.expectAtTip();
        await remote.expectAsFresh(join(folder, `fresh${round}.sqlite`));
        if (random(5) !== 0) continue;
        remote.onValues = async () => {};
        await remote.remake();
        done.remade++;
      }
      await remote.expectAtTip();
      await remote.expectAsFresh(join(folder, 'fresh.sqlite'));
      console.log(JSON.stringify(done));
      expect(remote.follower.status.documents).toBeGreaterThan(20);
      expect(done.reorganised).toBeGreaterThan(ROUNDS / 20);
    } finally {
      forget();
      await remote.close();
      await run.close();
    }
  });
});
