/**
 * A wallet that is open: its file, keys, pool, labels and transactions as one. Owns how changes get to disk, and
 * what is loaded from the file. Handing out keys is in `keys/keySupply.ts`, following the chain in `follower.ts`, spending in `spending/`,
 * passphrases in `encryption/`. Source: lbrycrd wallet/wallet.h `CWallet`.
 */
import { addressPrefixesOf, decodeDestination, type AddressPrefixes } from '../script/address.js';
import { LOCKTIME_THRESHOLD } from '../script/script.js';
import { asBuffer, type Bytes } from '../util/bytes.js';
import { Reader } from '../util/reader.js';
import { inSlices } from '../scheduler/slices.js';
import type { Slices } from '../util/slices.js';
import { Writer } from '../util/writer.js';
import { AddressBook } from './addressBook.js';
import { Announcements, type WalletListener } from './announcements.js';
import { destinationKey } from './destinationKey.js';
import { EventLine } from './eventLine.js';
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
import type { WalletParts } from './store/walletImage.js';
import { WalletClosedError } from './store/walletFileErrors.js';
import { imageParts, isOtherRow, loadImage } from './walletImage.js';
import { FEATURE, parseNumber } from './walletVersion.js';
import type { WalletOptions } from './walletOptions.js';

/** Flags of a wallet as a whole. Source: `WalletFlags`. */
export const WALLET_FLAG_DISABLE_PRIVATE_KEYS = 1n << 32n;
/** Flags beyond these say something that must not be ignored. Source: `g_known_wallet_flags`, `SetWalletFlags`. */
const KNOWN_FLAGS = WALLET_FLAG_DISABLE_PRIVATE_KEYS;
const TX_PREFIX = kindPrefix('tx');
const MANDATORY_FLAGS = 0xffffffff_00000000n;

/** Keys of a pool that a new wallet gets in one piece. Arbitrary. */
const FIRST_KEYS = 2000;

export interface WalletDeps {
  readonly node: NodePort;
  readonly file: WalletFile;
  readonly options: WalletOptions;
}

/** What is in the wallet cannot be used as it is; the message says why. */
export { WalletRowError } from './keys/keyring.js';

function formatLocator(locator: readonly Bytes[]): Buffer {
  const writer = new Writer(locator.length * 32 + 8).i32(0).compactSize(locator.length);
  for (const hash of locator) writer.raw(hash);
  return writer.finish();
}

export class Wallet {
  /** Name for callers: empty for the wallet in the wallet folder itself. */
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
  /** Makes keys and hands them out. */
  readonly keys = new KeySupply(this);
  readonly book: AddressBook;
  readonly ledger: Ledger;
  /** Balances of the deprecated accounts that are no transactions. */
  readonly accounts = new Accounts();
  /** Looking through blocks again. */
  readonly scans = new Scans();
  /** Outputs that are not to be spent, by their keys (`outputKey`), until something spends them; in memory only. */
  readonly lockedOutputs = new Set<string>();
  /** Events of the node that are not applied yet. */
  readonly events = new EventLine();
  /** The subscribers of transactions, and what is held back. */
  readonly announcements = new Announcements();
  /** When the wallet locks itself again. */
  readonly relock: Relock;
  /** The master key under each passphrase, by number. */
  readonly masterKeys = new Map<number, MasterKeyRow>();
  /** Height to which the chain was followed, −1 before its first block. The follower sets it. */
  followedHeight = -1;
  /** `settxfee`; begins as `-paytxfee`. */
  payTxFeeRatePerKb: bigint;
  /** Whether it is closed, or being closed. */
  private isClosed = false;
  private flags = 0n;
  private versionNumber: number = FEATURE.base;
  private bestBlockRow: Buffer | null = null;
  /** Whether the file had rows that are not understood: they stay where they are. */
  private unknownRows = 0;

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

  // Changes.

  /**
   * Runs a task that changes the wallet and brings what it puts into the batch to disk, all or nothing. Memory changes at
   * once: when the disk refuses, the node stops. With `sync` false it may be lost in a crash, for data that the chain
   * provides again.
   */
  async change<T>(task: (batch: WalletBatch) => T, { sync = true } = {}): Promise<T> {
    this.events.finish();
    const batch = new WalletBatch();
    const result = task(batch);
    await this.write(batch, { sync });
    return result;
  }

  /**
   * Brings a batch to disk; see `change`. Where it brought keys or scripts that known transactions pay to, those are the
   * wallet's when it resolves. With `isLast` false more is to come, and that waits.
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
    if (isLast) await this.reconsiderOutputs();
  }

  /** Known transactions pay to keys and scripts that came since: those outputs are the wallet's when it resolves. */
  async reconsiderOutputs(): Promise<void> {
    while (this.ledger.isOutdated && !this.isClosed) await inSlices(this.ledger.reconsiderOutputs());
  }

  /** The same into a file that is rewritten: what the batch replaces or deletes is nowhere in it afterwards. */
  async writeAnew(batch: WalletBatch): Promise<void> {
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
  }

  /** Throws `WalletClosedError` where there is no file to write to any more. */
  private requireOpen(): void {
    if (this.isClosed) throw new WalletClosedError();
  }

  /** Notified of every transaction that is new or has changed; the returned function ends it. */
  listen(listener: WalletListener, isUsed?: () => boolean): () => void {
    return this.announcements.listen(listener, isUsed);
  }

  /** Whether subscribers do anything with what they are notified of. */
  get hasListeners(): boolean {
    return this.announcements.isUsed;
  }

  /** Notifies subscribers of a transaction. */
  announce(entry: Entry, isNew: boolean): void {
    this.announcements.tell(entry, isNew);
  }

  // What kind of wallet it is.

  get hasPrivateKeys(): boolean {
    return (this.flags & WALLET_FLAG_DISABLE_PRIVATE_KEYS) === 0n;
  }

  setFlag(batch: WalletBatch, flag: bigint): void {
    this.flags |= flag;
    batch.put(recordKey('flags'), new Writer(8).u64(this.flags).finish());
  }

  /** The oldest program that understands it (`walletversion`). */
  get version(): number {
    return this.versionNumber;
  }

  setVersion(batch: WalletBatch, version: number): void {
    if (version <= this.versionNumber) return;
    this.versionNumber = version;
    batch.put(recordKey('minversion'), new Writer(4).i32(version).finish());
  }

  /** What balances depend on besides the ledger. */
  get balanceOptions(): BalanceOptions {
    const height = this.followedHeight + 1;
    const nowSec = this.node.nowSec();
    return {
      spendsUnconfirmedChange: this.options.spendsUnconfirmedChange,
      // By the clock, not by the median time of the tip. Source: `CheckFinalTx` without flags.
      isFinal: ({ lockTime }) =>
        lockTime === 0 || lockTime < (lockTime < LOCKTIME_THRESHOLD ? height : nowSec),
    };
  }

  get isLocked(): boolean {
    return this.keyring.isLocked;
  }

  /** Locks it now; of a wallet that is not encrypted nothing changes. */
  lock(): void {
    this.relock.cancel();
    this.keyring.lock();
  }

  /** What lines of the log begin with. */
  get logName(): string {
    return `[${this.name === '' ? 'default wallet' : this.name}]`;
  }

  /** A seed of its own for a new wallet, and its first keys. Of a pool that is very large `keys.topUp` makes the rest. */
  *begin(batch: WalletBatch, { privateKeys = true } = {}): Slices<void> {
    this.setVersion(batch, FEATURE.latest);
    if (!privateKeys) {
      this.setFlag(batch, WALLET_FLAG_DISABLE_PRIVATE_KEYS);
      return;
    }
    this.hd.setSeed(batch, this.keys.makeSeed(batch));
    yield* this.keys.fill(batch, undefined, FIRST_KEYS);
  }

  // The chain as far as the wallet knows it.

  /** The locator of the block to which the chain was followed, as it is on disk; null for none. */
  get bestBlock(): readonly Bytes[] | null {
    if (this.bestBlockRow === null) return null;
    const reader = new Reader(this.bestBlockRow);
    reader.skip(4);
    const hashes: Bytes[] = [];
    for (let left = reader.compactSize(); left > 0; left--) hashes.push(Buffer.from(reader.hash()));
    return hashes.length === 0 ? null : hashes;
  }

  /** Whether a locator is the one on disk, or on its way there. */
  isBestBlock(locator: readonly Bytes[]): boolean {
    return this.bestBlockRow?.equals(formatLocator(locator)) === true;
  }

  setBestBlock(batch: WalletBatch, locator: readonly Bytes[]): void {
    this.bestBlockRow = formatLocator(locator);
    batch.put(recordKey('bestblock_nomerkle'), this.bestBlockRow);
  }

  // Loading.

  /** Reads all rows. Throws `WalletRowError` where they cannot be used as they are. */
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
    // What of a transaction is the wallet's depends on all of its keys and scripts, which may be rewritten behind it.
    for (const row of this.file.values(TX_PREFIX)) {
      this.ledger.load(row.value, row.keyText(TX_PREFIX.length));
      if (++count % 64 === 0) yield;
    }
  }

  /** Adds a row of any kind but a transaction. */
  private take(key: Buffer, value: Buffer): void {
    const split = splitKey(key);
    if (split === null || !this.loadRow(split.kind, split.rest, value)) this.unknownRows++;
  }

  /** What is known of transactions follows from the chain: to be run once `followedHeight` is set, before anyone reads. */
  settle(batch: WalletBatch): Slices<void> {
    return this.ledger.loaded(batch);
  }

  /** Rows whose kind no one knows. */
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
        // Wallets of before 2014 have theirs here; later ones an empty list.
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
      throw new WalletRowError('The wallet has flags that this program does not know.');
    this.flags = flags;
  }

  /**
   * Brings everything to disk and closes the file, with an image of the wallet beside it; private keys in memory are wiped.
   */
  async close(): Promise<void> {
    await this.scans.close();
    this.isClosed = true;
    this.announcements.close();
    this.lock();
    const parts = await this.partsForImage();
    this.keyring.close();
    await this.file.close(parts, isOtherRow);
  }

  /** Null if the existing image is still valid, or if no image can be made. */
  private async partsForImage(): Promise<WalletParts | null> {
    await this.file.settled();
    if (this.file.hasImage) return null;
    try {
      return await inSlices(imageParts(this));
    } catch (error) {
      // It opens without one.
      this.node.log.debug('db', `${this.logName} No image of the wallet: ${String(error)}`);
      return null;
    }
  }
}
