/**
 * Formats and parses the row of a wallet transaction, including data that only the wallet has. Source: lbrycrd
 * wallet/wallet.h `CMerkleTx`, `CWalletTx`.
 */
import { formatTransaction, parseTransaction, txid, type Transaction } from '../../primitives/transaction.js';
import { fromLatin1, toLatin1, type Bytes } from '../../util/bytes.js';
import { Reader } from '../../util/reader.js';
import { Writer } from '../../util/writer.js';
import { recordKey } from '../store/records.js';

/** Value of the block hash for an abandoned transaction. Source: `ABANDON_HASH`. */
export const ABANDONED: Bytes = Buffer.concat([Buffer.of(1), Buffer.alloc(31)]);
export const NO_BLOCK: Bytes = Buffer.alloc(32);

/**
 * Comments that the user gave when the transaction was created, and notes that were added later. The keys are those of the
 * reference.
 */
export type Notes = ReadonlyMap<string, string>;
export const NO_NOTES: Notes = new Map();
export const NO_FORM: TxRecord['orderForm'] = [];
/** Keys of `Notes`: the id, in hex, of the transaction that this transaction replaces, or that replaces it. */
export const REPLACES = 'replaces_txid';
export const REPLACED_BY = 'replaced_by_txid';

export interface TxRecord {
  readonly tx: Transaction;
  /**
   * Hash (wire order) of the block that contains the transaction. If `index` is −1, the block conflicts with the
   * transaction. Without a block: `NO_BLOCK` or `ABANDONED`.
   */
  readonly blockHash: Bytes;
  /** Position of the transaction in the block; −1 if it is not in the block. */
  readonly index: number;
  readonly notes: Notes;
  readonly orderForm: readonly (readonly [string, string])[];
  readonly timeReceivedIsTxTime: number;
  readonly timeReceivedSec: number;
  /** Smart time: a time that follows the order of arrival; 0 if it was never computed. */
  readonly timeSmartSec: number;
  /** Whether this wallet created the transaction. */
  readonly isFromMe: boolean;
  /** The deprecated account from which the transaction was sent. */
  readonly fromAccount: string;
  /** Position in the order of all transactions and moves; −1 in very old wallets. */
  readonly orderPos: number;
}

export const txRecordKey = (txid: Bytes): string => recordKey('tx', txid);

function textIn(reader: Reader, encoding: 'latin1' | 'utf8'): string {
  const length = reader.compactSize();
  const at = reader.offset;
  reader.skip(length);
  return length === 0 ? '' : reader.bytes.toString(encoding, at, at + length);
}

const text = (reader: Reader): string => textIn(reader, 'latin1');
const utf8Of = (reader: Reader): string => textIn(reader, 'utf8');
const writeText = (writer: Writer, value: string): Writer => writer.varBytes(fromLatin1(value));
/** Strings in a row are stored as latin1. Notes are converted to and from UTF-8. */
const utf8 = (value: string): string => fromLatin1(value).toString('utf8');
const bytesOf = (value: string): string => toLatin1(Buffer.from(value, 'utf8'));

export function parseTxRecord(bytes: Bytes): TxRecord {
  const reader = new Reader(bytes);
  const tx = parseTransaction(reader);
  return { tx, ...parseTxDetails(reader, () => reader.hash()) };
}

/** Parses the fields of a row that follow the transaction. `readHash` reads the block hash. */
export function parseTxDetails(reader: Reader, readHash: () => Bytes): Omit<TxRecord, 'tx'> {
  const blockHash = readHash();
  reader.skip(32 * reader.compactSize());
  const index = reader.i32();
  skipParents(reader);
  let notes: Map<string, string> | null = null;
  let fromAccount = '';
  let orderPos: number | null = null;
  let timeSmartSec: number | null = null;
  for (let left = reader.compactSize(); left > 0; left--) {
    const name = text(reader);
    const value = utf8Of(reader);
    if (name === 'n') orderPos = integerOf(value);
    else if (name === 'timesmart') timeSmartSec = integerOf(value);
    else if (name === 'fromaccount') fromAccount = value;
    else if (name !== 'spent') (notes ??= new Map<string, string>()).set(name, value);
  }
  let orderForm: [string, string][] | null = null;
  for (let left = reader.compactSize(); left > 0; left--)
    (orderForm ??= []).push([utf8(text(reader)), utf8(text(reader))]);
  const timeReceivedIsTxTime = reader.u32();
  const timeReceivedSec = reader.u32();
  const isFromMe = reader.u8() !== 0;
  return {
    blockHash,
    index,
    notes: notes ?? NO_NOTES,
    orderForm: orderForm ?? NO_FORM,
    timeReceivedIsTxTime,
    timeReceivedSec,
    timeSmartSec: timeSmartSec ?? 0,
    isFromMe,
    fromAccount,
    orderPos: orderPos ?? -1,
  };
}

/** Skips the parent transactions that rows written before 2014 include. */
function skipParents(reader: Reader): void {
  for (let left = reader.compactSize(); left > 0; left--) {
    parseTransaction(reader);
    reader.skip(32);
    reader.skip(32 * reader.compactSize());
    reader.skip(4);
  }
}

function integerOf(value: string): number | null {
  const plain = Number(value);
  if (Number.isSafeInteger(plain) && `${plain}` === value) return plain;
  const found = /^\s*([-+]?\d+)/.exec(value);
  return found ? Number(found[1]) : null;
}

export function formatTxRecord(record: TxRecord): Buffer {
  return formatTxRow(formatTransaction(record.tx), record);
}

/** Formats a row. `tx` is the serialized transaction. */
export function formatTxRow(tx: Bytes, record: Omit<TxRecord, 'tx'>): Buffer {
  const writer = new Writer(tx.length + DETAILS_BYTES).raw(tx);
  writer.raw(record.blockHash).compactSize(0).i32(record.index).compactSize(0);
  const notes = new Map(record.notes);
  notes.set('fromaccount', record.fromAccount);
  if (record.orderPos !== -1) notes.set('n', `${record.orderPos}`);
  if (record.timeSmartSec !== 0) notes.set('timesmart', `${record.timeSmartSec}`);
  writer.compactSize(notes.size);
  for (const [name, value] of [...notes].sort(([a], [b]) => (a < b ? -1 : 1))) {
    writeText(writer, bytesOf(name));
    writeText(writer, bytesOf(value));
  }
  writer.compactSize(record.orderForm.length);
  for (const [name, value] of record.orderForm) {
    writeText(writer, bytesOf(name));
    writeText(writer, bytesOf(value));
  }
  return writer
    .u32(record.timeReceivedIsTxTime)
    .u32(record.timeReceivedSec)
    .u8(record.isFromMe ? 1 : 0)
    .u8(0)
    .finish();
}

/** Maximum size in bytes that the fields after the transaction usually have. */
const DETAILS_BYTES = 128;

/**
 * Id of a transaction whose signatures are removed. Transactions that differ only in their signatures have the same id.
 * Source: `IsEquivalentTo`.
 */
export function unsignedId(tx: Transaction): Bytes {
  return txid({ ...tx, inputs: tx.inputs.map((input) => ({ ...input, scriptSig: NO_SCRIPT })) });
}

const NO_SCRIPT = Buffer.alloc(0);
