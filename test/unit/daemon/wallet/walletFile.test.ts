import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync, chmodSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { takeOverLbryumFile } from '../../../../src/daemon/wallet/lbryumWallet.js';
import { WalletContents } from '../../../../src/daemon/wallet/walletContents.js';
import { readWalletFile, writeWalletFile } from '../../../../src/daemon/wallet/walletFile.js';
import { ledgerParams } from '../../../../src/daemon/base/ledgerParams.js';
import { systemClock, systemRandom } from '../../../../src/daemon/base/clock.js';
import { JsonObject } from '../../../../src/util/json/json.js';

const tools = { clock: systemClock, random: systemRandom };
let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lbcnet-wallet-'));
  path = join(folder, 'default_wallet');
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('a wallet file', () => {
  it('is absent, then new and private, then keeps its mode', async () => {
    expect(await readWalletFile(path)).toBeNull();
    await writeWalletFile(path, '{"version": 1, "accounts": []}');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    chmodSync(path, 0o640);
    await writeWalletFile(path, '{"version": 1, "accounts": [], "name": "x"}');
    expect(statSync(path).mode & 0o777).toBe(0o640);
    expect((await readWalletFile(path))?.get('name')).toBe('x');
    expect(readdirSync(folder)).toEqual(['default_wallet']);
  });

  it.each([
    ['half written', '{"version": 1, "accounts": [{"na'],
    ['empty', ''],
    ['foreign', '{"vector": [1]}'],
    ['without accounts', '{"version": 1, "seed": "s", "keys": [1]}'],
    ['no text', Buffer.of(0xff, 0xfe, 0)],
  ])('that is %s is refused, not changed and copied once', async (_, content) => {
    writeFileSync(path, content);
    for (let attempt = 0; attempt < 2; attempt++)
      await expect(readWalletFile(path)).rejects.toThrow(/Restore a backup/);
    expect(readFileSync(path)).toEqual(Buffer.from(content as string));
    expect(readdirSync(folder).sort()).toEqual(['default_wallet', 'default_wallet.damaged.1']);
    expect(readFileSync(`${path}.damaged.1`)).toEqual(Buffer.from(content as string));
  });

  it('that is a folder is reported with advice', async () => {
    await expect(readWalletFile(folder)).rejects.toThrow(
      /^\/.*: it is a folder where a file should be \(EISDIR\)\. Move it away/,
    );
  });

  it('of lbryum is converted to the current format, keeping the old file', async () => {
    const old = `{"master_public_keys": {"x/": "P"}, "master_private_keys": {"x/": "S"}, "seed": "s", "seed_version": 11,
      "use_encryption": false, "accounts": {"0": {"receiving": ["02", "01", "02"], "change": []}}}`;
    writeFileSync(path, old);
    expect(await takeOverLbryumFile(path)).toEqual({ receiving: ['01', '02'], change: [] });
    expect(readFileSync(join(folder, 'old_lbryum_wallet_1'), 'utf8')).toBe(old);
    expect(await takeOverLbryumFile(path)).toBeNull();
  });
});

describe('a wallet', () => {
  it('with a new account is locked, saved, opened and unlocked with its password only', () => {
    const wallet = new WalletContents('w', new JsonObject(), tools);
    const { id, seed } = wallet.generateAccount(ledgerParams('lbc_regtest'));
    expect(seed.split(' ')).toHaveLength(12);
    expect(() => wallet.lock()).toThrow('encrypt first');
    wallet.encrypt('pass');
    wallet.lock();
    expect(wallet.defaultAccount?.root.privateKey).toBeNull();
    expect(wallet.fileText().text).not.toContain(seed);
    const opened = new WalletContents('w', wallet.toJson(), tools);
    expect(opened.isLocked).toBe(true);
    expect([opened.unlock('wrong'), opened.isLocked]).toEqual([false, true]);
    expect([opened.unlock('pass'), opened.defaultAccount?.seed, opened.defaultAccount?.id]).toEqual([
      true,
      seed,
      id,
    ]);
    expect(opened.hash()).toEqual(opened.hash());
  });

  it('that is to be encrypted but has no password is saved unencrypted, with a warning', () => {
    const wallet = new WalletContents('w', new JsonObject(), tools);
    wallet.generateAccount(ledgerParams('lbc_regtest'));
    wallet.setPreference('encrypt-on-disk', true);
    expect(wallet.fileText().wasReset).toBe(true);
    expect(wallet.preference('encrypt-on-disk')).toBe(false);
  });

  it('with a seed of unknown words can be unlocked', () => {
    const seed = 'one two threee four';
    const account = new JsonObject([
      ['ledger', 'lbc_mainnet'],
      ['seed', seed],
    ]);
    const wallet = new WalletContents('w', new JsonObject([['accounts', [account]]]), tools);
    wallet.encrypt('pass');
    wallet.lock();
    expect([wallet.unlock('pasS'), wallet.unlock('pass'), wallet.defaultAccount?.seed]).toEqual([
      false,
      true,
      seed,
    ]);
  });
});
