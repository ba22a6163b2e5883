import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import type { HubSession } from '../../../../src/daemon/ledger/hub/hubSession.js';
import { AddressSync, type AddressSyncPort } from '../../../../src/daemon/ledger/sync/addressSync.js';
import { ledgerParams } from '../../../../src/daemon/base/ledgerParams.js';
import { SILENT_LOGGER } from '../../../../src/util/logging.js';

it('histories that do not fit into memory together are fetched one after the other', async () => {
  const addresses = ['a', 'b', 'c', 'd', 'e'];
  const historyOf = (address: string) =>
    [1, 2, 3].map((n) => ({ tx_hash: `${address}${n}`.repeat(32), height: 1 }));
  const statusOf = (address: string): string => {
    const text = historyOf(address).map(({ tx_hash, height }) => `${tx_hash}:${height}:`);
    return createHash('sha256').update(text.join('')).digest('hex');
  };
  const session = {
    name: 'hub',
    isOpen: true,
    call: async (method: string, params: readonly string[]) =>
      method === 'blockchain.address.subscribe' ? params.map(statusOf) : historyOf(params[0]!),
  } as unknown as HubSession;
  const saved = new Map<string, string | null>();
  const rounds: string[][] = [];
  const store = {
    statusesOf: async (asked: readonly string[]) =>
      asked.map((address) => ({ address, status: saved.get(address) ?? null })),
    known: async (txids: readonly Buffer[]) => txids.map((txid) => ({ txid, height: 1, isVerified: true })),
    unlike: async () => [0, 1, 2],
    missingFrom: async () => null,
    saveHistories: async (updates: readonly { address: string; status: string | null }[]) => {
      for (const { address, status } of updates) saved.set(address, status);
      rounds.push(updates.map(({ address }) => address));
      return { changed: [], removed: [], stale: [] };
    },
  };
  const port = {
    store,
    headers: { height: 1 },
    following: { rewinds: 0 },
    log: SILENT_LOGGER,
    addressPrefixes: ledgerParams('lbc_regtest').addressPrefixes,
    kept: () => [],
    awaited: () => [],
    used: async () => [],
    saved: () => undefined,
    announced: () => undefined,
    progressed: () => undefined,
    maxEntries: 4,
  } as unknown as AddressSyncPort;
  const sync = new AddressSync(session, port);
  sync.subscribe(addresses);
  await sync.run();
  expect(rounds).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
  expect([...saved]).toEqual(addresses.map((address) => [address, statusOf(address)]));
  expect(sync.isDone).toBe(true);
});
