/** Kills a process that reserves coins and stores transactions at random times. All acknowledged changes are stored. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { LedgerStore } from '../../src/daemon/ledger/store/ledgerStore.js';
import { loadSqlite } from '../../src/sqlite/sqliteProvider.js';
import { toHex } from '../../src/util/bytes.js';
import { foreignOutPoint, made, payTo, testKey, transactionOf } from '../support/ledgerTransactions.js';

const RESERVER = fileURLToPath(new URL('support/coinReserver.mjs', import.meta.url));
const COINS = 60;
/** Number of lines after which the process is killed, for each kill. */
const KILLED_AFTER = [1, 4, 23, 50, 91];

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ledger-kill-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

interface Done {
  readonly saved?: string;
  readonly reserved?: string;
}

async function runUntilKilled(path: string, input: string, lines: number): Promise<Done[]> {
  const child = spawn(process.execPath, [RESERVER, path, input], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const done: Done[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    done.push(JSON.parse(line) as Done);
    if (done.length === lines) child.kill('SIGKILL');
  }
  expect((await exited)[1]).toBe('SIGKILL');
  return done;
}

it('loses no reservation and no use of an address', async () => {
  const { publicKey, chainCode, address, ...rest } = testKey('mine');
  const key = { publicKey: toHex(publicKey), chainCode: toHex(chainCode), address };
  const transactions = Array.from({ length: COINS }, (_, n) =>
    made(transactionOf([foreignOutPoint(`${n}`)], [payTo({ publicKey, chainCode, address, ...rest }, 1n)])),
  ).map(({ txid, raw }) => ({ txid: toHex(txid), raw: toHex(raw) }));
  const provider = await loadSqlite();
  for (const lines of KILLED_AFTER) {
    const path = join(folder, `${lines}.sqlite`);
    const done = await runUntilKilled(path, JSON.stringify({ key, transactions }), lines);
    const store = new LedgerStore(provider, { path, ledgerId: 'lbc_regtest' });
    const rows = store.txos({ accountIds: ['alice'] });
    const known = new Set(rows.map(({ txid }) => toHex(txid)));
    const reserved = new Set(rows.filter(({ isReserved }) => isReserved).map(({ txid }) => toHex(txid)));
    for (const one of done) {
      if (one.saved !== undefined) expect(known).toContain(one.saved);
      if (one.reserved !== undefined) expect(reserved).toContain(one.reserved);
    }
    const [row] = store.addresses({ accountIds: ['alice'] });
    expect(row!.usedTimes).toBeGreaterThanOrEqual(done.filter(({ saved }) => saved !== undefined).length);
    expect(store.unusedAddresses('alice', 0, 1)).toEqual([]);
    store.close();
  }
});
