import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { plainMetadata } from '../../../../src/wallet/keys/keyRecords.js';
import { setNewSeed } from '../../../../src/wallet/keys/newSeed.js';
import { refusalToReplace } from '../../../../src/wallet/transfer/replacing.js';
import type { Wallet } from '../../../../src/wallet/wallet.js';
import { Wallets } from '../../../../src/wallet/wallets.js';
import { scriptForDestination } from '../../../../src/script/standard.js';
import { FakeNode } from '../support/fakeNode.js';
import { WALLET_OPTIONS } from '../support/openWallet.js';

const ANOTHER = 'there is already another wallet';
let folder: string;
let wallets: Wallets;
let own: Wallet;
let path: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lbcnode-replacing-'));
  const node = new FakeNode();
  node.mineEmpty(2);
  const start = { rescans: false, salvages: false, zaps: 'nothing', upgradesTo: 0 } as const;
  wallets = new Wallets({ walletDir: folder, wallet: WALLET_OPTIONS, ...start }, node.port);
  own = await wallets.create('own');
  path = join(folder, 'backup');
});
afterEach(async () => {
  await wallets.close();
  rmSync(folder, { recursive: true, force: true });
});

const refusal = (): Promise<string | null> => refusalToReplace(path, own.keyring);

/** Watches the script of a key hash without a known key. */
async function watch(wallet: Wallet, byte: number): Promise<void> {
  const script = scriptForDestination({ type: 'pubkeyhash', hash: Buffer.alloc(20, byte) });
  await wallet.change((batch) => wallet.keyring.watch(batch, script, plainMetadata(1)));
}

describe('a backup may replace', () => {
  it('a missing file, a file that is not a wallet, and an older backup', async () => {
    expect(await refusal()).toBeNull();
    writeFileSync(path, 'no wallet at all');
    expect(await refusal()).toBeNull();
    await own.file.backup(path);
    const before = readFileSync(path);
    expect(await refusal()).toBeNull();
    await own.keys.take(false);
    await setNewSeed(own, null, true);
    await watch(own, 1);
    expect(await refusal()).toBeNull();
    // Keys that are derived from a seed are not lost with the file.
    await own.file.backup(path);
    await wallets.unload(own);
    writeFileSync(join(folder, 'older'), before);
    const older = await wallets.openExisting('older');
    await older.keys.topUp(50);
    await older.file.backup(path);
    await wallets.unload(older);
    own = await wallets.openExisting('own');
    expect(await refusal()).toBeNull();
    // The file was only read.
    writeFileSync(path, Buffer.concat([before, Buffer.from('torn')]));
    expect(await refusal()).toBeNull();
    expect(readFileSync(path).length).toBe(before.length + 4);
  });

  it('no wallet with unknown keys or scripts', async () => {
    const other = await wallets.create('other');
    await other.file.backup(path);
    expect(await refusal()).toBe(ANOTHER);
    // A newer backup of the same wallet has a seed that an older copy does not know.
    await own.file.backup(join(folder, 'older'));
    await setNewSeed(own, null, true);
    await own.file.backup(path);
    await wallets.unload(own);
    own = await wallets.openExisting('older');
    expect(await refusal()).toBe(ANOTHER);
    const watching = await wallets.create('watching', false);
    await watching.file.backup(path);
    expect(await refusal()).toBeNull();
    await watch(watching, 2);
    await watching.file.backup(path);
    expect(await refusal()).toBe(ANOTHER);
    await watch(own, 2);
    expect(await refusal()).toBeNull();
    await watching.change((batch) => watching.keyring.addScript(batch, Buffer.from('51', 'hex')));
    await watching.file.backup(path);
    expect(await refusal()).toBe(ANOTHER);
    await own.change((batch) => own.keyring.addScript(batch, Buffer.from('51', 'hex')));
    expect(await refusal()).toBeNull();
  });

  it('no wallet that cannot be read', async () => {
    await own.file.backup(path);
    const bytes = readFileSync(path);
    bytes[500] = bytes[500]! ^ 1;
    writeFileSync(path, bytes);
    expect(await refusal()).toBe('there is already a wallet that cannot be read');
    expect(readFileSync(path)).toEqual(bytes);
  });
});
