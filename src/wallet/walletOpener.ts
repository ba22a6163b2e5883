/**
 * Opens and creates wallets: locks the folder, opens the file, loads the rows, and follows the chain from the best block.
 * `wallets.ts` contains the list of open wallets. Source: lbrycrd wallet/wallet.cpp `CreateWalletFromFile`.
 */
import { statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { FolderLockError } from '../store/files/folderLock.js';
import { environmentError, EnvironmentError } from '../util/text/environmentError.js';
import { makeFolder } from '../util/files/makeFolder.js';
import { optimizing } from '../util/optimizing.js';
import { inSlices } from '../scheduler/slices.js';
import { Follower, FollowError } from './follower.js';
import { areCopies } from './keys/copies.js';
import { upgradeWallet } from './keys/upgrade.js';
import { restoreNotes, zapTransactions, type Zap } from './ledger/zap.js';
import type { NodePort } from './port.js';
import { WalletBatch } from './store/records.js';
import { salvageWallet } from './store/salvage.js';
import { WalletFile } from './store/walletFile.js';
import { migrateForeignWallet, type Migrated } from './transfer/foreignWallet.js';
import { Wallet, WalletRowError } from './wallet.js';
import type { WalletLocks } from './walletLocks.js';
import type { WalletOptions } from './walletOptions.js';
import { isThere, removeFolder, type WalletPlace } from './walletPlace.js';
import { OperatorError } from '../util/text/operatorError.js';

/**
 * Error: a wallet cannot be opened or created. The message is for the caller, with advice if possible.
 */
export class WalletOpenError extends OperatorError {
  override readonly name = 'WalletOpenError';
  readonly kind: 'exists' | 'missing' | 'copy' | 'refused';

  constructor(kind: WalletOpenError['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}

export interface WalletsOptions {
  /** Absolute. */
  readonly walletDir: string;
  readonly wallet: WalletOptions;
  /** Whether wallets opened at start are rescanned from the first block (`-rescan`). */
  readonly rescans: boolean;
  /** Whether the readable part of a corrupt wallet is copied to a new file at start (`-salvagewallet`). */
  readonly salvages: boolean;
  /**
   * Transaction data that is deleted when a wallet is opened at start, before the rescan finds the transactions again
   * (`-zapwallettxes`).
   */
  readonly zaps: Zap;
  /** The version to which a wallet is upgraded at start (`-upgradewallet`); 0 for no upgrade. */
  readonly upgradesTo: number;
}

export interface OpenedWallet {
  readonly wallet: Wallet;
  readonly follower: Follower;
  readonly place: WalletPlace;
  /** Releases the lock of the wallet's folder. */
  readonly unlock: () => Promise<void>;
}

export interface WalletOpenerDeps {
  readonly node: NodePort;
  readonly locks: WalletLocks;
  /** Aborted when opening wallets and other running work must end. */
  readonly signal: AbortSignal;
  /** Open wallets. */
  readonly others: () => readonly Wallet[];
  /** Called when a wallet has been loaded, before the wallet starts to follow the chain. */
  readonly begins: (wallet: Wallet) => void;
}

/**
 * Opens and creates wallets. A call must end before the next one. All methods reject with `WalletOpenError` for errors that
 * the user can fix.
 */
export class WalletOpener {
  private readonly options: WalletsOptions;
  private readonly deps: WalletOpenerDeps;
  private readonly node: NodePort;

  constructor(options: WalletsOptions, deps: WalletOpenerDeps) {
    this.options = options;
    this.deps = deps;
    this.node = deps.node;
  }

  /** Creates a new wallet. `privateKeys` is false for a wallet that only watches addresses. */
  async make(place: WalletPlace, privateKeys: boolean): Promise<OpenedWallet> {
    const madeFolder = place.kind === 'missing';
    await this.guard(place, () => makeFolder(dirname(place.file), 0o700));
    const file = WalletFile.planned(place.file);
    let unlock = async (): Promise<void> => undefined;
    try {
      unlock = await this.lock(place);
      const wallet = new Wallet(place.name, { node: this.node, file, options: this.options.wallet });
      // The first write contains all rows of a new wallet, so that a killed process leaves a complete wallet or none.
      // Otherwise a wallet without private keys could lack the flag that says so.
      const batch = new WalletBatch();
      await inSlices(wallet.begin(batch, { privateKeys }));
      await file.rewrite(batch.changes);
      batch.wipe();
      await wallet.keys.topUp();
      return await this.enter(place, wallet, unlock, { isNew: true });
    } catch (error) {
      await file.close().catch(() => undefined);
      await rm(place.file, { force: true }).catch(() => undefined);
      await unlock();
      if (madeFolder) await removeFolder(place.path);
      throw this.openError(place, error);
    }
  }

  /** Writes the first rows of a new wallet. */
  private async begin(wallet: Wallet): Promise<void> {
    const batch = new WalletBatch();
    await inSlices(wallet.begin(batch));
    await wallet.write(batch);
  }

  /**
   * Opens an existing wallet. If only a wallet of the reference exists at this location, imports it first. Most of the code
   * runs here for the first time, and only once for each row, so V8 optimizes it late (`optimizing.late`).
   */
  load(place: WalletPlace, start: Partial<WalletsOptions> = {}): Promise<OpenedWallet> {
    return optimizing.late(() => this.loadNow(place, start));
  }

  private async loadNow(place: WalletPlace, start: Partial<WalletsOptions>): Promise<OpenedWallet> {
    const started = performance.now();
    let file: WalletFile | null = null;
    let unlock = async (): Promise<void> => undefined;
    try {
      unlock = await this.lock(place);
      if (place.foreign !== null) await this.takeOver(place.foreign, place);
      if (start.salvages === true && isThere(place.file)) await salvageWallet(place.file, this.node);
      file = await WalletFile.open(place.file);
      this.warnOfLinks(place);
      this.warnOfCut(place, file.cutBytes);
      if (file.mustShrink) await file.rewrite();
      const zapped = start.zaps === undefined || start.zaps === 'nothing' ? [] : await zapTransactions(file);
      const wallet = new Wallet(place.name, { node: this.node, file, options: this.options.wallet });
      await inSlices(wallet.load());
      await this.refuseCopy(wallet);
      if (file.isEmpty) await this.begin(wallet);
      if (start.upgradesTo) await upgradeWallet(wallet, start.upgradesTo);
      if (wallet.unknownRowCount > 0)
        this.node.log.warn(
          `${wallet.logName} ${wallet.unknownRowCount} records have an unknown type; they are kept.`,
        );
      this.node.log.info(
        `${wallet.logName} Wallet completed loading in ${Math.round(performance.now() - started)}ms`,
      );
      if (!wallet.isLocked && !wallet.hd.canMake) {
        this.node.warn(
          `${wallet.logName} The seed of the wallet is missing: new keys cannot be created. Restore a backup, ` +
            'or create a new seed with sethdseed.',
        );
      }
      await wallet.keys.topUp();
      const opened = await this.enter(place, wallet, unlock, { rescan: this.options.rescans });
      if (start.zaps === 'transactions') await restoreNotes(wallet, zapped);
      return opened;
    } catch (error) {
      await file?.close().catch(() => undefined);
      await unlock();
      throw this.openError(place, error);
    }
  }

  /** Imports a wallet of the reference (lbrycrd) into a new file. */
  async takeOver(from: string, place: WalletPlace): Promise<Migrated> {
    const { log, warn } = this.node;
    log.info(`Converting the wallet ${from} into ${place.file}. The old file is not changed.`);
    try {
      const found = await migrateForeignWallet(from, place.file);
      log.info(
        `Converted ${found.rows} records of ` +
          `${from}${found.usedLog ? ', including records of its database log' : ''}. From now on, use the ` +
          'wallet with one program only.',
      );
      if (found.warning !== '') warn(found.warning);
      return found;
    } catch (error) {
      throw this.openError(place, error);
    }
  }

  /** Rejects a copy of an open wallet, because copies do not know each other's new addresses. Source: `CheckUniqueFileid`. */
  private async refuseCopy(wallet: Wallet): Promise<void> {
    for (const other of this.deps.others()) {
      if (!(await inSlices(areCopies(wallet, other)))) continue;
      throw new WalletOpenError(
        'copy',
        `Error loading wallet ${wallet.name}. It is a copy of the wallet ` +
          `${other.name === '' ? '""' : other.name}, which is loaded: both would give out the same addresses. ` +
          'Unload the other wallet first.',
      );
    }
  }

  /**
   * Warns about hard links. The lock of a wallet applies to its folder, so it does not protect a file that is also linked
   * from another folder.
   */
  private warnOfLinks({ name, file }: WalletPlace): void {
    const { nlink } = statSync(file);
    if (nlink > 1)
      this.node.warn(
        `The file of the wallet ${name === '' ? file : name} has ${nlink} names (hard links). Open it under ` +
          'one name only: two nodes that write to it destroy it. A copy made with backupwallet is safe.',
      );
  }

  /**
   * Warns about bytes that were removed from the end of a file. The bytes were not synced, so they contained only data that
   * blocks and peers provide again: no keys, payments or notes of the user.
   */
  private warnOfCut({ file }: WalletPlace, cutBytes: number): void {
    if (cutBytes === 0) return;
    this.node.warn(
      `The last ${cutBytes} bytes of ${file} were incomplete, because of a crash or corruption, and were ` +
        'removed. They contained only data that blocks and peers provide again; the time of receipt of ' +
        'transactions in them may differ.',
    );
  }

  private async enter(
    place: WalletPlace,
    wallet: Wallet,
    unlock: () => Promise<void>,
    start: { rescan?: boolean; isNew?: boolean },
  ): Promise<OpenedWallet> {
    this.deps.begins(wallet);
    const follower = new Follower(wallet);
    await follower.start({ ...start, signal: this.deps.signal });
    wallet.images.begin();
    const { ledger, keypool, logName } = wallet;
    if (start.isNew === true) {
      this.node.log.info(`${logName} Created a new wallet in ${place.file}; back it up with backupwallet`);
    } else {
      this.node.log.info(
        `${logName} ${ledger.size} transactions, ${keypool.count('receive') + keypool.count('change')} keys in the pool`,
      );
    }
    return { wallet, follower, place, unlock };
  }

  /**
   * Locks the folder of a wallet, so that other nodes cannot use the wallet. This includes nodes with a different data
   * folder.
   */
  private async lock({ file }: WalletPlace): Promise<() => Promise<void>> {
    try {
      return await this.deps.locks.lock(dirname(file));
    } catch (error) {
      if (error instanceof FolderLockError) throw new WalletOpenError('refused', error.message);
      throw error;
    }
  }

  /** Runs a task. Disk errors are reported with the name of this wallet. */
  async guard(place: WalletPlace, task: () => unknown): Promise<void> {
    try {
      await task();
    } catch (error) {
      throw this.openError(place, error);
    }
  }

  /** Converts an error to a `WalletOpenError` for the caller. Unexpected errors (bugs) are returned unchanged. */
  private openError({ name, path }: WalletPlace, error: unknown): unknown {
    if (error instanceof WalletRowError || error instanceof FollowError)
      return new WalletOpenError('refused', `Error loading ${name === '' ? path : name}: ${error.message}`);
    const refused = environmentError(error, path);
    if (refused instanceof EnvironmentError) return new WalletOpenError('refused', refused.message);
    const { code } = error as NodeJS.ErrnoException;
    if (error instanceof Error && typeof code === 'string' && !(error instanceof WalletOpenError))
      return new WalletOpenError('refused', error.message);
    return error;
  }
}
