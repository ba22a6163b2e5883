/**
 * A wallet with its file and its active accounts. When a call succeeds, its change is in the file. Saves of the file run one
 * after the other, and each save writes the state at its start. All calls that arrive before a save starts share that save.
 * Source: lbry-sdk lbry/wallet/wallet.py, lbry/extras/daemon/daemon.py `jsonrpc_sync_apply`.
 */
import { JsonObject, type JsonValue } from '../../util/json/json.js';
import type { Bytes } from '../../util/bytes.js';
import { assertionFailure, badValue, unwritableFile } from '../base/daemonError.js';
import type { DaemonLedger } from '../ledger/ledger.js';
import type { LedgerBalance } from '../ledger/ledgerDatabase.js';
import type { Account, AccountTools, AddressGap } from './account.js';
import { LoadedAccount, maxHeightOf } from './loadedAccount.js';
import { parseWalletText, unpackWallet, type MergedAccounts, type WalletContents } from './walletContents.js';
import { fileStamp, keepCopy, writeWalletFile } from './walletFile.js';

/** Dependencies of a loaded wallet. */
export interface WalletSurroundings {
  readonly ledger: DaemonLedger;
  readonly tools: AccountTools;
  /** Addresses that are reserved for unfinished transactions, in all wallets. */
  readonly inHand: Set<string>;
  /** Called with messages to the user that are not part of an answer. */
  readonly warn: (text: string) => void;
}

export type GeneratorName = 'deterministic-chain' | 'single-address';

/** Changes of an account's settings. A member that is undefined leaves its setting unchanged. */
export interface AccountChange {
  readonly isDefault: boolean;
  readonly name: string | undefined;
  readonly change: Readonly<Record<keyof AddressGap, number | undefined>>;
  readonly receiving: Readonly<Record<keyof AddressGap, number | undefined>>;
}

export class LoadedWallet {
  readonly wallet: WalletContents;
  readonly path: string;
  readonly #around: WalletSurroundings;
  readonly #loaded = new Map<Account, LoadedAccount>();
  /** Stamp of the file (see `fileStamp`) after the last read or write. It shows whether another program changed the file. */
  #stamp: string | null;
  #saving: Promise<void> = Promise.resolve();
  #waiting: Promise<void> | null = null;

  constructor(wallet: WalletContents, path: string, stamp: string | null, around: WalletSurroundings) {
    this.wallet = wallet;
    this.path = path;
    this.#stamp = stamp;
    this.#around = around;
  }

  get id(): string {
    return this.wallet.id;
  }

  get name(): string {
    return this.wallet.name;
  }

  get isLocked(): boolean {
    return this.wallet.isLocked;
  }

  get isEncrypted(): boolean {
    return this.wallet.isEncrypted;
  }

  /** Accounts of the daemon's chain. The first is the default account. Accounts of other chains stay in the file. */
  get accounts(): readonly LoadedAccount[] {
    const { ledger } = this.#around;
    return this.wallet.accounts
      .filter((account) => account.ledger.id === ledger.params.id)
      .map((account) => this.#put(account));
  }

  get accountIds(): string[] {
    return this.accounts.map(({ id }) => id);
  }

  #put(account: Account): LoadedAccount {
    const { ledger, tools, inHand } = this.#around;
    const known = this.#loaded.get(account) ?? new LoadedAccount(account, ledger, tools.random, inHand);
    this.#loaded.set(account, known);
    return known;
  }

  /** Returns the account with the id, or the default account if no id is given. Throws `ValueError`. */
  account(id?: string | null): LoadedAccount {
    if (id === undefined || id === null) {
      const [first] = this.accounts;
      if (first === undefined) throw badValue(`The wallet ${this.id} has no account.`);
      return first;
    }
    const account = this.accounts.find((one) => one.id === id);
    if (account === undefined) throw badValue(`Couldn't find account: ${id}.`);
    return account;
  }

  /** Returns the named accounts, or all accounts if none is named. Throws `ValueError`. */
  accountsOrAll(ids?: readonly string[] | null): readonly LoadedAccount[] {
    return ids && ids.length > 0 ? ids.map((id) => this.account(id)) : this.accounts;
  }

  /** Throws `AssertionError`. */
  assertUnlocked(): void {
    if (this.isLocked) throw assertionFailure('Cannot spend funds with locked wallet, unlock first.');
  }

  /** Saves the wallet. Resolves when the current state or a later one is on disk. */
  save(): Promise<void> {
    if (this.#waiting === null) {
      const waiting = this.#saving.then(() => {
        this.#waiting = null;
        return this.#write();
      });
      this.#waiting = waiting;
      this.#saving = waiting.catch(() => undefined);
    }
    return this.#waiting;
  }

  /** Resolves when no save is running. */
  async settled(): Promise<void> {
    await this.#saving;
  }

  async #write(): Promise<void> {
    const stamp = await fileStamp(this.path);
    if (stamp !== null && stamp !== this.#stamp) {
      const copy = await keepCopy(this.path, 'foreign');
      this.#around.warn(
        `The wallet file ${this.path} was changed by another program. Its version is saved as ${copy}, and ` +
          'the file is replaced by that of lbcnet. No other program may use the file; to get accounts that are ' +
          'only in the copy, add it as another wallet (lbcnet wallet add).',
      );
    }
    const { text, wasReset } = this.wallet.fileText();
    if (wasReset)
      this.#around.warn(
        `The wallet ${this.id} is to be encrypted on disk, but no password is known. It is saved ` +
          'unencrypted; encrypt it again.',
      );
    try {
      await writeWalletFile(this.path, text);
    } catch (error) {
      throw unwritableFile('wallet', this.path, error);
    }
    this.#stamp = await fileStamp(this.path);
  }

  /** Saves a change. If that fails, the change is reverted before the next save starts. */
  async #saveOr(takeBack: () => void): Promise<void> {
    try {
      await this.save();
    } catch (error) {
      takeBack();
      throw error;
    }
  }

  /** Creates an account with a new seed. The account is written to the file before it is used. */
  createAccount(name: string | null, generator: GeneratorName): Promise<LoadedAccount> {
    return this.#keep(() =>
      this.wallet.generateAccount(this.#around.ledger.params, name, new JsonObject([['name', generator]])),
    );
  }

  /** Adds an account in the form of the file. Throws `ValueError`, also if the wallet contains the account. */
  addAccount(account: JsonObject): Promise<LoadedAccount> {
    return this.#keep(() => {
      const added = this.wallet.addAccount(account);
      if (this.wallet.accounts.filter(({ id }) => id === added.id).length === 1) return added;
      this.#drop(added);
      throw badValue(`The wallet already has the account ${added.id}.`);
    });
  }

  async #keep(add: () => Account): Promise<LoadedAccount> {
    const isSealed = this.isLocked && this.wallet.password === null;
    const account = add();
    if (isSealed && account.root.privateKey !== null) {
      this.#drop(account);
      throw assertionFailure('Cannot write keys in clear into a locked wallet, unlock first.');
    }
    await this.#saveOr(() => this.#drop(account));
    const loaded = this.#put(account);
    await this.#around.ledger.add(loaded);
    return loaded;
  }

  #drop(account: Account): void {
    const at = this.wallet.accounts.indexOf(account);
    if (at >= 0) this.wallet.accounts.splice(at, 1);
  }

  async removeAccount(account: LoadedAccount): Promise<void> {
    const { accounts } = this.wallet;
    const at = accounts.indexOf(account.account);
    this.#drop(account.account);
    await this.#saveOr(() => accounts.splice(at, 0, account.account));
    this.#around.ledger.remove(account.id);
    this.#loaded.delete(account.account);
  }

  /**
   * Changes settings of an account. If at least one setting is given, the modification time is updated and the wallet is
   * saved. After an increase of the gap the addresses are created at the ledger's next update of the account, as in the
   * reference.
   */
  async changeAccount({ account }: LoadedAccount, change: AccountChange): Promise<void> {
    const { generator } = account;
    const takeBack = account.rememberSettings();
    const { accounts } = this.wallet;
    const at = accounts.indexOf(account);
    let isChanged = change.name !== undefined;
    account.name = change.name ?? account.name;
    if (generator.name === 'deterministic-chain')
      for (const chain of ['change', 'receiving'] as const) {
        const { gap, maxUses } = change[chain];
        isChanged ||= gap !== undefined || maxUses !== undefined;
        generator[chain].gap = gap ?? generator[chain].gap;
        generator[chain].maxUses = maxUses ?? generator[chain].maxUses;
      }
    if (change.isDefault && this.accounts[0]?.account !== account) {
      this.#drop(account);
      accounts.unshift(account);
      isChanged = true;
    }
    if (!isChanged) return;
    account.modifiedOnSec = this.#around.tools.clock.nowSec();
    await this.#saveOr(() => {
      takeBack();
      this.#drop(account);
      accounts.splice(at, 0, account);
    });
  }

  /**
   * Unlocks the wallet. Returns false if the password is wrong. If the wallet is unlocked already, only compares the
   * password.
   */
  unlock(password: string): boolean {
    if (!this.isLocked && this.isEncrypted) return password === this.wallet.password;
    return this.wallet.unlock(password);
  }

  /** Locks the wallet. Throws `AssertionError` if no password is known, because the wallet could not be encrypted. */
  lock(): void {
    this.wallet.lock();
  }

  async encrypt(password: string): Promise<void> {
    await this.#saveOr(this.wallet.encrypt(password));
  }

  async decrypt(): Promise<void> {
    await this.#saveOr(this.wallet.decrypt());
  }

  async setPreference(key: string, value: JsonValue): Promise<void> {
    await this.#saveOr(this.wallet.setPreference(key, value));
  }

  /** Hash by which copies of a wallet are compared, as hexadecimal digits. */
  syncHash(): string {
    return this.wallet.hash().toString('hex');
  }

  /** Exports the wallet: as encrypted base64 if a password is given, otherwise as plain JSON. */
  async exported(password: string | null): Promise<string> {
    return password === null ? this.wallet.exportText() : this.wallet.pack(password);
  }

  /**
   * Merges an export into the wallet. When the promise resolves, the file is written. New accounts are activated; with
   * `isBlocking` the call also waits for their address histories.
   */
  async importExport(text: string, password: string | null, isBlocking: boolean): Promise<void> {
    const joined = await this.#join(text, password);
    await this.#saveJoined(joined);
    await this.#putToWork(joined, isBlocking);
  }

  /**
   * Saves a merged wallet. If saving fails, the merged data stays in memory for the next save, because merging the same
   * export again would change nothing. The new accounts are used in any case.
   */
  async #saveJoined(joined: MergedAccounts | null): Promise<void> {
    try {
      await this.save();
    } catch (error) {
      if (joined !== null) await this.#putToWork(joined, false);
      throw error;
    }
  }

  /**
   * Merges an export, if given, and returns the resulting wallet. If the file is encrypted, `password` replaces its
   * password.
   */
  async syncApply(
    password: string,
    text: string | null,
    isBlocking: boolean,
  ): Promise<{ hash: string; data: string }> {
    // The password of a locked wallet must not be replaced, because afterwards the wallet could not be unlocked.
    const assertOpen = (): void => {
      if (this.isLocked) throw assertionFailure('Cannot pack a wallet with locked/encrypted accounts.');
    };
    const joined = text === null ? null : await this.#join(text, password, assertOpen);
    assertOpen();
    const isOtherPassword = this.wallet.isEncryptedOnDisk && this.wallet.password !== password;
    if (isOtherPassword) this.wallet.password = password;
    if (isOtherPassword || joined !== null) await this.#saveJoined(joined);
    if (joined !== null) await this.#putToWork(joined, isBlocking);
    const hash = this.syncHash();
    return { hash, data: await this.wallet.pack(password) };
  }

  /**
   * Merges the whole export. If a part is invalid or `check` throws, nothing is changed. The caller must save the wallet,
   * because the merged data may require encryption with a password that is set later.
   */
  async #join(
    text: string,
    password: string | null,
    check: () => void = () => undefined,
  ): Promise<MergedAccounts> {
    const other = password === null ? parseWalletText(text) : await unpackWallet(password, text);
    return this.wallet.wholly(() => {
      const joined = this.wallet.merge(other);
      for (const account of [...joined.added, ...joined.merged]) account.refileChannelKeys();
      check();
      return joined;
    });
  }

  async #putToWork({ added, merged }: MergedAccounts, isBlocking: boolean): Promise<void> {
    const { ledger } = this.#around;
    const work = this.accounts.flatMap((one): Promise<unknown>[] => {
      if (added.includes(one.account)) return [ledger.add(one)];
      // The merge may have increased the gaps of an existing account.
      return merged.includes(one.account) ? [ledger.ensureGap(one)] : [];
    });
    if (isBlocking) await Promise.all(work);
    else for (const one of work) this.#inBackground(one);
  }

  #inBackground(work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      this.#around.warn(`An account of the wallet ${this.id} is not watched: ${(error as Error).message}`);
    });
  }

  /** Returns the sum of the balances of all accounts. */
  balance(confirmations = 0): Promise<LedgerBalance> {
    const { ledger } = this.#around;
    return ledger.database.balance(this.accountIds, maxHeightOf(ledger, confirmations));
  }

  /** Returns the account that owns the address; null if none. */
  async accountOf(address: string): Promise<LoadedAccount | null> {
    for (const account of this.accounts) if (await account.holds(address)) return account;
    return null;
  }

  /**
   * Looks up the private keys for key hashes (20 bytes) before signing. Resolves to a function that returns them. Throws
   * `AssertionError` while the wallet is locked.
   */
  async keysOf(keyHashes: readonly Bytes[]): Promise<(keyHash: Bytes) => Bytes | null> {
    const keys = new Map<string, Bytes>();
    for (const hash of keyHashes) {
      const hex = Buffer.from(hash).toString('hex');
      if (keys.has(hex)) continue;
      for (const account of this.accounts) {
        const key = await account.privateKeyOf(hash);
        if (key === null) continue;
        keys.set(hex, key);
        break;
      }
    }
    return (hash) => keys.get(Buffer.from(hash).toString('hex')) ?? null;
  }

  /** Private key for a channel's public key, from any account; null if no account has it or the wallet is locked. */
  channelSecret(publicKey: Bytes): Bytes | null {
    for (const account of this.accounts) {
      const secret = account.channelKeys.keyFor(publicKey);
      if (secret !== null) return secret;
    }
    return null;
  }
}
