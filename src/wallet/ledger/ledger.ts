/**
 * The transactions of a wallet and their states: which transactions are in blocks, which conflict with a block, and which
 * outputs are spent. The ledger applies events of the chain and the mempool one by one. It has no keys, selects no coins and
 * sends no transactions. A change is applied to memory immediately, and to disk when its batch is written. Queries are in
 * `ledgerReader.ts`. Source: lbrycrd wallet/wallet.cpp.
 */
import type { Transaction } from '../../primitives/transaction.js';
import { fromHex, toLatin1, type Bytes } from '../../util/bytes.js';
import { Reader } from '../../util/reader.js';
import { inSteps, type Slices } from '../../util/slices.js';
import { Writer } from '../../util/writer.js';
import type { SettledPayments } from '../port.js';
import type { Columns } from '../store/columnFile.js';
import { recordKey, type WalletBatch } from '../store/records.js';
import { HeldEntry, type Entry, type EntryState, type TxSummary } from './entry.js';
import { ledgerImage, type LedgerNotes } from './ledgerImage.js';
import type { LedgerPort, OwnTransaction, ChainPlace } from './ledgerPort.js';
import { LedgerReader } from './ledgerReader.js';
import { OtherDestinations } from './otherDestinations.js';
import { PackedTxs } from './packedTxs.js';
import { SleepingTxs } from './sleepingTxs.js';
import { latestTimes, smartTime } from './smartTime.js';
import { WalletTxFacts } from './txFacts.js';
import { skipTransaction, TxSummarizer } from './txSummary.js';
import {
  ABANDONED,
  NO_BLOCK,
  NO_FORM,
  NO_NOTES,
  parseTxDetails,
  unsignedId,
  type TxRecord,
} from './txRecord.js';

const HASH_BYTES = 32;

export class Ledger extends LedgerReader {
  private readonly loose = this.index.loose;
  private nextOrderPos = 0;
  private readonly others = new OtherDestinations();
  private readonly summarizer: TxSummarizer;
  private mayOwnMore = false;
  /** Wallet image (a file with packed data) from which the wallet was opened; null if all rows were loaded. */
  private image: { readonly columns: Columns; readonly notes: LedgerNotes } | null = null;
  private isLoaded = false;

  constructor(port: LedgerPort) {
    super(port);
    this.summarizer = new TxSummarizer(port, (key) => this.index.keptDestination(key), this.others);
  }

  /** Whether one of the inputs spends an output of the wallet. */
  private spendsOwn(inputs: readonly string[]): boolean {
    return inputs.some((input) => this.output(input) !== undefined);
  }

  // Methods that add transactions.

  /** Loads a row. `txKey` is the id in the row's key. The order of rows does not matter. Call `loaded` after the last row. */
  load(bytes: Buffer, txKey: string): void {
    const reader = new Reader(bytes);
    const summary = this.summarizer.read(reader);
    this.enter(txKey, summary, this.readDetails(reader));
  }

  /** Parses the fields of a row that follow the transaction. */
  private readDetails(reader: Reader): Entry['row'] {
    return parseTxDetails(reader, () => {
      const at = reader.offset;
      reader.skip(HASH_BYTES);
      return this.index.blockHash(reader.bytes.toString('latin1', at, at + HASH_BYTES));
    });
  }

  /**
   * Initializes the ledger with the data of a wallet image. Must be called first. Newer rows follow with `load` and
   * `unload`, and then `loaded` must be called. The caller must not use the columns afterwards.
   */
  begin(columns: Columns, notes: LedgerNotes): void {
    this.image = { columns, notes };
    this.nextOrderPos = Math.max(this.nextOrderPos, notes.nextOrderPos);
    this.index.ids.fill(columns['idWords'] as Uint32Array, notes.idCount);
    this.others.fill(columns['others'] as Uint32Array, notes.otherCount);
    this.index.begin(
      new SleepingTxs(new PackedTxs(columns), (key) => {
        const reader = new Reader(this.rows.rowBytes(key));
        skipTransaction(reader);
        return this.readDetails(reader);
      }),
      new Map(notes.paidBy),
    );
    for (const id of notes.loose) {
      const key = toLatin1(fromHex(id));
      // The row may have been deleted after the image was written. `unload` is called for such a row later.
      const bytes = this.rows.find(key);
      if (bytes !== undefined) this.load(bytes, key);
    }
  }

  /** Removes a transaction of the image whose row was deleted or changed. */
  unload(txKey: string): void {
    this.index.unload(txKey);
  }

  /** Data of the ledger for a new wallet image. Null before `loaded`, and while the data is being changed. */
  *imageParts(
    paysToPool: (to: string) => boolean,
  ): Slices<{ readonly columns: Columns; readonly notes: LedgerNotes } | null> {
    if (!this.isLoaded || this.mayOwnMore) return null;
    const { index, port, nextOrderPos, others, image: before } = this;
    return yield* ledgerImage({ index, port, nextOrderPos, others, paysToPool, before });
  }

  loadNextOrderPos(value: Bytes): void {
    this.nextOrderPos = Number(new Reader(value).i64());
  }

  /** Computes the states of all transactions. Transactions without a position in the order get one, sorted by time. */
  *loaded(batch: WalletBatch): Slices<void> {
    // If the chain of the image is still active, its states are valid.
    if (!this.standsIn((hash) => this.port.heightOf(hash))) yield* this.index.wakeAll();
    const unplaced: Entry[] = [];
    for (const entry of inSteps(this.index.awake())) {
      if (entry === null) yield;
      else if (entry.row.orderPos === -1) unplaced.push(entry);
      else this.nextOrderPos = Math.max(this.nextOrderPos, entry.row.orderPos + 1);
    }
    unplaced.sort((a, b) => a.row.timeReceivedSec - b.row.timeReceivedSec);
    for (const entry of unplaced) {
      entry.row = { ...entry.row, orderPos: this.takeOrderPos(batch) };
      this.write(batch, entry);
      yield;
    }
    yield* this.settleAll();
    yield* this.index.sort();
    // If a transaction spends an output of a conflicting transaction, it conflicts with the same block.
    for (const entry of inSteps(this.index.awake())) {
      if (entry === null) yield;
      else if (entry.state === 'conflicted')
        for (const child of this.childrenOf(entry)) this.markConflicted(batch, child, entry.row.blockHash);
    }
    this.isLoaded = true;
  }

  /** Whether the confirmed transactions of the image are still in the same blocks. */
  private standsIn(heightOf: (hash: Bytes) => number): boolean {
    if (this.image === null) return true;
    const { tip } = this.image.notes;
    if (tip !== null && heightOf(fromHex(tip.hash)) === tip.height) return true;
    return this.index.standsIn(heightOf);
  }

  doubtful(heightOf: (hash: Bytes) => number): Iterable<Entry> {
    return this.standsIn(heightOf) ? this.index.awake() : this.index.all();
  }

  /** Computes the states of all transactions in memory from their rows, and the set of unspent outputs. */
  private *settleAll(): Slices<void> {
    this.loose.clear();
    let [hash, height]: [Bytes | null, number] = [null, -1];
    for (const entry of inSteps(this.index.awake())) {
      if (entry === null) {
        yield;
        // The chain may have changed during the yield, which invalidates the cached height.
        hash = null;
        continue;
      }
      const { row } = entry;
      // The height of the last looked-up block is cached, because successive transactions often have the same block.
      if (row.blockHash !== hash) [hash, height] = [row.blockHash, this.namedHeight(row)];
      entry.state = stateOf(row, height);
      entry.height = height;
      if (entry.state !== 'confirmed') this.loose.add(entry);
    }
    this.changes++;
    yield* this.spent.noteAll();
    this.touch(null);
  }

  /** Returns the next free position in the order of all transactions and moves. */
  takeOrderPos(batch: WalletBatch): number {
    const position = this.nextOrderPos++;
    batch.putLast(recordKey('orderposnext'), new Writer(8).i64(BigInt(this.nextOrderPos)).finish());
    return position;
  }

  private enter(key: string, summary: TxSummary, row: Entry['row']): Entry {
    const entry = new HeldEntry(key, summary, row);
    this.changes++;
    this.index.add(entry);
    this.touchFamily(entry);
    return entry;
  }

  private summaryOf(facts: WalletTxFacts): TxSummary {
    return facts.summary(this.port.mineRevision, (bytes) => this.summarizer.read(new Reader(bytes)));
  }

  /** Computes the data that `add` will need. Does not change the ledger. */
  prepare(facts: WalletTxFacts): void {
    this.summaryOf(facts);
    const entry = this.index.get(facts.key);
    if (entry?.hasWitness === true) facts.stored = { entry, bytes: this.rows.txBytes(entry) };
  }

  /** Returns the object for a block hash; one object exists per hash, for all transactions. */
  private keptHash(hash: Bytes): Bytes {
    return this.index.blockHash(toLatin1(hash));
  }

  /** Replaces the row data of a transaction, and computes the transaction's state. */
  private place(entry: Entry, row: Entry['row']): void {
    this.index.setRow(entry, row);
    this.settle(entry);
  }

  /** Computes the state of a transaction from its row. */
  private settle(entry: Entry): void {
    const height = this.namedHeight(entry.row);
    this.setState(entry, stateOf(entry.row, height), height);
  }

  /** Height of the block in a row; −1 if the block is not in the active chain. */
  private namedHeight({ blockHash }: Entry['row']): number {
    return blockHash === NO_BLOCK || blockHash === ABANDONED ? -1 : this.port.heightOf(blockHash);
  }

  private setState(entry: Entry, state: EntryState, height: number): void {
    if (entry.height === height && entry.state === state) return;
    this.index.wake(entry);
    if (entry.height !== height) this.touch(entry);
    entry.height = height;
    if (entry.state === state) return;
    this.touch(entry);
    this.changes++;
    entry.state = state;
    if (state === 'confirmed') this.loose.delete(entry);
    else this.loose.add(entry);
    this.spent.noteInputs(entry);
  }

  private write(batch: WalletBatch, entry: Entry, tx?: Bytes): void {
    this.rows.write(batch, entry, tx);
  }

  /** Must be called when a batch was written. The rows of the batch can then be read from disk. */
  committed(batch: WalletBatch): void {
    this.rows.committed(batch);
  }

  /**
   * Adds or updates a transaction in a block, or in the mempool (`place` is null). Returns its entry. Returns null if the
   * transaction is unknown, and neither pays to the wallet nor spends outputs of the wallet. Source:
   * `AddToWalletIfInvolvingMe`, `AddToWallet`.
   */
  add(
    batch: WalletBatch,
    given: Transaction | WalletTxFacts,
    place: ChainPlace | null,
    own?: OwnTransaction,
  ): Entry | null {
    const facts = given instanceof WalletTxFacts ? given : new WalletTxFacts(given);
    const { key } = facts;
    const summary = this.summaryOf(facts);
    const { inputs } = summary;
    if (place !== null && !summary.isCoinbase) {
      for (const input of inputs)
        for (const other of this.spendersOf(input))
          if (other.key !== key) this.markConflicted(batch, other, place.blockHash);
    }
    const known = this.index.get(key);
    if (known !== undefined) {
      this.merge(batch, known, facts, place, own !== undefined);
      return known;
    }
    const isInvolved = own !== undefined || this.spendsOwn(inputs) || summary.outputs.length > 0;
    if (!isInvolved) return null;
    const nowSec = this.port.nowSec();
    const entry = this.enter(key, summary, {
      blockHash: place === null ? NO_BLOCK : this.keptHash(place.blockHash),
      index: place?.index ?? -1,
      notes: own?.notes ?? NO_NOTES,
      orderForm: own?.orderForm ?? NO_FORM,
      timeReceivedIsTxTime: own === undefined ? 0 : 1,
      timeReceivedSec: nowSec,
      timeSmartSec: place === null ? nowSec : this.smartTime(place, nowSec),
      isFromMe: own !== undefined,
      fromAccount: own?.fromAccount ?? '',
      orderPos: this.takeOrderPos(batch),
    });
    this.port.spentBy(inputs);
    this.loose.add(entry);
    this.takeOverNotes(entry, facts.tx);
    this.settle(entry);
    this.spent.note(entry);
    this.write(batch, entry, facts.bytes);
    return entry;
  }

  /** Whether the transaction is already known at this position of this block, so that `add` would not change it. */
  isSettled(
    entry: Entry,
    { blockHash, index }: Pick<ChainPlace, 'blockHash' | 'index'>,
    hasWitness: boolean,
  ): boolean {
    const { state } = entry;
    if (state !== 'confirmed' || entry.blockIndex !== index || !isSame(entry.blockHash, blockHash))
      return false;
    if (this.mayOwnMore || (hasWitness && !entry.hasWitness)) return false;
    return entry.isCoinbase || entry.inputs.every((input) => this.spent.isOnlySpender(input));
  }

  /**
   * Transactions that a block scan need not report, because `isSettled` is true for them and they use no key of the pool;
   * null if there are none.
   */
  get settledPayments(): SettledPayments | null {
    return this.mayOwnMore ? null : this.index.settledPayments;
  }

  /** Copies the user's notes from an earlier transaction that differs only in its signatures. Source: `SyncMetaData`. */
  private takeOverNotes(entry: Entry, tx: Transaction): void {
    const [first] = this.conflictsOf(entry).sort((a, b) => a.orderPos - b.orderPos);
    if (first === undefined || !isSame(unsignedId(tx), unsignedId(this.transaction(first)))) return;
    const { notes, orderForm, timeSmartSec, isFromMe, fromAccount } = first.row;
    this.index.setRow(entry, { ...entry.row, notes, orderForm, timeSmartSec, isFromMe, fromAccount });
    this.touch(entry);
  }

  private merge(
    batch: WalletBatch,
    entry: Entry,
    facts: WalletTxFacts,
    place: ChainPlace | null,
    isFromMe: boolean,
  ): void {
    const { row } = entry;
    let next = row;
    if (place !== null && !(isSame(row.blockHash, place.blockHash) && row.index === place.index))
      next = { ...next, blockHash: this.keptHash(place.blockHash), index: place.index };
    else if (place === null && isSame(row.blockHash, ABANDONED)) next = { ...next, blockHash: NO_BLOCK };
    if (isFromMe && !row.isFromMe) next = { ...next, isFromMe: true };
    const summary = this.summaryOf(facts);
    const gainsWitness = summary.hasWitness && !entry.hasWitness;
    // A transaction without witness has only one serialization. If a version with witness exists, the first one received
    // is stored.
    const stored = facts.stored?.entry === entry ? facts.stored.bytes : undefined;
    const bytes = entry.hasWitness ? stored : facts.bytes;
    if (gainsWitness) {
      this.index.wake(entry);
      entry.hasWitness = true;
    }
    if (next === row) this.settle(entry);
    else this.place(entry, next);
    // The outputs are checked again, because keys may have been added after the first check.
    this.setOutputs(entry, summary);
    if (next !== row || gainsWitness) this.write(batch, entry, bytes);
  }

  private smartTime(place: ChainPlace, nowSec: number): number {
    return smartTime(place.timeSec, nowSec, latestTimes(this.inOrder(), this.port.moves()));
  }

  // Methods that change the state of known transactions.

  /** Handles a disconnected block: its transactions become unconfirmed, and conflicts with the block end. */
  *disconnect(blockHash: Bytes): Slices<void> {
    for (const entry of this.index.inBlock(blockHash)) {
      const { state } = entry;
      if (state !== 'abandoned') this.setState(entry, 'unconfirmed', -1);
      if (state === 'conflicted') this.port.settledOtherwise(entry);
      yield;
    }
  }

  /** Handles a connected block: transactions whose rows already contain this block become confirmed, or conflict with it. */
  *reconnect(blockHash: Bytes): Slices<void> {
    for (const entry of this.index.inBlock(blockHash)) {
      const { state } = entry;
      this.settle(entry);
      if (entry.state === 'conflicted' && state !== 'conflicted') this.port.settledOtherwise(entry);
      yield;
    }
  }

  setInMempool(txid: Bytes, inMempool: boolean): Entry | null {
    const entry = this.find(txid);
    if (entry === undefined) return null;
    if (entry.inMempool === inMempool) return entry;
    this.index.wake(entry);
    this.changes++;
    entry.inMempool = inMempool;
    return entry;
  }

  /**
   * Marks a transaction and all its descendants as in conflict with a block. Source: `MarkConflicted`.
   */
  private markConflicted(batch: WalletBatch, first: Entry, blockHash: Bytes): void {
    const height = this.port.heightOf(blockHash);
    if (height < 0) return;
    const depth = -(this.port.height - height + 1);
    const waiting = [first];
    const seen = new Set<Entry>();
    for (let entry = waiting.pop(); entry !== undefined; entry = waiting.pop()) {
      if (seen.has(entry)) continue;
      seen.add(entry);
      // If a transaction conflicts with several blocks, the block with the most confirmations is stored.
      if (depth >= this.depth(entry)) continue;
      this.place(entry, { ...entry.row, blockHash: this.keptHash(blockHash), index: -1 });
      this.write(batch, entry);
      this.port.settledOtherwise(entry);
      waiting.push(...this.childrenOf(entry));
    }
  }

  canAbandon(entry: Entry): boolean {
    return entry.state !== 'abandoned' && this.depth(entry) === 0 && !entry.inMempool;
  }

  /** Abandons a transaction and its descendants, so that their inputs can be spent again. Source: `AbandonTransaction`. */
  abandon(batch: WalletBatch, first: Entry): void {
    const waiting = [first];
    const seen = new Set<Entry>();
    for (let entry = waiting.pop(); entry !== undefined; entry = waiting.pop()) {
      if (seen.has(entry)) continue;
      seen.add(entry);
      if (entry.state !== 'unconfirmed') continue;
      this.place(entry, { ...entry.row, blockHash: ABANDONED, index: -1 });
      this.write(batch, entry);
      this.port.settledOtherwise(entry);
      waiting.push(...this.childrenOf(entry));
    }
  }

  /** Adds notes (key-value pairs) to a transaction. */
  note(batch: WalletBatch, entry: Entry, notes: ReadonlyMap<string, string>): void {
    this.index.wake(entry);
    entry.row = { ...entry.row, notes: new Map([...entry.row.notes, ...notes]) };
    this.write(batch, entry);
  }

  /** Restores the data of a transaction that only the wallet stores, not the chain. */
  restore(
    batch: WalletBatch,
    entry: Entry,
    { tx: _tx, blockHash: _hash, index: _index, ...known }: TxRecord,
  ): void {
    this.index.setRow(entry, { ...entry.row, ...known });
    this.index.reorder();
    this.touch(entry);
    this.write(batch, entry);
  }

  /** Deletes a transaction from the wallet (`removeprunedfunds`, `-zapwallettxes`). */
  remove(batch: WalletBatch, entry: Entry): void {
    this.changes++;
    this.touchFamily(entry);
    this.index.remove(entry);
    this.rows.remove(batch, entry);
  }

  /**
   * Must be called when a key or script was added. Outputs to `hashes` (20 or 32 bytes) may belong to the wallet after this
   * call; null means that any output may.
   */
  keysCame(hashes: readonly Bytes[] | null): void {
    if (this.size > 0 && (hashes === null || hashes.some((hash) => this.others.has(hash))))
      this.mayOwnMore = true;
  }

  /**
   * Whether keys or scripts were added since the outputs of known transactions were checked, so that more outputs may belong
   * to the wallet.
   */
  get isOutdated(): boolean {
    return this.mayOwnMore;
  }

  /** If `isOutdated`, checks again which outputs of known transactions belong to the wallet. */
  *reconsiderOutputs(): Slices<void> {
    if (!this.mayOwnMore) return;
    this.mayOwnMore = false;
    for (const entry of this.index.all()) {
      this.setOutputs(entry, this.summarizer.read(new Reader(this.rows.bytes(entry))));
      yield;
    }
  }

  private setOutputs(entry: Entry, { outputs, hasForeignStake }: TxSummary): void {
    const known = entry.outputs;
    const isSameSet =
      outputs.length === known.length &&
      outputs.every(({ n, mine }, at) => n === known[at]!.n && mine === known[at]!.mine);
    if (!isSameSet || hasForeignStake !== entry.hasForeignStake) {
      this.index.setOutputs(entry, outputs, hasForeignStake);
      this.changes++;
      this.touchFamily(entry);
    } else if (known.some(({ isPlain }) => !isPlain)) this.touch(entry);
    this.spent.note(entry);
  }
}

function isSame(a: Bytes, b: Bytes): boolean {
  return Buffer.compare(a, b) === 0;
}

/** The state that a row implies if its block has this height in the active chain (−1 if it is not in the active chain). */
function stateOf({ blockHash, index }: Entry['row'], height: number): EntryState {
  if (blockHash === ABANDONED) return 'abandoned';
  if (height < 0) return 'unconfirmed';
  return index === -1 ? 'conflicted' : 'confirmed';
}
