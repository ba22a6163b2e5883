/**
 * Converts tables that the addon returns in one buffer to views of that buffer. Separate buffers for the tables would take
 * several times as long to create, and each would be freed separately. Layouts: `PackedTablesHead` (native/blocks/parse.h),
 * `PackedResolvedHead` (native/coins/resolved.h).
 */
import type { NativeAddon } from './addonTypes/addon.js';
import type { NativeCoinTable, ParsedBlock, ResolvedInputs } from './addonTypes/blocks.js';

const WORD_BYTES = 4;
/** Number of 32-bit words in a row of each table (`TxRow`, `InputRow`, `OutputRow` in the addon). */
const ROW_WORDS = { tx: 12, input: 6, output: 4 } as const;
const AMOUNT_BYTES = 8;
const HASH_BYTES = 32;
const TABLES_HEAD_WORDS = 8;
const TABLES_HEAD_BYTES = TABLES_HEAD_WORDS * WORD_BYTES + 2 * HASH_BYTES;
const RESOLVED_HEAD_WORDS = 4;
const RESOLVED_HEAD_BYTES = RESOLVED_HEAD_WORDS * WORD_BYTES;

/**
 * Creates the views of a parsed block. The result also keeps the buffer (`packed`), so that it can be passed back to the
 * addon.
 */
function unpackParsed(packed: Buffer): ParsedBlock {
  const { buffer, byteOffset } = packed;
  const head = new Uint32Array(buffer, byteOffset, TABLES_HEAD_WORDS);
  const txCount = head[0]!;
  const txWords = txCount * ROW_WORDS.tx;
  const inputWords = head[1]! * ROW_WORDS.input;
  const outputWords = head[2]! * ROW_WORDS.output;
  const sizeBytes = head[5]!;
  const strippedSizeBytes = head[6]!;
  const rootAt = TABLES_HEAD_WORDS * WORD_BYTES;
  const inputsAt = TABLES_HEAD_BYTES + txWords * WORD_BYTES;
  const outputsAt = inputsAt + inputWords * WORD_BYTES;
  const txidsAt = outputsAt + outputWords * WORD_BYTES;
  const wtxidsAt = txidsAt + txCount * HASH_BYTES;
  return {
    txCount,
    txs: new Uint32Array(buffer, byteOffset + TABLES_HEAD_BYTES, txWords),
    inputs: new Uint32Array(buffer, byteOffset + inputsAt, inputWords),
    outputs: new Uint32Array(buffer, byteOffset + outputsAt, outputWords),
    txids: packed.subarray(txidsAt, wtxidsAt),
    wtxids: packed.subarray(wtxidsAt, wtxidsAt + txCount * HASH_BYTES),
    merkleRoot: packed.subarray(rootAt, rootAt + HASH_BYTES),
    mutated: head[3] !== 0,
    witnessMerkleRoot: packed.subarray(rootAt + HASH_BYTES, rootAt + 2 * HASH_BYTES),
    consumedBytes: head[4]!,
    sizeBytes,
    strippedSizeBytes,
    weight: 3 * strippedSizeBytes + sizeBytes,
    packed,
  };
}

/** Creates views of the result of `CoinTable.resolve`, which is one packed buffer. */
function unpackResolved(packed: Buffer): ResolvedInputs {
  const { buffer, byteOffset } = packed;
  const head = new Uint32Array(buffer, byteOffset, RESOLVED_HEAD_WORDS);
  const count = head[0]!;
  const scriptsBytes = head[1]!;
  const duplicateCount = head[2]!;
  const column = count * WORD_BYTES;
  const wordsAt = byteOffset + RESOLVED_HEAD_BYTES + count * AMOUNT_BYTES;
  const duplicatesAt = wordsAt + 3 * column;
  const statusAt = duplicatesAt + duplicateCount * WORD_BYTES;
  const scriptsAt = statusAt - byteOffset + 2 * count;
  return {
    heightCodes: new Uint32Array(buffer, wordsAt, count),
    amounts: new BigInt64Array(buffer, byteOffset + RESOLVED_HEAD_BYTES, count),
    scriptOffsets: new Uint32Array(buffer, wordsAt + column, count),
    scriptLengths: new Uint32Array(buffer, wordsAt + 2 * column, count),
    scripts: packed.subarray(scriptsAt, scriptsAt + scriptsBytes),
    status: new Uint8Array(buffer, statusAt, count),
    claimKinds: new Uint8Array(buffer, statusAt + count, count),
    duplicates: new Uint32Array(buffer, duplicatesAt, duplicateCount),
    packed,
  };
}

/** Interface of the loaded addon. Functions whose results are tables return all tables packed in one buffer. */
export interface PackingAddon extends Omit<
  NativeAddon,
  'parseBlock' | 'parseTx' | 'resolvedFromUndo' | 'CoinTable'
> {
  parseBlock(bytes: Uint8Array): Buffer;
  parseTx(bytes: Uint8Array): Buffer;
  resolvedFromUndo(parsed: ParsedBlock, undo: Uint8Array): Buffer | null;
  readonly CoinTable: new () => PackingCoinTable;
}

interface PackingCoinTable extends Omit<NativeCoinTable, 'resolve'> {
  resolvePacked(...args: Parameters<NativeCoinTable['resolve']>): Buffer;
}

/** Wraps an addon, so that tables are returned as views instead of packed buffers. */
export function unpacking(addon: PackingAddon): NativeAddon {
  class UnpackingCoinTable extends addon.CoinTable implements NativeCoinTable {
    resolve(block: Uint8Array, parsed: ParsedBlock, height: number, checkOutputs?: boolean): ResolvedInputs {
      return unpackResolved(this.resolvePacked(block, parsed, height, checkOutputs));
    }
  }
  return {
    ...addon,
    parseBlock: (bytes) => unpackParsed(addon.parseBlock(bytes)),
    parseTx: (bytes) => unpackParsed(addon.parseTx(bytes)),
    resolvedFromUndo: (parsed, undo) => {
      const packed = addon.resolvedFromUndo(parsed, undo);
      return packed && unpackResolved(packed);
    },
    CoinTable: UnpackingCoinTable,
  };
}
