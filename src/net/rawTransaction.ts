/**
 * Finds the ends of serialized transactions within messages, without creating objects. Accepts the same bytes as
 * `parseTransaction`. Source: Core primitives/transaction.h `UnserializeTransaction`.
 */
import { formatTransaction, parseTransaction } from '../primitives/transaction.js';
import { ReadError, Reader } from '../util/reader.js';

const VERSION_SIZE = 4;
const OUTPOINT_SIZE = 36;
const SEQUENCE_SIZE = 4;
const VALUE_SIZE = 8;
const LOCK_TIME_SIZE = 4;

function skipInputs(reader: Reader): number {
  const count = reader.compactSize();
  for (let i = 0; i < count; i++) {
    reader.skip(OUTPOINT_SIZE);
    reader.skip(reader.compactSize());
    reader.skip(SEQUENCE_SIZE);
  }
  return count;
}

function skipOutputs(reader: Reader): void {
  const count = reader.compactSize();
  for (let i = 0; i < count; i++) {
    reader.skip(VALUE_SIZE);
    reader.skip(reader.compactSize());
  }
}

function skipWitness(reader: Reader, inputs: number): void {
  for (let i = 0; i < inputs; i++) {
    const items = reader.compactSize();
    for (let k = 0; k < items; k++) reader.skip(reader.compactSize());
  }
}

/**
 * Returns the bytes of the transaction at the reader's position (a view) and advances the reader. Throws `ReadError` if it
 * cannot be parsed.
 */
export function readRawTransaction(reader: Reader): Buffer {
  const start = reader.offset;
  reader.skip(VERSION_SIZE);
  let inputs = skipInputs(reader);
  let flags = 0;
  if (inputs > 0) skipOutputs(reader);
  else {
    flags = reader.u8();
    if (flags !== 0) {
      inputs = skipInputs(reader);
      skipOutputs(reader);
    }
  }
  if ((flags & 1) !== 0) skipWitness(reader, inputs);
  if ((flags & ~1) !== 0) throw new ReadError('Unknown transaction optional data');
  reader.skip(LOCK_TIME_SIZE);
  return reader.bytes.subarray(start, reader.offset);
}

/** Whether a parsable transaction has neither inputs nor outputs. Source: `CTransaction::IsNull`. */
export function isNullTransaction(raw: Buffer): boolean {
  const hasMarker = raw[4] === 0 && raw[5] !== 0;
  return hasMarker ? raw[6] === 0 && raw[7] === 0 : raw[4] === 0;
}

/**
 * Returns the transaction without witness, for peers that do not support BIP144. A transaction that has no witness is
 * returned unchanged.
 */
export function withoutWitness(raw: Buffer): Buffer {
  const hasMarker = raw[4] === 0 && raw[5] !== 0;
  return hasMarker ? formatTransaction(parseTransaction(new Reader(raw)), false) : raw;
}
