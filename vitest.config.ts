import { defineConfig } from 'vitest/config';
import LongestFirst from './scripts/longestFirst.mjs';

const long = process.env['LBCNODE_LONG_TESTS'] === '1';
/** Each file in a process of its own, one after the other: the second attempt of scripts/test.mjs. */
const alone = process.env['LBCNODE_TESTS_ALONE'] === '1';
/** Files that measure the memory of their own process: no other tests may have run in it. */
const measuring = 'test/**/{m,*M}emory.test.ts';
/** Rules about sources and documents, which `npm run lint` runs and `npm test` does not. */
const rules = 'test/lint/{documentNames,folders,language,layers,links,rpcErrors,sources}.test.ts';

export default defineConfig({
  test: {
    environment: 'node',
    setupFiles: ['test/support/compareBytes.ts'],
    runner: './scripts/testRunner.mjs',
    // A long test may block its worker's event loop for a minute, and the runner then counts a late report as an
    // unhandled error. scripts/jsonlReporter.mjs reports the other unhandled errors.
    dangerouslyIgnoreUnhandledErrors: long,
    sequence: { sequencer: LongestFirst },
    pool: 'forks',
    // Two processes run all files, so that each module is loaded twice and not once a file: this takes a third of the
    // time. scripts/test.mjs runs the fast tests in three processes.
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
              exclude: ['node_modules', 'test/**/*.long.test.ts', measuring, rules],
            },
          },
          { extends: true, test: { name: 'memory', include: [measuring] } },
          { extends: true, test: { name: 'lint', include: [rules] } },
        ],
  },
});
