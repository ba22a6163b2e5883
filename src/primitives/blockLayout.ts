/**
 * Column layout of the tables in `ParsedBlock`: rows of `txs`, `inputs` and `outputs`, and the flag bits of a transaction.
 * The addon writes this layout, too (`native/blocks/parse.cpp`).
 */

/** Columns of `ParsedBlock.txs`, as offsets in a row of `TX_STRIDE` numbers. */
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
/** Transaction version as unsigned number; `| 0` converts it to the signed version. */
export const TX_VERSION = 9;
/** Number of sigops in scriptSigs and output scripts by the inaccurate count. Source: `GetLegacySigOpCount`. */
export const TX_LEGACY_SIGOPS = 10;
export const TX_CLAIM_OUTPUTS = 11;

/** Bit of the `TX_FLAGS` column: at least one input has a non-empty witness stack. */
export const TX_HAS_WITNESS = 1;
/**
 * Bit of the `TX_FLAGS` column: the transaction has one input, whose prevout is null (`CTransaction::IsCoinBase`). The
 * position in the block does not matter.
 */
export const TX_IS_COINBASE = 2;
/**
 * Bit of the `TX_FLAGS` column. QUIRK: the transaction has the witness marker but no witness. The reference accepts such a
 * transaction and ignores the marker: size and id are computed without it. Test: test/unit/native/blockView.test.ts.
 */
export const TX_EMPTY_MARKER = 4;

/** Columns of `ParsedBlock.inputs`, as offsets in a row of `INPUT_STRIDE` numbers. */
export const INPUT_STRIDE = 6;
/** Offset in the block of the outpoint (36 bytes), which is the key of the spent coin in the database. */
export const INPUT_PREVOUT = 0;
export const INPUT_SCRIPT = 1;
export const INPUT_SCRIPT_LENGTH = 2;
export const INPUT_SEQUENCE = 3;
/** Offset in the block of the compact size that starts the witness stack; 0 if the transaction has no witness marker. */
export const INPUT_WITNESS = 4;
export const INPUT_WITNESS_END = 5;

/** Columns of `ParsedBlock.outputs`, as offsets in a row of `OUTPUT_STRIDE` numbers. */
export const OUTPUT_STRIDE = 4;
/** Offset in the block of the 8-byte amount. */
export const OUTPUT_VALUE = 0;
export const OUTPUT_SCRIPT = 1;
export const OUTPUT_SCRIPT_LENGTH = 2;
/**
 * Opcode of the output's claim prefix: 0xb5 claim, 0xb6 support, 0xb7 update. 0 if the output has no well-formed claim
 * prefix.
 */
export const OUTPUT_CLAIM_KIND = 3;
