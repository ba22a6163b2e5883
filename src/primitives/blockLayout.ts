/**
 * The column layout of `ParsedBlock`: rows of `txs`, `inputs` and `outputs`, and the bits of a transaction's flags.
 * Only constants; the addon writes the same layout (`native/parse.cpp`).
 */

/** Columns of `ParsedBlock.txs`. */
export const TX_STRIDE = 12;
export const TX_START = 0;
export const TX_END = 1;
export const TX_STRIPPED_SIZE = 2;
export const TX_FIRST_INPUT = 3;
export const TX_INPUT_COUNT = 4;
export const TX_FIRST_OUTPUT = 5;
export const TX_OUTPUT_COUNT = 6;
export const TX_FLAGS = 7;
export const TX_LOCK_TIME = 8;
/** Unsigned; `| 0` gives the signed version. */
export const TX_VERSION = 9;
/** Inaccurate count over scriptSigs and output scripts, source: `GetLegacySigOpCount`. */
export const TX_LEGACY_SIGOPS = 10;
export const TX_CLAIM_OUTPUTS = 11;

/** Bits of the `TX_FLAGS` column: at least one input has a non-empty witness stack. */
export const TX_HAS_WITNESS = 1;
/** One input, whose prevout is null: `CTransaction::IsCoinBase`, at any position in the block. */
export const TX_IS_COINBASE = 2;
/**
 * QUIRK: the transaction has the witness marker but no witness. The reference of this version accepts it and drops the
 * marker: size and id are computed without it. Test: test/unit/native/blockView.test.ts.
 */
export const TX_EMPTY_MARKER = 4;

/** Columns of `ParsedBlock.inputs`. */
export const INPUT_STRIDE = 6;
/** Offset of 36 bytes, the key of the spent coin. */
export const INPUT_PREVOUT = 0;
export const INPUT_SCRIPT = 1;
export const INPUT_SCRIPT_LENGTH = 2;
export const INPUT_SEQUENCE = 3;
/** Offset of the compact size at the start of the witness stack; 0 when the transaction has no marker. */
export const INPUT_WITNESS = 4;
export const INPUT_WITNESS_END = 5;

/** Columns of `ParsedBlock.outputs`. */
export const OUTPUT_STRIDE = 4;
/** Offset of the 8-byte amount. */
export const OUTPUT_VALUE = 0;
export const OUTPUT_SCRIPT = 1;
export const OUTPUT_SCRIPT_LENGTH = 2;
/** 0, or the opcode of a well-formed claim prefix: 0xb5 claim, 0xb6 support, 0xb7 update. */
export const OUTPUT_CLAIM_KIND = 3;
