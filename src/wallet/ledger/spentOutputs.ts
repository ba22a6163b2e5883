/** Index of the outputs that the wallet's transactions spend, and of the wallet's unspent outputs. */
import type { PrefixFilter } from '../../util/prefixFilter.js';
import { inSteps, type Slices } from '../../util/slices.js';
import { MINE_STAKE } from '../keys/isMine.js';
import { outputKey, outputNumber, txKeyOf, type Entry, type OwnOutput } from './entry.js';
import { OutputLists } from './outputLists.js';
import { IS_COINBASE } from './packedTxs.js';
import type { SleepingTxs } from './sleepingTxs.js';

/** Unspent outputs with their output keys (`outputKey`). */
export type UnspentOutputs = Iterable<[key: string, output: OwnOutput]>;

/**
 * The data of a settled (confirmed) transaction's unspent output that balances need. The iteration reuses the object for the
 * next output.
 */
export interface SettledCoin {
  mine: number;
  valueSat: bigint;
  height: number;
  lockTime: number;
  isCoinbase: boolean;
}

export class SpentOutputs {
  /** Transactions in memory by id. */
  private readonly entries: ReadonlyMap<string, Entry>;
  private sleeping: SleepingTxs | null = null;
  /** For each own output of the packed transactions (`sleeping`): 1 if it is unspent, otherwise 0. */
  private sleepingLeft: Uint8Array = new Uint8Array(0);
  /** Ids of the transactions in memory that spend an output, by output key. Includes outputs of others. */
  private readonly spenders = new Map<string, string | string[]>();
  /**
   * Own outputs of transactions in memory that no confirmed or unconfirmed transaction of the wallet spends. The state of
   * the transaction that contains the output does not matter.
   */
  private readonly left = new Map<string, OwnOutput>();
  /** Keys of the unspent outputs that are claims or supports. */
  private readonly leftStakes = new Set<string>();
  /** The output keys of `left`, by destination; null until first use. */
  private leftByDestination: OutputLists | null = null;

  private readonly ids: PrefixFilter;

  /**
   * `entries`: the wallet's transactions in memory by id. `ids`: filter to which the ids of transactions with spent outputs
   * are added.
   */
  constructor(entries: ReadonlyMap<string, Entry>, ids: PrefixFilter) {
    this.entries = entries;
    this.ids = ids;
  }

  /** Initializes the index with the packed transactions. */
  begin(sleeping: SleepingTxs): void {
    this.sleeping = sleeping;
    this.sleepingLeft = sleeping.txs.columns.ownLeft;
  }

  /** Must be called before a row of `sleeping` is loaded into memory. */
  wake(row: number): void {
    const { txs } = this.sleeping!;
    const { ownStarts } = txs.columns;
    for (let at = ownStarts[row]!; at < ownStarts[row + 1]!; at++) {
      if (this.sleepingLeft[at] === 0) continue;
      this.sleepingLeft[at] = 0;
      const own = txs.own(at);
      this.keep(outputKey(txs.key(row), own.n), own);
    }
  }

  /** Must be called when a row of `sleeping` was deleted. */
  drop(row: number): void {
    const { txs } = this.sleeping!;
    const { ownStarts } = txs.columns;
    this.sleepingLeft.fill(0, ownStarts[row], ownStarts[row + 1]);
    for (const input of txs.inputsOf(row)) this.noteOutput(input);
  }

  /** For each own output of the packed transactions: 1 if it is unspent, otherwise 0. */
  get leftInColumns(): Uint8Array {
    return this.sleepingLeft;
  }

  /** Returns a function that tells whether an own output (by its key) is unspent at this time. */
  leftNow(): (output: string) => boolean {
    const keys = new Set(this.left.keys());
    for (const at of this.leftAsleep()) keys.add(this.withKey(at)[0]);
    return (output) => keys.has(output);
  }

  /** Iterates over the keys of all outputs that the wallet's transactions spend. */
  *spentKeys(): Generator<string> {
    yield* this.spenders.keys();
    if (this.sleeping === null) return;
    const { txs } = this.sleeping;
    for (let n = 0; n < txs.inputCount; n++)
      if (!txs.has(txs.columns.inputRows[n]!, IS_COINBASE)) yield txs.input(n);
  }

  /** Iterates over the numbers of the unspent own outputs of packed transactions. */
  private *leftAsleep(): Generator<number> {
    const { sleepingLeft } = this;
    for (let at = 0; at < sleepingLeft.length; at++) if (sleepingLeft[at] === 1) yield at;
  }

  private withKey(at: number): [key: string, output: OwnOutput] {
    const { txs } = this.sleeping!;
    const own = txs.own(at);
    return [outputKey(txs.key(txs.columns.ownRows[at]!), own.n), own];
  }

  /** Iterates over the unspent outputs of the wallet with their keys. */
  *unspent(): Generator<[key: string, output: OwnOutput]> {
    for (const at of this.leftAsleep()) yield this.withKey(at);
    yield* this.left.entries();
  }

  /** Unspent outputs, with their keys, of transactions in memory. */
  unspentAwake(): IterableIterator<[key: string, output: OwnOutput]> {
    return this.left.entries();
  }

  /** Iterates over the unspent outputs of settled (confirmed) transactions in packed form. No entry and no key is created. */
  *unspentSettled(): Generator<SettledCoin> {
    if (this.sleeping === null) return;
    const { txs } = this.sleeping;
    const { ownRows, ownValues, ownMine, heights, lockTimes, flags } = txs.columns;
    const coin: SettledCoin = { mine: 0, valueSat: 0n, height: 0, lockTime: 0, isCoinbase: false };
    for (const at of this.leftAsleep()) {
      const row = ownRows[at]!;
      coin.mine = ownMine[at]!;
      coin.valueSat = ownValues[at]!;
      coin.height = heights[row]!;
      coin.lockTime = lockTimes[row]!;
      coin.isCoinbase = (flags[row]! & IS_COINBASE) !== 0;
      yield coin;
    }
  }

  /**
   * Unspent outputs to these destinations (`destinationKey`). The first call takes longer, because it indexes all
   * destinations.
   */
  *unspentAt(destinations: Iterable<string>): Generator<[key: string, output: OwnOutput]> {
    if (this.leftByDestination === null) {
      this.leftByDestination = new OutputLists();
      for (const [key, { to }] of this.left) this.leftByDestination.add(to, key);
    }
    for (const to of destinations) {
      if (this.sleeping !== null)
        for (const at of this.sleeping.txs.ownAt(to)) if (this.sleepingLeft[at] === 1) yield this.withKey(at);
      for (const key of this.leftByDestination.of(to)) yield [key, this.left.get(key)!];
    }
  }

  /** Keys of the unspent outputs that are claims or supports. */
  *unspentStakes(): Generator<string> {
    if (this.sleeping !== null)
      for (const at of this.sleeping.txs.columns.stakes)
        if (this.sleepingLeft[at] === 1) yield this.withKey(at)[0];
    yield* this.leftStakes;
  }

  /** The wallet's own output with this key; undefined for other outputs. */
  output(key: string): OwnOutput | undefined {
    const txKey = txKeyOf(key);
    const number = outputNumber(key);
    const outputs = this.entries.get(txKey)?.outputs;
    if (outputs !== undefined) return outputs.find(({ n }) => n === number);
    const row = this.sleeping?.find(txKey) ?? -1;
    if (row < 0) return undefined;
    const at = this.sleeping!.txs.ownNumber(row, number);
    return at < 0 ? undefined : this.sleeping!.txs.own(at);
  }

  /** Whether a confirmed or unconfirmed transaction of the wallet spends an output. Source: `IsSpent`. */
  isSpent(output: string): boolean {
    if (this.isSpentAsleep(output)) return true;
    const keys = this.spenders.get(output);
    if (keys === undefined) return false;
    return typeof keys === 'string' ? this.spends(keys) : keys.some((key) => this.spends(key));
  }

  /** Rows of the packed transactions that spend an output. These transactions are confirmed. */
  private rowsSpending(output: string): readonly number[] {
    const { sleeping } = this;
    if (sleeping === null) return NO_ROWS;
    const rows = sleeping.txs.spendersOf(output);
    return rows.length === 0 ? rows : rows.filter((row) => sleeping.has(row));
  }

  private isSpentAsleep(output: string): boolean {
    return this.rowsSpending(output).length > 0;
  }

  /** Whether the inputs of a transaction count as spent. Those of abandoned and conflicting transactions do not. */
  private spends(txKey: string): boolean {
    const { state } = this.entries.get(txKey)!;
    return state === 'confirmed' || state === 'unconfirmed';
  }

  /** Whether an output belongs to the wallet, or is spent by one of the wallet's transactions. */
  concerns(output: string): boolean {
    return this.spenders.has(output) || this.isSpentAsleep(output) || this.output(output) !== undefined;
  }

  /** The wallet's transactions that spend this output. */
  spendersOf(output: string): Entry[] {
    const found: Entry[] = this.rowsSpending(output).map((row) => this.sleeping!.entry(row));
    const keys = this.spenders.get(output);
    if (keys === undefined) return found;
    if (typeof keys === 'string') found.push(this.entries.get(keys)!);
    else for (const key of keys) found.push(this.entries.get(key)!);
    return found;
  }

  /** Whether at most one transaction of the wallet spends this output. */
  isOnlySpender(output: string): boolean {
    const keys = this.spenders.get(output);
    const held = keys === undefined ? 0 : typeof keys === 'string' ? 1 : keys.length;
    return held + this.rowsSpending(output).length <= 1;
  }

  /** The wallet's transactions that spend outputs of this transaction. */
  childrenOf({ key, outputCount }: Entry): Entry[] {
    const found = new Set<Entry>();
    for (let n = 0; n < outputCount; n++)
      for (const child of this.spendersOf(outputKey(key, n))) found.add(child);
    return [...found];
  }

  /** Records a transaction as spender of its inputs. `note` must be called when the state of the transaction is known. */
  addSpender({ key, inputs, isCoinbase }: Entry): void {
    if (isCoinbase) return;
    for (const input of inputs) {
      for (const row of this.rowsSpending(input)) this.sleeping!.noteRival(row);
      const known = this.spenders.get(input);
      if (known === undefined) {
        this.spenders.set(input, key);
        this.ids.add(input);
      } else if (typeof known !== 'string') known.push(key);
      else this.spenders.set(input, [known, key]);
    }
  }

  /** Removes a transaction from the index. The caller must have removed it from `entries` before. */
  remove({ key, inputs, outputs }: Entry): void {
    for (const input of inputs) {
      const keys = this.spenders.get(input);
      if (keys === undefined) continue;
      const others = (typeof keys === 'string' ? [keys] : keys).filter((other) => other !== key);
      if (others.length === 0) this.spenders.delete(input);
      else this.spenders.set(input, others.length === 1 ? others[0]! : others);
    }
    for (const { n } of outputs) this.take(outputKey(key, n));
    for (const input of inputs) this.noteOutput(input);
  }

  /**
   * Updates whether the outputs that a transaction spends are unspent. Must be called after the state of the transaction has
   * changed.
   */
  noteInputs({ inputs }: Entry): void {
    for (const input of inputs) this.noteOutput(input);
  }

  /** Updates the set of unspent outputs for the outputs that a transaction spends and for its own outputs. */
  note(entry: Entry): void {
    for (const { n } of entry.outputs) this.noteOutput(outputKey(entry.key, n));
    this.noteInputs(entry);
  }

  /** Adds an output to the set of unspent outputs, or removes it, according to its spenders. */
  private noteOutput(key: string): void {
    const row = this.entries.has(txKeyOf(key)) ? -1 : (this.sleeping?.find(txKeyOf(key)) ?? -1);
    if (row >= 0) {
      const at = this.sleeping!.txs.ownNumber(row, outputNumber(key));
      if (at >= 0) this.sleepingLeft[at] = this.isSpent(key) ? 0 : 1;
      return;
    }
    const own = this.output(key);
    if (own === undefined) return;
    if (this.isSpent(key)) this.take(key);
    else this.keep(key, own);
  }

  private keep(key: string, own: OwnOutput): void {
    this.left.set(key, own);
    this.leftByDestination?.add(own.to, key);
    if ((own.mine & MINE_STAKE) !== 0) this.leftStakes.add(key);
    else this.leftStakes.delete(key);
  }

  private take(key: string): void {
    const known = this.left.get(key);
    if (known === undefined) return;
    this.leftByDestination?.remove(known.to, key);
    this.left.delete(key);
    this.leftStakes.delete(key);
  }

  /**
   * Recomputes for all transactions in memory which of their own outputs, and which of the outputs that they spend, are
   * unspent.
   */
  *noteAll(): Slices<void> {
    this.left.clear();
    this.leftStakes.clear();
    this.leftByDestination = null;
    for (const entry of inSteps(this.entries.values())) {
      if (entry === null) {
        yield;
        continue;
      }
      for (const own of entry.outputs) {
        const key = outputKey(entry.key, own.n);
        if (!this.isSpent(key)) this.keep(key, own);
      }
      if (this.sleeping !== null) this.noteInputs(entry);
    }
  }
}

const NO_ROWS: readonly number[] = [];
