import { defineConfig } from 'vitest/config';

const long = process.env['LBCNODE_LONG_TESTS'] === '1';

export default defineConfig({
  test: {
    include: [long ? 'test/**/*.long.test.ts' : 'test/**/*.test.ts'],
    exclude: long ? ['node_modules'] : ['node_modules', 'test/**/*.long.test.ts'],
    environment: 'node',
    // A long test may hold its worker's loop for a minute, and the runner then counts a report that came late as an
    // unhandled error. Failures of tests are counted all the same.
    dangerouslyIgnoreUnhandledErrors: long,
    pool: 'forks',
    poolOptions: { forks: { maxForks: 2 } },
    testTimeout: long ? 1_200_000 : 120_000,
    hookTimeout: 120_000,
  },
});
