/**
 * Parses, serializes and hashes transactions in slices, because callers may send transactions larger than any block. The
 * results equal those of `transaction.ts`; tests compare both.
 */
import { createHash } from 'node:crypto';
import { sha256 } from '../crypto/hash.js';
import type { Bytes } from '../util/bytes.js';
import { ReadError, type Reader } from '../util/reader.js';
import type { Slices } from '../util/slices.js';
import { Writer } from '../util/writer.js';
import {
  hasWitness,
  readInputs,
  readOutputs,
  writeInputs,
  writeOutputs,
  writeWitness,
  type Transaction,
  type TxInput,
  type TxOutput,
} from './transaction.js';

/** Number of inputs, outputs or witness items that are processed per slice. */
const ITEMS_AT_ONCE = 256;
/** Number of bytes that are hashed per slice. */
const HASHED_AT_ONCE = 1 << 18;

function* parseInputs(reader: Reader): Slices<TxInput[]> {
  const count = reader.compactSize();
  const inputs: TxInput[] = [];
  for (; inputs.length < count; yield)
    readInputs(reader, inputs, Math.min(count, inputs.length + ITEMS_AT_ONCE));
  return inputs;
}

function* parseOutputs(reader: Reader): Slices<TxOutput[]> {
  const count = reader.compactSize();
  const outputs: TxOutput[] = [];
  for (; outputs.length < count; yield)
    readOutputs(reader, outputs, Math.min(count, outputs.length + ITEMS_AT_ONCE));
  return outputs;
}

/**
 * Maximum number of witness items. Each item adds at least one weight unit, and no block may have this weight. The reference
 * has no such limit. It is needed because growing a larger list would copy all its items in one step.
 */
const MAX_WITNESS_ITEMS = 8_000_000;

function* parseWitnesses(reader: Reader, inputs: readonly TxInput[], mostBytes: number): Slices<void> {
  let read = 0;
  let keptBytes = 0;
  for (const { witness } of inputs) {
    const items = reader.compactSize();
    if (items > MAX_WITNESS_ITEMS) throw new ReadError('more witness items than a block may have');
    if (++read % ITEMS_AT_ONCE === 0) yield;
    for (let i = 0; i < items; i++) {
      if (keptBytes > mostBytes) reader.skip(reader.compactSize());
      else {
        const item = reader.varBytes();
        keptBytes += 1 + item.length;
        witness.push(item);
      }
      if (++read % ITEMS_AT_ONCE === 0) yield;
    }
  }
}

/**
 * Like `parseTransaction`, in slices. If a witness exceeds `mostWitnessBytes`, only the items up to that size, and the item
 * that exceeds it, are kept. They are sufficient to reject the transaction as too heavy.
 */
export function* parseTransactionInSlices(
  reader: Reader,
  allowWitness = true,
  mostWitnessBytes = Infinity,
): Slices<Transaction> {
  const version = reader.i32();
  let inputs = yield* parseInputs(reader);
  let outputs: TxOutput[] = [];
  let flags = 0;
  if (inputs.length === 0 && allowWitness) {
    flags = reader.u8();
    if (flags !== 0) {
      inputs = yield* parseInputs(reader);
      outputs = yield* parseOutputs(reader);
    }
  } else {
    outputs = yield* parseOutputs(reader);
  }
  if ((flags & 1) !== 0 && allowWitness) {
    flags ^= 1;
    yield* parseWitnesses(reader, inputs, mostWitnessBytes);
  }
  if (flags !== 0) throw new ReadError('Unknown transaction optional data');
  return { version, inputs, outputs, lockTime: reader.u32() };
}

/** Like `writeTransaction`, but works in slices. */
function* writeTransactionInSlices(writer: Writer, tx: Transaction, withWitness = true): Slices<void> {
  const { inputs, outputs } = tx;
  const witness = withWitness && hasWitness(tx);
  writer.i32(tx.version);
  if (witness) writer.u8(0).u8(1);
  writer.compactSize(inputs.length);
  for (let at = 0; at < inputs.length; at += ITEMS_AT_ONCE, yield) {
    writeInputs(writer, inputs.slice(at, at + ITEMS_AT_ONCE));
  }
  writer.compactSize(outputs.length);
  for (let at = 0; at < outputs.length; at += ITEMS_AT_ONCE, yield) {
    writeOutputs(writer, outputs.slice(at, at + ITEMS_AT_ONCE));
  }
  let written = 0;
  for (const input of witness ? inputs : []) {
    if (input.witness.length < ITEMS_AT_ONCE) {
      writeWitness(writer, input);
      written += input.witness.length + 1;
    } else {
      writer.compactSize(input.witness.length);
      for (const item of input.witness) {
        writer.varBytes(item);
        if (++written % ITEMS_AT_ONCE === 0) yield;
      }
    }
    if (written < ITEMS_AT_ONCE) continue;
    written = 0;
    yield;
  }
  writer.u32(tx.lockTime);
}

/** Like `formatTransaction`, but works in slices. */
export function* formatTransactionInSlices(tx: Transaction, withWitness = true): Slices<Buffer> {
  const writer = new Writer(512);
  yield* writeTransactionInSlices(writer, tx, withWitness);
  return writer.finish();
}

/** Like `txid`, but works in slices. */
export function* txidInSlices(tx: Transaction): Slices<Buffer> {
  return yield* sha256dInSlices(yield* formatTransactionInSlices(tx, false));
}

/** Like `sha256d`, but works in slices. */
export function* sha256dInSlices(bytes: Bytes): Slices<Buffer> {
  const hash = createHash('sha256');
  for (let at = 0; at < bytes.length; at += HASHED_AT_ONCE, yield)
    hash.update(bytes.subarray(at, at + HASHED_AT_ONCE));
  return sha256(hash.digest());
}
