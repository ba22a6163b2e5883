import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import type { DaemonLedger, LedgerSyncState } from '../../../../src/daemon/ledger/ledger.js';
import { logProgress } from '../../../../src/daemon/main/progressLog.js';

it('reports long downloads of headers and histories in growing intervals, and their end', () => {
  const events = new EventEmitter();
  let now = 0;
  let syncState: LedgerSyncState = {
    targetHeight: 10_000,
    addresses: 8,
    addressesLeft: 8,
    fetched: 0,
    historyShare: 0,
  };
  const lines: string[] = [];
  const ledger = {
    on: (name: string, listener: (...args: unknown[]) => void) => void events.on(name, listener),
    get syncState() {
      return syncState;
    },
  } as Pick<DaemonLedger, 'on' | 'syncState'>;
  logProgress(ledger, { info: (line) => void lines.push(line) }, () => now);
  const reported = (): string[] => lines.splice(0);

  // Single new blocks are not logged.
  events.emit('headers', 10_000);
  events.emit('headers', 2000);
  expect(reported()).toEqual([]);
  now += 5000;
  events.emit('headers', 4000);
  events.emit('headers', 6000);
  expect(reported()).toEqual(['Block headers: 4000 of 10000, 40 %']);
  events.emit('headers', 10_000);
  expect(reported()).toEqual(['Block headers are complete, up to height 10000']);
  events.emit('headers', 10_001);

  events.emit('histories');
  now += 5000;
  syncState = { ...syncState, addressesLeft: 6, fetched: 40, historyShare: 0.256 };
  events.emit('histories');
  expect(reported()).toEqual(['Histories of the wallet: 25 %, 2 of 8 addresses, 40 transactions fetched']);
  syncState = { ...syncState, addressesLeft: 0, fetched: 90, historyShare: 1 };
  events.emit('histories');
  events.emit('synced');
  events.emit('synced');
  expect(reported()).toEqual([
    'The histories of the wallet are complete: 8 of 8 addresses, 90 transactions fetched',
  ]);
});
