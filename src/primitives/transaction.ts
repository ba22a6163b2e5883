/**
 * Transactions as plain objects: parsing, serialization with and without witness, ids and sizes. Scripts and witness items
 * are views of the bytes that were parsed. Source: Core 0.17 primitives/transaction.h (UnserializeTransaction,
 * SerializeTransaction), BIP144.
 */
import { sha256d } from '../crypto/hash.js';
import { EMPTY_BYTES, isZero, type Bytes } from '../util/bytes.js';
import { ReadError, type Reader } from '../util/reader.js';
import { Writer } from '../util/writer.js';

export interface OutPoint {
  /** Txid (32 bytes, wire order) of the transaction that contains the output. */
  hash: Bytes;
  /** Number of the output in its transaction, unsigned 32-bit. */
  index: number;
}

export interface TxInput {
  prevout: OutPoint;
  scriptSig: Bytes;
  /** Unsigned 32-bit. */
  sequence: number;
  /** Witness stack, bottom item first; empty without a witness. */
  witness: Bytes[];
}

export interface TxOutput {
  /** Amount in satoshis; serialized as signed 64-bit integer. */
  value: bigint;
  script: Bytes;
}

export interface Transaction {
  /** Signed 32-bit. */
  version: number;
  inputs: TxInput[];
  outputs: TxOutput[];
  /** Unsigned 32-bit. */
  lockTime: number;
}

export const NULL_HASH: Bytes = new Uint8Array(32);
export const NULL_INDEX = 0xffffffff;
export const SEQUENCE_FINAL = 0xffffffff;
export const WITNESS_SCALE_FACTOR = 4;

export function isNullOutPoint(outPoint: OutPoint): boolean {
  return outPoint.index === NULL_INDEX && isZero(outPoint.hash);
}

/** Source: `CTransaction::IsCoinBase`. */
export function isCoinbase(tx: Transaction): boolean {
  return tx.inputs.length === 1 && isNullOutPoint(tx.inputs[0]!.prevout);
}

export function hasWitness(tx: Transaction): boolean {
  return tx.inputs.some((input) => input.witness.length > 0);
}

/** Serializes an outpoint to 36 bytes: the txid, then the output number in little endian. This is the database key of a coin. */
export function formatOutPoint(outPoint: OutPoint): Buffer {
  return new Writer(36).raw(outPoint.hash).u32(outPoint.index).finish();
}

/** Appends inputs until `inputs` has `count` entries. */
export function readInputs(reader: Reader, inputs: TxInput[], count: number): void {
  while (inputs.length < count) {
    const hash = reader.hash();
    const index = reader.u32();
    const scriptSig = reader.varBytes();
    inputs.push({ prevout: { hash, index }, scriptSig, sequence: reader.u32(), witness: [] });
  }
}

/** Appends outputs until `outputs` has `count` entries. */
export function readOutputs(reader: Reader, outputs: TxOutput[], count: number): void {
  while (outputs.length < count) {
    const value = reader.i64();
    outputs.push({ value, script: reader.varBytes() });
  }
}

function parseInputs(reader: Reader): TxInput[] {
  const inputs: TxInput[] = [];
  readInputs(reader, inputs, reader.compactSize());
  return inputs;
}

function parseOutputs(reader: Reader): TxOutput[] {
  const outputs: TxOutput[] = [];
  readOutputs(reader, outputs, reader.compactSize());
  return outputs;
}

/** Parses one transaction. Throws `ReadError` for bytes that the reference would not deserialize. */
export function parseTransaction(reader: Reader, allowWitness = true): Transaction {
  const version = reader.i32();
  let inputs = parseInputs(reader);
  let outputs: TxOutput[] = [];
  let flags = 0;
  if (inputs.length === 0 && allowWitness) {
    flags = reader.u8();
    if (flags !== 0) {
      inputs = parseInputs(reader);
      outputs = parseOutputs(reader);
    }
  } else {
    outputs = parseOutputs(reader);
  }
  if ((flags & 1) !== 0 && allowWitness) {
    flags ^= 1;
    for (const input of inputs) {
      const items = reader.compactSize();
      for (let i = 0; i < items; i++) input.witness.push(reader.varBytes());
    }
  }
  if (flags !== 0) throw new ReadError('Unknown transaction optional data');
  return { version, inputs, outputs, lockTime: reader.u32() };
}

export function writeInputs(writer: Writer, inputs: readonly TxInput[]): void {
  for (const { prevout, scriptSig, sequence } of inputs) {
    writer.raw(prevout.hash).u32(prevout.index).varBytes(scriptSig).u32(sequence);
  }
}

export function writeOutputs(writer: Writer, outputs: readonly TxOutput[]): void {
  for (const { value, script } of outputs) writer.i64(value).varBytes(script);
}

export function writeWitness(writer: Writer, { witness }: TxInput): void {
  writer.compactSize(witness.length);
  for (const item of witness) writer.varBytes(item);
}

export function writeTransaction(writer: Writer, tx: Transaction, withWitness = true): void {
  const witness = withWitness && hasWitness(tx);
  writer.i32(tx.version);
  if (witness) writer.u8(0).u8(1);
  writer.compactSize(tx.inputs.length);
  writeInputs(writer, tx.inputs);
  writer.compactSize(tx.outputs.length);
  writeOutputs(writer, tx.outputs);
  if (witness) for (const input of tx.inputs) writeWitness(writer, input);
  writer.u32(tx.lockTime);
}

export function formatTransaction(tx: Transaction, withWitness = true): Buffer {
  const writer = new Writer(512);
  writeTransaction(writer, tx, withWitness);
  return writer.finish();
}

/** Returns the double SHA-256 of the serialization without witness, wire order. */
export function txid(tx: Transaction): Buffer {
  return sha256d(formatTransaction(tx, false));
}

/** Returns the double SHA-256 of the serialization with witness, wire order. Equals `txid` if the transaction has no witness. */
export function wtxid(tx: Transaction): Buffer {
  return sha256d(formatTransaction(tx, true));
}

/** Returns the BIP141 weight: three times the size without witness plus the total size. */
export function transactionWeight(tx: Transaction): number {
  const stripped = formatTransaction(tx, false).length;
  return stripped * (WITNESS_SCALE_FACTOR - 1) + formatTransaction(tx, true).length;
}

export function emptyInput(prevout: OutPoint): TxInput {
  return { prevout, scriptSig: EMPTY_BYTES, sequence: SEQUENCE_FINAL, witness: [] };
}
