/**
 * The open wallets. Their files are in one folder; the first wallet is the default. Opening never overwrites an unreadable
 * file. `begin` activates all accounts. Source: lbry-sdk lbry/wallet/manager.py `WalletManager`, lbry/wallet/ledger.py
 * `start`.
 */
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { onFile } from '../../util/text/environmentError.js';
import { JsonObject } from '../../util/json/json.js';
import { makeFolder } from '../../util/files/makeFolder.js';
import { badValue, DaemonError } from '../base/daemonError.js';
import type { LoadedAccount } from './loadedAccount.js';
import { takeOverLbryumFile, type LbryumAddresses } from './lbryumWallet.js';
import { ENCRYPT_ON_DISK, WalletContents, WALLET_VERSION } from './walletContents.js';
import { LoadedWallet, type GeneratorName, type WalletSurroundings } from './loadedWallet.js';
import {
  fileStamp,
  isThere,
  placeOfFile,
  readWalletFile,
  removeHalfWritten,
  takeWholeTemporary,
  unreadableWallet,
} from './walletFile.js';

export interface DaemonWalletsOptions extends Omit<WalletSurroundings, 'inHand'> {
  /** Folder of the wallet files. It is created if it is missing. */
  readonly folder: string;
}

const walletNotLoaded = (id: string): DaemonError =>
  new DaemonError('WalletNotLoadedError', `Wallet ${id} is not loaded.`);
const walletAlreadyLoaded = (path: string): DaemonError =>
  new DaemonError('WalletAlreadyLoadedError', `Wallet ${path} is already loaded.`);
const walletNotFound = (path: string): DaemonError =>
  new DaemonError('WalletNotFoundError', `Wallet not found at ${path}.`);
const walletAlreadyExists = (path: string): DaemonError =>
  new DaemonError(
    'WalletAlreadyExistsError',
    `Wallet ${path} already exists, use \`wallet_add\` to load it.`,
  );

const NEW_WALLET = new JsonObject([
  ['version', WALLET_VERSION],
  ['name', 'My Wallet'],
  ['preferences', new JsonObject()],
  ['accounts', []],
]);

/**
 * Maximum length of a wallet id in bytes. The id is the file name. File names have at most 255 bytes on all usual systems,
 * and copies of the file have longer names.
 */
const MAX_ID_BYTES = 200;

/** Throws if the id is not a plain file name. An id with a slash could be a path outside the folder. */
function assertWalletId(id: string): void {
  if (Buffer.byteLength(id) > MAX_ID_BYTES)
    throw badValue(`The name of a wallet must be a file name of at most ${MAX_ID_BYTES} bytes.`);
  if (id === '' || id === '.' || id === '..' || /[/\\\0]/.test(id))
    throw badValue(`'${id}' is not a valid name of a wallet: it must be a file name.`);
}

export class DaemonWallets {
  readonly #options: DaemonWalletsOptions & WalletSurroundings;
  /** Path of the folder without symbolic links, so that each file has only one path. */
  readonly #folder: string;
  readonly #wallets: LoadedWallet[] = [];

  private constructor(options: DaemonWalletsOptions, folder: string) {
    this.#options = { ...options, inHand: new Set() };
    this.#folder = folder;
  }

  /**
   * Opens the wallets with these ids. If the first wallet has no account, one is created. Rejects with `DaemonError`
   * `WalletFileError` if a file is unusable, and with `EnvironmentError` if the folder does not exist.
   */
  static async open(ids: readonly string[], options: DaemonWalletsOptions): Promise<DaemonWallets> {
    const folder = onFile(options.folder, () => {
      makeFolder(options.folder);
      return realpathSync(options.folder);
    });
    const wallets = new DaemonWallets(options, folder);
    for (const id of new Set(ids)) wallets.#wallets.push(await wallets.#open(id));
    const [first] = wallets.#wallets;
    if (first !== undefined) await wallets.#prepareDefault(first);
    return wallets;
  }

  get all(): readonly LoadedWallet[] {
    return this.#wallets;
  }

  /** Returns the default wallet. Throws `WalletNotLoadedError` if no wallet is open. */
  get default(): LoadedWallet {
    const [first] = this.#wallets;
    if (first === undefined) throw new DaemonError('WalletNotLoadedError', 'No wallet is loaded.');
    return first;
  }

  /** Returns the wallet with the id, or the default wallet if no id is given. Throws `WalletNotLoadedError`. */
  get(id?: string | null): LoadedWallet {
    if (id === undefined || id === null) return this.default;
    const wallet = this.#wallets.find((one) => one.id === id);
    if (wallet === undefined) throw walletNotLoaded(id);
    return wallet;
  }

  /** Accounts of all open wallets. */
  get accounts(): readonly LoadedAccount[] {
    return this.#wallets.flatMap(({ accounts }) => accounts);
  }

  pathOf(id: string): string {
    return join(this.#options.folder, id);
  }

  /**
   * Creates a wallet. When the promise resolves, its file is on disk. An account is created only if `account` names an
   * address generator.
   */
  async create(id: string, account: GeneratorName | null): Promise<LoadedWallet> {
    assertWalletId(id);
    const path = this.#assertNotLoaded(id);
    if (await isThere(path)) throw walletAlreadyExists(path);
    this.#assertNotLoaded(id);
    const wallet = this.#loaded(id, join(this.#folder, id), NEW_WALLET, null);
    this.#wallets.push(wallet);
    try {
      if (account === null) await wallet.save();
      else await wallet.createAccount(null, account);
    } catch (error) {
      this.#forget(wallet);
      throw error;
    }
    return wallet;
  }

  /** Opens a file of the folder and activates its accounts. */
  async add(id: string): Promise<LoadedWallet> {
    assertWalletId(id);
    const path = this.#assertNotLoaded(id);
    if (!(await isThere(path))) throw walletNotFound(path);
    const wallet = await this.#open(id);
    this.#assertNotLoaded(id);
    this.#assertNotOpen(wallet.path);
    this.#wallets.push(wallet);
    for (const account of wallet.accounts) await this.#options.ledger.add(account);
    return wallet;
  }

  /** Closes a wallet. Its file stays on disk. */
  async remove(id: string): Promise<LoadedWallet> {
    const wallet = this.get(id);
    this.#forget(wallet);
    for (const account of wallet.accounts) this.#options.ledger.remove(account.id);
    await wallet.settled();
    return wallet;
  }

  /**
   * Activates all accounts. Once the histories of the accounts are known, adjusts the address gaps to the histories. Resolves
   * earlier if the only hub is behind the best chain known: the accounts then have their stored histories.
   */
  async begin(): Promise<void> {
    const { ledger } = this.#options;
    await Promise.all(this.accounts.map((account) => ledger.add(account)));
    await ledger.whenUsable();
    // The wait also ends when the ledger is closed or its only hub is behind. In that case the accounts are not in sync, and
    // their gaps are not changed.
    if (!this.accounts.every(({ id }) => ledger.isSynced(id))) return;
    for (const wallet of this.#wallets) await fitGaps(wallet);
  }

  /** Closes the wallets. Resolves when all pending saves are on disk. */
  async close(): Promise<void> {
    for (const wallet of this.#wallets) await wallet.settled();
  }

  /** Removes a wallet from the list of open wallets. Without effect if the wallet is not in the list. */
  #forget(wallet: LoadedWallet): void {
    const at = this.#wallets.indexOf(wallet);
    if (at >= 0) this.#wallets.splice(at, 1);
  }

  #assertNotLoaded(id: string): string {
    const path = this.pathOf(id);
    if (this.#wallets.some((wallet) => wallet.id === id)) throw walletAlreadyLoaded(path);
    return path;
  }

  /** Throws if the file is open already, because two ids may lead to one file by a link. */
  #assertNotOpen(path: string): void {
    if (this.#wallets.some((wallet) => wallet.path === path)) throw walletAlreadyLoaded(path);
  }

  #loaded(id: string, path: string, json: JsonObject, stamp: string | null): LoadedWallet {
    return new LoadedWallet(new WalletContents(id, json, this.#options.tools), path, stamp, this.#options);
  }

  async #open(id: string): Promise<LoadedWallet> {
    assertWalletId(id);
    const path = await placeOfFile(join(this.#folder, id));
    this.#assertNotOpen(path);
    const taken = await takeWholeTemporary(path);
    if (taken !== null)
      this.#options.warn(
        `The wallet file ${path} was missing and was replaced by ${taken}, the result of an interrupted save.`,
      );
    const old = await this.#takeOver(path);
    const stamp = await fileStamp(path);
    const json = await readWalletFile(path);
    let wallet: LoadedWallet;
    try {
      wallet = this.#loaded(id, path, json ?? NEW_WALLET, stamp);
    } catch (error) {
      throw await unreadableWallet(path, (error as Error).message);
    }
    if (json !== null) await removeHalfWritten(path);
    if (old !== null)
      wallet.accounts[0]?.noteGivenOut({ receiving: old.receiving.length, change: old.change.length });
    const refiled = wallet.accounts.filter(({ account }) => account.refileChannelKeys());
    if (refiled.length > 0) await wallet.save();
    return wallet;
  }

  async #takeOver(path: string): Promise<LbryumAddresses | null> {
    try {
      return await takeOverLbryumFile(path);
    } catch (error) {
      if (error instanceof DaemonError && error.name === 'ValueError')
        throw await unreadableWallet(path, error.message);
      throw error;
    }
  }

  async #prepareDefault(wallet: LoadedWallet): Promise<void> {
    const { ledger } = this.#options;
    if (wallet.accounts.length === 0 && wallet.wallet.accounts.length > 0)
      throw new DaemonError(
        'WalletFileError',
        `The wallet file ${wallet.path} has no account on ${ledger.params.id}. Set blockchain_name to the ` +
          'chain of the wallet, or wallet_dir to another folder.',
      );
    if (wallet.accounts.length === 0) {
      wallet.wallet.generateAccount(ledger.params);
      await wallet.save();
    }
    if (wallet.isLocked && wallet.wallet.preference(ENCRYPT_ON_DISK) === undefined)
      await wallet.setPreference(ENCRYPT_ON_DISK, true);
  }
}

async function fitGaps(wallet: LoadedWallet): Promise<void> {
  const changed = await Promise.all(wallet.accounts.map((account) => account.fitGaps()));
  if (changed.includes(true)) await wallet.save();
}
