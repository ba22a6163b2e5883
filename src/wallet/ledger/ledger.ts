/**
 * The transactions of a wallet and their states: which are in blocks, which conflict, and which outputs are spent. It
 * applies events of the chain and the mempool one by one. It has no keys, selects no coins and sends no transactions.
 * Changes are applied to memory at once, and to disk with the batch. Queries are in `ledgerReader.ts`. Source: lbrycrd
 * wallet/wallet.cpp.
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
import type { LedgerPort, OwnTransaction, Place } from './ledgerPort.js';
import { LedgerReader } from './ledgerReader.js';
import { OtherDestinations } from './otherDestinations.js';
import { PackedTxs } from './packedTxs.js';
import { SleepingTxs } from './sleepingTxs.js';
import { latestTimes, smartTime } from './smartTime.js';
import { TxFacts } from './txFacts.js';
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
  /** The image from which the wallet was opened; null if all rows were loaded. */
  private image: { readonly columns: Columns; readonly notes: LedgerNotes } | null = null;
  private isLoaded = false;

  constructor(port: LedgerPort) {
    super(port);
    this.summarizer = new TxSummarizer(port, (key) => this.index.keptDestination(key), this.others);
  }

  /** Whether a transaction spends an output of the wallet. */
  private spendsOwn(inputs: readonly string[]): boolean {
    return inputs.some((input) => this.output(input) !== undefined);
  }

  // Taking in.

  /** Loads a row with the id from its key. The order of rows does not matter. Call `loaded` after the last. */
  load(bytes: Buffer, txKey: string): void {
    const reader = new Reader(bytes);
    const summary = this.summarizer.read(reader);
    this.enter(txKey, summary, this.readDetails(reader));
  }

  /** Parses the part of a row after the transaction. */
  private readDetails(reader: Reader): Entry['row'] {
    return parseTxDetails(reader, () => {
      const at = reader.offset;
      reader.skip(HASH_BYTES);
      return this.index.blockHash(reader.bytes.toString('latin1', at, at + HASH_BYTES));
    });
  }

  /**
   * Starts with the data of a wallet image; call it first. Newer rows then follow with `load` and `unload`, and `loaded`
   * after the last. The columns must not be used by the caller afterwards.
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
    );
    for (const id of notes.loose) {
      const key = toLatin1(fromHex(id));
      // The row may have been deleted since; `unload` is then called for it.
      const bytes = this.rows.find(key);
      if (bytes !== undefined) this.load(bytes, key);
    }
  }

  /** A row of the image was deleted or changed. */
  unload(txKey: string): void {
    this.index.unload(txKey);
  }

  /** Data of the ledger for a wallet image. Null before `loaded`, and while the data is not consistent. */
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

  /** Computes the states of all transactions. Those without a position in the order get one by time. */
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
    // A transaction that spends an output of a conflicted one conflicts with the same block.
    for (const entry of inSteps(this.index.awake())) {
      if (entry === null) yield;
      else if (entry.state === 'conflicted')
        for (const child of this.childrenOf(entry)) this.markConflicted(batch, child, entry.row.blockHash);
    }
    this.isLoaded = true;
  }

  /** Whether the settled transactions of the image are still in the same blocks. */
  private standsIn(heightOf: (hash: Bytes) => number): boolean {
    if (this.image === null) return true;
    const { tip } = this.image.notes;
    if (tip !== null && heightOf(fromHex(tip.hash)) === tip.height) return true;
    return this.index.standsIn(heightOf);
  }

  doubtful(heightOf: (hash: Bytes) => number): Iterable<Entry> {
    return this.standsIn(heightOf) ? this.index.awake() : this.index.all();
  }

  /** Computes the states of all entries in memory from their rows, and the unspent outputs. */
  private *settleAll(): Slices<void> {
    this.loose.clear();
    let [hash, height]: [Bytes | null, number] = [null, -1];
    for (const entry of inSteps(this.index.awake())) {
      if (entry === null) {
        yield;
        // The chain may have changed meanwhile.
        hash = null;
        continue;
      }
      const { row } = entry;
      // Successive transactions often have the same block.
      if (row.blockHash !== hash) [hash, height] = [row.blockHash, this.namedHeight(row)];
      entry.state = stateOf(row, height);
      entry.height = height;
      if (entry.state !== 'confirmed') this.loose.add(entry);
    }
    this.changes++;
    yield* this.spent.noteAll();
    this.touch(null);
  }

  /** Allocates the next position in the order of all transactions. */
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

  private summaryOf(facts: TxFacts): TxSummary {
    return facts.summary(this.port.mineRevision, (bytes) => this.summarizer.read(new Reader(bytes)));
  }

  /** Computes in advance the data that `add` needs. It does not change the ledger. */
  prepare(facts: TxFacts): void {
    this.summaryOf(facts);
    const entry = this.index.get(facts.key);
    if (entry?.hasWitness === true) facts.stored = { entry, bytes: this.rows.txBytes(entry) };
  }

  /** The hash of a block as entries store it. */
  private keptHash(hash: Bytes): Bytes {
    return this.index.blockHash(toLatin1(hash));
  }

  /** Sets the row of an entry and computes its state. */
  private place(entry: Entry, row: Entry['row']): void {
    this.index.setRow(entry, row);
    this.settle(entry);
  }

  /** Computes the state from the row. */
  private settle(entry: Entry): void {
    const height = this.namedHeight(entry.row);
    this.setState(entry, stateOf(entry.row, height), height);
  }

  /** The height of the block in a row; −1 if that is not in the active chain. */
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

  /** The rows of a batch are on disk and can be read from there. */
  committed(batch: WalletBatch): void {
    this.rows.committed(batch);
  }

  /**
   * Adds or updates a transaction in a block, or in the mempool (`place` null). Returns its entry, or null if it is unknown
   * and neither pays to the wallet nor spends its outputs. Source: `AddToWalletIfInvolvingMe`, `AddToWallet`.
   */
  add(
    batch: WalletBatch,
    given: Transaction | TxFacts,
    place: Place | null,
    own?: OwnTransaction,
  ): Entry | null {
    const facts = given instanceof TxFacts ? given : new TxFacts(given);
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

  /** Whether the entry is already known at that position of that block, so that `add` would not change anything. */
  isSettled(
    entry: Entry,
    { blockHash, index }: Pick<Place, 'blockHash' | 'index'>,
    hasWitness: boolean,
  ): boolean {
    const { state } = entry;
    if (state !== 'confirmed' || entry.blockIndex !== index || !isSame(entry.blockHash, blockHash))
      return false;
    if (this.mayOwnMore || (hasWitness && !entry.hasWitness)) return false;
    return entry.isCoinbase || entry.inputs.every((input) => this.spent.isOnlySpender(input));
  }

  /** Transactions for which the same holds whatever `hasWitness`, and that use no key of the pool; null for none. */
  get settledPayments(): SettledPayments | null {
    return this.mayOwnMore ? null : this.index.settledPayments;
  }

  /** Copies the owner's notes from an earlier transaction that differs only in its signatures. Source: `SyncMetaData`. */
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
    facts: TxFacts,
    place: Place | null,
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
    // A transaction without witness has one serialization. With witness, the first one received is stored.
    const stored = facts.stored?.entry === entry ? facts.stored.bytes : undefined;
    const bytes = entry.hasWitness ? stored : facts.bytes;
    if (gainsWitness) {
      this.index.wake(entry);
      entry.hasWitness = true;
    }
    if (next === row) this.settle(entry);
    else this.place(entry, next);
    // Keys may have been added since its outputs were checked.
    this.setOutputs(entry, summary);
    if (next !== row || gainsWitness) this.write(batch, entry, bytes);
  }

  private smartTime(place: Place, nowSec: number): number {
    return smartTime(place.timeSec, nowSec, latestTimes(this.inOrder(), this.port.moves()));
  }

  // What happens to what is known.

  /** A block was disconnected: its transactions are unconfirmed again, and conflicts with it end. */
  *disconnect(blockHash: Bytes): Slices<void> {
    for (const entry of this.index.inBlock(blockHash)) {
      const { state } = entry;
      if (state !== 'abandoned') this.setState(entry, 'unconfirmed', -1);
      if (state === 'conflicted') this.port.settledOtherwise(entry);
      yield;
    }
  }

  /** A block was connected (again): rows with this block are valid (again). */
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
   * A block conflicts with a transaction, and so with all its descendants. Source:
   * `MarkConflicted`.
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
      // If several blocks conflict, the deepest one is recorded.
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

  /** Adds notes to a transaction. */
  note(batch: WalletBatch, entry: Entry, notes: ReadonlyMap<string, string>): void {
    this.index.wake(entry);
    entry.row = { ...entry.row, notes: new Map([...entry.row.notes, ...notes]) };
    this.write(batch, entry);
  }

  /** Restores the data of a transaction that only the wallet has, not the chain. */
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

  /** Deletes transactions (`removeprunedfunds`, `-zapwallettxes`). */
  remove(batch: WalletBatch, entry: Entry): void {
    this.changes++;
    this.touchFamily(entry);
    this.index.remove(entry);
    this.rows.remove(batch, entry);
  }

  /**
   * A key or script was added. Outputs to these hashes (20 or 32 bytes) may now be the wallet's; null if any output may.
   */
  keysCame(hashes: readonly Bytes[] | null): void {
    if (this.size > 0 && (hashes === null || hashes.some((hash) => this.others.has(hash))))
      this.mayOwnMore = true;
  }

  /** Whether known outputs may have become the wallet's by added keys or scripts. */
  get isOutdated(): boolean {
    return this.mayOwnMore;
  }

  /** Checks the outputs of all transactions again if `isOutdated`. */
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

/** The state according to a row, if its block is at this height. */
function stateOf({ blockHash, index }: Entry['row'], height: number): EntryState {
  if (blockHash === ABANDONED) return 'abandoned';
  if (height < 0) return 'unconfirmed';
  return index === -1 ? 'conflicted' : 'confirmed';
}
