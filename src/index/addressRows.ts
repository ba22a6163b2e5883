/**
 * The rows of the address index: keys and values of the prefixes `A`, `U` and `S`. Amounts are satoshis. The index stores
 * hashes of scripts as keys (`addressScripts.ts`); the scripts themselves are in the coins and the blocks. The addon builds
 * the same rows (`native/blocks/indexRows.cpp`).
 */
import { PREFIX, u32Key } from '../store/rows/keys.js';
import { asBuffer, toLatin1, type Bytes } from '../util/bytes.js';

/** Sums of a script in the index. */
export interface ScriptTotals {
  receivedSat: bigint;
  spentSat: bigint;
  /** Number of transactions that pay to the script or spend from it. */
  txCount: number;
  /** Number of outputs that pay to the script, and number of these that are spent. */
  outputCount: number;
  spentCount: number;
}

/** Effect of one transaction on a script. */
export interface ScriptMove {
  receivedSat: bigint;
  spentSat: bigint;
}

export const historyPrefix = (scriptKey: string): string => PREFIX.addressHistory + scriptKey;
export const unspentPrefix = (scriptKey: string): string => PREFIX.addressUnspent + scriptKey;
export const totalsKey = (scriptKey: string): string => PREFIX.addressTotals + scriptKey;

export const historyKey = (scriptKey: string, height: number, tx: number): string =>
  historyPrefix(scriptKey) + u32Key(height) + u32Key(tx);
export const unspentKey = (scriptKey: string, height: number, outPoint: Bytes): string =>
  unspentPrefix(scriptKey) + u32Key(height) + toLatin1(outPoint);

export function amountRow(amountSat: bigint): Buffer {
  const row = Buffer.allocUnsafe(8);
  row.writeBigInt64LE(amountSat);
  return row;
}

export function historyRow(txid: Bytes, { receivedSat, spentSat }: ScriptMove): Buffer {
  const row = Buffer.allocUnsafe(48);
  row.set(txid);
  row.writeBigInt64LE(receivedSat, 32);
  row.writeBigInt64LE(spentSat, 40);
  return row;
}

export function parseHistoryRow(row: Bytes): ScriptMove & { txid: Buffer } {
  const bytes = asBuffer(row);
  return {
    txid: bytes.subarray(0, 32),
    receivedSat: bytes.readBigInt64LE(32),
    spentSat: bytes.readBigInt64LE(40),
  };
}

export function totalsRow({ receivedSat, spentSat, txCount, outputCount, spentCount }: ScriptTotals): Buffer {
  const row = Buffer.allocUnsafe(28);
  row.writeBigInt64LE(receivedSat, 0);
  row.writeBigInt64LE(spentSat, 8);
  row.writeUInt32LE(txCount, 16);
  row.writeUInt32LE(outputCount, 20);
  row.writeUInt32LE(spentCount, 24);
  return row;
}

/** Sums for a script without transactions: all are zero. */
export const noTotals = (): ScriptTotals => ({
  receivedSat: 0n,
  spentSat: 0n,
  txCount: 0,
  outputCount: 0,
  spentCount: 0,
});

/** Parses the sums in a row. Without a row, the script has no transactions and all sums are zero. */
export function parseTotals(row: Bytes | undefined): ScriptTotals {
  if (!row) return noTotals();
  const bytes = asBuffer(row);
  return {
    receivedSat: bytes.readBigInt64LE(0),
    spentSat: bytes.readBigInt64LE(8),
    txCount: bytes.readUInt32LE(16),
    outputCount: bytes.readUInt32LE(20),
    spentCount: bytes.readUInt32LE(24),
  };
}
