/**
 * Readable fallback of the addon's `parseBlock`, `parseTx` and `scanTx` (`native/blocks/parse.cpp`): fills the offset table in one
 * pass over the bytes. Contains only deserialization rules, the same as `transaction.ts`. Source: Core 0.17
 * `UnserializeTransaction`, `BlockMerkleRoot`, `BlockWitnessMerkleRoot`.
 */
import { sha256d } from '../crypto/hash.js';
import { merkleRoot } from '../crypto/merkle.js';
import type { ParsedBlock } from '../native/binding.js';
import { isZero, type Bytes } from '../util/bytes.js';
import { ReadError, Reader } from '../util/reader.js';
import {
  INPUT_STRIDE,
  INPUT_WITNESS,
  INPUT_WITNESS_END,
  OUTPUT_STRIDE,
  TX_EMPTY_MARKER,
  TX_HAS_WITNESS,
  TX_IS_COINBASE,
} from './blockLayout.js';
import { HEADER_SIZE_BYTES } from './header.js';
import { claimKind, countLegacySigops } from './scriptScan.js';
import { NULL_INDEX } from './transaction.js';

const VERSION_SIZE = 4;
const LOCK_TIME_SIZE = 4;

interface Rows {
  txs: number[];
  inputs: number[];
  outputs: number[];
  txids: Buffer[];
  wtxids: Buffer[];
  strippedSizeBytes: number;
  sizeBytes: number;
}

function emptyRows(): Rows {
  return { txs: [], inputs: [], outputs: [], txids: [], wtxids: [], strippedSizeBytes: 0, sizeBytes: 0 };
}

/** Appends a row for each input of an input list, without witness. Returns the number of sigops in the scriptSigs. */
function scanInputs(reader: Reader, rows: Rows): number {
  const count = reader.compactSize();
  let sigops = 0;
  for (let i = 0; i < count; i++) {
    const prevoutAt = reader.offset;
    reader.skip(32);
    reader.skip(4);
    const length = reader.compactSize();
    const scriptAt = reader.offset;
    reader.skip(length);
    sigops += countLegacySigops(reader.bytes, scriptAt, reader.offset);
    rows.inputs.push(prevoutAt, scriptAt, length, reader.u32(), 0, 0);
  }
  return sigops;
}

function scanOutputs(reader: Reader, rows: Rows): { sigops: number; claims: number } {
  const count = reader.compactSize();
  let sigops = 0;
  let claims = 0;
  for (let i = 0; i < count; i++) {
    const valueAt = reader.offset;
    reader.skip(8);
    const length = reader.compactSize();
    const scriptAt = reader.offset;
    reader.skip(length);
    const kind = claimKind(reader.bytes, scriptAt, reader.offset);
    sigops += countLegacySigops(reader.bytes, scriptAt, reader.offset);
    if (kind !== 0) claims += 1;
    rows.outputs.push(valueAt, scriptAt, length, kind);
  }
  return { sigops, claims };
}

/** Reads the witness stacks of the input rows from `firstInput` on. Returns whether at least one stack has an item. */
function scanWitness(reader: Reader, rows: Rows, firstInput: number): boolean {
  let any = false;
  for (let row = firstInput * INPUT_STRIDE; row < rows.inputs.length; row += INPUT_STRIDE) {
    rows.inputs[row + INPUT_WITNESS] = reader.offset;
    const items = reader.compactSize();
    for (let i = 0; i < items; i++) reader.skip(reader.compactSize());
    rows.inputs[row + INPUT_WITNESS_END] = reader.offset;
    if (items > 0) any = true;
  }
  return any;
}

function isNullPrevout(bytes: Bytes, at: number): boolean {
  const index =
    bytes[at + 32]! + bytes[at + 33]! * 0x100 + bytes[at + 34]! * 0x10000 + bytes[at + 35]! * 0x1000000;
  return index === NULL_INDEX && isZero(bytes.subarray(at, at + 32));
}

function scanTx(reader: Reader, rows: Rows): void {
  const start = reader.offset;
  const firstInput = rows.inputs.length / INPUT_STRIDE;
  const firstOutput = rows.outputs.length / OUTPUT_STRIDE;
  const version = reader.u32();
  let marker = 0;
  let bodyAt = reader.offset;
  let sigops = scanInputs(reader, rows);
  let outputs = { sigops: 0, claims: 0 };
  if (rows.inputs.length / INPUT_STRIDE > firstInput) {
    outputs = scanOutputs(reader, rows);
  } else {
    marker = reader.u8();
    // If the flag byte is 0, the transaction has no inputs and no outputs, and the two bytes are its empty lists.
    if (marker !== 0) {
      bodyAt = reader.offset;
      sigops = scanInputs(reader, rows);
      outputs = scanOutputs(reader, rows);
    }
  }
  const bodyEnd = reader.offset;
  let hasWitness = false;
  if (marker & 1) hasWitness = scanWitness(reader, rows, firstInput);
  if (marker & ~1) throw new ReadError('Unknown transaction optional data');
  const lockTimeAt = reader.offset;
  const lockTime = reader.u32();

  const inputCount = rows.inputs.length / INPUT_STRIDE - firstInput;
  const outputCount = rows.outputs.length / OUTPUT_STRIDE - firstOutput;
  const strippedSize = VERSION_SIZE + (bodyEnd - bodyAt) + LOCK_TIME_SIZE;
  let flags = 0;
  if (hasWitness) flags |= TX_HAS_WITNESS;
  else if (marker) flags |= TX_EMPTY_MARKER;
  if (inputCount === 1 && isNullPrevout(reader.bytes, rows.inputs[firstInput * INPUT_STRIDE]!)) {
    flags |= TX_IS_COINBASE;
  }
  // prettier-ignore
  rows.txs.push(
    start, reader.offset, strippedSize, firstInput, inputCount, firstOutput, outputCount,
    flags, lockTime, version, sigops + outputs.sigops, outputs.claims,
  );

  const { bytes } = reader;
  const stripped = marker
    ? Buffer.concat([
        bytes.subarray(start, start + VERSION_SIZE),
        bytes.subarray(bodyAt, bodyEnd),
        bytes.subarray(lockTimeAt, reader.offset),
      ])
    : bytes.subarray(start, reader.offset);
  const txid = sha256d(stripped);
  rows.txids.push(txid);
  rows.wtxids.push(hasWitness ? sha256d(bytes.subarray(start, reader.offset)) : txid);
  rows.strippedSizeBytes += strippedSize;
  rows.sizeBytes += hasWitness ? reader.offset - start : strippedSize;
}

function finish(rows: Rows, reader: Reader, overheadBytes: number): ParsedBlock {
  const { root, mutated } = merkleRoot(rows.txids);
  const witnessLeaves = rows.wtxids.slice();
  if (witnessLeaves.length > 0) witnessLeaves[0] = Buffer.alloc(32);
  const strippedSizeBytes = overheadBytes + rows.strippedSizeBytes;
  const sizeBytes = overheadBytes + rows.sizeBytes;
  return {
    txCount: rows.txids.length,
    txs: Uint32Array.from(rows.txs),
    inputs: Uint32Array.from(rows.inputs),
    outputs: Uint32Array.from(rows.outputs),
    txids: Buffer.concat(rows.txids),
    wtxids: Buffer.concat(rows.wtxids),
    merkleRoot: root,
    mutated,
    witnessMerkleRoot: merkleRoot(witnessLeaves).root,
    consumedBytes: reader.offset,
    sizeBytes,
    strippedSizeBytes,
    weight: strippedSizeBytes * 3 + sizeBytes,
  };
}

export function parseBlockFallback(bytes: Bytes): ParsedBlock {
  const reader = new Reader(bytes);
  const rows = emptyRows();
  reader.skip(HEADER_SIZE_BYTES);
  const count = reader.compactSize();
  const overheadBytes = reader.offset;
  for (let i = 0; i < count; i++) scanTx(reader, rows);
  return finish(rows, reader, overheadBytes);
}

export function parseTxFallback(bytes: Bytes): ParsedBlock {
  const reader = new Reader(bytes);
  const rows = emptyRows();
  scanTx(reader, rows);
  return finish(rows, reader, 0);
}

/** JavaScript implementation of the addon's `scanTx`. `scanTransaction` describes the contract. */
export function scanTxFallback(bytes: Bytes, ids: Bytes): number {
  try {
    const { txids, wtxids, consumedBytes } = parseTxFallback(bytes);
    ids.set(txids);
    ids.set(wtxids, txids.length);
    return consumedBytes;
  } catch (error) {
    if (error instanceof ReadError) return 0;
    throw error;
  }
}
