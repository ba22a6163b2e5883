import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bytesKey } from '../../../src/wallet/keys/keyRecords.js';
import { setNewSeed } from '../../../src/wallet/keys/newSeed.js';
import { recordKey } from '../../../src/wallet/store/records.js';
import { WalletFile } from '../../../src/wallet/store/walletFile.js';
import { Wallets } from '../../../src/wallet/wallets.js';
import { FakeNode } from './support/fakeNode.js';
import { WALLET_OPTIONS } from './support/openWallet.js';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'lbcnode-wallets-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function walletsOf(walletDir: string): Wallets {
  const node = new FakeNode();
  node.mineEmpty(2);
  return new Wallets(
    {
      walletDir,
      wallet: WALLET_OPTIONS,
      rescans: false,
      salvages: false,
      zaps: 'nothing',
      upgradesTo: 0,
    },
    node.port,
  );
}

/** What a call fails with; empty where it does not. */
const problemOf = (call: Promise<unknown>): Promise<string> => call.then(() => '', String);

describe('Wallets', () => {
  it('opens a wallet once, whatever links lead to it', async () => {
    const wallets = walletsOf(folder);
    await wallets.create('one');
    symlinkSync(join(folder, 'one'), join(folder, 'other'));
    expect(await problemOf(wallets.openExisting('other'))).toContain('Duplicate -wallet filename specified.');
    await wallets.close();
  });

  it('finishes a wallet that was not, when a crash left it empty', async () => {
    mkdirSync(join(folder, 'one'));
    await (await WalletFile.create(join(folder, 'one', 'wallet.db'))).close();
    const wallets = walletsOf(folder);
    const wallet = await wallets.openOrCreate('one');
    expect(wallet.hd.state).not.toBeNull();
    await wallets.close();
  });

  it('writes a file anew of which most does not count any more', async () => {
    const wallets = walletsOf(folder);
    const wallet = await wallets.create('one');
    const { path } = wallet.file;
    const label = 'x'.repeat(300_000);
    for (let n = 0; n < 5; n++)
      await wallet.change((batch) => wallet.book.set(batch, 'an address', `${label}${n}`, 'receive'));
    await wallets.unload(wallet);
    expect(statSync(path).size).toBeGreaterThan(1_500_000);
    const again = await wallets.openExisting('one');
    expect(statSync(path).size).toBeLessThan(500_000);
    expect(again.book.find('an address')?.label).toBe(`${label}4`);
    expect(again.keyring.keyCount).toBe(wallet.keyring.keyCount);
    await wallets.close();
  });

  it('leaves a wallet to the node that has it open', async () => {
    const own = walletsOf(folder);
    await own.create('one');
    const other = walletsOf(folder);
    expect(await problemOf(other.openExisting('one'))).toContain('wallet directory');
    await own.close();
    await other.openExisting('one');
    await other.close();
  });

  it('opens a wallet whose seed was lost, with the keys that it has', async () => {
    const wallets = walletsOf(folder);
    const made = await wallets.create('one');
    const seed = made.keyring.publicKey(made.hd.state!.seedId)!;
    await wallets.unload(made);
    const file = await WalletFile.open(join(folder, 'one', 'wallet.db'));
    await file.commit([[recordKey('key', bytesKey(seed)), null]]);
    await file.close();
    const wallet = await wallets.openExisting('one');
    expect(await wallet.takeKey(false)).not.toBeNull();
    expect(await wallet.topUpKeypool(9)).toBe(false);
    await setNewSeed(wallet, null, true);
    expect(wallet.keypool.count('receive')).toBe(WALLET_OPTIONS.keypoolSize);
    await wallets.close();
  });
});
