/**
 * Compares recorded answers of the reference's daemon about outputs, claims, transactions and balances with those of these
 * methods on a database with its transactions. Differences are in the table of `docs/lbcnet-recordings.md`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { DaemonServices } from '../../../../src/daemon/api/context.js';
import { accountMethods } from '../../../../src/daemon/api/methods/account.js';
import { claimListMethods } from '../../../../src/daemon/api/methods/claimLists.js';
import { transactionMethods } from '../../../../src/daemon/api/methods/transaction.js';
import { txoMethods } from '../../../../src/daemon/api/methods/txo.js';
import { walletMethods } from '../../../../src/daemon/api/methods/wallet.js';
import { systemClock, systemRandom } from '../../../../src/daemon/base/clock.js';
import { LedgerStore } from '../../../../src/daemon/ledger/store/ledgerStore.js';
import { storeInThread } from '../../../../src/daemon/ledger/store/openStore.js';
import { addressOfKey } from '../../../../src/daemon/wallet/keys.js';
import { DaemonWallets } from '../../../../src/daemon/wallet/wallets.js';
import { loadSqlite } from '../../../../src/sqlite/sqliteProvider.js';
import { hashToHex } from '../../../../src/util/bytes.js';
import { AcceptedDifferences } from '../../../support/acceptedDifferences.js';
import { callMethod } from '../../../support/daemonMethods.js';
import { FakeLedger } from '../../../support/fakeLedger.js';
import { regtest, type MadeTransaction } from '../../../support/ledgerTransactions.js';
import {
  recordedDaemon,
  recordedPayment,
  recordedTransaction,
  type RecordedCall,
} from '../../../support/recordedDaemon.js';

const METHODS = [accountMethods, claimListMethods, transactionMethods, txoMethods, walletMethods].flat();
const ASKED = new Set([
  ...[claimListMethods, transactionMethods, txoMethods].flat().map(({ declaration }) => declaration.name),
  'account_balance',
  'wallet_balance',
]);
/** The recording has only the id of this transaction, so calls after it cannot be repeated. */
const LAST = 'txo_spend';
/** The simulated hub of the recording has its own error text for unknown transactions. */
const HUB_TELLS = 'transaction_show';
const ACCOUNTS = [
  ['Main', 'carbon smart garage balance margin twelve chest sword toast envelope bottom stomach absent'],
  ['Added', 'abandon ability able about above absent absorb abstract absurd abuse access accident'],
];
/** More than the life uses. */
const KEYS = 60;

const events = recordedDaemon();
const accepted = new AcceptedDifferences('recordedLists');

it.skipIf(events === null)('answers as recorded', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lbcnet-recorded-'));
  const store = new LedgerStore(await loadSqlite(), {
    path: join(folder, 'ledger'),
    ledgerId: 'lbc_regtest',
  });
  try {
    const accounts = ACCOUNTS.map(([name, seed]) => ({ ledger: 'lbc_regtest', name, seed }));
    writeFileSync(
      join(folder, 'default_wallet'),
      JSON.stringify({ version: 1, name: 'My Wallet', accounts }),
    );
    const fake = new FakeLedger();
    const ledger = Object.assign(fake, { database: storeInThread(store) }).ledger;
    const wallets = await DaemonWallets.open(['default_wallet'], {
      folder,
      ledger,
      tools: { clock: systemClock, random: systemRandom },
      warn: (text) => expect.unreachable(text),
    });
    for (const account of wallets.accounts)
      for (const chain of [0, 1])
        store.addKeys(
          account.id,
          chain,
          Array.from({ length: KEYS }, (_, index) => {
            const key = account.keyAt(chain, index);
            return { ...key, index, address: addressOfKey(key.publicKey, regtest) };
          }),
        );
    const services: Partial<DaemonServices> = { ledger, wallets, runningWallets: wallets };
    const count = await follow(store, fake, services);
    expect(count).toBeGreaterThan(35);
    expect(accepted.problems()).toEqual([]);
  } finally {
    store.close();
    rmSync(folder, { recursive: true });
  }
});

async function follow(
  store: LedgerStore,
  ledger: FakeLedger,
  services: Partial<DaemonServices>,
): Promise<number> {
  const waiting: MadeTransaction[] = [];
  let [count, made] = [0, 0];
  const save = (transactions: readonly MadeTransaction[], height: number): void =>
    store.saveTransactions(
      transactions.map(({ txid, raw }, n) => ({
        txid,
        raw,
        height,
        position: height > 0 ? n : -1,
        isVerified: height > 0,
      })),
    );
  ledger.height = 1;
  for (const event of events!) {
    if (event.kind === 'mine') {
      save(waiting.splice(0), event.height);
      ledger.height = event.height;
      continue;
    }
    const transaction =
      event.kind === 'fund' ? recordedPayment(event.address, event.dewies, made) : recordedTransaction(event);
    if (event.kind === 'fund') expect(hashToHex(transaction!.txid)).toBe(event.txid);
    if (transaction !== null) {
      made++;
      waiting.push(transaction);
      save([transaction], 0);
    }
    if (event.kind === 'fund') continue;
    if (event.method === LAST) break;
    if (!ASKED.has(event.method) || event.method === HUB_TELLS || event.params['resolve'] === true) continue;
    await compare(event, services);
    count++;
  }
  return count;
}

async function compare({ method, params, answer }: RecordedCall, services: Partial<DaemonServices>) {
  const reported = `${method} ${JSON.stringify(params)}`;
  const ours = await callMethod(METHODS, services, method, params);
  if (answer.error !== undefined)
    return expect(ours.error, reported).toEqual({
      name: answer.error.data.name,
      message: answer.error.message,
    });
  expect(ours.error, reported).toBeUndefined();
  if (params['order_by'] === undefined || JSON.stringify(ours.result) === JSON.stringify(answer.result))
    return expect(ours.result, reported).toEqual(answer.result);
  accepted.accept(params['order_by'] === 'none' ? 'no order' : 'order of equals');
  const [left, right] = [ours.result, answer.result].map((page) => page as Page);
  expect({ ...left, items: left!.items.length }).toEqual({ ...right, items: right!.items.length });
  if (params['order_by'] !== 'none') expect(sorted(left!), reported).toEqual(sorted(right!));
}

interface Page {
  readonly items: readonly unknown[];
}

const sorted = ({ items }: Page): unknown[] =>
  items.toSorted((a, b) => (JSON.stringify(a, KEY) < JSON.stringify(b, KEY) ? -1 : 1));

const KEY = ['txid', 'nout'];
