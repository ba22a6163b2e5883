import {
  appendFileSync,
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { onWallets } from '../../../src/rpc/call/onWallets.js';
import { bytesKey } from '../../../src/wallet/keys/keyRecords.js';
import { setNewSeed } from '../../../src/wallet/keys/newSeed.js';
import { recordKey, WalletBatch } from '../../../src/wallet/store/records.js';
import { WalletFile } from '../../../src/wallet/store/walletFile.js';
import { Wallets } from '../../../src/wallet/wallets.js';
import { FakeNode } from './support/fakeNode.js';
import { WALLET_OPTIONS } from './support/openWallet.js';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'lbcnode-wallets-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function walletsOf(walletDir: string, wallet = WALLET_OPTIONS, node = new FakeNode()): Wallets {
  node.mineEmpty(2);
  return new Wallets(
    {
      walletDir,
      wallet,
      rescans: false,
      salvages: false,
      zaps: 'nothing',
      upgradesTo: 0,
    },
    node.port,
  );
}

/** The error of a call; empty if there is none. */
const problemOf = (call: Promise<unknown>): Promise<string> => call.then(() => '', String);

describe('Wallets', () => {
  it('opens a wallet once, whatever links lead to it', async () => {
    const wallets = walletsOf(folder);
    await wallets.create('one');
    symlinkSync(join(folder, 'one'), join(folder, 'other'));
    expect(await problemOf(wallets.openExisting('other'))).toContain('Duplicate -wallet filename specified.');
    await wallets.close();
  });

  it('asks callers to wait during a reorganisation', async () => {
    const node = new FakeNode();
    const wallets = walletsOf(folder, WALLET_OPTIONS, node);
    await wallets.create('one');
    expect([wallets.caughtUp(), wallets.isBetween]).toEqual([null, false]);
    let end = (): void => undefined;
    node.reorganisation = new Promise((resolve) => (end = resolve));
    let answered = '';
    const call = (name: string) => (): null => {
      answered += name;
      return null;
    };
    const waits = [onWallets(wallets, call('a')), onWallets(wallets, call('b'))];
    node.disconnect();
    for (let n = 0; n < 5; n++) await new Promise((resolve) => setImmediate(resolve));
    expect([answered, wallets.isBetween]).toEqual(['', true]);
    // A second reorganisation follows the first one immediately.
    const endOfFirst = end;
    node.reorganisation = new Promise((resolve) => (end = resolve));
    endOfFirst();
    for (let n = 0; n < 5; n++) await new Promise((resolve) => setImmediate(resolve));
    expect(answered).toBe('');
    node.reorganisation = null;
    end();
    await Promise.all(waits);
    expect(answered).toBe('ab');
    expect(onWallets(wallets, call('c'))).toBeNull();
    await wallets.close();
  });

  it('refuses a copy of an open wallet, and opens it after that one is closed', async () => {
    const node = new FakeNode();
    const wallets = walletsOf(folder, WALLET_OPTIONS, node);
    const own = await wallets.create('own');
    const other = await wallets.create('other');
    await own.file.backup(join(folder, 'copy'));
    const refused =
      'WalletOpenError: Error loading wallet copy. It is a copy of the wallet own, which is loaded: both would give out the same addresses. Unload the other wallet first.';
    expect(await problemOf(wallets.openExisting('copy'))).toBe(refused);
    await own.keys.take(false);
    expect(await problemOf(wallets.openExisting('copy'))).toBe(refused);
    // It is refused under any file name, and also at the start.
    expect(await problemOf(wallets.openOrCreate('copy'))).toBe(refused);
    await wallets.unload(own);
    const copy = await wallets.openExisting('copy');
    expect(await problemOf(wallets.openExisting('own'))).toContain('It is a copy of the wallet copy,');
    // A copy with a new seed is another wallet. A wallet that had its own seed does not become a copy when it gets the seed of
    // another wallet.
    await setNewSeed(copy, null, true);
    const again = await wallets.openExisting('own');
    const { privateKey } = again.keyring.signingKey(again.hd.state!.seedId)!;
    await setNewSeed(other, { privateKey: Buffer.from(privateKey), compressed: true }, true);
    await wallets.unload(other);
    expect((await wallets.openExisting('other')).hd.state!.seedId).toEqual(again.hd.state!.seedId);
    await wallets.close();
  });

  it('recognizes copies of wallets without a seed by the keys in the pool', async () => {
    const wallets = walletsOf(folder);
    const own = await wallets.create('own');
    await own.change((batch) => batch.del(recordKey('hdchain')));
    const watching = await wallets.create('watching', false);
    for (const [wallet, copy] of [
      [own, 'copy'],
      [watching, 'watching copy'],
    ] as const)
      await wallet.file.backup(join(folder, copy));
    await wallets.unload(own);
    await wallets.openExisting('own');
    expect(await problemOf(wallets.openExisting('copy'))).toContain('It is a copy of the wallet own,');
    // A wallet that gives out no keys may be open twice.
    expect((await wallets.openExisting('watching copy')).hasPrivateKeys).toBe(false);
    await wallets.close();
  });

  it('gives advice about an obstacle in place of its folder', async () => {
    const walletDir = join(folder, 'wallets');
    const open = (): Promise<string> => problemOf(walletsOf(walletDir).openOrCreate('one'));
    writeFileSync(walletDir, '');
    expect(await open()).toBe(
      `WalletOpenError: ${join(walletDir, 'one')}: a part of its path is not a folder (ENOTDIR). Move the file in its path away and start again; no acknowledged data is lost.`,
    );
    rmSync(walletDir);
    symlinkSync(join(folder, 'nowhere', 'else'), walletDir);
    expect(await open()).toMatch(/^WalletOpenError: .*: another file exists there \(EEXIST\)\. Move it away/);
    rmSync(walletDir);
    symlinkSync(walletDir, walletDir);
    expect(await open()).toMatch(
      /^WalletOpenError: .*: its path is a loop of symbolic links \(ELOOP\)\. Correct the symbolic/,
    );
  });

  it('excludes other nodes whatever links lead to the file', async () => {
    const own = walletsOf(folder);
    const { path } = (await own.create('one')).file;
    const elsewhere = join(folder, 'elsewhere');
    mkdirSync(join(elsewhere, 'two'), { recursive: true });
    symlinkSync(path, join(elsewhere, 'two', 'wallet.db'));
    symlinkSync(join(folder, 'one'), join(elsewhere, 'three'));
    const other = walletsOf(elsewhere);
    for (const name of ['two', 'three'])
      expect(await problemOf(other.openExisting(name))).toContain('Cannot obtain a lock on wallet directory');
    await own.close();
    const wallet = await other.openExisting('two');
    // The rewritten file replaces the target of the link, and the link remains.
    await wallet.rewriteFile(new WalletBatch());
    expect(lstatSync(join(elsewhere, 'two', 'wallet.db')).isSymbolicLink()).toBe(true);
    expect(await problemOf(walletsOf(folder).openExisting('one'))).toContain('Cannot obtain a lock');
    await other.close();
  });

  it('warns of a file with several names, which folder locks do not protect', async () => {
    const node = new FakeNode();
    const wallets = walletsOf(folder, WALLET_OPTIONS, node);
    const { file } = await wallets.create('one');
    await wallets.unload(wallets.find('one')!);
    await wallets.openExisting('one');
    expect(node.warnings).toEqual([]);
    await wallets.unload(wallets.find('one')!);
    linkSync(file.path, join(folder, 'another name'));
    await wallets.openExisting('one');
    expect(node.warnings).toEqual([expect.stringMatching(/wallet one has 2 names/)]);
    await wallets.close();
  });

  it('warns of an incomplete end, and truncates it', async () => {
    const node = new FakeNode();
    const wallets = walletsOf(folder, WALLET_OPTIONS, node);
    const { file } = await wallets.create('one');
    await wallets.unload(wallets.find('one')!);
    appendFileSync(file.path, Buffer.alloc(77));
    await wallets.openExisting('one');
    expect(node.warnings).toEqual([
      expect.stringContaining(`The last 77 bytes of ${file.path} were incomplete`),
    ]);
    await wallets.unload(wallets.find('one')!);
    await wallets.openExisting('one');
    expect(node.warnings.length).toBe(1);
    await wallets.close();
  });

  it.each([true, false])('creates a complete wallet or none, with private keys: %s', async (privateKeys) => {
    const wallets = walletsOf(folder, { ...WALLET_OPTIONS, keypoolSize: 300 });
    const seen = new Set<number>();
    let isMade = false;
    const made = wallets.create('one', privateKeys).finally(() => (isMade = true));
    // The states that a kill would leave at each moment, the last one after the end.
    for (let n = 0, isLast = false; !isLast; n++) {
      isLast = isMade;
      await new Promise(setImmediate);
      const copy = join(folder, `copy${n}`);
      if (!existsSync(join(folder, 'one', 'wallet.db'))) continue;
      copyFileSync(join(folder, 'one', 'wallet.db'), copy);
      const file = await WalletFile.open(copy);
      seen.add(file.keys('').length);
      await file.close();
    }
    const { keyring, hasPrivateKeys } = await made;
    expect(hasPrivateKeys).toBe(privateKeys);
    // Version and flags; or version, seed, and each key in three rows.
    expect(keyring.keyCount).toBe(privateKeys ? 601 : 0);
    expect([...seen].filter((rows) => rows < (privateKeys ? 2 + 3 * 600 : 2))).toEqual([]);
    expect(seen.size).toBeGreaterThan(0);
    await wallets.close();
  });

  it('creates a wallet after a kill left another unfinished', async () => {
    mkdirSync(join(folder, 'one', '.lbcnodelock'), { recursive: true });
    const wallets = walletsOf(folder);
    writeFileSync(join(folder, 'one', 'something'), '');
    expect(await problemOf(wallets.create('one'))).toContain('already exists');
    rmSync(join(folder, 'one', 'something'));
    writeFileSync(join(folder, 'one', 'wallet.db.0123456789ab.tmp'), 'half');
    const wallet = await wallets.create('one', false);
    expect(wallet.hasPrivateKeys).toBe(false);
    expect(existsSync(join(folder, 'one', 'wallet.db.0123456789ab.tmp'))).toBe(false);
    await wallets.close();
  });

  it('completes a wallet that a crash left empty', async () => {
    mkdirSync(join(folder, 'one'));
    await (await WalletFile.create(join(folder, 'one', 'wallet.db'))).close();
    const wallets = walletsOf(folder);
    const wallet = await wallets.openOrCreate('one');
    expect(wallet.hd.state).not.toBeNull();
    await wallets.close();
  });

  it('rewrites a file whose rows are mostly obsolete', async () => {
    const wallets = walletsOf(folder);
    const wallet = await wallets.create('one');
    const { path } = wallet.file;
    const label = 'x'.repeat(300_000);
    for (let n = 0; n < 5; n++)
      await wallet.change((batch) => wallet.book.set(batch, 'an address', `${label}${n}`, 'receive'));
    await wallet.file.settled();
    // The files as a killed process leaves them, with and without a cache file.
    const killed = readFileSync(path);
    expect(killed.length).toBeGreaterThan(1_500_000);
    await wallets.unload(wallet);
    expect(statSync(path).size).toBeLessThan(500_000);
    const check = async (sizeAfter: number): Promise<void> => {
      const again = await wallets.openExisting('one');
      expect(Math.abs(statSync(path).size - sizeAfter)).toBeLessThan(200_000);
      expect(again.book.find('an address')?.label).toBe(`${label}4`);
      expect(again.keyring.keyCount).toBe(wallet.keyring.keyCount);
      await wallets.unload(again);
      expect(statSync(path).size).toBeLessThan(500_000);
    };
    await check(statSync(path).size);
    const small = statSync(path).size;
    writeFileSync(path, killed);
    await check(small);
    // An image of the large file.
    writeFileSync(path, killed);
    const open = await WalletFile.open(path);
    await open.close({ columns: { keys: {}, transactions: {} }, notes: null });
    const withImage = await WalletFile.open(path);
    expect([withImage.isWasteful, withImage.mustShrink]).toEqual([true, false]);
    await withImage.close();
    await wallets.close();
  });

  it('does not open a wallet that another node has open', async () => {
    const own = walletsOf(folder);
    await own.create('one');
    const other = walletsOf(folder);
    expect(await problemOf(other.openExisting('one'))).toContain('wallet directory');
    await own.close();
    await other.openExisting('one');
    await other.close();
  });

  it('loads a wallet whose seed was lost, with its remaining keys', async () => {
    const wallets = walletsOf(folder);
    const made = await wallets.create('one');
    const seed = made.keyring.publicKey(made.hd.state!.seedId)!;
    await wallets.unload(made);
    const file = await WalletFile.open(join(folder, 'one', 'wallet.db'));
    await file.commit([[recordKey('key', bytesKey(seed)), null]]);
    await file.close();
    const wallet = await wallets.openExisting('one');
    expect(await wallet.keys.take(false)).not.toBeNull();
    expect(await wallet.keys.topUp(9)).toBe(false);
    await setNewSeed(wallet, null, true);
    expect(wallet.keypool.count('receive')).toBe(WALLET_OPTIONS.keypoolSize);
    await wallets.close();
  });
});
