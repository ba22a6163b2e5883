/** Which outputs the wallet's transactions spend, and which of the wallet's own are left. */
import type { PrefixFilter } from '../../util/prefixFilter.js';
import { inSteps, type Slices } from '../../util/slices.js';
import { MINE_STAKE } from '../keys/isMine.js';
import { outputKey, outputNumber, txKeyOf, type Entry, type OwnOutput } from './entry.js';
import { OutputLists } from './outputLists.js';

/** Output keys, each with its output. */
export type UnspentOutputs = Iterable<[key: string, output: OwnOutput]>;

export class SpentOutputs {
  private readonly entries: ReadonlyMap<string, Entry>;
  /** By output: the wallet's transactions that spend it, whoever it belongs to. */
  private readonly spenders = new Map<string, string | string[]>();
  /** The wallet's outputs that nothing of the wallet spends for good, whatever their own transaction has come to. */
  private readonly left = new Map<string, OwnOutput>();
  /** The keys of those that hold a claim or support. */
  private readonly leftStakes = new Set<string>();
  /** The keys of all of them by destination; null until somebody asks. */
  private leftByDestination: OutputLists | null = null;

  private readonly ids: PrefixFilter;

  /** `entries`: the wallet's transactions, by their keys. `ids` gets the ids of those whose outputs are spent. */
  constructor(entries: ReadonlyMap<string, Entry>, ids: PrefixFilter) {
    this.entries = entries;
    this.ids = ids;
  }

  /** Keys of all outputs that the wallet's transactions spend. */
  spentKeys(): IterableIterator<string> {
    return this.spenders.keys();
  }

  /** Output keys of what is the wallet's and not spent, with the output. */
  unspent(): IterableIterator<[key: string, output: OwnOutput]> {
    return this.left.entries();
  }

  /** Those that pay to one of these (`destinationKey`). The first question costs as much as all of them. */
  *unspentAt(destinations: Iterable<string>): Generator<[key: string, output: OwnOutput]> {
    if (this.leftByDestination === null) {
      this.leftByDestination = new OutputLists();
      for (const [key, { to }] of this.left) this.leftByDestination.add(to, key);
    }
    for (const to of destinations)
      for (const key of this.leftByDestination.of(to)) yield [key, this.left.get(key)!];
  }

  /** The keys of those that hold a claim or support. */
  unspentStakes(): ReadonlySet<string> {
    return this.leftStakes;
  }

  /** An output of one of the wallet's transactions that is the wallet's too. */
  output(key: string): OwnOutput | undefined {
    const outputs = this.entries.get(txKeyOf(key))?.outputs;
    if (outputs === undefined || outputs.length === 0) return undefined;
    const number = outputNumber(key);
    return outputs.find(({ n }) => n === number);
  }

  /** Whether a transaction of the wallet spends an output: in a block, or on its way. Source: `IsSpent`. */
  isSpent(output: string): boolean {
    const keys = this.spenders.get(output);
    if (keys === undefined) return false;
    return typeof keys === 'string' ? this.spends(keys) : keys.some((key) => this.spends(key));
  }

  /** Whether what a transaction spends is gone, unless another takes its place. */
  private spends(txKey: string): boolean {
    const { state } = this.entries.get(txKey)!;
    return state === 'confirmed' || state === 'unconfirmed';
  }

  /** Whether an output is the wallet's, or one that it spends too. */
  concerns(output: string): boolean {
    return this.spenders.has(output) || this.output(output) !== undefined;
  }

  /** The wallet's transactions that spend an output. */
  spendersOf(output: string): Entry[] {
    const keys = this.spenders.get(output);
    if (keys === undefined) return [];
    return (typeof keys === 'string' ? [keys] : keys).map((key) => this.entries.get(key)!);
  }

  /** Whether no more than one transaction of the wallet spends an output. */
  isOnlySpender(output: string): boolean {
    const keys = this.spenders.get(output);
    return keys === undefined || typeof keys === 'string';
  }

  /** The wallet's transactions that spend outputs of this one. */
  childrenOf({ key, outputCount }: Entry): Entry[] {
    const found = new Set<Entry>();
    for (let n = 0; n < outputCount; n++)
      for (const child of this.spendersOf(outputKey(key, n))) found.add(child);
    return [...found];
  }

  /** What an entry spends is spent by it; `note` comes once it is known what the entry has come to. */
  addSpender({ key, inputs, isCoinbase }: Entry): void {
    if (isCoinbase) return;
    for (const input of inputs) {
      const known = this.spenders.get(input);
      if (known === undefined) {
        this.spenders.set(input, key);
        this.ids.add(input);
      } else if (typeof known !== 'string') known.push(key);
      else this.spenders.set(input, [known, key]);
    }
  }

  /** Forgets an entry, which is no more among `entries` when this is called. */
  remove({ key, inputs, outputs }: Entry): void {
    for (const input of inputs) {
      const keys = this.spenders.get(input);
      if (keys === undefined) continue;
      const others = (typeof keys === 'string' ? [keys] : keys).filter((other) => other !== key);
      if (others.length === 0) this.spenders.delete(input);
      else this.spenders.set(input, others.length === 1 ? others[0]! : others);
    }
    for (const { n } of outputs) this.drop(outputKey(key, n));
    for (const input of inputs) this.noteOutput(input);
  }

  /** What an entry has come to has changed: so may have what it spends. */
  noteInputs({ inputs }: Entry): void {
    for (const input of inputs) this.noteOutput(input);
  }

  /** The same, and what it pays to the wallet. */
  note(entry: Entry): void {
    for (const { n } of entry.outputs) this.noteOutput(outputKey(entry.key, n));
    this.noteInputs(entry);
  }

  /** Brings the set of unspent outputs up to date for one output. */
  private noteOutput(key: string): void {
    const own = this.output(key);
    if (own === undefined) return;
    if (this.isSpent(key)) this.drop(key);
    else this.keep(key, own);
  }

  private keep(key: string, own: OwnOutput): void {
    this.left.set(key, own);
    this.leftByDestination?.add(own.to, key);
    if ((own.mine & MINE_STAKE) !== 0) this.leftStakes.add(key);
    else this.leftStakes.delete(key);
  }

  private drop(key: string): void {
    const known = this.left.get(key);
    if (known === undefined) return;
    this.leftByDestination?.remove(known.to, key);
    this.left.delete(key);
    this.leftStakes.delete(key);
  }

  /** Finds what is unspent anew, of all entries. */
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
    }
  }
}
