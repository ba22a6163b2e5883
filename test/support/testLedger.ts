/** Ledgers on fake hubs, and accounts of numbered keys, for tests. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AddressSource } from '../../src/daemon/ledger/addressSource.js';
import { OpenLedger, type LedgerOptions } from '../../src/daemon/ledger/openLedger.js';
import { LedgerStore } from '../../src/daemon/ledger/store/ledgerStore.js';
import { storeInThread } from '../../src/daemon/ledger/store/openStore.js';
import { loadSqlite } from '../../src/sqlite/sqliteProvider.js';
import { SILENT_LOGGER, type Logger } from '../../src/util/logging.js';
import type { FakeHub } from './fakeHub.js';
import { testKey, type TestKey } from './ledgerTransactions.js';

export interface TestAccount extends AddressSource {
  key(chain: number, index: number): TestKey;
  readonly channelKeys: Uint8Array[];
}

export function testAccount(accountId: string, gap = 5): TestAccount {
  const key = (chain: number, index: number): TestKey => testKey(`${accountId} ${chain} ${index}`);
  const channelKeys: Uint8Array[] = [];
  return {
    accountId,
    chains: [
      { chain: 0, gap, maxUses: 1 },
      { chain: 1, gap: 2, maxUses: 1 },
    ],
    key,
    channelKeys,
    keyAt: (chain, index) => ({ ...key(chain, index), depth: 2 }),
    noteChannelKey: (publicKey) => void channelKeys.push(publicKey),
  };
}

export interface TestLedger {
  readonly ledger: OpenLedger;
  /** Warnings in its log. */
  readonly warnings: string[];
  readonly folder: string;
}

/** Ledgers of one test file, closed and deleted at the end. */
export class TestLedgers {
  private readonly openParts = new Set<OpenLedger>();
  private readonly folders = new Set<string>();

  async open(
    hubs: readonly FakeHub[],
    options: Partial<LedgerOptions> & { folder?: string } = {},
  ): Promise<TestLedger> {
    const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'ledger-'));
    this.folders.add(folder);
    const warnings: string[] = [];
    const log: Logger = {
      ...SILENT_LOGGER,
      warn: (message) => void warnings.push(message),
      error: (message) => void warnings.push(message),
    };
    const provider = await loadSqlite();
    const path = join(folder, 'ledger.sqlite');
    const ledger = new OpenLedger({
      ledgerId: 'lbc_regtest',
      servers: hubs.map(({ server }) => server),
      store: storeInThread(new LedgerStore(provider, { path, ledgerId: 'lbc_regtest' })),
      log,
      times: { pingMs: 20, retryMs: [10, 50], distrustMs: 60_000 },
      ...options,
      folder,
    });
    this.openParts.add(ledger);
    await ledger.start();
    return { ledger, warnings, folder };
  }

  async close(ledger: OpenLedger): Promise<void> {
    this.openParts.delete(ledger);
    await ledger.close();
  }

  async closeAll(): Promise<void> {
    for (const ledger of [...this.openParts]) await this.close(ledger);
    for (const folder of this.folders) rmSync(folder, { recursive: true, force: true });
    this.folders.clear();
  }
}
