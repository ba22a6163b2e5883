/**
 * The wallets of a node: which are open, and how they are made, opened and closed. Owns no rule about what is in them.
 * Source: lbrycrd wallet/init.cpp, wallet/wallet.cpp `AddWallet`, `Verify`, `CreateWalletFromFile`.
 */
import { realpathSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { FolderLockError } from '../store/folderLock.js';
import { environmentError, EnvironmentError } from '../util/environmentError.js';
import { SerialQueue } from '../util/serialQueue.js';
import { inSlices } from '../util/slices.js';
import { Follower, FollowError } from './follower.js';
import type { NodePort } from './port.js';
import { Rebroadcaster, reacceptTransactions } from './spending/broadcasting.js';
import { endSpending } from './spending/spendState.js';
import { WalletBatch } from './store/records.js';
import { WalletFile } from './store/walletFile.js';
import { salvageWallet } from './store/salvage.js';
import { areCopies } from './keys/copies.js';
import { upgradeWallet } from './keys/upgrade.js';
import { restoreNotes, zapTransactions, type Zap } from './ledger/zap.js';
import type { Entry } from './ledger/entry.js';
import { Wallet, WalletRowError } from './wallet.js';
import type { WalletOptions } from './walletOptions.js';
import { isForeignWallet, migrateForeignWallet, type Migrated } from './transfer/foreignWallet.js';
import {
  FOREIGN_FILE_NAME,
  isSameFile,
  isThere,
  isUnfinished,
  removeFolder,
  walletNames,
  walletPlace,
  type WalletPlace,
} from './walletPlace.js';
import { WalletLocks } from './walletLocks.js';
import { makeFolder } from '../util/makeFolder.js';

/** A wallet cannot be opened or made; the message is for whoever asked, and says what to do where something is to be done. */
export class WalletOpenError extends Error {
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
  /** Wallets opened at start are followed from their first block on (`-rescan`). */
  readonly rescans: boolean;
  /** What can be read of a damaged one is put into a new file at start (`-salvagewallet`). */
  readonly salvages: boolean;
  /** What of its transactions is forgotten at start, before the blocks tell them again (`-zapwallettxes`). */
  readonly zaps: Zap;
  /** The version to which one is brought at start; 0 for none (`-upgradewallet`). */
  readonly upgradesTo: number;
}

/** Hears of all wallets that are open. It must not throw. */
export interface WalletsListener {
  /** A transaction came to a wallet, or what is known of it changed. */
  transactionChanged(wallet: Wallet, entry: Entry, isNew: boolean): void;
}

export interface OpenWallet {
  readonly wallet: Wallet;
  readonly follower: Follower;
}

export interface MigratedWallet extends Migrated {
  readonly wallet: Wallet;
}

interface Open extends OpenWallet {
  readonly place: WalletPlace;
  readonly unlock: () => Promise<void>;
}

export class Wallets {
  readonly options: WalletsOptions;
  private readonly node: NodePort;
  private readonly open = new Map<string, Open>();
  private readonly rebroadcaster: Rebroadcaster;
  /** Wallets are opened and closed one at a time. */
  private readonly queue = new SerialQueue();
  private readonly closing = new AbortController();
  private readonly listeners = new Set<WalletsListener>();
  private readonly locks = new WalletLocks();

  constructor(options: WalletsOptions, node: NodePort) {
    this.options = options;
    this.node = node;
    this.rebroadcaster = new Rebroadcaster(node, () => this.all());
  }

  /** In the order in which they were opened. */
  all(): Wallet[] {
    return [...this.open.values()].map(({ wallet }) => wallet);
  }

  find(name: string): Wallet | undefined {
    return this.open.get(name)?.wallet;
  }

  /** Whether a path leads to the file of a wallet that is open. */
  keeps(path: string): boolean {
    for (const { place } of this.open.values()) if (isSameFile(place.file, path)) return true;
    return false;
  }

  /** Whether another node has wallets open in the folder of a file that is there. */
  isUsedElsewhere(path: string): Promise<boolean> {
    return this.exclusively(() => this.locks.isLockedByOther(dirname(realpathSync(path))));
  }

  /** What feeds a wallet from the chain. */
  followerOf(wallet: Wallet): Follower | undefined {
    return this.open.get(wallet.name)?.follower;
  }

  /** The returned function ends it. */
  listen(listener: WalletsListener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Names of the wallets that lie in the wallet folder, open or not. */
  names(): string[] {
    return walletNames(this.options.walletDir);
  }

  /** Opens a wallet, or makes it where there is none. For the start: rejects with `WalletOpenError`. */
  openOrCreate(name: string): Promise<Wallet> {
    return this.exclusively(async () => {
      const place = this.check(name);
      if (!isThere(place.file) && place.foreign === null) return this.make(place, true);
      return this.load(place, this.options);
    });
  }

  /** Makes a wallet and opens it. Rejects with `WalletOpenError`. */
  create(name: string, privateKeys = true): Promise<Wallet> {
    return this.exclusively(async () => {
      const { kind, path } = walletPlace(this.options.walletDir, name);
      if (kind !== 'missing' && !isUnfinished(path))
        throw new WalletOpenError('exists', `Wallet ${name} already exists.`);
      return this.make(this.check(name), privateKeys);
    });
  }

  /** Opens a wallet that is there. Rejects with `WalletOpenError`. */
  openExisting(name: string): Promise<Wallet> {
    return this.exclusively(async () => {
      const { kind, file, foreign } = walletPlace(this.options.walletDir, name);
      if (kind === 'missing') throw new WalletOpenError('missing', `Wallet ${name} not found.`);
      if (kind === 'folder' && !isThere(file) && foreign === null) {
        throw new WalletOpenError('missing', `Directory ${name} does not contain a ${basename(file)} file.`);
      }
      return this.load(this.check(name));
    });
  }

  /**
   * Takes a wallet of the reference over into a new one of that name, and opens it. What lies at `path`, its file or its
   * folder, stays as it is. Rejects with `WalletOpenError`.
   */
  migrate(path: string, name: string): Promise<MigratedWallet> {
    return this.exclusively(async () => {
      const { foreign, path: absolute, kind } = walletPlace(this.options.walletDir, path);
      const from = foreign ?? (kind === 'folder' ? join(absolute, FOREIGN_FILE_NAME) : absolute);
      if (kind === 'missing') throw new WalletOpenError('missing', `There is no file ${absolute}.`);
      if (!isForeignWallet(from)) throw new WalletOpenError('refused', `${from} is no wallet of lbrycrd.`);
      const place = walletPlace(this.options.walletDir, name);
      if (place.kind !== 'missing') throw new WalletOpenError('exists', `Wallet ${name} already exists.`);
      await this.guard(place, () => makeFolder(place.path, 0o700));
      try {
        const found = await this.takeOver(from, this.check(name));
        return { ...found, wallet: await this.load(this.check(name)) };
      } catch (error) {
        await rm(place.file, { force: true }).catch(() => undefined);
        await removeFolder(place.path);
        throw error;
      }
    });
  }

  private async takeOver(from: string, place: WalletPlace): Promise<Migrated> {
    const { log, warn } = this.node;
    log.info(`Taking over the wallet ${from} into ${place.file}. The old file stays as it is.`);
    try {
      const found = await migrateForeignWallet(from, place.file);
      log.info(
        `Took over ${found.rows} records of ${from}${found.usedLog ? ', some from its log' : ''}. Use it with one program only from here on.`,
      );
      if (found.warning !== '') warn(found.warning);
      return found;
    } catch (error) {
      throw this.told(place, error);
    }
  }

  /** Closes a wallet; resolves when all of it is on disk. */
  unload(wallet: Wallet): Promise<void> {
    return this.exclusively(() => this.shut(wallet.name));
  }

  /** Ends what is under way; nothing is opened any more. */
  interrupt(): void {
    this.closing.abort();
  }

  /** Closes all. */
  async close(): Promise<void> {
    this.interrupt();
    await this.queue.run(async () => {
      await this.rebroadcaster.stop();
      for (const name of [...this.open.keys()].reverse()) await this.shut(name);
    });
  }

  private exclusively<T>(task: () => Promise<T>): Promise<T> {
    return this.queue.run(async () => {
      if (this.closing.signal.aborted) throw new WalletOpenError('refused', 'The node is stopping.');
      return task();
    });
  }

  /** Where a wallet lies, unless it cannot lie there or is open already. Source: `CWallet::Verify`. */
  private check(name: string): WalletPlace {
    const place = walletPlace(this.options.walletDir, name);
    if (place.kind === 'other') {
      throw new WalletOpenError(
        'refused',
        `Invalid -wallet path '${name}'. -wallet path should point to a directory where a wallet can be stored, a location where such a directory could be created, or the name of an existing wallet file in -walletdir (${this.options.walletDir})`,
      );
    }
    if (this.keeps(place.file)) {
      throw new WalletOpenError(
        'refused',
        `Error loading wallet ${name}. Duplicate -wallet filename specified.`,
      );
    }
    return place;
  }

  private async make(place: WalletPlace, privateKeys: boolean): Promise<Wallet> {
    const madeFolder = place.kind === 'missing';
    await this.guard(place, () => makeFolder(dirname(place.file), 0o700));
    const file = WalletFile.planned(place.file);
    let unlock = async (): Promise<void> => undefined;
    try {
      unlock = await this.lock(place);
      const wallet = new Wallet(place.name, { node: this.node, file, options: this.options.wallet });
      // Whatever ends the node meanwhile leaves the whole wallet or none: one without private keys must never be without its flag.
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
      throw this.told(place, error);
    }
  }

  /** Gives a wallet without any rows what all have. */
  private async begin(wallet: Wallet): Promise<void> {
    const batch = new WalletBatch();
    await inSlices(wallet.begin(batch));
    await wallet.write(batch);
  }

  private async load(place: WalletPlace, start: Partial<WalletsOptions> = {}): Promise<Wallet> {
    const started = performance.now();
    let file: WalletFile | null = null;
    let unlock = async (): Promise<void> => undefined;
    try {
      unlock = await this.lock(place);
      if (place.foreign !== null) await this.takeOver(place.foreign, place);
      if (start.salvages === true && isThere(place.file)) await salvageWallet(place.file, this.node);
      file = await WalletFile.open(place.file);
      this.warnOfLinks(place);
      if (file.isWasteful) await file.rewrite();
      const zapped = start.zaps === undefined || start.zaps === 'nothing' ? [] : await zapTransactions(file);
      const wallet = new Wallet(place.name, { node: this.node, file, options: this.options.wallet });
      await inSlices(wallet.load());
      await this.refuseCopy(wallet);
      if (file.isEmpty) await this.begin(wallet);
      if (start.upgradesTo) await upgradeWallet(wallet, start.upgradesTo);
      if (wallet.unknownRowCount > 0)
        this.node.log.warn(
          `${wallet.logName} ${wallet.unknownRowCount} records are of no known kind; they are kept.`,
        );
      this.node.log.info(
        `${wallet.logName} Wallet completed loading in ${Math.round(performance.now() - started)}ms`,
      );
      if (!wallet.isLocked && !wallet.hd.canMake) {
        this.node.warn(
          `${wallet.logName} The seed of the wallet is missing: no new keys can be made. Restore a backup, or begin a new seed with sethdseed.`,
        );
      }
      await wallet.keys.topUp();
      await this.enter(place, wallet, unlock, { rescan: this.options.rescans });
      if (start.zaps === 'transactions') await restoreNotes(wallet, zapped);
      return wallet;
    } catch (error) {
      await file?.close().catch(() => undefined);
      await unlock();
      throw this.told(place, error);
    }
  }

  /** Two copies of one wallet do not hear of each other's addresses. Source: `CheckUniqueFileid`. */
  private async refuseCopy(wallet: Wallet): Promise<void> {
    for (const other of this.all()) {
      if (!(await inSlices(areCopies(wallet, other)))) continue;
      throw new WalletOpenError(
        'copy',
        `Error loading wallet ${wallet.name}. It is a copy of the wallet ${other.name === '' ? '""' : other.name}, which is loaded: both would hand out the same addresses. Unload that one first.`,
      );
    }
  }

  /** Locks are on folders: they do not keep others from the same file in another folder. */
  private warnOfLinks({ name, file }: WalletPlace): void {
    const { nlink } = statSync(file);
    if (nlink > 1)
      this.node.warn(
        `The file of the wallet ${name === '' ? file : name} has ${nlink} names (hard links). Open it under one only: two nodes that write to it destroy it. A copy made with backupwallet is safe.`,
      );
  }

  private async enter(
    place: WalletPlace,
    wallet: Wallet,
    unlock: () => Promise<void>,
    start: { rescan?: boolean; isNew?: boolean },
  ): Promise<Wallet> {
    wallet.listen((entry, isNew) => {
      for (const listener of this.listeners) listener.transactionChanged(wallet, entry, isNew);
    });
    const follower = new Follower(wallet);
    await follower.start({ ...start, signal: this.closing.signal });
    const { ledger, keypool, logName } = wallet;
    if (start.isNew === true) {
      this.node.log.info(`${logName} A new wallet in ${place.file}; back it up with backupwallet`);
    } else {
      this.node.log.info(
        `${logName} ${ledger.size} transactions, ${keypool.count('receive') + keypool.count('change')} keys in the pool`,
      );
    }
    this.open.set(place.name, { wallet, follower, place, unlock });
    await reacceptTransactions(wallet);
    this.rebroadcaster.start();
    return wallet;
  }

  private async shut(name: string): Promise<void> {
    const found = this.open.get(name);
    if (found === undefined) return;
    this.open.delete(name);
    await endSpending(found.wallet);
    await found.follower.stop();
    await found.wallet.close();
    await found.unlock();
  }

  /** Keeps other nodes out, also those whose data lie elsewhere. */
  private async lock({ file }: WalletPlace): Promise<() => Promise<void>> {
    try {
      return await this.locks.lock(dirname(file));
    } catch (error) {
      if (error instanceof FolderLockError) throw new WalletOpenError('refused', error.message);
      throw error;
    }
  }

  private async guard(place: WalletPlace, task: () => unknown): Promise<void> {
    try {
      await task();
    } catch (error) {
      throw this.told(place, error);
    }
  }

  /** What went wrong, for whoever asked. Bugs stay what they are. */
  private told({ name, path }: WalletPlace, error: unknown): unknown {
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
