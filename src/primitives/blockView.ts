/**
 * A block as a table of offsets into its bytes. One call parses the block and computes all ids and roots without creating
 * objects. Selects the addon or the fallback (`blockScan.ts`), and contains functions that hide the column layout
 * (`blockLayout.ts`). Only the rules of deserialization are checked.
 */
import { loadNative, type ParsedBlock } from '../native/binding.js';
import type { Bytes } from '../util/bytes.js';
import { ReadError, Reader } from '../util/reader.js';
import {
  INPUT_PREVOUT,
  INPUT_SCRIPT,
  INPUT_SCRIPT_LENGTH,
  INPUT_STRIDE,
  INPUT_WITNESS,
  INPUT_WITNESS_END,
  OUTPUT_SCRIPT,
  OUTPUT_SCRIPT_LENGTH,
  OUTPUT_STRIDE,
  OUTPUT_VALUE,
  TX_EMPTY_MARKER,
  TX_END,
  TX_FLAGS,
  TX_START,
  TX_STRIDE,
  TX_STRIPPED_SIZE,
} from './blockLayout.js';
import { parseBlockFallback, parseTxFallback, scanTxFallback } from './blockScan.js';

export type { ParsedBlock } from '../native/binding.js';

/** Converts the addon's error for malformed bytes to a `ReadError`. */
function readErrorOf(error: unknown): unknown {
  return error instanceof Error && error.name === 'Error' ? new ReadError(error.message) : error;
}

function asReadError<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw readErrorOf(error);
  }
}

function checkConsumed(parsed: ParsedBlock, bytes: Bytes, refuseTrailing: boolean): ParsedBlock {
  if (refuseTrailing && parsed.consumedBytes !== bytes.length) {
    throw new ReadError(`${bytes.length - parsed.consumedBytes} bytes after the end`);
  }
  return parsed;
}

/**
 * Parses a whole block that starts at byte 0. Throws `ReadError` for bytes that the reference would not deserialize. With
 * `refuseTrailing` it also throws for trailing bytes; otherwise `consumedBytes` is the end of the block.
 */
export function parseBlockView(bytes: Bytes, refuseTrailing = false): ParsedBlock {
  const native = loadNative();
  const parsed = native ? asReadError(() => native.parseBlock(bytes)) : parseBlockFallback(bytes);
  return checkConsumed(parsed, bytes, refuseTrailing);
}

/**
 * Like `parseBlockView`, but on another thread. For blocks that a caller may make larger than any valid block. The bytes
 * must not change before the promise settles. Without the addon the block is parsed synchronously.
 */
export async function parseBlockViewAside(bytes: Bytes): Promise<ParsedBlock> {
  const native = loadNative();
  if (!native) return parseBlockFallback(bytes);
  try {
    return await native.parseBlockAside(bytes);
  } catch (error) {
    throw readErrorOf(error);
  }
}

/** Like `parseBlockView`, but for one transaction, which may have a witness marker. `witnessMerkleRoot` is zero. */
export function parseTxView(bytes: Bytes, refuseTrailing = false): ParsedBlock {
  const native = loadNative();
  const parsed = native ? asReadError(() => native.parseTx(bytes)) : parseTxFallback(bytes);
  return checkConsumed(parsed, bytes, refuseTrailing);
}

/** Bytes of a transaction's txid and wtxid, concatenated. */
export const TX_IDS_BYTES = 64;

/**
 * Returns the length of the transaction at the start of the bytes; 0 if it is incomplete or malformed. Writes txid and wtxid
 * to `ids`, which has `TX_IDS_BYTES`.
 */
export function scanTransaction(bytes: Bytes, ids: Bytes): number {
  return loadNative()?.scanTx(bytes, ids) ?? scanTxFallback(bytes, ids);
}

/** Returns the txid of transaction `tx` of the block as a view of 32 bytes, wire order. */
export function txidAt(parsed: ParsedBlock, tx: number): Buffer {
  return parsed.txids.subarray(tx * 32, tx * 32 + 32);
}

export function wtxidAt(parsed: ParsedBlock, tx: number): Buffer {
  return parsed.wtxids.subarray(tx * 32, tx * 32 + 32);
}

/** Returns the size in bytes of transaction `tx` with witness, as the reference serializes it. */
export function txSizeBytes(parsed: ParsedBlock, tx: number): number {
  const row = tx * TX_STRIDE;
  if (parsed.txs[row + TX_FLAGS]! & TX_EMPTY_MARKER) return parsed.txs[row + TX_STRIPPED_SIZE]!;
  return parsed.txs[row + TX_END]! - parsed.txs[row + TX_START]!;
}

/** Returns the BIP141 weight of transaction `tx` of the block. */
export function txWeight(parsed: ParsedBlock, tx: number): number {
  return parsed.txs[tx * TX_STRIDE + TX_STRIPPED_SIZE]! * 3 + txSizeBytes(parsed, tx);
}

/**
 * Returns the bytes of transaction `tx` as a view of the block. With `TX_EMPTY_MARKER` they differ from the reference's
 * serialization.
 */
export function txBytes(block: Buffer, parsed: ParsedBlock, tx: number): Buffer {
  const row = tx * TX_STRIDE;
  return block.subarray(parsed.txs[row + TX_START], parsed.txs[row + TX_END]);
}

/** Returns the key of the coin that an input spends, as a view of 36 bytes. `input` counts the inputs of the whole block. */
export function prevoutAt(block: Buffer, parsed: ParsedBlock, input: number): Buffer {
  const at = parsed.inputs[input * INPUT_STRIDE + INPUT_PREVOUT]!;
  return block.subarray(at, at + 36);
}

/** Returns the script of an output as a view. `output` counts the outputs of the whole block. */
export function outputScriptAt(block: Buffer, parsed: ParsedBlock, output: number): Buffer {
  const row = output * OUTPUT_STRIDE;
  const at = parsed.outputs[row + OUTPUT_SCRIPT]!;
  return block.subarray(at, at + parsed.outputs[row + OUTPUT_SCRIPT_LENGTH]!);
}

/** Returns the scriptSig of an input as a view. `input` counts the inputs of the whole block. */
export function inputScriptAt(block: Buffer, parsed: ParsedBlock, input: number): Buffer {
  const row = input * INPUT_STRIDE;
  const at = parsed.inputs[row + INPUT_SCRIPT]!;
  return block.subarray(at, at + parsed.inputs[row + INPUT_SCRIPT_LENGTH]!);
}

/** Returns the amount of an output in satoshis; signed, range not checked. `output` counts the outputs of the whole block. */
export function outputAmountAt(block: Buffer, parsed: ParsedBlock, output: number): bigint {
  return block.readBigInt64LE(parsed.outputs[output * OUTPUT_STRIDE + OUTPUT_VALUE]!);
}

function openWitness(block: Buffer, parsed: ParsedBlock, input: number): Reader | null {
  const row = input * INPUT_STRIDE;
  const start = parsed.inputs[row + INPUT_WITNESS]!;
  return start === 0 ? null : new Reader(block, start, parsed.inputs[row + INPUT_WITNESS_END]!);
}

/**
 * Returns at most the first `atMost` items of an input's witness stack, bottom first, as views. Empty if the input has no
 * witness. `input` counts the inputs of the whole block.
 */
export function witnessAt(block: Buffer, parsed: ParsedBlock, input: number, atMost = Infinity): Buffer[] {
  const reader = openWitness(block, parsed, input);
  if (!reader) return [];
  const items = Math.min(atMost, reader.compactSize());
  return Array.from({ length: items }, () => reader.varBytes());
}

/**
 * Returns at most the last `atMost` items of an input's witness stack, which include the witness script. A view takes some
 * hundred bytes and a block can have millions of items, so callers should request only the items that they need.
 */
export function witnessTopAt(block: Buffer, parsed: ParsedBlock, input: number, atMost: number): Buffer[] {
  const reader = openWitness(block, parsed, input);
  if (!reader) return [];
  const items = reader.compactSize();
  for (let skipped = atMost; skipped < items; skipped++) reader.skip(reader.compactSize());
  return Array.from({ length: Math.min(atMost, items) }, () => reader.varBytes());
}
