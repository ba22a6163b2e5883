/**
 * An open wallet with its file, keys, pool, labels and transactions. Writes changes and loads the file. Other modules:
 * `keys/keySupply.ts` creates keys, `follower.ts` follows the chain, `spending/` creates payments, `encryption/` handles
 * passphrases. Source: lbrycrd wallet/wallet.h `CWallet`.
 */
import { addressPrefixesOf, decodeDestination, type AddressPrefixes } from '../script/address.js';
import { LOCKTIME_THRESHOLD } from '../script/script.js';
import { asBuffer, type Bytes } from '../util/bytes.js';
import { Reader } from '../util/reader.js';
import { inSlices } from '../scheduler/slices.js';
import type { Slices } from '../util/slices.js';
import { Writer } from '../util/writer.js';
import { AddressBook } from './addressBook.js';
import { WalletNotifier, type WalletListener } from './walletNotifier.js';
import { destinationKey } from './destinationKey.js';
import { EventQueue } from './eventQueue.js';
import { parseMasterKeyRow, type MasterKeyRow } from './encryption/masterKey.js';
import { Relock } from './encryption/relock.js';
import { Accounts } from './ledger/accounts.js';
import type { BalanceOptions } from './ledger/balances.js';
import type { Entry } from './ledger/entry.js';
import { Ledger } from './ledger/ledger.js';
import { HdKeys } from './keys/hdKeys.js';
import { isMine, MINE, mineOfKeyHash } from './keys/isMine.js';
import { parseHdChain, parsePoolKey } from './keys/keyRecords.js';
import { Keypool } from './keys/keypool.js';
import { Keyring, WalletRowError } from './keys/keyring.js';
import { KeySupply } from './keys/keySupply.js';
import { couldBeMine } from './keys/scriptFilter.js';
import type { NodePort } from './port.js';
import { Scans } from './scan/scans.js';
import { kindPrefix, recordKey, splitKey, WalletBatch } from './store/records.js';
import type { WalletFile } from './store/walletFile.js';
import { WalletClosedError } from './store/walletFileErrors.js';
import { ImageKeeper } from './imageKeeper.js';
import { isOtherRow, loadImage } from './walletImage.js';
import { FEATURE, parseNumber } from './walletVersion.js';
import type { WalletOptions } from './walletOptions.js';

/** Flags of a wallet as a whole. Source: `WalletFlags`. */
const WALLET_FLAG_DISABLE_PRIVATE_KEYS = 1n << 32n;
/**
 * Mask of the known flags. A wallet with an unknown flag among the upper 32 bits must not be opened. Source:
 * `g_known_wallet_flags`, `SetWalletFlags`.
 */
const KNOWN_FLAGS = WALLET_FLAG_DISABLE_PRIVATE_KEYS;
const TX_PREFIX = kindPrefix('tx');
const MANDATORY_FLAGS = 0xffffffff_00000000n;

/** Number of pool keys that are created for a new wallet before its file is first written. Arbitrary. */
const FIRST_KEYS = 2000;

export interface WalletDeps {
  readonly node: NodePort;
  readonly file: WalletFile;
  readonly options: WalletOptions;
}

/** Error: the data of a wallet cannot be used. The message contains the reason. */
export { WalletRowError } from './keys/keyring.js';

function formatLocator(locator: readonly Bytes[]): Buffer {
  const writer = new Writer(locator.length * 32 + 8).i32(0).compactSize(locator.length);
  for (const hash of locator) writer.raw(hash);
  return writer.finish();
}

export class Wallet {
  /** Name of the wallet for callers. Empty for the wallet in the wallet folder itself. */
  readonly name: string;
  readonly node: NodePort;
  readonly file: WalletFile;
  readonly options: WalletOptions;
  readonly prefixes: AddressPrefixes;
  readonly keyring = new Keyring(
    (hashes) => this.ledger.keysCame(hashes),
    (key) => this.file.get(key),
  );
  readonly hd = new HdKeys(this.keyring);
  readonly keypool = new Keypool();
  /** Creates keys of the wallet and gives them to callers. */
  readonly keys = new KeySupply(this);
  readonly book: AddressBook;
  readonly ledger: Ledger;
  /** Moves between the deprecated accounts. Moves are not transactions. */
  readonly accounts = new Accounts();
  /** State of the wallet's rescans: the running one, and those that are owed. */
  readonly scans = new Scans();
  /**
   * Keys (`outputKey`) of locked outputs, which the wallet does not spend. A lock ends when another transaction spends the
   * output. Locks are not stored on disk.
   */
  readonly lockedOutputs = new Set<string>();
  /** Queue of the node's events that the wallet has not applied yet. */
  readonly events = new EventQueue();
  /** Subscribers to the wallet's transactions, and the notifications that are delayed. */
  readonly announcements = new WalletNotifier();
  /** Writes the cache file of the wallet. */
  readonly images = new ImageKeeper(this);
  /** Timer of the automatic lock (`walletpassphrase`). */
  readonly relock: Relock;
  /** Master key, encrypted once with each passphrase, by number. */
  readonly masterKeys = new Map<number, MasterKeyRow>();
  /** Height of the last block that was applied; −1 before the first block. The follower sets it. */
  followedHeight = -1;
  /** Fee rate set by `settxfee`. The initial value is that of `-paytxfee`. */
  payTxFeeRatePerKb: bigint;
  /** Whether the wallet is closed or being closed. */
  private isClosed = false;
  private flags = 0n;
  private versionNumber: number = FEATURE.base;
  private bestBlockRow: Buffer | null = null;
  /** Number of rows with unknown types. Such rows stay in the file. */
  private unknownRows = 0;
  /** Number of running calls of `reconsiderOutputs`. */
  private reconsidering = 0;

  constructor(name: string, { node, file, options }: WalletDeps) {
    this.name = name;
    this.node = node;
    this.file = file;
    this.options = options;
    this.prefixes = addressPrefixesOf(node.params);
    this.relock = new Relock(() => this.keyring.lock());
    this.book = new AddressBook((address) => {
      const destination = decodeDestination(address, this.prefixes);
      return destination === null ? null : destinationKey(destination);
    });
    this.payTxFeeRatePerKb = options.payTxFeeRatePerKb;
    const followed = (): number => this.followedHeight;
    const { keyring } = this;
    this.ledger = new Ledger({
      mine: (script) =>
        couldBeMine(this.keyring, asBuffer(script)) ? isMine(this.keyring, script) : MINE.no,
      mineOfKeyHash: (keyId) => mineOfKeyHash(this.keyring, keyId),
      get mineRevision() {
        return keyring.revision;
      },
      heightOf: (hash) => {
        const height = this.events.heightOf(hash) ?? node.chain.heightOf(hash);
        return height > this.followedHeight ? -1 : height;
      },
      get height() {
        return followed();
      },
      nowSec: () => node.nowSec(),
      readRow: (key) => file.get(key),
      moves: () => this.accounts.all(),
      settledOtherwise: (entry) => this.announce(entry, false),
      // Source: `AddToSpends`.
      spentBy: (inputs) => {
        if (this.lockedOutputs.size > 0) for (const input of inputs) this.lockedOutputs.delete(input);
      },
    });
  }

  // Methods that change the wallet.

  /**
   * Runs a task that changes the wallet, and writes its batch to disk atomically. The changes are applied to memory
   * immediately, so a disk error stops the node. With `sync` false a crash may lose the batch. Use that only for data that
   * the chain provides again.
   */
  async change<T>(task: (batch: WalletBatch) => T, { sync = true } = {}): Promise<T> {
    this.events.finish();
    const batch = new WalletBatch();
    const result = task(batch);
    await this.write(batch, { sync });
    return result;
  }

  /**
   * Writes a batch to disk with the guarantees of `change`. If the batch contains new keys or scripts, outputs of known
   * transactions to them belong to the wallet when the promise resolves. With `isLast` false this check is left to a later
   * batch.
   */
  async write(
    batch: WalletBatch,
    { sync = true, isLast = sync }: { readonly sync?: boolean; readonly isLast?: boolean } = {},
  ): Promise<void> {
    if (batch.changes.length === 0) return;
    this.events.finish();
    this.requireOpen();
    try {
      await this.file.commit(batch.changes, { sync });
    } catch (error) {
      this.node.onFatal(error);
      throw error;
    } finally {
      batch.wipe();
    }
    this.ledger.committed(batch);
    this.images.consider();
    if (isLast) await this.reconsiderOutputs();
  }

  /**
   * Checks the outputs of known transactions against keys and scripts that were added. When the promise resolves, outputs
   * that pay to these keys and scripts belong to the wallet.
   */
  async reconsiderOutputs(): Promise<void> {
    this.reconsidering++;
    try {
      while (this.ledger.isOutdated && !this.isClosed) await inSlices(this.ledger.reconsiderOutputs());
    } finally {
      this.reconsidering--;
    }
  }

  /** Whether added keys or scripts are not yet taken into account for all known outputs. */
  get isReconsidering(): boolean {
    return this.reconsidering > 0 || this.ledger.isOutdated;
  }

  /** Writes a batch by creating the whole file again, so that it contains no replaced and deleted rows. */
  async rewriteFile(batch: WalletBatch): Promise<void> {
    this.events.finish();
    this.requireOpen();
    try {
      await this.file.rewrite(batch.changes);
    } catch (error) {
      this.node.onFatal(error);
      throw error;
    } finally {
      batch.wipe();
    }
    this.ledger.committed(batch);
    this.images.consider();
  }

  /** Throws `WalletClosedError` if the wallet is closed. */
  private requireOpen(): void {
    if (this.isClosed) throw new WalletClosedError();
  }

  /** Adds a listener for new and changed transactions. Returns a function that removes the listener. */
  listen(listener: WalletListener, isUsed?: () => boolean): () => void {
    return this.announcements.listen(listener, isUsed);
  }

  /** Whether any listener currently needs notifications. */
  get hasListeners(): boolean {
    return this.announcements.isUsed;
  }

  /** Notifies listeners about a transaction. */
  announce(entry: Entry, isNew: boolean): void {
    this.announcements.tell(entry, isNew);
  }

  // Getters for properties of the wallet.

  get hasPrivateKeys(): boolean {
    return (this.flags & WALLET_FLAG_DISABLE_PRIVATE_KEYS) === 0n;
  }

  setFlag(batch: WalletBatch, flag: bigint): void {
    this.flags |= flag;
    batch.put(recordKey('flags'), new Writer(8).u64(this.flags).finish());
  }

  /** Minimum version of a program that can open the wallet (`walletversion`). */
  get version(): number {
    return this.versionNumber;
  }

  setVersion(batch: WalletBatch, version: number): void {
    if (version <= this.versionNumber) return;
    this.versionNumber = version;
    batch.put(recordKey('minversion'), new Writer(4).i32(version).finish());
  }

  /** Data that is needed in addition to the ledger in order to compute balances. */
  get balanceOptions(): BalanceOptions {
    const height = this.followedHeight + 1;
    const nowSec = this.node.nowSec();
    return {
      spendsUnconfirmedChange: this.options.spendsUnconfirmedChange,
      // Lock times are compared with the clock, not with the median time of the tip. Source: `CheckFinalTx` without flags.
      isFinal: ({ lockTime }) =>
        lockTime === 0 || lockTime < (lockTime < LOCKTIME_THRESHOLD ? height : nowSec),
    };
  }

  get isLocked(): boolean {
    return this.keyring.isLocked;
  }

  /** Locks the wallet immediately. Has no effect if the wallet is not encrypted. */
  lock(): void {
    this.relock.cancel();
    this.keyring.lock();
  }

  /** Prefix of the wallet's log lines. */
  get logName(): string {
    return `[${this.name === '' ? 'default wallet' : this.name}]`;
  }

  /**
   * Creates the seed of a new wallet and its first keys. If the pool is very large, `keys.topUp` must create the remaining
   * keys.
   */
  *begin(batch: WalletBatch, { privateKeys = true } = {}): Slices<void> {
    this.setVersion(batch, FEATURE.latest);
    if (!privateKeys) {
      this.setFlag(batch, WALLET_FLAG_DISABLE_PRIVATE_KEYS);
      return;
    }
    this.hd.setSeed(batch, this.keys.makeSeed(batch));
    yield* this.keys.fill(batch, undefined, FIRST_KEYS);
  }

  // Members that describe the chain as far as the wallet has followed it.

  /** The stored locator of the wallet's best block (the last block that was applied); null if none is stored. */
  get bestBlock(): readonly Bytes[] | null {
    if (this.bestBlockRow === null) return null;
    const reader = new Reader(this.bestBlockRow);
    reader.skip(4);
    const hashes: Bytes[] = [];
    for (let left = reader.compactSize(); left > 0; left--) hashes.push(Buffer.from(reader.hash()));
    return hashes.length === 0 ? null : hashes;
  }

  /** Whether a locator equals the stored locator, or the one that is being written. */
  isBestBlock(locator: readonly Bytes[]): boolean {
    return this.bestBlockRow?.equals(formatLocator(locator)) === true;
  }

  setBestBlock(batch: WalletBatch, locator: readonly Bytes[]): void {
    this.bestBlockRow = formatLocator(locator);
    batch.put(recordKey('bestblock_nomerkle'), this.bestBlockRow);
  }

  // Methods that load the wallet.

  /** Loads the wallet from its image, or from all rows of the file. Throws `WalletRowError` if a row is invalid. */
  *load(): Slices<void> {
    if (!(yield* loadImage(this, (key, value) => this.take(key, value)))) yield* this.loadAll();
    this.keyring.loaded();
    this.keypool.loaded();
  }

  private *loadAll(): Slices<void> {
    this.file.dropImage();
    let count = 0;
    for (const { key, value } of this.file.values(TX_PREFIX, true)) {
      this.take(key, value);
      if (++count % 64 === 0) yield;
    }
    // Transactions are loaded last, because whether their outputs belong to the wallet depends on all keys and scripts,
    // which may follow later in the file.
    for (const row of this.file.values(TX_PREFIX)) {
      this.ledger.load(row.value, row.keyText(TX_PREFIX.length));
      if (++count % 64 === 0) yield;
    }
  }

  /** Loads a row of any type except a transaction. */
  private take(key: Buffer, value: Buffer): void {
    const split = splitKey(key);
    if (split === null || !this.loadRow(split.kind, split.rest, value)) this.unknownRows++;
  }

  /**
   * Computes the states of transactions, which depend on the chain. Must be called after `followedHeight` is set, and before
   * any query.
   */
  settle(batch: WalletBatch): Slices<void> {
    return this.ledger.loaded(batch);
  }

  /** Number of rows with unknown types. */
  get unknownRowCount(): number {
    return this.unknownRows;
  }

  private loadRow(kind: string, rest: Bytes, value: Bytes): boolean {
    if (this.keyring.load(kind, rest, value) || this.book.load(kind, rest, value)) return true;
    if (this.accounts.load(kind, rest, value) || this.scans.load(kind, value)) return true;
    switch (kind) {
      case 'orderposnext':
        this.ledger.loadNextOrderPos(value);
        return true;
      case 'pool':
        this.keypool.load(Number(new Reader(rest).i64()), parsePoolKey(value));
        return true;
      case 'hdchain':
        this.hd.load(parseHdChain(value));
        return true;
      case 'mkey':
        this.masterKeys.set(new Reader(rest).u32(), parseMasterKeyRow(value));
        return true;
      case 'flags':
        this.loadFlags(new Reader(value).u64());
        return true;
      case 'minversion':
        this.versionNumber = Math.max(this.versionNumber, parseNumber(value));
        if (this.versionNumber > FEATURE.latest)
          throw new WalletRowError('The wallet requires a newer version of this program.');
        return true;
      case 'version':
        return true;
      case 'bestblock_nomerkle':
        this.bestBlockRow = Buffer.from(value);
        return true;
      case 'bestblock':
        // Wallets from before 2014 have the locator in this row. In newer wallets the row contains an empty list.
        if (this.bestBlockRow === null && value.length > 5) this.bestBlockRow = Buffer.from(value);
        return true;
      case 'defaultkey':
        return true;
      default:
        return false;
    }
  }

  private loadFlags(flags: bigint): void {
    if ((flags & MANDATORY_FLAGS & ~KNOWN_FLAGS) !== 0n)
      throw new WalletRowError('The wallet has flags that this version does not know.');
    this.flags = flags;
  }

  /** Rewrites the file if most of its rows are obsolete. A disk error is ignored, because it loses no data. */
  private async shrink(): Promise<void> {
    await this.file.settled();
    if (!this.file.isWasteful) return;
    try {
      await this.file.rewrite();
    } catch (error) {
      this.node.log.debug('db', `${this.logName} The wallet file was not rewritten: ${String(error)}`);
    }
  }

  /**
   * Writes all data to disk and closes the file, with an image of the wallet. Private keys in memory are wiped.
   */
  async close(): Promise<void> {
    await this.scans.close();
    this.isClosed = true;
    this.announcements.close();
    this.lock();
    await this.images.stop();
    await this.shrink();
    const parts = await this.images.finalParts();
    this.keyring.close();
    await this.file.close(parts, isOtherRow);
  }
}
