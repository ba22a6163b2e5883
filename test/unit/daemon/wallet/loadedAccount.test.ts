import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hash160 } from '../../../../src/crypto/hash.js';
import { systemClock, systemRandom } from '../../../../src/daemon/base/clock.js';
import { addressOfKey } from '../../../../src/daemon/wallet/keys.js';
import { ecdsaBackend } from '../../../../src/crypto/ecdsa.js';
import { DaemonWallets } from '../../../../src/daemon/wallet/wallets.js';
import type { LoadedAccount } from '../../../../src/daemon/wallet/loadedAccount.js';
import { toHex } from '../../../../src/util/bytes.js';
import { FakeLedger } from '../../../support/fakeLedger.js';

let folder: string;
let ledger: FakeLedger;
let wallets: DaemonWallets;
let account: LoadedAccount;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lbcnet-account-'));
  ledger = new FakeLedger();
  wallets = await DaemonWallets.open(['default_wallet'], {
    folder,
    ledger: ledger.ledger,
    tools: { clock: systemClock, random: systemRandom },
    warn: (text) => expect.unreachable(text),
  });
  await wallets.begin();
  account = wallets.default.account();
});
afterEach(() => rmSync(folder, { recursive: true }));

const publicKeyOf = (secret: Uint8Array): Uint8Array => ecdsaBackend().publicKeyOf(secret, true);

describe('addresses', () => {
  it('are the least used of ten, and never above their maximum use', async () => {
    const given = new Map<string, number>();
    for (let n = 0; n < 60; n++) {
      const address = await account.nextReceivingAddress();
      ledger.use(address);
      given.set(address, (given.get(address) ?? 0) + 1);
    }
    expect([...given.values()].every((uses) => uses === 1)).toBe(true);
    expect(ledger.rows.filter(({ chain, usedTimes }) => chain === 0 && usedTimes > 0)).toHaveLength(60);
  });

  it('are generated ahead up to a limit, for any import', () => {
    const { generator } = account.account;
    expect(account.chains.map(({ gap }) => gap)).toEqual([20, 6]);
    if (generator.name === 'deterministic-chain') {
      generator.receiving.gap = 1_000_000_000;
      generator.change.gap = -5;
    }
    expect(account.chains.map(({ gap }) => gap)).toEqual([10_000, 0]);
  });

  it('require a gap above zero', async () => {
    const { generator } = account.account;
    if (generator.name === 'deterministic-chain') generator.change.gap = 0;
    for (const row of ledger.rows) row.usedTimes = 1;
    await expect(account.nextChangeKeyHash()).rejects.toThrow(/keeps no unused addresses for change/);
  });

  it('for change are reserved for one transaction each, while it is being built', async () => {
    const asked = await Promise.all(Array.from({ length: 6 }, () => account.nextChangeKeyHash()));
    expect(new Set(asked.map(toHex)).size).toBe(6);
    account.freeChangeKeyHash(asked[2]!);
    expect(await account.nextChangeKeyHash()).toEqual(asked[2]);
    // If all addresses are in use, more are created.
    asked.push(...(await Promise.all(Array.from({ length: 30 }, () => account.nextChangeKeyHash()))));
    expect(new Set(asked.map(toHex)).size).toBe(36);
    expect(account.chains.map(({ gap }) => gap)).toEqual([20, 6]);
    for (const hash of asked) account.freeChangeKeyHash(hash);
    expect(asked.map(toHex)).toContain(toHex(await account.nextChangeKeyHash()));
  });

  it('for receiving are not returned while a transaction of ours is to pay to them', async () => {
    const taken = await Promise.all(Array.from({ length: 25 }, () => account.takeReceivingAddress()));
    expect(new Set(taken).size).toBe(25);
    for (let n = 0; n < 20; n++) expect(taken).not.toContain(await account.nextReceivingAddress());
  });

  it('reserved in one wallet are reserved in another one with the same account', async () => {
    const other = await wallets.create('other', null);
    const same = await other.addAccount(account.account.toJson());
    const asked = await Promise.all([account, same, account, same].map((one) => one.nextChangeKeyHash()));
    expect(new Set(asked.map(toHex)).size).toBe(4);
  });

  it('do not change if an account has a single one', async () => {
    const single = await wallets.default.createAccount('one', 'single-address');
    for (let n = 0; n < 3; n++) {
      expect(await single.takeReceivingAddress()).toBe(single.id);
      await single.nextChangeKeyHash();
    }
    expect(ledger.rows.filter(({ accountId }) => accountId === single.id)).toHaveLength(1);
  });

  it('are missing if no gap is kept and existing ones are reserved', async () => {
    const { generator } = account.account;
    const asked = await Promise.all(Array.from({ length: 6 }, () => account.nextChangeKeyHash()));
    if (generator.name === 'deterministic-chain') generator.change.gap = 0;
    await expect(account.nextChangeKeyHash()).rejects.toThrow(/keeps no unused addresses for change/);
    account.freeChangeKeyHash(asked[0]!);
    expect(await account.nextChangeKeyHash()).toEqual(asked[0]);
  });

  it('lead to the keys that spend from them, in any account of the wallet', async () => {
    const single = await wallets.default.createAccount('one', 'single-address');
    for (const one of [account, single]) {
      const hash = await one.nextChangeKeyHash();
      const keyOf = await wallets.default.keysOf([hash, hash, Buffer.alloc(20)]);
      expect(Buffer.from(hash160(publicKeyOf(keyOf(hash)!)))).toEqual(hash);
      expect(keyOf(Buffer.alloc(20))).toBeNull();
    }
    expect(await single.nextReceivingAddress()).toBe(single.id);
    expect((await wallets.default.accountOf(single.id))?.id).toBe(single.id);
    await wallets.default.encrypt('p');
    wallets.default.lock();
    await expect(account.privateKeyOf(await account.nextChangeKeyHash())).rejects.toThrow(
      /encrypted wallet account/,
    );
  });

  it('of a watched account have no keys', async () => {
    const { publicKeyText } = account.account;
    const other = await wallets.create('watch', null);
    const json = account.account.toJson();
    const watched = await other.addAccount(
      Object.assign(Object.create(Object.getPrototypeOf(json) as object), {
        entries: json.entries.filter(([key]) => key !== 'seed' && key !== 'private_key'),
      }) as typeof json,
    );
    expect(watched.account.publicKeyText).toBe(publicKeyText);
    expect(await watched.privateKeyOf(await watched.nextChangeKeyHash())).toBeNull();
    await expect(other.addAccount(json)).rejects.toThrow(/already has the account /);
    expect(other.accounts).toHaveLength(1);
  });
});

describe('keys of channels', () => {
  it('do not change until a channel uses them, then the next unused one is given', async () => {
    const { channelKeys } = account;
    const first = await channelKeys.next();
    expect(await channelKeys.next()).toEqual(first);
    expect(first.address).toBe(addressOfKey(first.publicKey, ledger.params));
    account.noteChannelKey(first.publicKey);
    const second = await channelKeys.next();
    expect(second.address).not.toBe(first.address);
    // A later key was seen before an earlier one. It is then known, and not given out again.
    const later = account.account.key(2, 5);
    account.noteChannelKey(later.publicKey);
    expect(channelKeys.keyFor(later.publicKey)).toEqual(later.privateKey);
    for (let n = 1; n < 5; n++) account.noteChannelKey((await channelKeys.next()).publicKey);
    expect((await channelKeys.next()).publicKey).toEqual(account.account.key(2, 6).publicKey);
    expect(channelKeys.keyFor(account.account.key(2, 60).publicKey)).toBeNull();
  });

  it('are not available while the wallet is locked, except for imported ones', async () => {
    const own = await account.channelKeys.next();
    const brought = account.channelKeys.import(Buffer.alloc(32, 7));
    await wallets.default.encrypt('p');
    wallets.default.lock();
    expect(wallets.default.channelSecret(own.publicKey)).toBeNull();
    expect(wallets.default.channelSecret(brought.publicKey)).toEqual(Buffer.alloc(32, 7));
    await expect(account.channelKeys.next()).rejects.toThrow(/encrypted wallet account/);
    expect(wallets.default.unlock('q')).toBe(false);
    expect(wallets.default.unlock('p')).toBe(true);
    expect(wallets.default.channelSecret(own.publicKey)).toEqual(own.secret);
  });
});

describe('a password', () => {
  it('is not replaced by another one passed to an open wallet', async () => {
    const one = wallets.default;
    await one.encrypt('right');
    expect(one.unlock('wrong')).toBe(false);
    expect(one.unlock('right')).toBe(true);
    await one.setPreference('a', 1);
    one.lock();
    expect(one.unlock('wrong')).toBe(false);
    expect(one.unlock('right')).toBe(true);
  });

  it('that opens some accounts only opens none', async () => {
    const one = wallets.default;
    const other = await one.createAccount('other', 'deterministic-chain');
    account.account.lock('a');
    other.account.lock('b');
    expect(one.unlock('a')).toBe(false);
    expect([account, other].map((each) => each.account.isLocked)).toEqual([true, true]);
    await one.save();
    expect(one.wallet.fileText().text).not.toContain('prv');
  });
});

describe('two wallets', () => {
  it('become equal after a sync, with a changed password meanwhile', async () => {
    const one = wallets.default;
    const two = await wallets.create('two', 'deterministic-chain');
    await one.encrypt('first');
    await one.setPreference('a', 1);
    await two.setPreference('b', 2);
    const sent = await one.syncApply('first', null, false);
    await two.syncApply('first', sent.data, true);
    expect(two.wallet.isEncryptedOnDisk).toBe(true);
    const back = await two.syncApply('second', null, false);
    await expect(one.syncApply('first', back.data, false)).rejects.toThrow('Password is invalid.');
    const joined = await one.syncApply('second', back.data, true);
    expect(new Set(one.accountIds)).toEqual(new Set(two.accountIds));
    expect(one.wallet.password).toBe('second');
    // Each wallet has its preferences in the order of their arrival.
    expect(one.wallet.preferenceKeys().sort()).toEqual(two.wallet.preferenceKeys().sort());
    expect(joined.hash).toBe(one.syncHash());
    one.lock();
    await expect(one.syncApply('third', null, false)).rejects.toThrow(/locked/);
    expect(one.wallet.password).toBe('second');
    expect(one.unlock('second')).toBe(true);
  });
});
