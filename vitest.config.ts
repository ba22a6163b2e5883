import { defineConfig } from 'vitest/config';
import LongestFirst from './scripts/longestFirst.mjs';

const long = process.env['LBCNODE_LONG_TESTS'] === '1';
/** Each file in a process of its own, one after the other: the second attempt of scripts/test.mjs. */
const alone = process.env['LBCNODE_TESTS_ALONE'] === '1';
/** Where a run has a last moment. */
const runner = process.env['LBCNODE_TESTS_UNTIL'] ? { runner: './scripts/deadlineRunner.mjs' } : {};
/** Files that measure the memory of their own process: nothing but their like may have run in it. */
const measuring = 'test/**/{m,*M}emory.test.ts';

export default defineConfig({
  test: {
    environment: 'node',
    ...runner,
    // A long test may hold its worker's loop for a minute, and the runner then counts a report that came late as an
    // unhandled error. The others are counted by scripts/jsonlReporter.mjs.
    dangerouslyIgnoreUnhandledErrors: long,
    sequence: { sequencer: LongestFirst },
    pool: 'forks',
    // Two processes run all files, so that each module is loaded twice and not by every file anew: a third of the time
    // of the unit tests. With three, the runner fails now and then: it ends a process that has not started yet.
    poolOptions: { forks: { maxForks: alone ? 1 : 2, isolate: alone || long } },
    // These only end what hangs: a machine may be busy with something else.
    testTimeout: long ? 1_200_000 : 300_000,
    hookTimeout: long ? 1_200_000 : 300_000,
    // `expect.poll` waits for an event; its default of one second is too short for a busy machine.
    expect: { poll: { timeout: 240_000, interval: 50 } },
    projects: long
      ? [{ extends: true, test: { name: 'long', include: ['test/**/*.long.test.ts'] } }]
      : [
          {
            extends: true,
            test: {
              name: 'fast',
              include: ['test/**/*.test.ts'],
              exclude: ['node_modules', 'test/**/*.long.test.ts', measuring],
            },
          },
          { extends: true, test: { name: 'memory', include: [measuring] } },
        ],
  },
});
