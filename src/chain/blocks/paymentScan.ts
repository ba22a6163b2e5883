/**
 * Scans stored blocks for transactions that may concern a wallet: those that may pay to its keys and scripts, those it may
 * already know, and those that may spend outputs of known transactions. Chooses between the addon (`native/blocks/paymentScan.cpp`)
 * and the fallback below, and defines the layout of the result. Matches may be false positives; the wallet decides on each.
 */
import { hash160, ripemd160 } from '../../crypto/hash.js';
import { loadNative } from '../../native/binding.js';
import {
  INPUT_PREVOUT,
  INPUT_STRIDE,
  OUTPUT_SCRIPT,
  OUTPUT_SCRIPT_LENGTH,
  OUTPUT_STRIDE,
  TX_END,
  TX_FIRST_INPUT,
  TX_FIRST_OUTPUT,
  TX_FLAGS,
  TX_HAS_WITNESS,
  TX_INPUT_COUNT,
  TX_IS_COINBASE,
  TX_OUTPUT_COUNT,
  TX_START,
  TX_STRIDE,
} from '../../primitives/blockLayout.js';
import { txidAt } from '../../primitives/blockView.js';
import { HEADER_SIZE_BYTES } from '../../primitives/header.js';
import { claimPrefixLength } from '../../script/claimScript.js';
import { OP } from '../../script/opcodes.js';
import type { StoredRun } from '../../store/files/blockFiles.js';
import { equalBytes, toLatin1 } from '../../util/bytes.js';
import { findText } from '../../util/hashSlots.js';
import { addHash, mayHaveHash } from '../../util/prefixFilter.js';
import { ReadError } from '../../util/reader.js';
import { checkContents } from '../connect/checkBlockView.js';
import { loadBlock, type LoadedBlock } from './loadedBlock.js';

const ID_BYTES = 32;
/** In `SettledPayments.kinds`. */
const KNOWN_WITHOUT_WITNESS = 1;
const KNOWN_WITH_WITNESS = 2;
/** Size of a row of the result in 32-bit words. */
const ROW_WORDS = 13;
const ROW_ID_WORD = 5;

/**
 * Known transactions, numbered from 0. A scan skips a known transaction if it is at its known position in a known block.
 * The arrays must not change, except for `kinds` between two scans.
 */
export interface SettledPayments {
  /** Ids, 32 bytes each, wire order, and a hash table over them (`util/hashSlots.ts`). */
  readonly ids: Uint8Array;
  readonly idSlots: Int32Array;
  /**
   * `blockOf` has the index of each transaction's block in `blocks` (block hashes, 32 bytes each). `places` has the
   * transaction's index in the block.
   */
  readonly blockOf: Uint32Array;
  readonly blocks: Uint8Array;
  readonly places: Int32Array;
  /** 0: the transaction is always reported. 1: it is known without a witness. 2: it is known with or without a witness. */
  readonly kinds: Uint8Array;
}

/** Scripts and transactions that a scan searches for. `scripts` and `txids` contain the words of two `PrefixFilter`s. */
export interface SoughtPayments {
  /** Ids of keys and scripts. */
  readonly scripts: Uint32Array;
  /** Ids of transactions, in wire order. */
  readonly txids: Uint32Array;
  /** Transactions that the scan may skip; null if all matching transactions are reported. */
  readonly settled: SettledPayments | null;
  /** Buffer for the blocks, which are read until it is full. It must not be reused until the results have been processed. */
  readonly memory: Buffer;
}

type SoughtIds = Omit<SoughtPayments, 'memory'>;

/** Consecutive blocks in memory. */
export interface BlockRun extends StoredRun {
  /** The block ids, 32 bytes each, wire order. */
  readonly ids: Buffer;
  /** The number of the first block that may have witnesses; the block count if none may. */
  readonly segwitFrom: number;
}

/**
 * The result: the number of valid blocks (id, transactions and witnesses match) before the first one that is corrupt or not
 * stored in canonical form. After that, one row for each transaction found in the valid blocks: number of the block, index
 * in the block, start and end offset in the block, `TX_FLAGS`, and its id (eight words of four bytes).
 */
type Answer = Uint32Array;

/** Transactions that were found in a run of consecutive blocks. */
export class FoundPayments {
  private readonly run: BlockRun;
  private readonly answer: Answer;
  private readonly idBytes: Buffer;

  constructor(run: BlockRun, answer: Answer) {
    this.run = run;
    this.answer = answer;
    this.idBytes = Buffer.from(answer.buffer, answer.byteOffset, answer.byteLength);
  }

  /** Number of blocks scanned: those before the first one that needs a full check. */
  get blockCount(): number {
    return this.answer[0]!;
  }

  /** Number of transactions found, numbered from 0 in chain order. */
  get count(): number {
    return (this.answer.length - 1) / ROW_WORDS;
  }

  /** The hash of a block by its number, wire order. */
  hash(block: number): Buffer {
    return this.run.ids.subarray(ID_BYTES * block, ID_BYTES * (block + 1));
  }

  private word(found: number, word: number): number {
    return this.answer[1 + found * ROW_WORDS + word]!;
  }

  /** Number of the block that contains the found transaction. */
  block(found: number): number {
    return this.word(found, 0);
  }

  /** Index of the found transaction in its block. */
  index(found: number): number {
    return this.word(found, 1);
  }

  hasWitness(found: number): boolean {
    return (this.word(found, 4) & TX_HAS_WITNESS) !== 0;
  }

  /** Txid of the found transaction in wire order, one character per byte. */
  txKey(found: number): string {
    const at = 4 * (1 + found * ROW_WORDS + ROW_ID_WORD);
    return this.idBytes.toString('latin1', at, at + ID_BYTES);
  }

  /** Bytes of the found transaction with witness, as a view. */
  txBytes(found: number): Buffer {
    const start = this.run.places[2 * this.block(found)]!;
    return this.run.bytes.subarray(start + this.word(found, 2), start + this.word(found, 3));
  }
}

/** Maximum size in bytes of a run of blocks that is scanned on the event loop, which takes about two milliseconds. */
const AT_ONCE_BYTES = 256 << 10;

/** Scans blocks; large runs are scanned on another thread. */
export async function scanPayments(run: BlockRun, sought: SoughtIds): Promise<FoundPayments> {
  const { bytes, places, ids, segwitFrom } = run;
  const { scripts, txids, settled } = sought;
  const native = loadNative();
  if (native === null) return new FoundPayments(run, scanPaymentsFallback(run, sought));
  const scan = bytes.length > AT_ONCE_BYTES ? native.scanPaymentsAside : native.scanPayments;
  return new FoundPayments(run, await scan(bytes, places, ids, segwitFrom, scripts, txids, settled));
}

/** Fallback of the addon's `scanPayments`. */
export function scanPaymentsFallback(
  { bytes, places, ids, segwitFrom }: BlockRun,
  sought: SoughtIds,
): Answer {
  const txids = sought.txids.slice();
  const rows: number[] = [];
  let count = 0;
  for (; count < places.length / 2; count++) {
    const stored = bytes.subarray(places[2 * count], places[2 * count + 1]);
    const id = ids.subarray(ID_BYTES * count, ID_BYTES * (count + 1));
    const block = intactBlock(stored, id, count >= segwitFrom);
    if (block === null) break;
    const { parsed } = block;
    for (let index = 0; index < parsed.txCount; index++) {
      if (!mayConcern(block, index, sought.scripts, txids)) continue;
      if (sought.settled !== null && isSettled(sought.settled, block, index)) continue;
      const { txs } = parsed;
      const at = index * TX_STRIDE;
      // A later transaction of the scanned blocks may spend outputs of this transaction.
      addHash(txids, parsed.txids, index * ID_BYTES);
      rows.push(count, index, txs[at + TX_START]!, txs[at + TX_END]!, txs[at + TX_FLAGS]!);
      for (let word = 0; word < ID_BYTES; word += 4)
        rows.push(parsed.txids.readUInt32LE(index * ID_BYTES + word));
    }
  }
  return Uint32Array.of(count, ...rows);
}

/** Returns the block if the bytes are the block with this id in canonical form, else null. */
function intactBlock(stored: Buffer, id: Buffer, isSegwit: boolean): LoadedBlock | null {
  if (stored.length < HEADER_SIZE_BYTES) return null;
  let block: LoadedBlock;
  try {
    block = loadBlock(stored);
  } catch (error) {
    if (error instanceof ReadError) return null;
    throw error;
  }
  const { parsed } = block;
  if (!equalBytes(block.hash, id) || parsed.txCount === 0 || parsed.txs[TX_INPUT_COUNT] === 0) return null;
  if (parsed.consumedBytes !== stored.length || parsed.sizeBytes !== stored.length) return null;
  return checkContents(block, isSegwit) === null ? block : null;
}

function mayConcern(
  { raw, parsed: { txs, inputs, outputs, txids: own } }: LoadedBlock,
  index: number,
  scripts: Uint32Array,
  txids: Uint32Array,
): boolean {
  if (mayHaveHash(txids, own, index * ID_BYTES)) return true;
  const at = index * TX_STRIDE;
  const firstOutput = txs[at + TX_FIRST_OUTPUT]!;
  for (let n = firstOutput; n < firstOutput + txs[at + TX_OUTPUT_COUNT]!; n++) {
    const start = outputs[n * OUTPUT_STRIDE + OUTPUT_SCRIPT]!;
    const length = outputs[n * OUTPUT_STRIDE + OUTPUT_SCRIPT_LENGTH]!;
    if (mayPayTo(scripts, raw.subarray(start, start + length))) return true;
  }
  if ((txs[at + TX_FLAGS]! & TX_IS_COINBASE) !== 0) return false;
  const firstInput = txs[at + TX_FIRST_INPUT]!;
  for (let n = firstInput; n < firstInput + txs[at + TX_INPUT_COUNT]!; n++)
    if (mayHaveHash(txids, raw, inputs[n * INPUT_STRIDE + INPUT_PREVOUT]!)) return true;
  return false;
}

/** Whether a transaction is already known at its position in this block. */
function isSettled(settled: SettledPayments, { hash, parsed }: LoadedBlock, index: number): boolean {
  const { idSlots, ids, kinds, places, blockOf, blocks } = settled;
  const row = findText(idSlots, ids, ID_BYTES, toLatin1(txidAt(parsed, index)));
  if (row < 0 || places[row] !== index) return false;
  const hasWitness = (parsed.txs[index * TX_STRIDE + TX_FLAGS]! & TX_HAS_WITNESS) !== 0;
  if (kinds[row]! < (hasWitness ? KNOWN_WITH_WITNESS : KNOWN_WITHOUT_WITNESS)) return false;
  const at = blockOf[row]! * ID_BYTES;
  return equalBytes(blocks.subarray(at, at + ID_BYTES), hash);
}

/** Whether the script may pay to one of the ids. */
function mayPayTo(ids: Uint32Array, script: Buffer): boolean {
  const prefix = claimPrefixLength(script);
  if (prefix > 0) return mayPayTo(ids, script.subarray(prefix));
  const first = script[0];
  switch (script.length) {
    case 25:
      if (first !== OP.OP_DUP || script[1] !== OP.OP_HASH160 || script[2] !== 20) return false;
      return mayHaveHash(ids, script, 3);
    case 23:
      return first === OP.OP_HASH160 && script[1] === 20 && mayHaveHash(ids, script, 2);
    case 22:
      return first === 0 && script[1] === 20 && mayHaveHash(ids, script, 2);
    case 34:
      return first === 0 && script[1] === 32 && mayHaveHash(ids, ripemd160(script.subarray(2)), 0);
    case 35:
    case 67:
      if (first !== script.length - 2 || script[script.length - 1] !== OP.OP_CHECKSIG) return false;
      return mayHaveHash(ids, hash160(script.subarray(1, -1)), 0);
    default:
      return false;
  }
}
