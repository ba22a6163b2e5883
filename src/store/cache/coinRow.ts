/**
 * The byte forms of a coin: the database row and the records of a block's undo blob. No state. Row: u32 LE height code, i64
 * LE amount, script to the end. Undo record: the fields of a row, with a u32 LE script length before the script. An undo
 * blob has one record for each spent coin of the block, in the order of the inputs.
 */
import { loadNative, type CoinValue, type ParsedBlock, type ResolvedInputs } from '../../native/binding.js';
import {
  INPUT_STRIDE,
  TX_FIRST_INPUT,
  TX_FLAGS,
  TX_INPUT_COUNT,
  TX_IS_COINBASE,
  TX_STRIDE,
} from '../../primitives/blockLayout.js';
import { claimKind } from '../../primitives/scriptScan.js';
import { assert } from '../../util/assert.js';
import { asBuffer, type Bytes } from '../../util/bytes.js';
import { ReadError } from '../../util/reader.js';

export const COIN_ROW_HEADER_BYTES = 12;
const UNDO_HEADER_BYTES = 16;

export function formatCoinRow(coin: CoinValue): Buffer {
  const row = Buffer.allocUnsafe(COIN_ROW_HEADER_BYTES + coin.script.length);
  row.writeUInt32LE(coin.heightCode, 0);
  row.writeBigInt64LE(coin.amount, 4);
  row.set(coin.script, COIN_ROW_HEADER_BYTES);
  return row;
}

/** Parses a row. The script is a view into the row. Throws `ReadError` if the row is too short. */
export function parseCoinRow(row: Bytes): CoinValue {
  if (row.length < COIN_ROW_HEADER_BYTES) throw new ReadError(`coin row of ${row.length} bytes`);
  const bytes = asBuffer(row);
  return {
    heightCode: bytes.readUInt32LE(0),
    amount: bytes.readBigInt64LE(4),
    script: bytes.subarray(COIN_ROW_HEADER_BYTES),
  };
}

/** JavaScript fallback of the addon's `buildUndo`. */
export function buildUndoFallback(parsed: ParsedBlock, resolved: ResolvedInputs): Buffer {
  const parts: Buffer[] = [];
  for (let row = 0; row < parsed.txs.length; row += TX_STRIDE) {
    if (parsed.txs[row + TX_FLAGS]! & TX_IS_COINBASE) continue;
    const first = parsed.txs[row + TX_FIRST_INPUT]!;
    const end = first + parsed.txs[row + TX_INPUT_COUNT]!;
    for (let input = first; input < end; input++) {
      assert(resolved.status[input] === 0, 'undo data of a block with missing coins');
      const header = Buffer.allocUnsafe(UNDO_HEADER_BYTES);
      const at = resolved.scriptOffsets[input]!;
      const length = resolved.scriptLengths[input]!;
      header.writeUInt32LE(resolved.heightCodes[input]!, 0);
      header.writeBigInt64LE(resolved.amounts[input]!, 4);
      header.writeUInt32LE(length, 12);
      parts.push(header, resolved.scripts.subarray(at, at + length));
    }
  }
  return Buffer.concat(parts);
}

/** Builds the undo data of a block as bytes. All inputs must be resolved. */
export function buildUndo(parsed: ParsedBlock, resolved: ResolvedInputs): Buffer {
  const native = loadNative();
  return native ? native.buildUndo(parsed, resolved) : buildUndoFallback(parsed, resolved);
}

/**
 * Reads the coins that the inputs of a block spent from the undo blob of the block. The result has the form that
 * `CoinTable.resolve` returns for a valid block. Throws if the undo data is malformed or belongs to another block.
 */
export function resolvedFromUndo(parsed: ParsedBlock, undo: Bytes): ResolvedInputs {
  return loadNative()?.resolvedFromUndo(parsed, undo) ?? resolvedFromUndoFallback(parsed, undo);
}

/** JavaScript fallback of the addon's `resolvedFromUndo`. */
export function resolvedFromUndoFallback(parsed: ParsedBlock, undo: Bytes): ResolvedInputs {
  const coins = parseUndo(undo);
  // The coinbase is the first transaction. It spends nothing, and the undo data contains no record for it.
  const first = parsed.txs[TX_INPUT_COUNT]!;
  const count = first + coins.length;
  assert(count === parsed.inputs.length / INPUT_STRIDE, 'undo data of another block');
  const resolved: ResolvedInputs = {
    heightCodes: new Uint32Array(count),
    amounts: new BigInt64Array(count),
    scriptOffsets: new Uint32Array(count),
    scriptLengths: new Uint32Array(count),
    scripts: Buffer.concat(coins.map(({ script }) => script)),
    status: new Uint8Array(count),
    claimKinds: new Uint8Array(count),
    duplicates: new Uint32Array(0),
  };
  let at = 0;
  coins.forEach(({ heightCode, amount, script }, n) => {
    const input = first + n;
    resolved.heightCodes[input] = heightCode;
    resolved.amounts[input] = amount;
    resolved.scriptOffsets[input] = at;
    resolved.scriptLengths[input] = script.length;
    resolved.claimKinds[input] = claimKind(script, 0, script.length);
    at += script.length;
  });
  return resolved;
}

/**
 * Decodes `count` coins of an undo blob from number `from` on, or fewer at the end of the blob. Other coins are not decoded.
 * Errors as in `parseUndo`.
 */
export function undoCoins(undo: Bytes, from: number, count: number): CoinValue[] {
  const bytes = asBuffer(undo);
  const coins: CoinValue[] = [];
  for (let at = 0, n = 0; at < bytes.length && coins.length < count; n++) {
    if (bytes.length - at < UNDO_HEADER_BYTES) throw new ReadError('undo data ends within a record');
    const scriptAt = at + UNDO_HEADER_BYTES;
    const end = scriptAt + bytes.readUInt32LE(at + 12);
    if (end > bytes.length) throw new ReadError('undo data ends within a script');
    if (n >= from)
      coins.push({
        heightCode: bytes.readUInt32LE(at),
        amount: bytes.readBigInt64LE(at + 4),
        script: bytes.subarray(scriptAt, end),
      });
    at = end;
  }
  return coins;
}

/** Decodes the coins of an undo blob in order. Scripts are views. Throws `ReadError` if the blob is malformed. */
export function parseUndo(undo: Bytes): CoinValue[] {
  const bytes = asBuffer(undo);
  const coins: CoinValue[] = [];
  for (let at = 0; at < bytes.length;) {
    if (bytes.length - at < UNDO_HEADER_BYTES) throw new ReadError('undo data ends within a record');
    const scriptAt = at + UNDO_HEADER_BYTES;
    const length = bytes.readUInt32LE(at + 12);
    if (bytes.length - scriptAt < length) throw new ReadError('undo data ends within a script');
    coins.push({
      heightCode: bytes.readUInt32LE(at),
      amount: bytes.readBigInt64LE(at + 4),
      script: bytes.subarray(scriptAt, scriptAt + length),
    });
    at = scriptAt + length;
  }
  return coins;
}
