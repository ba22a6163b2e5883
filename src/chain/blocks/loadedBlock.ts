/** A block as the chain handles it: its bytes, the offset table over them, its header and its id. */
import {
  headerHash,
  parseHeaderBytes,
  HEADER_SIZE_BYTES,
  type BlockHeader,
} from '../../primitives/header.js';
import {
  TX_EMPTY_MARKER,
  TX_END,
  TX_FLAGS,
  TX_START,
  TX_STRIDE,
  TX_STRIPPED_SIZE,
} from '../../primitives/blockLayout.js';
import { parseBlockView, parseBlockViewAside, type ParsedBlock } from '../../primitives/blockView.js';
import { ReadError } from '../../util/reader.js';
import { inSlices } from '../../scheduler/slices.js';
import { atOnce, type Slices } from '../../util/slices.js';

export interface LoadedBlock {
  raw: Buffer;
  parsed: ParsedBlock;
  header: BlockHeader;
  /** Wire order. */
  hash: Buffer;
  /** Number of bytes of the parsed buffer that belong to the block. */
  consumedBytes: number;
}

/** Maximum size in bytes of a block that is parsed synchronously, which takes some milliseconds. */
const AT_ONCE_BYTES = 512 << 10;
/** Size of the version field, which BIP144's marker and flag follow. */
const VERSION_BYTES = 4;
const MARKER_BYTES = 2;
const LOCK_TIME_BYTES = 4;
/** Number of transactions that are processed between two yields to the event loop. */
const TXS_AT_ONCE = 1024;

/**
 * Parses block bytes; throws `ReadError` when they are not a block. Bytes after the block are ignored. A block in
 * non-canonical form (a witness marker without witness) is converted to the canonical form, as the reference does by
 * deserializing and serializing.
 */
export function loadBlock(bytes: Buffer): LoadedBlock {
  const parsed = parseBlockView(bytes);
  if (isCanonical(parsed)) return loaded(bytes, parsed, parsed.consumedBytes);
  const raw = atOnce(canonicalForm(bytes, parsed));
  return loaded(raw, mustBeStorable(raw, parseBlockView(raw)), parsed.consumedBytes);
}

/**
 * Minimum size in bytes of a block that is parsed on another thread when it is read ahead of its use. For smaller blocks,
 * switching threads takes longer than parsing.
 */
const ASIDE_BYTES = 16 << 10;

/**
 * `loadBlock` on another thread, for blocks that are read ahead of their use. The bytes must not change before the promise
 * settles.
 */
export const loadBlockAside = (bytes: Buffer): Promise<LoadedBlock> => loadLargeBlock(bytes, ASIDE_BYTES);

/**
 * `loadBlock` for bytes that may exceed the size of any block: the event loop is not blocked. The bytes must not change
 * before the promise settles. Up to `atOnceBytes` they are parsed synchronously.
 */
export async function loadLargeBlock(bytes: Buffer, atOnceBytes = AT_ONCE_BYTES): Promise<LoadedBlock> {
  if (bytes.length <= atOnceBytes) return loadBlock(bytes);
  const parsed = await parseBlockViewAside(bytes);
  if (isCanonical(parsed)) return loaded(bytes, parsed, parsed.consumedBytes);
  const raw = await inSlices(canonicalForm(bytes, parsed));
  return loaded(raw, mustBeStorable(raw, await parseBlockViewAside(raw)), parsed.consumedBytes);
}

function loaded(bytes: Buffer, parsed: ParsedBlock, consumedBytes: number): LoadedBlock {
  const raw = bytes.length === parsed.sizeBytes ? bytes : bytes.subarray(0, parsed.sizeBytes);
  const hash = headerHash(raw.subarray(0, HEADER_SIZE_BYTES));
  return { raw, parsed, header: parseHeaderBytes(raw), hash, consumedBytes };
}

function isCanonical({ sizeBytes, consumedBytes }: ParsedBlock): boolean {
  return sizeBytes === consumedBytes;
}

/** The block without witness markers of transactions that have no witness. */
function* canonicalForm(
  raw: Buffer,
  { txs, txCount, sizeBytes, consumedBytes }: ParsedBlock,
): Slices<Buffer> {
  const out = Buffer.allocUnsafe(sizeBytes);
  let written = 0;
  let read = 0;
  const copy = (from: number, to: number): void => {
    written += raw.copy(out, written, from, to);
    read = to;
  };
  for (let tx = 0; tx < txCount; tx++) {
    if (tx % TXS_AT_ONCE === TXS_AT_ONCE - 1) yield;
    const row = tx * TX_STRIDE;
    if ((txs[row + TX_FLAGS]! & TX_EMPTY_MARKER) === 0) continue;
    copy(read, txs[row + TX_START]! + VERSION_BYTES);
    const lists = read + MARKER_BYTES;
    copy(lists, lists + txs[row + TX_STRIPPED_SIZE]! - VERSION_BYTES - LOCK_TIME_BYTES);
    read = txs[row + TX_END]! - LOCK_TIME_BYTES;
  }
  copy(read, consumedBytes);
  return out;
}

/**
 * A transaction with outputs but no inputs would be read back as one with a witness marker, so such a block cannot be stored
 * in any form.
 */
function mustBeStorable({ length }: Buffer, parsed: ParsedBlock): ParsedBlock {
  if (parsed.consumedBytes !== length || parsed.sizeBytes !== length) {
    throw new ReadError('a transaction without inputs has outputs');
  }
  return parsed;
}
