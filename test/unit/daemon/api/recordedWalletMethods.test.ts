/**
 * Compares recorded answers of the reference's daemon about accounts, addresses, wallets and preferences, before it had coins
 * and at the end of the recording, with those of these methods on a ledger without a chain. Differences are in the table of
 * `docs/lbcnet-recordings.md`.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import type { DaemonServices } from '../../../../src/daemon/api/context.js';
import { accountMethods } from '../../../../src/daemon/api/methods/account.js';
import { addressMethods } from '../../../../src/daemon/api/methods/address.js';
import { preferenceMethods } from '../../../../src/daemon/api/methods/preference.js';
import { syncMethods } from '../../../../src/daemon/api/methods/sync.js';
import { walletMethods } from '../../../../src/daemon/api/methods/wallet.js';
import { systemRandom, systemClock } from '../../../../src/daemon/base/clock.js';
import { DaemonWallets } from '../../../../src/daemon/wallet/wallets.js';
import { AcceptedDifferences } from '../../../support/acceptedDifferences.js';
import { callMethod, type MethodAnswer } from '../../../support/daemonMethods.js';
import { FakeLedger } from '../../../support/fakeLedger.js';

const RECORDED = new URL('../../../../../shared/conformance/sdk/daemon.jsonl.gz', import.meta.url);
const METHODS = [accountMethods, addressMethods, preferenceMethods, syncMethods, walletMethods].flat();
const SEED = 'carbon smart garage balance margin twelve chest sword toast envelope bottom stomach absent';
/** Fields with random values. Our values replace the recorded ones. */
const RANDOM_FIELDS = ['id', 'seed', 'private_key', 'public_key'];
/** Random choices, which ask for four bytes, select the first item, as in the recording. */
const FIRST_CHOICE = {
  bytes: (count: number) => (count === 4 ? Buffer.alloc(4) : systemRandom.bytes(count)),
};
/** The order of this list is not defined. */
const SORTED_BY_ADDRESS = 'address_list';

interface Call {
  readonly kind: string;
  readonly method: string;
  readonly params: Record<string, unknown>;
  readonly answer: {
    readonly result?: unknown;
    readonly error?: { data: { name: string }; message: string };
  };
}

function readCalls(): Call[] | null {
  if (!existsSync(RECORDED)) {
    console.log('skipped: the recordings are not present');
    return null;
  }
  const lines = gunzipSync(readFileSync(RECORDED)).toString('utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as Call);
}

const calls = readCalls();
const accepted = new AcceptedDifferences('recordedWalletMethods');
/** Calls before the first payment, and those from the preferences to the end of the wallet calls. */
const isAsked = (call: Call, at: number): boolean =>
  call.kind === 'call' &&
  (at < calls!.findIndex(({ kind }) => kind === 'fund') ||
    at >= calls!.findIndex(({ method }) => method === 'preference_set')) &&
  METHODS.some(({ declaration }) => declaration.name === call.method) &&
  !call.method.endsWith('balance') &&
  !['wallet_export', 'wallet_import'].includes(call.method);

it.skipIf(calls === null)('answers as recorded', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lbcnet-recorded-'));
  try {
    const account = { ledger: 'lbc_regtest', name: 'Main', seed: SEED };
    writeFileSync(
      join(folder, 'default_wallet'),
      JSON.stringify({ version: 1, name: 'My Wallet', preferences: {}, accounts: [account] }),
    );
    const ledger = new FakeLedger();
    const wallets = await DaemonWallets.open(['default_wallet'], {
      folder,
      ledger: ledger.ledger,
      tools: { clock: { ...systemClock, nowSec: () => 1_700_000_000 }, random: FIRST_CHOICE },
      warn: (text) => expect.unreachable(text),
    });
    await wallets.begin();
    const settings = { get: () => [] } as unknown as DaemonServices['settings'];
    const services: Partial<DaemonServices> = {
      ledger: ledger.ledger,
      settings,
      wallets,
      runningWallets: wallets,
    };
    const ours = new Map<string, string>([['<DIR>/wallet/wallets', folder]]);
    const replaced = (value: unknown): unknown => {
      let text = JSON.stringify(value);
      for (const [theirs, own] of ours) text = text.replaceAll(theirs, own);
      return JSON.parse(text);
    };
    let count = 0;
    for (const [at, call] of calls!.entries()) {
      if (!isAsked(call, at)) continue;
      const answer = await callMethod(METHODS, services, call.method, replaced(call.params) as object);
      noteRandom(call, answer, ours);
      compare(call, answer, replaced);
      count++;
    }
    expect(count).toBeGreaterThan(40);
    expect(accepted.problems()).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** A generated account has random keys. From then on, the recorded values stand for ours. */
function noteRandom({ method, answer }: Call, { result }: MethodAnswer, ours: Map<string, string>): void {
  const isListOfOther = method === 'account_list' && JSON.stringify(answer).includes('"Account #');
  if (method !== 'account_create' && !isListOfOther) return;
  const of = (value: unknown) =>
    (isListOfOther ? (value as { items: unknown[] }).items[0] : value) as Record<string, string>;
  for (const field of RANDOM_FIELDS) {
    const [theirs, own] = [of(answer.result)[field], of(result)[field]];
    if (theirs !== undefined && own !== undefined) ours.set(theirs, own);
  }
}

function compare(call: Call, answer: MethodAnswer, replaced: (value: unknown) => unknown): void {
  const reported = `${call.method} ${JSON.stringify(call.params)}`;
  const { result, error } = call.answer;
  if (error !== undefined) {
    expect(answer.error?.name, reported).toBe(error.data.name);
    if (answer.error?.message === replaced(error.message)) return;
    expect(call.method, reported).toBe('sync_apply');
    accepted.accept('text of data that is not an exported wallet');
    return;
  }
  expect(answer.error, reported).toBeUndefined();
  const [ours, theirs] = [answer.result, replaced(result)].map((value) => unmasked(value));
  if (call.method === 'account_add') {
    accepted.accept('form of a seed or key');
    expect({ ...(theirs as object), form: expect.any(String) as string }, reported).toEqual(ours);
    return;
  }
  if (call.method !== SORTED_BY_ADDRESS || JSON.stringify(ours) === JSON.stringify(theirs))
    return expect(ours, reported).toEqual(theirs);
  accepted.accept('order of addresses');
  const pages = [ours, theirs] as { items: { address: string }[] }[];
  expect({ ...pages[0], items: [] }, reported).toEqual({ ...pages[1], items: [] });
  expect(pages[0]!.items.map((item) => Object.keys(item).sort())).toEqual(
    pages[1]!.items.map((item) => Object.keys(item).sort()),
  );
  if (pages[1]!.items.length === 1) expect(ours, reported).toEqual(theirs);
}

/** Times are left out. */
function unmasked(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, inner: unknown) => (key === 'modified_on' ? undefined : inner)),
  );
}
