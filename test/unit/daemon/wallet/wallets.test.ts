import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { deflateSync } from 'node:zlib';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemRandom, systemClock } from '../../../../src/daemon/base/clock.js';
import { ledgerParams } from '../../../../src/daemon/base/ledgerParams.js';
import { writePythonJson } from '../../../../src/daemon/base/pythonJson.js';
import { parseWalletText, WalletContents } from '../../../../src/daemon/wallet/walletContents.js';
import { encryptExport } from '../../../../src/daemon/wallet/walletCipher.js';
import { DaemonWallets } from '../../../../src/daemon/wallet/wallets.js';
import { parseJson } from '../../../../src/util/json/jsonParse.js';
import { FakeLedger } from '../../../support/fakeLedger.js';

const SEED = 'carbon smart garage balance margin twelve chest sword toast envelope bottom stomach absent';

let folder: string;
let ledger: FakeLedger;
let warnings: string[];
let timeSec = 1_700_000_000;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lbcnet-wallets-'));
  ledger = new FakeLedger();
  warnings = [];
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const open = (...ids: string[]) =>
  DaemonWallets.open(ids.length > 0 ? ids : ['default_wallet'], {
    folder,
    ledger: ledger.ledger,
    tools: { clock: { ...systemClock, nowSec: () => timeSec }, random: systemRandom },
    warn: (text) => warnings.push(text),
  });
const text = (id = 'default_wallet') => readFileSync(join(folder, id), 'utf8');
const write = (id: string, json: unknown) => {
  writeFileSync(join(folder, id), typeof json === 'string' ? json : JSON.stringify(json));
};
const account = (more: object = {}) => ({ ledger: 'lbc_regtest', name: 'A', seed: SEED, ...more });
const wallet = (...accounts: object[]) => ({ version: 1, name: 'W', preferences: {}, accounts });

describe('opening', () => {
  it('creates an account in an empty default wallet, saved at once, and none in others', async () => {
    const wallets = await open('default_wallet', 'second');
    expect(wallets.all.map(({ id, accounts }) => [id, accounts.length])).toEqual([
      ['default_wallet', 1],
      ['second', 0],
    ]);
    expect(text()).toContain(wallets.default.account().account.seed);
    const again = await open();
    expect(again.default.account().id).toBe(wallets.default.account().id);
  });

  it.each([
    ['half a file', '{"version": 1, "acc'],
    ['an account without keys', wallet({ ledger: 'lbc_regtest', name: 'A' })],
    ['an account of an unknown chain', wallet(account({ ledger: 'xyz' }))],
    ['an old wallet without its keys', { master_public_keys: { 'x/': 'P' } }],
  ])('refuses %s, gives advice, and keeps it with a copy', async (_, content) => {
    write('default_wallet', content);
    const before = text();
    await expect(open()).rejects.toThrow(
      /It was not changed, and a copy was saved as .*\.1\. Restore a backup/,
    );
    expect(text()).toBe(before);
    expect(text('default_wallet.damaged.1')).toBe(before);
  });

  it('reports a file in place of the folder', async () => {
    rmSync(folder, { recursive: true });
    writeFileSync(folder, '');
    await expect(open()).rejects.toThrow(/: another file exists there \(EEXIST\)\. Move it away/);
  });

  it('refuses a default wallet of another chain, and skips accounts of other chains', async () => {
    write('default_wallet', wallet(account({ ledger: 'lbc_mainnet' })));
    await expect(open()).rejects.toThrow(/has no account on lbc_regtest/);
    write('default_wallet', wallet(account({ ledger: 'lbc_mainnet' }), account()));
    const wallets = await open();
    expect(wallets.default.accountIds).toEqual(['n4ZRwP4QjKwsmXCfqUPqnx133i83Ha7GbW']);
    await wallets.default.setPreference('a', 1);
    expect(text()).toContain('lbc_mainnet');
  });

  it('removes partial files after a kill, and saves channel keys again', async () => {
    write('default_wallet.tmp.4711', '{"version"');
    write('default_wallet', wallet(account({ certificates: { wrong: 'no key' } })));
    const wallets = await open();
    expect(readdirSync(folder)).toEqual(['default_wallet']);
    expect(wallets.default.account().account.channelKeys.size).toBe(0);
    expect(text()).not.toContain('no key');
  });

  it('uses a complete new file after a kill, and keeps another complete file', async () => {
    write('default_wallet.tmp.4711', '{"version"');
    write('default_wallet.tmp.77', wallet(account()));
    const wallets = await open();
    expect(wallets.default.accountIds).toEqual(['n4ZRwP4QjKwsmXCfqUPqnx133i83Ha7GbW']);
    expect(warnings.join()).toMatch(
      /default_wallet was missing and was replaced by .*default_wallet\.tmp\.77, the result of an interrupted save\./,
    );
    expect(readdirSync(folder)).toEqual(['default_wallet']);
    write('default_wallet.tmp.78', wallet(account()));
    await open();
    expect(readdirSync(folder)).toEqual(['default_wallet', 'default_wallet.tmp.78']);
  });

  it('does not choose between two new files', async () => {
    for (const n of [1, 2]) write(`default_wallet.tmp.${n}`, wallet(account()));
    await expect(open()).rejects.toThrow(/is missing.*tmp\.1, .*tmp\.2\. Rename the right one/);
    expect(readdirSync(folder)).toEqual(['default_wallet.tmp.1', 'default_wallet.tmp.2']);
  });

  it('follows a symbolic link to the file, also in writing, and keeps the link', async () => {
    mkdirSync(join(folder, 'disk'));
    write('disk/mine', wallet(account()));
    symlinkSync(join('disk', 'mine'), join(folder, 'default_wallet'));
    const wallets = await open();
    await wallets.default.setPreference('a', 'b');
    expect(lstatSync(join(folder, 'default_wallet')).isSymbolicLink()).toBe(true);
    expect(text('disk/mine')).toContain('"a"');
    expect(readdirSync(join(folder, 'disk'))).toEqual(['mine']);
    symlinkSync('default_wallet', join(folder, 'same'));
    await expect(wallets.add('same')).rejects.toMatchObject({ name: 'WalletAlreadyLoadedError' });
  });

  it('opens a file once through any links, also concurrently by two names', async () => {
    const real = join(folder, 'disk');
    mkdirSync(real);
    symlinkSync('disk', join(folder, 'wallets'));
    folder = join(folder, 'wallets');
    try {
      const wallets = await open();
      await wallets.create('new', null);
      for (const id of ['default_wallet', 'new']) {
        symlinkSync(id, join(real, `${id}2`));
        symlinkSync(join(folder, id), join(real, `${id}3`));
        for (const n of [2, 3])
          await expect(wallets.add(`${id}${n}`)).rejects.toMatchObject({ name: 'WalletAlreadyLoadedError' });
      }
      write('other', wallet(account()));
      symlinkSync('other', join(real, 'same'));
      const both = await Promise.allSettled([wallets.add('other'), wallets.add('same')]);
      expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      await expect(open('other', 'same')).rejects.toMatchObject({ name: 'WalletAlreadyLoadedError' });
    } finally {
      folder = join(folder, '..');
    }
  });

  it('does not replace a broken or circular link', async () => {
    const link = (target: string): void => {
      rmSync(join(folder, 'default_wallet'), { force: true });
      symlinkSync(target, join(folder, 'default_wallet'));
    };
    link(join(folder, 'no disk', 'mine'));
    await expect(open()).rejects.toThrow(
      /is a symbolic link to .*no disk.mine, which does not exist\. Mount its disk/,
    );
    const wallets = await open('other');
    await expect(wallets.create('default_wallet', null)).rejects.toMatchObject({
      name: 'WalletAlreadyExistsError',
    });
    await expect(wallets.add('default_wallet')).rejects.toThrow('which does not exist');
    expect(lstatSync(join(folder, 'default_wallet')).isSymbolicLink()).toBe(true);
    link('default_wallet');
    await expect(open()).rejects.toThrow(/default_wallet: its path is a loop of symbolic links \(ELOOP\)/);
    expect(lstatSync(join(folder, 'default_wallet')).isSymbolicLink()).toBe(true);
  });

  it('marks a locked default wallet as encrypted on disk', async () => {
    const first = await open();
    await first.default.encrypt('secret');
    write('default_wallet', { ...(JSON.parse(text()) as object), preferences: {} });
    const wallets = await open();
    expect(wallets.default.isLocked).toBe(true);
    expect(wallets.default.wallet.isEncryptedOnDisk).toBe(true);
    expect(JSON.parse(text())).toMatchObject({ preferences: { 'encrypt-on-disk': { value: true } } });
  });

  it('imports an old wallet with all addresses that it had given out', async () => {
    ledger.params = ledgerParams('lbc_mainnet');
    const old = await open();
    const root = old.default.account().account;
    const { private_key: privateKey, public_key: publicKey } = Object.fromEntries(root.toJson().entries);
    rmSync(join(folder, 'default_wallet'));
    write('default_wallet', {
      master_public_keys: { 'x/': publicKey },
      master_private_keys: { 'x/': privateKey },
      seed: root.seed,
      seed_version: 11,
      use_encryption: false,
      accounts: { 0: { receiving: Array.from({ length: 30 }, (_, n) => `02${n}`), change: [] } },
    });
    await open();
    expect(readdirSync(folder)).toContain('old_lbryum_wallet_1');
    // The process was killed before the ledger had an address, so nothing is known about the old file.
    const wallets = await open();
    expect(readdirSync(folder)).not.toContain('old_lbryum_wallet_2');
    await wallets.begin();
    const { id } = wallets.default.account();
    expect(ledger.rows.filter((row) => row.accountId === id && row.chain === 0)).toHaveLength(30);
    expect(JSON.parse(text())).toMatchObject({
      accounts: [{ address_generator: { receiving: { gap: 20 } } }],
    });
  });
});

describe('wallets', () => {
  it('are created, closed, opened and distinguished by file name', async () => {
    const wallets = await open();
    const other = await wallets.create('other', 'single-address');
    expect(other.accounts).toHaveLength(1);
    await expect(wallets.create('other', null)).rejects.toThrow(/is already loaded/);
    await expect(wallets.add('other')).rejects.toThrow(/is already loaded/);
    await expect(wallets.add('none')).rejects.toThrow(/^Wallet not found at .*none\.$/);
    await wallets.remove('other');
    expect(ledger.removed).toEqual(other.accountIds);
    expect(() => wallets.get('other')).toThrow('Wallet other is not loaded.');
    await expect(wallets.create('other', null)).rejects.toThrow(
      /already exists, use `wallet_add` to load it/,
    );
    const back = await wallets.add('other');
    expect(back.accountIds).toEqual(other.accountIds);
    expect(ledger.sources.has(back.accountIds[0]!)).toBe(true);
  });

  it.each(['', '.', '..', '../x', 'a/b', 'a\0'])('cannot be named %j', async (id) => {
    const wallets = await open();
    await expect(wallets.create(id, null)).rejects.toThrow(/not a valid name of a wallet/);
    await expect(wallets.add(id)).rejects.toThrow(/not a valid name of a wallet/);
  });

  it('have names short enough for those of their copies', async () => {
    const wallets = await open();
    expect((await wallets.create('ä'.repeat(100), null)).id).toHaveLength(100);
    for (const id of [`${'ä'.repeat(100)}a`, 'a'.repeat(100_000)])
      for (const call of [wallets.create(id, null), wallets.add(id)])
        await expect(call).rejects.toThrow('of at most 200 bytes');
  });

  it('have gaps longer than any run of unused addresses', async () => {
    const wallets = await open();
    const one = wallets.default.account();
    await ledger.add(one);
    const receiving = ledger.rows.filter(({ chain }) => chain === 0);
    ledger.use(receiving[19]!.address);
    await ledger.ensureGap(one);
    ledger.use(ledger.rows.filter(({ chain }) => chain === 0)[39]!.address);
    ledger.use(ledger.rows.filter(({ chain }) => chain === 1)[5]!.address);
    await wallets.begin();
    expect(one.chains.map(({ gap }) => gap)).toEqual([20, 6]);
    ledger.rows.find(({ chain, index }) => chain === 0 && index === 19)!.usedTimes = 0;
    await wallets.begin();
    expect(one.chains.map(({ gap }) => gap)).toEqual([40, 6]);
    expect(JSON.parse(text())).toMatchObject({
      accounts: [{ address_generator: { receiving: { gap: 40 }, change: { gap: 6 } } }],
    });
  });
});

describe('contents of a preference or an import', () => {
  const TOO_DEEP = '['.repeat(2000) + ']'.repeat(2000);

  it.each([
    ['a number that no double holds', '1e999', 'too large'],
    ['one within it', '[{"a": [-1e999]}]', 'too large'],
    ['too deep nesting', TOO_DEEP, 'nested too deep'],
  ])('are refused if they could not be read again: %s', async (_, value, words) => {
    write('default_wallet', wallet(account()));
    const { default: mine } = await open();
    await expect(mine.setPreference('bad', parseJson(value))).rejects.toThrow(words);
    await mine.setPreference('long', parseJson('1'.repeat(400)));
    const { default: again } = await open();
    expect(again.wallet.preferenceKeys()).toEqual(['long']);
  });

  it.each(['1e999', '1e300'])('for gaps and times are countable numbers, not %s', async (big) => {
    write('default_wallet', wallet(account()));
    const { default: mine } = await open();
    const before = mine.wallet.exportText();
    const generator = `{"name": "deterministic-chain", "receiving": {"gap": ${big}}}`;
    for (const field of [
      `"address_generator": ${generator}, "modified_on": 99999999999`,
      `"modified_on": ${big}`,
    ]) {
      const own = JSON.stringify(account()).slice(0, -1);
      const other = `{"version": 1, "name": "W", "preferences": {}, "accounts": [${own}, ${field}}]}`;
      await expect(mine.importExport(other, null, false)).rejects.toThrow('too large a number');
    }
    expect(mine.wallet.exportText()).toBe(before);
  });

  it("are read from lbrynet in Python's form, and written in the same form", async () => {
    const written = JSON.stringify(wallet(account({ modified_on: 5 }))).replace(
      '"preferences":{}',
      '"preferences": {"half": {"value": "\\ud83d", "ts": 1}, "big": {"value": [Infinity, NaN], "ts": 2}}',
    );
    write('default_wallet', written);
    const { default: mine } = await open();
    await mine.setPreference('own', 1);
    expect(text()).toContain('"value": "\\ud83d"');
    const { default: again } = await open();
    expect(again.wallet.exportText()).toContain('"half": {"ts": 1, "value": "\\ud83d"}');
    expect(again.wallet.exportText()).toContain('"value": [Infinity, NaN]');
    await again.importExport(again.wallet.exportText(), null, false);
  });
});

describe('saving', () => {
  it('is serialized: a value set during one save is in the next, and no promise resolves before its file', async () => {
    const { default: one } = await open();
    const sets = Array.from({ length: 50 }, async (_, n) => {
      await one.setPreference(`key${n}`, n);
      expect(text()).toContain(`"key${n}"`);
    });
    await Promise.all(sets);
    expect(readdirSync(folder)).toEqual(['default_wallet']);
    timeSec++;
  });

  it('keeps changes that another program wrote to the file meanwhile', async () => {
    const { default: one } = await open();
    const foreign = JSON.stringify(wallet(account()));
    write('default_wallet', foreign);
    await one.setPreference('a', 1);
    expect(text('default_wallet.foreign.1')).toBe(foreign);
    expect(text()).toContain(one.account().account.seed);
    expect(warnings.join()).toMatch(
      /changed by another program.*foreign\.1, .*No other program may use the file/,
    );
    await one.setPreference('a', 2);
    expect(readdirSync(folder)).toEqual(['default_wallet', 'default_wallet.foreign.1']);
  });

  it('that fails removes its account, and the next save succeeds', async () => {
    const { default: one } = await open();
    renameSync(folder, `${folder}.away`);
    await expect(one.createAccount('lost', 'deterministic-chain')).rejects.toThrow(/ENOENT/);
    renameSync(`${folder}.away`, folder);
    expect(one.accounts).toHaveLength(1);
    await one.createAccount('kept', 'deterministic-chain');
    expect(text()).toContain('"kept"');
    expect(text()).not.toContain('"lost"');
  });
});

describe('a save that fails', () => {
  const OTHER = 'smoke focus junk say cushion jewel melody axis engine outer magic butter';
  const failing = async (task: () => Promise<unknown>): Promise<void> => {
    renameSync(folder, `${folder}.away`);
    await expect(task()).rejects.toMatchObject({
      name: 'OSError',
      message: expect.stringMatching(
        /^The wallet file .* cannot be written: it is missing \(ENOENT\)/,
      ) as string,
    });
    renameSync(`${folder}.away`, folder);
  };

  it('reverts all refused changes', async () => {
    write('default_wallet', wallet(account(), account({ seed: OTHER, name: 'B' })));
    const { default: mine } = await open();
    await mine.setPreference('a', 1);
    const before = mine.wallet.exportText();
    const [first, second] = mine.accounts;
    await failing(() => mine.setPreference('a', 2));
    await failing(() => mine.setPreference('b', 2));
    await failing(() => mine.removeAccount(first!));
    const gap = { gap: 50, maxUses: 2 };
    await failing(() =>
      mine.changeAccount(second!, { isDefault: true, name: 'C', change: gap, receiving: gap }),
    );
    await failing(() => mine.encrypt('pass'));
    expect(mine.wallet.exportText()).toBe(before);
    expect([mine.isEncrypted, mine.wallet.password]).toEqual([false, null]);
    expect(ledger.removed).toEqual([]);
    await mine.encrypt('pass');
    await failing(() => mine.decrypt());
    await failing(() => mine.encrypt('other'));
    expect([mine.isEncrypted, mine.wallet.password]).toEqual([true, 'pass']);
  });

  it('keeps changes that belong to the next one', async () => {
    write('default_wallet', wallet(account()));
    const { default: mine } = await open();
    const other = JSON.stringify(wallet(account({ seed: OTHER, name: 'B' })));
    await failing(() => mine.importExport(other, null, false));
    expect(mine.accounts.map(({ id }) => ledger.isSynced(id))).toEqual([false, true]);
    await mine.importExport(other, null, false);
    expect(mine.accounts).toHaveLength(2);
    expect(text()).toContain('"B"');
  });

  it('of a wallet that is removed meanwhile removes no other wallet', async () => {
    const all = await open();
    await all.create('second', null);
    renameSync(folder, `${folder}.away`);
    const made = all.create('third', null);
    while (all.all.length < 3) await Promise.race([made, new Promise((done) => setImmediate(done))]);
    const removed = all.remove('third');
    await expect(made).rejects.toThrow('cannot be written');
    await removed;
    renameSync(`${folder}.away`, folder);
    expect(all.all.map(({ id }) => id)).toEqual(['default_wallet', 'second']);
  });
});

describe('a locked wallet', () => {
  const OTHER = 'smoke focus junk say cushion jewel melody axis engine outer magic butter';

  it('writes no unencrypted keys, while its password is not known', async () => {
    const first = (await open()).default;
    await first.encrypt('pass');
    const { default: mine } = await open();
    expect(mine.isLocked).toBe(true);
    const added = parseWalletText(JSON.stringify(account({ seed: OTHER })));
    await expect(mine.createAccount('B', 'deterministic-chain')).rejects.toMatchObject({
      name: 'AssertionError',
    });
    await expect(mine.addAccount(added)).rejects.toThrow(/in clear into a locked wallet, unlock first/);
    expect(mine.accounts).toHaveLength(1);
    expect(text()).not.toMatch(/prv|smoke/);
    const watched = new WalletContents(
      'other',
      parseWalletText(JSON.stringify(wallet(account({ seed: OTHER })))),
      {
        clock: { ...systemClock, nowSec: () => timeSec },
        random: systemRandom,
      },
    ).accounts[0]!.publicKeyText;
    await mine.addAccount(parseWalletText(JSON.stringify({ ...account(), seed: '', public_key: watched })));
    expect(mine.unlock('pass')).toBe(true);
    mine.lock();
    await mine.createAccount('C', 'deterministic-chain');
    expect(text()).not.toMatch(/prv/);
  });
});

describe('an export', () => {
  const OTHER = 'smoke focus junk say cushion jewel melody axis engine outer magic butter';
  const newer = {
    name: 'newer',
    modified_on: 9_999_999_999,
    address_generator: { name: 'deterministic-chain', change: { gap: 99 }, receiving: { gap: 98 } },
    certificates: { key: 'text' },
  };
  const preferences = { b: { value: 2, ts: 1 }, a: { value: 3, ts: 9_999_999_999 } };
  const exported = (...accounts: object[]) => JSON.stringify({ ...wallet(...accounts), preferences });

  it.each([
    ['an account of an unknown chain', account({ ledger: 'xyz', seed: OTHER })],
    ['channel keys that are not an object', account({ seed: OTHER, certificates: 7 })],
    ['another address generator', account({ ...newer, modified_on: 99_999_999_999, address_generator: {} })],
    ['an account without a name', account({ name: null, modified_on: 99_999_999_999 })],
  ])('with %s is not merged at all', async (_, bad) => {
    write('default_wallet', wallet(account()));
    const { default: mine } = await open();
    await mine.setPreference('a', 1);
    const [before, accounts] = [mine.wallet.exportText(), [...mine.wallet.accounts]];
    const all = exported(account(newer), account({ seed: OTHER }), bad);
    await expect(mine.importExport(all, null, false)).rejects.toThrow();
    expect(mine.wallet.exportText()).toBe(before);
    expect(mine.wallet.accounts).toEqual(accounts);
    await mine.importExport(exported(account(newer), account({ seed: OTHER })), null, false);
    expect(mine.wallet.accounts.map(({ name }) => name)).toEqual(['newer', 'A']);
    expect(mine.wallet.accounts[0]!.generator).toMatchObject({ change: { gap: 99 }, receiving: { gap: 98 } });
    expect([mine.wallet.preference('a'), mine.wallet.preference('b')]).toEqual([3, 2]);
  });

  it.each([
    ['no time', '{"value": 1}', "The preference 'a' has no time."],
    ['a time that is text', '{"value": 1, "ts": "5"}', "The preference 'a' has no time."],
    ['a time after all others', '{"value": 1, "ts": Infinity}', "The preference 'a' has no time."],
    ['no value', '{"ts": 5}', "The preference 'a' has no value."],
  ])(
    'with a preference that has %s is not merged, even if the preference is newer',
    async (_, bad, reason) => {
      write('default_wallet', wallet(account()));
      const { default: mine } = await open();
      const data = `{"accounts": [], "preferences": {"b": {"value": 1, "ts": 1}, "a": ${bad}}}`;
      await expect(mine.importExport(data, null, false)).rejects.toThrow(reason);
      expect(mine.wallet.preferenceKeys()).toEqual([]);
    },
  );

  it('replaces a preference without a time, as in a file written by hand', async () => {
    write('default_wallet', { ...wallet(account()), preferences: { a: { value: 1 } } });
    const { default: mine } = await open();
    await mine.importExport(exported(), null, false);
    expect(mine.wallet.preference('a')).toBe(3);
  });

  it('that would lock the wallet is not merged by sync_apply', async () => {
    write('default_wallet', wallet(account()));
    const { default: mine } = await open();
    const locked = new WalletContents(
      'other',
      parseWalletText(JSON.stringify(wallet(account({ seed: OTHER })))),
      {
        clock: { ...systemClock, nowSec: () => timeSec },
        random: systemRandom,
      },
    );
    locked.encrypt('pass');
    locked.lock();
    const data = encryptExport('pass', deflateSync(writePythonJson(locked.toJson())), systemRandom);
    const before = mine.wallet.exportText();
    await expect(mine.syncApply('pass', await data, false)).rejects.toThrow(
      'Cannot pack a wallet with locked',
    );
    expect(mine.wallet.exportText()).toBe(before);
  });
});
