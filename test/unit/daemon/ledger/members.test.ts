import { expect, it } from 'vitest';
import type { LedgerStorePort } from '../../../../src/daemon/ledger/store/openStore.js';
import type { AddressSync } from '../../../../src/daemon/ledger/sync/addressSync.js';
import type { Gaps } from '../../../../src/daemon/ledger/sync/gaps.js';
import { Members } from '../../../../src/daemon/ledger/sync/members.js';
import { testAccount } from '../../../support/testLedger.js';

it('asks a new hub while addresses are created for all of them', async () => {
  const made = ['receiving'];
  let makeOthers = (): void => undefined;
  const gaps = {
    ensure: () =>
      new Promise<string[]>((resolve) => {
        makeOthers = () => {
          made.push('change');
          resolve(made);
        };
      }),
  } as unknown as Gaps;
  const store = {
    statuses: () => Promise.resolve(made.map((address) => ({ address, status: null }))),
  } as unknown as LedgerStorePort;
  const asked = new Set<string>();
  const sync = {
    subscribe: (addresses: readonly string[]) => addresses.forEach((address) => asked.add(address)),
  } as unknown as AddressSync;
  let hub: AddressSync | null = null;
  let hasWork = false;
  const members = new Members(store, gaps, {
    sync: () => hub,
    isActive: () => hub !== null,
    work: () => void (hasWork = true),
  });

  const ready = members.add(testAccount('account'));
  hub = sync;
  await members.joined(sync);
  members.agreed();
  expect(members.isAllSynced).toBe(false);
  makeOthers();
  while (!hasWork) await new Promise((resolve) => setImmediate(resolve));
  expect([...asked]).toEqual(['receiving', 'change']);
  members.agreed();
  await ready;
  expect(members.isAllSynced).toBe(true);
});
