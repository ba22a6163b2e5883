/**
 * The transactions of a wallet and what they have come to: which are in blocks, which conflict, what is spent. Follows the
 * chain and the mempool one event at a time. Owns no keys and no coin selection, and moves no money. Changes go to memory at
 * once and to disk with the batch. Source: lbrycrd wallet/wallet.cpp.
 */
import { isCoinbase, SEQUENCE_FINAL, txid, type Transaction } from '../../primitives/transaction.js';
import { claimPrefixLength } from '../../script/claimScript.js';
import { assert } from '../../util/assert.js';
import { fromLatin1, toLatin1, type Bytes } from '../../util/bytes.js';
import { Reader } from '../../util/reader.js';
import type { Slices } from '../../util/slices.js';
import { Writer } from '../../util/writer.js';
import { MINE } from '../keys/isMine.js';
import { recordKey, type WalletBatch } from '../store/records.js';
import {
  outputKey,
  outputNumber,
  spentKey,
  txKeyOf,
  type Entry,
  type EntryState,
  type OwnOutput,
} from './entry.js';
import { EntryLists } from './entryLists.js';
import type { LedgerPort, OwnTransaction, Place } from './ledgerPort.js';
import { ownOutputs } from './ownOutputs.js';
import { latestTimes, smartTime } from './smartTime.js';
import {
  ABANDONED,
  blockOf,
  formatTxRecord,
  NO_BLOCK,
  NO_FORM,
  NO_NOTES,
  parseTxRecord,
  txRecordKey,
  unsignedId,
  type TxRecord,
} from './txRecord.js';

/** Of the key of a row, before the id. */
const TX_KIND_CHARS = recordKey('tx').length;

export class Ledger {
  private readonly port: LedgerPort;
  private readonly entries = new Map<string, Entry>();
  /** By output: the wallet's transactions that spend it, whoever it belongs to. */
  private readonly spenders = new Map<string, string | string[]>();
  /** By block: the transactions that it holds, or that conflict with it. */
  private readonly byBlock = new EntryLists();
  /** By destination: those with an output of the wallet's to it. */
  private readonly byDestination = new EntryLists();
  /** Those that are in no block of the active chain. */
  private readonly loose = new Set<Entry>();
  /** The wallet's outputs that nothing of the wallet spends for good, whatever their own transaction has come to. */
  private readonly unspent = new Map<string, OwnOutput>();
  /** In the order in which they came; null when it is to be found anew. */
  private ordered: Entry[] | null = null;
  private nextOrderPos = 0;
  private changes = 0;
  /** Transactions changed since they were last on disk. */
  private readonly written = new Map<string, Buffer>();

  constructor(port: LedgerPort) {
    this.port = port;
  }

  // Reading.

  get size(): number {
    return this.entries.size;
  }

  /** Changes with everything that balances and lists depend on, but for the address book and the clock. */
  get revision(): string {
    return `${this.changes} ${this.port.height}`;
  }

  find(txid: Bytes): Entry | undefined {
    return this.entries.get(toLatin1(txid));
  }

  entry(key: string): Entry | undefined {
    return this.entries.get(key);
  }

  all(): IterableIterator<Entry> {
    return this.entries.values();
  }

  /** All, the first that came first. */
  inOrder(): readonly Entry[] {
    this.ordered ??= [...this.entries.values()].sort((a, b) => a.row.orderPos - b.row.orderPos);
    return this.ordered;
  }

  /** Those in no block of the active chain, whatever the reason. */
  unsettled(): IterableIterator<Entry> {
    return this.loose.values();
  }

  /** Those that a block of the active chain holds. */
  *inBlock(blockHash: Bytes): Generator<Entry> {
    for (const entry of this.byBlock.of(toLatin1(blockHash))) if (entry.state === 'confirmed') yield entry;
  }

  /** Those with an output of the wallet's to a destination (`destinationKey`), each once. */
  payingTo(destination: string): readonly Entry[] {
    return this.byDestination.of(destination);
  }

  /** Output keys of what is the wallet's and not spent, with the output. */
  unspentOutputs(): IterableIterator<[key: string, output: OwnOutput]> {
    return this.unspent.entries();
  }

  /** The whole record of an entry, its transaction included. */
  record(entry: Entry): TxRecord {
    return { ...entry.row, tx: this.transaction(entry) };
  }

  transaction(entry: Entry): Transaction {
    const key = txRecordKey(fromLatin1(entry.key));
    const row = this.written.get(entry.key) ?? this.port.readRow(key);
    assert(row, 'a transaction of the wallet has no row');
    return parseTxRecord(row).tx;
  }

  /**
   * Confirmations: blocks up to the tip, its own counted; 0 for what is in none; below 0 the same of a block that it
   * conflicts with. Source: `GetDepthInMainChain`.
   */
  depth({ state, height }: Entry): number {
    if (state === 'confirmed') return this.port.height - height + 1;
    return state === 'conflicted' ? -(this.port.height - height + 1) : 0;
  }

  /** An output of one of the wallet's transactions that is the wallet's too. */
  output(key: string): OwnOutput | undefined {
    const outputs = this.entries.get(txKeyOf(key))?.outputs;
    if (outputs === undefined || outputs.length === 0) return undefined;
    const number = outputNumber(key);
    return outputs.find(({ n }) => n === number);
  }

  /** Whether a transaction of the wallet spends an output: in a block, or on its way. Source: `IsSpent`. */
  isSpent(output: string): boolean {
    const keys = this.spenders.get(output);
    if (keys === undefined) return false;
    return typeof keys === 'string' ? this.spends(keys) : keys.some((key) => this.spends(key));
  }

  /** Whether an output is the wallet's, or one that it spends too. */
  concerns(output: string): boolean {
    return this.spenders.has(output) || this.output(output) !== undefined;
  }

  has(txKey: string): boolean {
    return this.entries.has(txKey);
  }

  /** Whether what a transaction spends is gone, unless another takes its place. */
  private spends(txKey: string): boolean {
    const { state } = this.entries.get(txKey)!;
    return state === 'confirmed' || state === 'unconfirmed';
  }

  /** The wallet's transactions that spend an output. */
  spendersOf(output: string): Entry[] {
    const keys = this.spenders.get(output);
    if (keys === undefined) return [];
    return (typeof keys === 'string' ? [keys] : keys).map((key) => this.entries.get(key)!);
  }

  /** The wallet's other transactions that spend what this one spends. Source: `GetConflicts`. */
  conflictsOf(entry: Entry): Entry[] {
    const found = new Set<Entry>();
    for (const input of entry.inputs) {
      const spenders = this.spendersOf(input);
      if (spenders.length > 1) for (const other of spenders) if (other !== entry) found.add(other);
    }
    return [...found];
  }

  /** The wallet's transactions that spend outputs of this one. */
  childrenOf(entry: Entry): Entry[] {
    const found = new Set<Entry>();
    const { tx } = this.record(entry);
    for (let n = 0; n < tx.outputs.length; n++)
      for (const child of this.spendersOf(outputKey(entry.key, n))) found.add(child);
    return [...found];
  }

  /** What the inputs take from the wallet, by `MINE` flags. Source: `GetDebit`. */
  debit(entry: Entry, filter: number): bigint {
    let sum = 0n;
    for (const input of entry.inputs) {
      const spent = this.output(input);
      if (spent !== undefined && (spent.mine & filter) !== 0) sum += spent.valueSat;
    }
    return sum;
  }

  /** Whether a transaction takes anything from the wallet. */
  private spendsOwn(inputs: readonly string[]): boolean {
    return inputs.some((input) => this.output(input) !== undefined);
  }

  // Taking in.

  /** Takes in a row of the disk and the id in its key. Order of rows does not matter; `loaded` comes after the last. */
  load(bytes: Bytes, txKey: string): void {
    const record = parseTxRecord(bytes);
    this.enter(txKey, record.tx, this.rowOf(record));
  }

  loadNextOrderPos(value: Bytes): void {
    this.nextOrderPos = Number(new Reader(value).i64());
  }

  /** Works out what all transactions have come to. Those without a place in the order get one, by time. */
  loaded(batch: WalletBatch): void {
    const unplaced = [...this.entries.values()].filter(({ row }) => row.orderPos === -1);
    for (const { row } of this.entries.values())
      this.nextOrderPos = Math.max(this.nextOrderPos, row.orderPos + 1);
    unplaced.sort((a, b) => a.row.timeReceivedSec - b.row.timeReceivedSec);
    for (const entry of unplaced) {
      entry.row = { ...entry.row, orderPos: this.takeOrderPos(batch) };
      this.write(batch, entry);
    }
    for (const entry of this.entries.values()) this.settle(entry);
    this.unspent.clear();
    for (const entry of this.entries.values())
      for (const own of entry.outputs) {
        const key = outputKey(entry.key, own.n);
        if (!this.isSpent(key)) this.unspent.set(key, own);
      }
    this.ordered = null;
    // What spends an output of a conflicted transaction conflicts with the same block.
    for (const entry of this.entries.values())
      if (entry.state === 'conflicted')
        for (const child of this.childrenOf(entry)) this.markConflicted(batch, child, entry.row.blockHash);
  }

  /** The next place in the order of all. */
  takeOrderPos(batch: WalletBatch): number {
    const position = this.nextOrderPos++;
    batch.put(recordKey('orderposnext'), new Writer(8).i64(BigInt(this.nextOrderPos)).finish());
    return position;
  }

  private enter(key: string, tx: Transaction, row: Entry['row']): Entry {
    const entry: Entry = {
      key,
      row,
      state: 'unconfirmed',
      height: -1,
      inMempool: false,
      isCoinbase: isCoinbase(tx),
      lockTime: tx.inputs.some(({ sequence }) => sequence !== SEQUENCE_FINAL) ? tx.lockTime : 0,
      inputs: tx.inputs.map(({ prevout }) => spentKey(prevout)),
      outputCount: tx.outputs.length,
      hasForeignStake: tx.outputs.some(
        ({ script }) => claimPrefixLength(script) > 0 && (this.port.mine(script) & MINE.spendable) === 0,
      ),
      outputs: this.ownOutputs(tx),
    };
    this.changes++;
    this.entries.set(key, entry);
    this.loose.add(entry);
    this.file(entry);
    this.noteDestinations(entry);
    const last = this.ordered?.[this.ordered.length - 1];
    if (last !== undefined && last.row.orderPos < row.orderPos) this.ordered?.push(entry);
    else this.ordered = null;
    if (!entry.isCoinbase) for (const input of entry.inputs) this.addSpender(input, key);
    return entry;
  }

  private ownOutputs(tx: Transaction): OwnOutput[] {
    return ownOutputs(tx, this.port, (key) => {
      return this.byDestination.first(key)?.outputs.find(({ to }) => to === key)?.to ?? key;
    });
  }

  private noteDestinations(entry: Entry): void {
    for (const { to } of entry.outputs) if (to !== '') this.byDestination.add(to, entry);
  }

  /** What stays in memory of a record: the hash of a block that others name too is theirs. */
  private rowOf(record: TxRecord): Entry['row'] {
    return {
      blockHash: this.keptHash(record.blockHash),
      index: record.index,
      notes: record.notes,
      orderForm: record.orderForm,
      timeReceivedIsTxTime: record.timeReceivedIsTxTime,
      timeReceivedSec: record.timeReceivedSec,
      timeSmartSec: record.timeSmartSec,
      isFromMe: record.isFromMe,
      fromAccount: record.fromAccount,
      orderPos: record.orderPos,
    };
  }

  private keptHash(hash: Bytes): Bytes {
    if (isSame(hash, NO_BLOCK)) return NO_BLOCK;
    if (isSame(hash, ABANDONED)) return ABANDONED;
    return this.byBlock.first(toLatin1(hash))?.row.blockHash ?? ownCopy(hash);
  }

  private addSpender(output: string, key: string): void {
    const known = this.spenders.get(output);
    if (known === undefined) this.spenders.set(output, key);
    else if (typeof known !== 'string') known.push(key);
    else this.spenders.set(output, [known, key]);
  }

  /** Gives an entry another row, and works out what it has come to by it. */
  private place(entry: Entry, row: Entry['row']): void {
    this.unfile(entry);
    entry.row = row;
    this.file(entry);
    this.settle(entry);
  }

  private file(entry: Entry): void {
    const block = blockOf(entry.row);
    if (block !== null) this.byBlock.add(block, entry);
  }

  private unfile(entry: Entry): void {
    const block = blockOf(entry.row);
    if (block !== null) this.byBlock.remove(block, entry);
  }

  /** Works out a state from the row. */
  private settle(entry: Entry): void {
    const { blockHash, index } = entry.row;
    if (isSame(blockHash, ABANDONED)) {
      this.setState(entry, 'abandoned', -1);
      return;
    }
    const height = isSame(blockHash, NO_BLOCK) ? -1 : this.port.heightOf(blockHash);
    if (height < 0) this.setState(entry, 'unconfirmed', -1);
    else this.setState(entry, index === -1 ? 'conflicted' : 'confirmed', height);
  }

  private setState(entry: Entry, state: EntryState, height: number): void {
    entry.height = height;
    if (entry.state === state) return;
    this.changes++;
    entry.state = state;
    if (state === 'confirmed') this.loose.delete(entry);
    else this.loose.add(entry);
    for (const input of entry.inputs) this.noteSpent(input);
  }

  /** Brings the set of unspent outputs up to date for one output. */
  private noteSpent(output: string): void {
    const own = this.output(output);
    if (own === undefined) return;
    if (this.isSpent(output)) this.unspent.delete(output);
    else this.unspent.set(output, own);
  }

  private noteOutputs(entry: Entry): void {
    for (const { n } of entry.outputs) this.noteSpent(outputKey(entry.key, n));
    for (const input of entry.inputs) this.noteSpent(input);
  }

  private write(batch: WalletBatch, entry: Entry, tx: Transaction = this.transaction(entry)): void {
    const row = formatTxRecord({ ...entry.row, tx });
    batch.put(txRecordKey(fromLatin1(entry.key)), row);
    this.written.set(entry.key, row);
  }

  /** What was written with a batch can be read from disk now. */
  committed({ changes }: WalletBatch): void {
    for (const [key, value] of changes) {
      const txKey = String(key).slice(TX_KIND_CHARS);
      if (value !== null && this.written.get(txKey) === value) this.written.delete(txKey);
    }
  }

  /**
   * A transaction is in a block, or in the mempool (`place` null). Taken in when it pays to or spends of the wallet, or is
   * known; answers it, or null. Source: `AddToWalletIfInvolvingMe`, `AddToWallet`.
   */
  add(batch: WalletBatch, tx: Transaction, place: Place | null, own?: OwnTransaction): Entry | null {
    const key = toLatin1(txid(tx));
    const inputs = tx.inputs.map(({ prevout }) => spentKey(prevout));
    const isFirst = isCoinbase(tx);
    if (place !== null && !isFirst) {
      for (const input of inputs)
        for (const other of this.spendersOf(input))
          if (other.key !== key) this.markConflicted(batch, other, place.blockHash);
    }
    const known = this.entries.get(key);
    if (known !== undefined) {
      this.merge(batch, known, tx, place, own !== undefined);
      return known;
    }
    const isInvolved = own !== undefined || this.spendsOwn(inputs) || this.ownOutputs(tx).length > 0;
    if (!isInvolved) return null;
    const nowSec = this.port.nowSec();
    const entry = this.enter(key, tx, {
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
    this.takeOverNotes(entry, tx);
    this.settle(entry);
    this.noteOutputs(entry);
    this.write(batch, entry, tx);
    return entry;
  }

  /** A transaction that differs from an earlier one only in how it is signed has what that is known for. Source: `SyncMetaData`. */
  private takeOverNotes(entry: Entry, tx: Transaction): void {
    const [first] = this.conflictsOf(entry).sort((a, b) => a.row.orderPos - b.row.orderPos);
    if (first === undefined || !isSame(unsignedId(tx), unsignedId(this.transaction(first)))) return;
    const { notes, orderForm, timeSmartSec, isFromMe, fromAccount } = first.row;
    entry.row = { ...entry.row, notes, orderForm, timeSmartSec, isFromMe, fromAccount };
  }

  private merge(
    batch: WalletBatch,
    entry: Entry,
    tx: Transaction,
    place: Place | null,
    isFromMe: boolean,
  ): void {
    const { row } = entry;
    let next = row;
    if (place !== null && !(isSame(row.blockHash, place.blockHash) && row.index === place.index))
      next = { ...next, blockHash: this.keptHash(place.blockHash), index: place.index };
    else if (place === null && isSame(row.blockHash, ABANDONED)) next = { ...next, blockHash: NO_BLOCK };
    if (isFromMe && !row.isFromMe) next = { ...next, isFromMe: true };
    const gainsWitness =
      tx.inputs.some(({ witness }) => witness.length > 0) &&
      !this.transaction(entry).inputs.some(({ witness }) => witness.length > 0);
    this.place(entry, next);
    // Keys may have come since it was looked at.
    this.setOutputs(entry, tx);
    if (next !== row || gainsWitness) this.write(batch, entry, gainsWitness ? tx : undefined);
  }

  private smartTime(place: Place, nowSec: number): number {
    return smartTime(place.timeSec, nowSec, latestTimes(this.inOrder(), this.port.moves()));
  }

  // What happens to what is known.

  /** A block was taken back: what it held waits again, and what conflicted with it does not any more. */
  disconnect(blockHash: Bytes): void {
    for (const entry of this.byBlock.of(toLatin1(blockHash)))
      if (entry.state !== 'abandoned') this.setState(entry, 'unconfirmed', -1);
  }

  /** A block is in the active chain once more (or for the first time): rows that name it count again. */
  reconnect(blockHash: Bytes): void {
    for (const entry of this.byBlock.of(toLatin1(blockHash))) this.settle(entry);
  }

  setInMempool(txid: Bytes, inMempool: boolean): Entry | null {
    const entry = this.find(txid);
    if (entry === undefined) return null;
    if (entry.inMempool !== inMempool) this.changes++;
    entry.inMempool = inMempool;
    return entry;
  }

  /**
   * A block has something that speaks against a transaction, and so against all that spends of it. Source:
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
      // Of several blocks the one that lies deepest counts.
      if (depth >= this.depth(entry)) continue;
      this.place(entry, { ...entry.row, blockHash: this.keptHash(blockHash), index: -1 });
      this.write(batch, entry);
      waiting.push(...this.childrenOf(entry));
    }
  }

  canAbandon(entry: Entry): boolean {
    return entry.state !== 'abandoned' && this.depth(entry) === 0 && !entry.inMempool;
  }

  /** Gives a transaction up, and all that spends of it: what it spends can be spent again. Source: `AbandonTransaction`. */
  abandon(batch: WalletBatch, first: Entry): void {
    const waiting = [first];
    const seen = new Set<Entry>();
    for (let entry = waiting.pop(); entry !== undefined; entry = waiting.pop()) {
      if (seen.has(entry)) continue;
      seen.add(entry);
      if (entry.state !== 'unconfirmed') continue;
      this.place(entry, { ...entry.row, blockHash: ABANDONED, index: -1 });
      this.write(batch, entry);
      waiting.push(...this.childrenOf(entry));
    }
  }

  /** Adds notes to a transaction. */
  note(batch: WalletBatch, entry: Entry, notes: ReadonlyMap<string, string>): void {
    entry.row = { ...entry.row, notes: new Map([...entry.row.notes, ...notes]) };
    this.write(batch, entry);
  }

  /** Gives a transaction what was known of it once: all that the chain does not tell. */
  restore(
    batch: WalletBatch,
    entry: Entry,
    { tx: _tx, blockHash: _hash, index: _index, ...known }: TxRecord,
  ): void {
    entry.row = { ...entry.row, ...known };
    this.ordered = null;
    this.write(batch, entry);
  }

  /** Forgets transactions (`removeprunedfunds`, `-zapwallettxes`). */
  remove(batch: WalletBatch, entry: Entry): void {
    for (const input of entry.inputs) {
      const left = this.spendersOf(input).filter((other) => other !== entry);
      if (left.length === 0) this.spenders.delete(input);
      else this.spenders.set(input, left.length === 1 ? left[0]!.key : left.map(({ key }) => key));
    }
    this.changes++;
    this.unfile(entry);
    for (const { n, to } of entry.outputs) {
      this.unspent.delete(outputKey(entry.key, n));
      if (to !== '') this.byDestination.remove(to, entry);
    }
    this.entries.delete(entry.key);
    this.loose.delete(entry);
    this.ordered = null;
    this.written.delete(entry.key);
    batch.del(txRecordKey(fromLatin1(entry.key)));
    for (const input of entry.inputs) this.noteSpent(input);
  }

  /** Keys or scripts came: outputs may be the wallet's that were not before. */
  *reconsiderOutputs(): Slices<void> {
    for (const entry of this.entries.values()) {
      this.setOutputs(entry, this.transaction(entry));
      yield;
    }
  }

  private setOutputs(entry: Entry, tx: Transaction): void {
    const outputs = this.ownOutputs(tx);
    const known = entry.outputs;
    const isSameSet =
      outputs.length === known.length &&
      outputs.every(({ n, mine }, at) => n === known[at]!.n && mine === known[at]!.mine);
    if (!isSameSet) {
      for (const { to } of known) if (to !== '') this.byDestination.remove(to, entry);
      entry.outputs = outputs;
      this.noteDestinations(entry);
      this.changes++;
    }
    this.noteOutputs(entry);
  }
}

function isSame(a: Bytes, b: Bytes): boolean {
  return Buffer.compare(a, b) === 0;
}

/** A copy that keeps no more memory alive than its own. */
function ownCopy(bytes: Bytes): Bytes {
  return Uint8Array.prototype.slice.call(bytes);
}
