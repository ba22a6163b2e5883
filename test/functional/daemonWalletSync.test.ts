/**
 * Synchronises wallets of our daemon and of the Python lbry-sdk in both directions by `sync_apply`, and opens the files of the
 * other one. LBRYNET names the Python program; the tests are skipped without it.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock, systemRandom } from '../../src/daemon/base/clock.js';
import type { LoadedWallet } from '../../src/daemon/wallet/loadedWallet.js';
import { DaemonWallets } from '../../src/daemon/wallet/wallets.js';
import { FakeLedger } from '../support/fakeLedger.js';
import { PythonWallet, pythonOfSdk } from '../support/pythonWallet.js';

const python = pythonOfSdk();
if (python === null) console.log('skipped: LBRYNET names no lbry-sdk');

let folder: string;
let ours: LoadedWallet;
let theirs: PythonWallet;
let warnings: string[];

async function open(path: string): Promise<LoadedWallet> {
  const ledger = new FakeLedger();
  const wallets = await DaemonWallets.open(['w'], {
    folder: path,
    ledger: ledger.ledger,
    tools: { clock: systemClock, random: systemRandom },
    warn: (text) => warnings.push(text),
  });
  await wallets.begin();
  return wallets.default;
}

beforeEach(async () => {
  if (python === null) return;
  folder = mkdtempSync(join(tmpdir(), 'lbcnet-sync-'));
  warnings = [];
  for (const name of ['ours', 'theirs']) mkdirSync(join(folder, name));
  ours = await open(join(folder, 'ours'));
  theirs = new PythonWallet(python);
  await theirs.call('open', join(folder, 'theirs', 'w'));
});

afterEach(async () => {
  if (python === null) return;
  await theirs.close();
  rmSync(folder, { recursive: true });
});

interface Applied {
  readonly data: string;
  readonly hash: string;
}

/** Applies the data of the other daemon under the password and returns the answer. */
const toTheirs = async (password: string): Promise<Applied> =>
  theirs.call<Applied>('sync_apply', password, (await ours.syncApply(password, null, true)).data);
const toOurs = async (password: string): Promise<Applied> =>
  ours.syncApply(password, (await theirs.call<Applied>('sync_apply', password, null)).data, true);

describe.skipIf(python === null)('a wallet of lbcnet and one of lbrynet', () => {
  it('have the same hash, accounts, keys and preferences after a sync, whichever begins', async () => {
    const account = await theirs.call<string>('account_create', 'Theirs');
    await theirs.call('preference_set', 'app', { list: [1, 2.5, 'ä\u{1d49c}'], none: null });
    const applied = await toOurs('secret');
    expect(ours.accountIds).toContain(account);
    expect(ours.wallet.preferenceKeys()).toEqual(['app']);
    // lbry-sdk's wallet receives our account.
    const back = await toTheirs('secret');
    expect(back.hash).toBe(applied.hash);
    expect(await theirs.call('account_ids')).toHaveLength(2);
    const key = await ours.account().channelKeys.next();
    ours.account().channelKeys.import(key.secret);
    await ours.save();
    expect((await toTheirs('secret')).hash).toBe(ours.syncHash());
    expect(await theirs.call('sync_hash')).toBe(ours.syncHash());
  });

  it('agree about a watch-only account, whose seed is null in their file', async () => {
    const stranger = await ours.createAccount('stranger', 'single-address');
    await ours.removeAccount(stranger);
    const watched = await theirs.call<string>('account_add', 'Watch', stranger.account.publicKeyText);
    expect(watched).toBe(stranger.id);
    const { hash } = await toOurs('secret');
    expect((await toTheirs('secret')).hash).toBe(hash);
    expect((await open(join(folder, 'ours'))).syncHash()).toBe(hash);
  });

  it('change passwords during a sync: the newer password becomes that of both files', async () => {
    await ours.encrypt('first');
    await theirs.call('account_create', 'Theirs');
    const one = await toTheirs('first');
    expect((await toOurs('first')).hash).toBe(one.hash);
    await theirs.call('encrypt', 'second');
    const sent = await theirs.call<Applied>('sync_apply', 'second', null);
    await expect(ours.syncApply('first', sent.data, true)).rejects.toThrow('Password is invalid.');
    expect((await ours.syncApply('second', sent.data, true)).hash).toBe(sent.hash);
    await expect(toTheirs('second')).resolves.toMatchObject({ hash: sent.hash });
    await ours.encrypt('third');
    const third = await ours.syncApply('third', null, true);
    await expect(theirs.call('sync_apply', 'second', third.data)).rejects.toThrow('InvalidPasswordError');
    expect(await theirs.call('sync_apply', 'third', third.data)).toMatchObject({ hash: third.hash });
    await theirs.call('lock');
    expect(await theirs.call('unlock', 'second')).toBe(false);
    expect(await theirs.call('unlock', 'third')).toBe(true);
    ours.lock();
    expect(ours.unlock('second')).toBe(false);
    expect(ours.unlock('third')).toBe(true);
    // Now without a password.
    await theirs.call('decrypt');
    const clear = await theirs.call<Applied>('sync_apply', 'fourth', null);
    await ours.syncApply('fourth', clear.data, true);
    expect(ours.isEncrypted).toBe(false);
    expect(readFileSync(ours.path, 'utf8')).toContain(ours.account().account.seed);
    expect(warnings).toEqual([]);
  });

  it('read each other’s encrypted files', async () => {
    await ours.encrypt('secret');
    await ours.setPreference('a', [1]);
    await theirs.call('open', ours.path);
    expect(await theirs.call('unlock', 'wrong')).toBe(false);
    expect(await theirs.call('unlock', 'secret')).toBe(true);
    expect(await theirs.call('preferences')).toEqual({ a: [1], 'encrypt-on-disk': true });
    expect(await theirs.call('account_ids')).toEqual(ours.accountIds);
    await theirs.call('account_create', 'Second');
    const reopened = await open(join(folder, 'ours'));
    expect(reopened.isLocked).toBe(true);
    expect(reopened.unlock('secret')).toBe(true);
    expect(reopened.accountIds).toEqual(await theirs.call('account_ids'));
    expect(reopened.syncHash()).toBe(await theirs.call('sync_hash'));
  });
});
