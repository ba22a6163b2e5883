/**
 * A block as a table of offsets into its own bytes: one call parses it and computes all ids and roots, without creating
 * objects. Chooses between the addon and the fallback (`blockScan.ts`), and contains the accessors that hide the column
 * layout (`blockLayout.ts`). Contains no rules beyond deserialization.
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

/** Converts the addon's error for malformed bytes. */
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
 * Parses a whole block that starts at byte 0. Throws `ReadError` on bytes that the reference would not deserialize, and with
 * `refuseTrailing` on trailing bytes; otherwise `consumedBytes` is the end of the block.
 */
export function parseBlockView(bytes: Bytes, refuseTrailing = false): ParsedBlock {
  const native = loadNative();
  const parsed = native ? asReadError(() => native.parseBlock(bytes)) : parseBlockFallback(bytes);
  return checkConsumed(parsed, bytes, refuseTrailing);
}

/**
 * The same on another thread, for bytes that callers may make larger than any valid block; the bytes must not change before
 * the promise settles. Without the addon it runs synchronously.
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

/** The same for one transaction; a witness marker is allowed. `witnessMerkleRoot` is zero. */
export function parseTxView(bytes: Bytes, refuseTrailing = false): ParsedBlock {
  const native = loadNative();
  const parsed = native ? asReadError(() => native.parseTx(bytes)) : parseTxFallback(bytes);
  return checkConsumed(parsed, bytes, refuseTrailing);
}

/** Bytes of a transaction's txid and wtxid, concatenated. */
export const TX_IDS_BYTES = 64;

/**
 * Length of the transaction at the start of the bytes, 0 if there is no complete one. Writes its ids to `ids`
 * (`TX_IDS_BYTES`).
 */
export function scanTransaction(bytes: Bytes, ids: Bytes): number {
  return loadNative()?.scanTx(bytes, ids) ?? scanTxFallback(bytes, ids);
}

/** Id of transaction `tx`, a view of 32 bytes in wire order. */
export function txidAt(parsed: ParsedBlock, tx: number): Buffer {
  return parsed.txids.subarray(tx * 32, tx * 32 + 32);
}

export function wtxidAt(parsed: ParsedBlock, tx: number): Buffer {
  return parsed.wtxids.subarray(tx * 32, tx * 32 + 32);
}

/** Size of transaction `tx` with witness, as the reference serializes it. */
export function txSizeBytes(parsed: ParsedBlock, tx: number): number {
  const row = tx * TX_STRIDE;
  if (parsed.txs[row + TX_FLAGS]! & TX_EMPTY_MARKER) return parsed.txs[row + TX_STRIPPED_SIZE]!;
  return parsed.txs[row + TX_END]! - parsed.txs[row + TX_START]!;
}

/** BIP141 weight of transaction `tx`. */
export function txWeight(parsed: ParsedBlock, tx: number): number {
  return parsed.txs[tx * TX_STRIDE + TX_STRIPPED_SIZE]! * 3 + txSizeBytes(parsed, tx);
}

/** The raw bytes of transaction `tx`, a view. With `TX_EMPTY_MARKER` they differ from the reference's serialization. */
export function txBytes(block: Buffer, parsed: ParsedBlock, tx: number): Buffer {
  const row = tx * TX_STRIDE;
  return block.subarray(parsed.txs[row + TX_START], parsed.txs[row + TX_END]);
}

/** Key of the coin that running input `input` spends, a view of 36 bytes. */
export function prevoutAt(block: Buffer, parsed: ParsedBlock, input: number): Buffer {
  const at = parsed.inputs[input * INPUT_STRIDE + INPUT_PREVOUT]!;
  return block.subarray(at, at + 36);
}

/** Script of running output `output`, a view. */
export function outputScriptAt(block: Buffer, parsed: ParsedBlock, output: number): Buffer {
  const row = output * OUTPUT_STRIDE;
  const at = parsed.outputs[row + OUTPUT_SCRIPT]!;
  return block.subarray(at, at + parsed.outputs[row + OUTPUT_SCRIPT_LENGTH]!);
}

/** scriptSig of running input `input`, a view. */
export function inputScriptAt(block: Buffer, parsed: ParsedBlock, input: number): Buffer {
  const row = input * INPUT_STRIDE;
  const at = parsed.inputs[row + INPUT_SCRIPT]!;
  return block.subarray(at, at + parsed.inputs[row + INPUT_SCRIPT_LENGTH]!);
}

/** Satoshis of running output `output`; signed, range not checked. */
export function outputAmountAt(block: Buffer, parsed: ParsedBlock, output: number): bigint {
  return block.readBigInt64LE(parsed.outputs[output * OUTPUT_STRIDE + OUTPUT_VALUE]!);
}

function openWitness(block: Buffer, parsed: ParsedBlock, input: number): Reader | null {
  const row = input * INPUT_STRIDE;
  const start = parsed.inputs[row + INPUT_WITNESS]!;
  return start === 0 ? null : new Reader(block, start, parsed.inputs[row + INPUT_WITNESS_END]!);
}

/** Witness stack of running input `input`, bottom first, as views; empty without a witness. At most the first `atMost` items. */
export function witnessAt(block: Buffer, parsed: ParsedBlock, input: number, atMost = Infinity): Buffer[] {
  const reader = openWitness(block, parsed, input);
  if (!reader) return [];
  const items = Math.min(atMost, reader.compactSize());
  return Array.from({ length: items }, () => reader.varBytes());
}

/**
 * The same, but at most the last `atMost` items, which include the witness script. A view costs some hundred bytes, and a
 * block can have millions of items: readers should request no more than they need.
 */
export function witnessTopAt(block: Buffer, parsed: ParsedBlock, input: number, atMost: number): Buffer[] {
  const reader = openWitness(block, parsed, input);
  if (!reader) return [];
  const items = reader.compactSize();
  for (let skipped = atMost; skipped < items; skipped++) reader.skip(reader.compactSize());
  return Array.from({ length: Math.min(atMost, items) }, () => reader.varBytes());
}
