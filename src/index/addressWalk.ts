/**
 * Applies a block to the address index, transaction by transaction, or reverts it. The addon has a faster implementation for
 * applying a block (`native/blocks/indexRows.cpp`); this is the fallback.
 */
import type { LoadedBlock } from '../chain/blocks/loadedBlock.js';
import type { ResolvedInputs } from '../native/binding.js';
import {
  TX_FIRST_INPUT,
  TX_FIRST_OUTPUT,
  TX_FLAGS,
  TX_INPUT_COUNT,
  TX_IS_COINBASE,
  TX_OUTPUT_COUNT,
  TX_STRIDE,
} from '../primitives/blockLayout.js';
import { outputAmountAt, outputScriptAt, prevoutAt, txidAt } from '../primitives/blockView.js';
import { parseUndo } from '../store/cache/coinRow.js';
import type { RowTransaction } from '../store/rows/rows.js';
import { yieldIfDue } from '../scheduler/yield.js';
import type { Bytes } from '../util/bytes.js';
import {
  amountRow,
  historyKey,
  historyRow,
  noTotals,
  parseTotals,
  totalsKey,
  totalsRow,
  unspentKey,
  type ScriptMove,
  type ScriptTotals,
} from './addressRows.js';
import { scriptKeyFallback } from './addressScripts.js';

/** Number of rows that are written between two checks whether to yield to the event loop and to write pending rows to disk. */
const ROWS_A_LOOK = 2000;

/** Effect of one transaction on a script, with the numbers of outputs that it created and spent. */
type CountedMove = ScriptMove & Pick<ScriptTotals, 'outputCount' | 'spentCount'>;

/** Fields of a coin that the address index needs. */
interface Coin {
  amountSat: bigint;
  height: number;
  script: Bytes;
}

/** Returns the coin that input number `input` of a block spends. */
type SpentCoins = (input: number) => Coin;

export function spentBy(resolved: ResolvedInputs): SpentCoins {
  return (input) => {
    const at = resolved.scriptOffsets[input]!;
    return {
      amountSat: resolved.amounts[input]!,
      height: resolved.heightCodes[input]! >>> 1,
      script: resolved.scripts.subarray(at, at + resolved.scriptLengths[input]!),
    };
  };
}

/**
 * Reads the spent coins from undo data. The undo data has no entry for the inputs of the coinbase transaction, which is the
 * first of the block.
 */
export function spentInUndo(undo: Buffer, { parsed }: LoadedBlock): SpentCoins {
  const coins = parseUndo(undo);
  const first = parsed.txs[TX_INPUT_COUNT]!;
  return (input) => {
    const { amount, heightCode, script } = coins[input - first]!;
    return { amountSat: amount, height: heightCode >>> 1, script };
  };
}

/** Walks over the transactions of one block. Applying and reverting take the same steps; they only exchange put and delete. */
export class BlockWalk {
  private readonly rows: RowTransaction;
  private readonly block: LoadedBlock;
  private readonly height: number;
  private readonly spent: SpentCoins;
  private readonly isForward: boolean;
  private readonly totals = new Map<string, ScriptTotals>();

  constructor(
    rows: RowTransaction,
    block: LoadedBlock,
    height: number,
    spent: SpentCoins,
    isForward: boolean,
  ) {
    this.rows = rows;
    this.block = block;
    this.height = height;
    this.spent = spent;
    this.isForward = isForward;
  }

  async run(): Promise<void> {
    const { txCount } = this.block.parsed;
    let written = 0;
    let since = performance.now();
    // A block is reverted from its last transaction to the first, so that the outputs spent by a transaction are restored
    // before the outputs of earlier transactions are removed.
    for (let n = 0; n < txCount; n++) {
      written += this.transaction(this.isForward ? n : txCount - 1 - n);
      if (written < ROWS_A_LOOK) continue;
      written = 0;
      await this.rows.relieve();
      since = await yieldIfDue(since);
    }
    await this.writeTotals();
  }

  /** Applies or reverts one transaction. Returns the number of rows written. */
  private transaction(tx: number): number {
    const { rows, height } = this;
    const { parsed } = this.block;
    const moves = new Map<string, CountedMove>();
    if (this.isForward) this.inputs(tx, moves);
    this.outputs(tx, moves);
    if (!this.isForward) this.inputs(tx, moves);
    const txid = txidAt(parsed, tx);
    for (const [key, move] of moves) {
      if (this.isForward) rows.put(historyKey(key, height, tx), historyRow(txid, move));
      else rows.del(historyKey(key, height, tx));
      const total = this.totals.get(key) ?? noTotals();
      total.receivedSat += move.receivedSat;
      total.spentSat += move.spentSat;
      total.txCount++;
      total.outputCount += move.outputCount;
      total.spentCount += move.spentCount;
      this.totals.set(key, total);
    }
    const row = tx * TX_STRIDE;
    return moves.size + parsed.txs[row + TX_INPUT_COUNT]! + parsed.txs[row + TX_OUTPUT_COUNT]!;
  }

  private inputs(tx: number, moves: Map<string, CountedMove>): void {
    const { raw, parsed } = this.block;
    const row = tx * TX_STRIDE;
    if ((parsed.txs[row + TX_FLAGS]! & TX_IS_COINBASE) !== 0) return;
    const first = parsed.txs[row + TX_FIRST_INPUT]!;
    const end = first + parsed.txs[row + TX_INPUT_COUNT]!;
    for (let input = first; input < end; input++) {
      const { amountSat, height, script } = this.spent(input);
      const key = scriptKeyFallback(script);
      if (key === null) continue;
      const move = moveOf(moves, key);
      move.spentSat += amountSat;
      move.spentCount++;
      const unspent = unspentKey(key, height, prevoutAt(raw, parsed, input));
      if (this.isForward) this.rows.del(unspent);
      else this.rows.put(unspent, amountRow(amountSat));
    }
  }

  private outputs(tx: number, moves: Map<string, CountedMove>): void {
    const { raw, parsed } = this.block;
    const row = tx * TX_STRIDE;
    const first = parsed.txs[row + TX_FIRST_OUTPUT]!;
    const outPoint = Buffer.alloc(36);
    outPoint.set(txidAt(parsed, tx));
    for (let n = 0; n < parsed.txs[row + TX_OUTPUT_COUNT]!; n++) {
      const key = scriptKeyFallback(outputScriptAt(raw, parsed, first + n));
      if (key === null) continue;
      const amountSat = outputAmountAt(raw, parsed, first + n);
      const move = moveOf(moves, key);
      move.receivedSat += amountSat;
      move.outputCount++;
      outPoint.writeUInt32LE(n, 32);
      const unspent = unspentKey(key, this.height, outPoint);
      if (this.isForward) this.rows.put(unspent, amountRow(amountSat));
      else this.rows.del(unspent);
    }
  }

  private async writeTotals(): Promise<void> {
    const { rows } = this;
    const scripts = [...this.totals];
    let since = performance.now();
    for (let at = 0; at < scripts.length; at += ROWS_A_LOOK) {
      const part = scripts.slice(at, at + ROWS_A_LOOK);
      const stored = await rows.getMany(part.map(([key]) => totalsKey(key)));
      part.forEach(([key, change], i) => {
        const sign = this.isForward ? 1 : -1;
        const before = parseTotals(stored[i]);
        const after = {
          receivedSat: before.receivedSat + BigInt(sign) * change.receivedSat,
          spentSat: before.spentSat + BigInt(sign) * change.spentSat,
          txCount: before.txCount + sign * change.txCount,
          outputCount: before.outputCount + sign * change.outputCount,
          spentCount: before.spentCount + sign * change.spentCount,
        };
        if (after.txCount === 0) rows.del(totalsKey(key));
        else rows.put(totalsKey(key), totalsRow(after));
      });
      await rows.relieve();
      since = await yieldIfDue(since);
    }
  }
}

function moveOf(moves: Map<string, CountedMove>, key: string): CountedMove {
  let move = moves.get(key);
  if (!move) moves.set(key, (move = { receivedSat: 0n, spentSat: 0n, outputCount: 0, spentCount: 0 }));
  return move;
}
