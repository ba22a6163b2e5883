/**
 * The wallets of a node: the open wallets, their names, and their listeners. `walletOpener.ts` opens and creates wallets.
 * Source: lbrycrd wallet/init.cpp, wallet/wallet.cpp `AddWallet`, `Verify`.
 */
import { realpathSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { makeFolder } from '../util/files/makeFolder.js';
import { SerialQueue } from '../scheduler/serialQueue.js';
import type { Follower } from './follower.js';
import type { Entry } from './ledger/entry.js';
import type { NodePort } from './port.js';
import { Rebroadcaster, reacceptTransactions } from './spending/broadcasting.js';
import { endSpending } from './spending/spendState.js';
import { isForeignWallet, type Migrated } from './transfer/foreignWallet.js';
import type { Wallet } from './wallet.js';
import { WalletLocks } from './walletLocks.js';
import { WalletOpener, WalletOpenError, type OpenedWallet, type WalletsOptions } from './walletOpener.js';
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

/** Listener for events of all open wallets. It must not throw. */
export interface WalletsListener {
  /** Called when a transaction was added to a wallet, or its data changed. */
  transactionChanged(wallet: Wallet, entry: Entry, isNew: boolean): void;
}

export interface MigratedWallet extends Migrated {
  readonly wallet: Wallet;
}

/** Returns a sentence about the wallet in a data folder that lbrycrd 0.17 created: its wallets are in the folder `wallets`. */
function walletHint(dataFolder: string): string {
  const path = join(dataFolder, 'wallets', FOREIGN_FILE_NAME);
  return isForeignWallet(path) ? ` Did you mean ${path}?` : '';
}

export class Wallets {
  readonly options: WalletsOptions;
  private readonly node: NodePort;
  private readonly open = new Map<string, OpenedWallet>();
  private readonly rebroadcaster: Rebroadcaster;
  /** Queue in which wallets are opened and closed one at a time. */
  private readonly queue = new SerialQueue();
  private readonly closing = new AbortController();
  private readonly listeners = new Set<WalletsListener>();
  private readonly locks = new WalletLocks();
  private readonly opener: WalletOpener;

  constructor(options: WalletsOptions, node: NodePort) {
    this.options = options;
    this.node = node;
    this.rebroadcaster = new Rebroadcaster(node, () => this.all());
    this.opener = new WalletOpener(options, {
      node,
      locks: this.locks,
      signal: this.closing.signal,
      others: () => this.all(),
      begins: (wallet) => {
        wallet.listen(
          (entry, isNew) => {
            for (const listener of this.listeners) listener.transactionChanged(wallet, entry, isNew);
          },
          () => this.listeners.size > 0,
        );
      },
    });
  }

  /** Open wallets, in the order in which they were opened. */
  all(): Wallet[] {
    return [...this.open.values()].map(({ wallet }) => wallet);
  }

  find(name: string): Wallet | undefined {
    return this.open.get(name)?.wallet;
  }

  /** Whether a path refers to the file of an open wallet. */
  keeps(path: string): boolean {
    for (const { place } of this.open.values()) if (isSameFile(place.file, path)) return true;
    return false;
  }

  /** Whether another node has open wallets in the folder of `path`, which must exist. */
  isUsedElsewhere(path: string): Promise<boolean> {
    return this.exclusively(() => this.locks.isLockedByOther(dirname(realpathSync(path))));
  }

  /** The follower that applies chain events to a wallet. */
  followerOf(wallet: Wallet): Follower | undefined {
    return this.open.get(wallet.name)?.follower;
  }

  /** Adds a listener. Returns a function that removes it. */
  listen(listener: WalletsListener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /**
   * Resolves when the wallets have applied all events of the node so far; null if no events are waiting. During a reorg the
   * wallets' view of blocks and mempool is inconsistent, so the promise resolves after the end of the reorg.
   */
  caughtUp(): Promise<unknown> | null {
    const reorganised = this.node.chain.reorganised();
    if (reorganised !== null) return reorganised.then(() => this.caughtUp());
    let behind: Promise<void>[] | null = null;
    for (const { wallet } of this.open.values()) {
      const one = wallet.events.caughtUp();
      if (one !== null) (behind ??= []).push(one);
    }
    return behind === null ? null : Promise.all(behind);
  }

  /**
   * Whether a reorg is running, or wallets have applied only some events of a group. In both cases the state of the wallets
   * matches no state of the node between two event loop turns.
   */
  get isBetween(): boolean {
    if (this.node.chain.reorganised() !== null) return true;
    for (const { wallet } of this.open.values()) if (wallet.events.isInGroup) return true;
    return false;
  }

  /** Marks all wallets as in use (`EventQueue.enter`). Returns a function that ends this mark. */
  enter(): () => void {
    const lines = this.all().map(({ events }) => events);
    for (const line of lines) line.enter();
    return () => lines.forEach((line) => line.leave());
  }

  /** Applies the remaining slices of all started events immediately (`EventQueue.finish`). */
  finish(): void {
    for (const { wallet } of this.open.values()) wallet.events.finish();
  }

  /** Names of all wallets in the wallet folder, whether open or not. */
  names(): string[] {
    return walletNames(this.options.walletDir);
  }

  /** Opens a wallet, or creates it if it does not exist. Used at start. Rejects with `WalletOpenError`. */
  openOrCreate(name: string): Promise<Wallet> {
    return this.exclusively(async () => {
      const place = this.check(name);
      if (!isThere(place.file) && place.foreign === null) return this.list(this.opener.make(place, true));
      return this.list(this.opener.load(place, this.options));
    });
  }

  /** Creates and opens a wallet. Rejects with `WalletOpenError`. */
  create(name: string, privateKeys = true): Promise<Wallet> {
    return this.exclusively(async () => {
      const { kind, path } = walletPlace(this.options.walletDir, name);
      if (kind !== 'missing' && !isUnfinished(path))
        throw new WalletOpenError('exists', `Wallet ${name} already exists.`);
      return this.list(this.opener.make(this.check(name), privateKeys));
    });
  }

  /** Opens an existing wallet. Rejects with `WalletOpenError`. */
  openExisting(name: string): Promise<Wallet> {
    return this.exclusively(async () => {
      const { kind, file, foreign } = walletPlace(this.options.walletDir, name);
      if (kind === 'missing') throw new WalletOpenError('missing', `Wallet ${name} not found.`);
      if (kind === 'folder' && !isThere(file) && foreign === null) {
        throw new WalletOpenError('missing', `Directory ${name} does not contain a ${basename(file)} file.`);
      }
      return this.list(this.opener.load(this.check(name)));
    });
  }

  /**
   * Imports a wallet of the reference (lbrycrd) into a new wallet with this name, and opens the new wallet. The file or
   * folder at `path` stays unchanged. Rejects with `WalletOpenError`.
   */
  migrate(path: string, name: string): Promise<MigratedWallet> {
    return this.exclusively(async () => {
      const { foreign, path: absolute, kind } = walletPlace(this.options.walletDir, path);
      const from = foreign ?? (kind === 'folder' ? join(absolute, FOREIGN_FILE_NAME) : absolute);
      if (!isThere(from)) {
        const folder = kind === 'folder' ? absolute : dirname(absolute);
        throw new WalletOpenError('missing', `The file ${from} does not exist.${walletHint(folder)}`);
      }
      if (!isForeignWallet(from)) throw new WalletOpenError('refused', `${from} is not a wallet of lbrycrd.`);
      const place = walletPlace(this.options.walletDir, name);
      if (place.kind !== 'missing') throw new WalletOpenError('exists', `Wallet ${name} already exists.`);
      await this.opener.guard(place, () => makeFolder(place.path, 0o700));
      try {
        const found = await this.opener.takeOver(from, this.check(name));
        return { ...found, wallet: await this.list(this.opener.load(this.check(name))) };
      } catch (error) {
        await rm(place.file, { force: true }).catch(() => undefined);
        await removeFolder(place.path);
        throw error;
      }
    });
  }

  /** Closes a wallet. Resolves when all its data is on disk. */
  unload(wallet: Wallet): Promise<void> {
    return this.exclusively(() => this.shut(wallet.name));
  }

  /** Aborts running tasks, and rejects later requests to open a wallet. */
  interrupt(): void {
    this.closing.abort();
  }

  /** Closes all wallets. */
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

  /**
   * Location of the wallet with this name. Throws if the name is invalid or the wallet is already open. Source:
   * `CWallet::Verify`.
   */
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

  /** Adds the unconfirmed transactions of all wallets to the mempool. */
  async reaccept(): Promise<void> {
    for (const { wallet } of [...this.open.values()]) await reacceptTransactions(wallet);
  }

  /** Adds a wallet that was opened to the list of open wallets. */
  private async list(opening: Promise<OpenedWallet>): Promise<Wallet> {
    const opened = await opening;
    const { wallet, place } = opened;
    this.open.set(place.name, opened);
    await wallet.events.use(() => reacceptTransactions(wallet));
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
}
