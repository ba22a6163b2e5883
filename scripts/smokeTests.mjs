/**
 * The tests that CI runs on every other supported version of Node. They cover everything that differs between versions: the
 * native addon, worker threads, SQLite, sockets and HTTP, child processes and signals, and whole programs from start to
 * stop.
 */
export const SMOKE_TESTS = [
  'test/differential',
  'test/unit/native',
  'test/unit/store',
  'test/unit/server',
  'test/unit/daemon/http',
  'test/unit/daemon/ledger',
  'test/functional/blockFilters.test.ts',
  'test/functional/claimSearch.test.ts',
  'test/functional/cli.test.ts',
  'test/functional/daemon.test.ts',
  'test/functional/daemonLedger.test.ts',
  'test/functional/firstStart.test.ts',
  'test/functional/hub.test.ts',
  'test/functional/notifications.test.ts',
  'test/functional/folder.test.ts',
  'test/functional/relay.test.ts',
  'test/functional/rest.test.ts',
  'test/functional/walletFiles.test.ts',
];
