/**
 * JavaScript fallback of the addon's coin table (`native/coins/coinTable.cpp`), based on a Map. Each coin uses about 300 bytes of
 * heap. `CoinTable` in `coinTable.ts` documents the methods.
 */
import type { CoinValue, ParsedBlock, ResolvedInputs } from '../../native/binding.js';
import {
  INPUT_PREVOUT,
  INPUT_STRIDE,
  OUTPUT_SCRIPT,
  OUTPUT_SCRIPT_LENGTH,
  OUTPUT_STRIDE,
  OUTPUT_VALUE,
  TX_FIRST_INPUT,
  TX_FIRST_OUTPUT,
  TX_FLAGS,
  TX_INPUT_COUNT,
  TX_IS_COINBASE,
  TX_OUTPUT_COUNT,
  TX_STRIDE,
} from '../../primitives/blockLayout.js';
import { claimKind } from '../../primitives/scriptScan.js';
import { isUnspendable } from '../../script/script.js';
import { assert } from '../../util/assert.js';
import { asBuffer, equalBytes, fromLatin1, toLatin1 } from '../../util/bytes.js';
import { PREFIX } from '../rows/keys.js';
import { RecordWriter } from '../rows/rowRecords.js';
import { COIN_ROW_HEADER_BYTES, formatCoinRow, parseCoinRow, parseUndo } from './coinRow.js';
import type { CoinTable } from './coinTable.js';

const OUTPOINT_SIZE = 36;

/** Size of a record of `takeDirty` without its value: two lengths, and the key with its prefix. */
const RECORD_HEADER_BYTES = 8 + PREFIX.coin.length + OUTPOINT_SIZE;

/** Estimated memory in bytes of an entry without its script: map slot, key string, objects, bigint. */
const ENTRY_BYTES = 280;

interface Entry {
  /** The coin; `null` if it is spent or known to be absent. */
  coin: CoinValue | null;
  /** Whether the entry has a change that is not in the database yet. */
  dirty: boolean;
  /** Whether the database does not have the coin. Spending a fresh coin then needs no tombstone. */
  fresh: boolean;
  /** Whether the entry was used since the last call of `trim`. */
  used: boolean;
}

/** The fields of one transaction in the offset table of the parsed block. */
interface TxRow {
  number: number;
  isCoinbase: boolean;
  firstInput: number;
  endInput: number;
  firstOutput: number;
  outputCount: number;
}

function* rowsOf(parsed: ParsedBlock): Generator<TxRow> {
  const { txs } = parsed;
  for (let number = 0; number < parsed.txCount; number++) {
    const row = number * TX_STRIDE;
    const firstInput = txs[row + TX_FIRST_INPUT]!;
    yield {
      number,
      isCoinbase: (txs[row + TX_FLAGS]! & TX_IS_COINBASE) !== 0,
      firstInput,
      endInput: firstInput + txs[row + TX_INPUT_COUNT]!,
      firstOutput: txs[row + TX_FIRST_OUTPUT]!,
      outputCount: txs[row + TX_OUTPUT_COUNT]!,
    };
  }
}

function prevoutKey(block: Buffer, parsed: ParsedBlock, input: number): string {
  const at = parsed.inputs[input * INPUT_STRIDE + INPUT_PREVOUT]!;
  return block.toString('latin1', at, at + OUTPOINT_SIZE);
}

function outputKey(parsed: ParsedBlock, tx: TxRow, output: number): string {
  const index = Buffer.allocUnsafe(4);
  index.writeUInt32LE(output, 0);
  return parsed.txids.toString('latin1', tx.number * 32, tx.number * 32 + 32) + toLatin1(index);
}

/** Output number `output` of `tx` as a coin; its script is a view into the block. */
function outputCoin(
  block: Buffer,
  parsed: ParsedBlock,
  tx: TxRow,
  output: number,
  height: number,
): CoinValue {
  const row = (tx.firstOutput + output) * OUTPUT_STRIDE;
  const scriptAt = parsed.outputs[row + OUTPUT_SCRIPT]!;
  return {
    heightCode: height * 2 + (tx.isCoinbase ? 1 : 0),
    amount: block.readBigInt64LE(parsed.outputs[row + OUTPUT_VALUE]!),
    script: block.subarray(scriptAt, scriptAt + parsed.outputs[row + OUTPUT_SCRIPT_LENGTH]!),
  };
}

function sameCoin(a: CoinValue, b: CoinValue): boolean {
  return a.heightCode === b.heightCode && a.amount === b.amount && equalBytes(a.script, b.script);
}

export class CoinTableFallback implements CoinTable {
  private readonly entries = new Map<string, Entry>();
  private scriptBytes = 0;
  private dirtyCoins = 0;
  private dirtySize = 0;

  get usageBytes(): number {
    return this.entries.size * ENTRY_BYTES + this.scriptBytes;
  }
  get entryCount(): number {
    return this.entries.size;
  }
  get dirtyCount(): number {
    return this.dirtyCoins;
  }
  get dirtyBytes(): number {
    return this.dirtySize;
  }

  /** Every change of an entry calls this function, which keeps the counters consistent. `null` removes the entry. */
  private set(key: string, next: Entry | null): void {
    const before = this.entries.get(key);
    if (before) this.count(before, -1);
    if (next) {
      this.count(next, 1);
      this.entries.set(key, next);
    } else {
      this.entries.delete(key);
    }
  }

  private count(entry: Entry, sign: 1 | -1): void {
    const scriptLength = entry.coin?.script.length ?? 0;
    this.scriptBytes += sign * scriptLength;
    if (!entry.dirty) return;
    this.dirtyCoins += sign;
    this.dirtySize += sign * (RECORD_HEADER_BYTES + (entry.coin ? COIN_ROW_HEADER_BYTES + scriptLength : 0));
  }

  private addCoin(key: string, coin: CoinValue, possibleOverwrite: boolean): void {
    if (isUnspendable(coin.script)) return;
    const before = this.entries.get(key);
    let fresh = before?.fresh ?? false;
    if (!possibleOverwrite) {
      assert(!before?.coin, 'a new coin replaces an unspent one');
      fresh ||= !before?.dirty;
    }
    const copy = { ...coin, script: Buffer.from(coin.script) };
    this.set(key, { coin: copy, dirty: true, fresh, used: true });
  }

  private spendCoin(key: string): CoinValue | null {
    const entry = this.entries.get(key);
    if (!entry?.coin) return null;
    this.set(key, entry.fresh ? null : { coin: null, dirty: true, fresh: false, used: true });
    return entry.coin;
  }

  missing(blockBytes: Uint8Array, parsed: ParsedBlock, checkOutputs: boolean): Buffer {
    const block = asBuffer(blockBytes);
    const wanted = new Set<string>();
    const created = new Set<string>();
    const want = (key: string) => {
      const entry = this.entries.get(key);
      if (entry) entry.used = true;
      else wanted.add(key);
    };
    for (const tx of rowsOf(parsed)) {
      for (let input = tx.firstInput; input < tx.endInput && !tx.isCoinbase; input++) {
        const key = prevoutKey(block, parsed, input);
        if (!created.has(key)) want(key);
      }
      for (let output = 0; output < tx.outputCount; output++) {
        const key = outputKey(parsed, tx, output);
        if (checkOutputs) want(key);
        if (!isUnspendable(outputCoin(block, parsed, tx, output, 0).script)) created.add(key);
      }
    }
    return fromLatin1([...wanted].join(''));
  }

  load(outpoints: Uint8Array, values: readonly (Uint8Array | null | undefined)[]): void {
    assert(outpoints.length === values.length * OUTPOINT_SIZE, 'as many outpoints as values');
    for (let i = 0; i < values.length; i++) {
      const key = toLatin1(outpoints.subarray(i * OUTPOINT_SIZE, (i + 1) * OUTPOINT_SIZE));
      if (this.entries.has(key)) continue;
      const row = values[i];
      const coin = row ? parseCoinRow(Buffer.from(row)) : null;
      this.set(key, { coin, dirty: false, fresh: coin === null, used: true });
    }
  }

  resolve(blockBytes: Uint8Array, parsed: ParsedBlock, height: number, checkOutputs = true): ResolvedInputs {
    const block = asBuffer(blockBytes);
    const count = parsed.inputs.length / INPUT_STRIDE;
    const resolved = {
      heightCodes: new Uint32Array(count),
      amounts: new BigInt64Array(count),
      scriptOffsets: new Uint32Array(count),
      scriptLengths: new Uint32Array(count),
      status: new Uint8Array(count),
      claimKinds: new Uint8Array(count),
    };
    const scripts: Uint8Array[] = [];
    let scriptsLength = 0;
    const duplicates: number[] = [];
    /** Changes by the block's transactions so far: a created coin, or `null` for a spent coin. */
    const overlay = new Map<string, CoinValue | null>();
    for (const tx of rowsOf(parsed)) {
      for (let input = tx.firstInput; input < tx.endInput && !tx.isCoinbase; input++) {
        const key = prevoutKey(block, parsed, input);
        const changed = overlay.get(key);
        const coin = changed === undefined ? this.entries.get(key)?.coin : changed;
        if (!coin) {
          resolved.status[input] = 1;
          continue;
        }
        overlay.set(key, null);
        resolved.heightCodes[input] = coin.heightCode;
        resolved.amounts[input] = coin.amount;
        resolved.scriptOffsets[input] = scriptsLength;
        resolved.scriptLengths[input] = coin.script.length;
        resolved.claimKinds[input] = claimKind(coin.script, 0, coin.script.length);
        scripts.push(coin.script);
        scriptsLength += coin.script.length;
      }
      let isDuplicate = false;
      for (let output = 0; output < tx.outputCount; output++) {
        const key = outputKey(parsed, tx, output);
        if (this.entries.get(key)?.coin) isDuplicate = true;
        const coin = outputCoin(block, parsed, tx, output, height);
        if (!isUnspendable(coin.script)) overlay.set(key, coin);
      }
      if (isDuplicate && checkOutputs) duplicates.push(tx.number);
    }
    return { ...resolved, scripts: Buffer.concat(scripts), duplicates: Uint32Array.from(duplicates) };
  }

  apply(blockBytes: Uint8Array, parsed: ParsedBlock, height: number): void {
    const block = asBuffer(blockBytes);
    for (const tx of rowsOf(parsed)) {
      for (let input = tx.firstInput; input < tx.endInput && !tx.isCoinbase; input++) {
        assert(
          this.spendCoin(prevoutKey(block, parsed, input)),
          'applying a block whose spent coins are missing or already spent',
        );
      }
      for (let output = 0; output < tx.outputCount; output++) {
        // Before BIP34 a coinbase could have the same txid as an earlier coinbase and overwrite its coins.
        this.addCoin(
          outputKey(parsed, tx, output),
          outputCoin(block, parsed, tx, output, height),
          tx.isCoinbase,
        );
      }
    }
  }

  revert(blockBytes: Uint8Array, parsed: ParsedBlock, undo: Uint8Array, height: number): 'ok' | 'unclean' {
    const block = asBuffer(blockBytes);
    const coins = parseUndo(undo);
    let clean = true;
    for (const tx of [...rowsOf(parsed)].reverse()) {
      for (let output = 0; output < tx.outputCount; output++) {
        const made = outputCoin(block, parsed, tx, output, height);
        if (isUnspendable(made.script)) continue;
        const key = outputKey(parsed, tx, output);
        assert(this.entries.has(key), 'disconnecting a block whose outputs were not loaded');
        const found = this.spendCoin(key);
        if (!found || !sameCoin(found, made)) clean = false;
      }
      if (tx.isCoinbase) continue;
      for (let input = tx.endInput - 1; input >= tx.firstInput; input--) {
        const coin = coins.pop();
        assert(coin, 'undo data has fewer coins than the block spends');
        const key = prevoutKey(block, parsed, input);
        assert(this.entries.has(key), 'disconnecting a block whose inputs were not loaded');
        const existed = Boolean(this.entries.get(key)?.coin);
        if (existed) clean = false;
        this.addCoin(key, coin, existed);
      }
    }
    assert(coins.length === 0, 'undo data has more coins than the block spends');
    return clean ? 'ok' : 'unclean';
  }

  get(outpoint: Uint8Array): CoinValue | null | undefined {
    const entry = this.entries.get(toLatin1(outpoint));
    if (!entry) return undefined;
    entry.used = true;
    return entry.coin && { ...entry.coin, script: Buffer.from(entry.coin.script) };
  }

  add(outpoint: Uint8Array, value: CoinValue, possibleOverwrite: boolean): void {
    this.addCoin(toLatin1(outpoint), value, possibleOverwrite);
  }

  spend(outpoint: Uint8Array): boolean {
    return this.spendCoin(toLatin1(outpoint)) !== null;
  }

  takeDirty(maxBytes: number): Buffer | null {
    if (this.dirtyCoins === 0) return null;
    const records = new RecordWriter(0);
    for (const [key, entry] of this.entries) {
      if (!entry.dirty) continue;
      const row = entry.coin ? formatCoinRow(entry.coin) : null;
      const { sizeBytes } = records;
      if (sizeBytes > 0 && sizeBytes + RECORD_HEADER_BYTES + (row?.length ?? 0) > maxBytes) break;
      records.add(PREFIX.coin + key, row);
      this.set(key, entry.coin && { coin: entry.coin, dirty: false, fresh: false, used: entry.used });
      if (this.dirtyCoins === 0) break;
    }
    return records.take();
  }

  trim(targetBytes: number, maxVisits = Infinity): void {
    let visits = 0;
    // Two rounds, because the first round only clears the `used` flag of recently used coins.
    for (let round = 0; round < 2; round++) {
      for (const [key, entry] of this.entries) {
        if (this.usageBytes <= targetBytes || visits >= maxVisits) return;
        visits += 1;
        if (entry.dirty) continue;
        if (entry.used && entry.coin) entry.used = false;
        else this.set(key, null);
      }
    }
  }

  clear(): void {
    this.entries.clear();
    this.scriptBytes = 0;
    this.dirtyCoins = 0;
    this.dirtySize = 0;
  }
}
