/**
 * The wallet's transactions in memory, and where to find them: by id, block, destination, in the order in which they came, those
 * in no block, those with claims. Owns no rule about what they have come to: `ledger.ts` tells it.
 */
import { PrefixFilter } from '../../util/prefixFilter.js';
import { inSteps, sortedInSlices, type Slices } from '../../util/slices.js';
import { BlockEntries } from './blockEntries.js';
import { MINE_STAKE } from '../keys/isMine.js';
import { txKeyOf, type Entry, type OwnOutput } from './entry.js';
import { EntryLists } from './entryLists.js';
import { SpentOutputs } from './spentOutputs.js';

export class EntryIndex {
  readonly entries = new Map<string, Entry>();
  /** Ids of all entries, and of the transactions whose outputs they spend. */
  readonly ids = new PrefixFilter(() => this.allIds());
  readonly spent = new SpentOutputs(this.entries, this.ids);
  readonly byBlock = new BlockEntries();
  /** By destination: those with an output of the wallet's to it. */
  readonly byDestination = new EntryLists();
  /** By the deprecated account that pays; the unnamed one is that of nearly all, and not there. */
  readonly byPayer = new EntryLists();
  /** Those that are in no block of the active chain. */
  readonly loose = new Set<Entry>();
  /** Those with a claim or support of the wallet's, spent or not. */
  private readonly ownStakes = new Set<Entry>();
  /** Those with one that is not the wallet's to spend. */
  private readonly foreignStakes = new Set<Entry>();
  /** In the order in which they came; null when it is to be found anew. */
  private ordered: Entry[] | null = null;

  get(key: string): Entry | undefined {
    return this.entries.get(key);
  }

  private *allIds(): Generator<string> {
    yield* this.entries.keys();
    yield* this.spent.spentKeys();
  }

  /** All, the first that came first. */
  inOrder(): readonly Entry[] {
    this.ordered ??= [...this.entries.values()].sort(byOrder);
    return this.ordered;
  }

  /** Places in the order have changed. */
  reorder(): void {
    this.ordered = null;
  }

  /** Finds the order of all anew. */
  *sort(): Slices<void> {
    const known: Entry[] = [];
    for (const entry of inSteps(this.entries.values()))
      if (entry === null) yield;
      else known.push(entry);
    this.ordered = yield* sortedInSlices(known, byOrder);
  }

  add(entry: Entry): void {
    this.entries.set(entry.key, entry);
    this.ids.add(entry.key);
    this.byBlock.add(entry);
    if (entry.row.fromAccount !== '') this.byPayer.add(entry.row.fromAccount, entry);
    this.noteOutputs(entry);
    if (entry.hasForeignStake) this.foreignStakes.add(entry);
    const last = this.ordered?.[this.ordered.length - 1];
    if (last !== undefined && last.row.orderPos < entry.row.orderPos) this.ordered?.push(entry);
    else this.ordered = null;
    this.spent.addSpender(entry);
  }

  remove(entry: Entry): void {
    this.byBlock.remove(entry);
    if (entry.row.fromAccount !== '') this.byPayer.remove(entry.row.fromAccount, entry);
    this.dropOutputs(entry);
    this.foreignStakes.delete(entry);
    this.entries.delete(entry.key);
    this.loose.delete(entry);
    this.ordered = null;
    this.spent.remove(entry);
  }

  /** Gives an entry another row. */
  setRow(entry: Entry, row: Entry['row']): void {
    this.byBlock.remove(entry);
    const [known, payer] = [entry.row.fromAccount, row.fromAccount];
    entry.row = row;
    this.byBlock.add(entry);
    if (known === payer) return;
    if (known !== '') this.byPayer.remove(known, entry);
    if (payer !== '') this.byPayer.add(payer, entry);
  }

  /** Other outputs of an entry are the wallet's. */
  setOutputs(entry: Entry, outputs: readonly OwnOutput[], hasForeignStake: boolean): void {
    this.dropOutputs(entry);
    entry.outputs = outputs;
    entry.hasForeignStake = hasForeignStake;
    this.noteOutputs(entry);
    if (hasForeignStake) this.foreignStakes.add(entry);
    else this.foreignStakes.delete(entry);
  }

  private noteOutputs(entry: Entry): void {
    for (const { to, mine } of entry.outputs) {
      if (to !== '') this.byDestination.add(to, entry);
      if ((mine & MINE_STAKE) !== 0) this.ownStakes.add(entry);
    }
  }

  private dropOutputs(entry: Entry): void {
    for (const { to } of entry.outputs) if (to !== '') this.byDestination.remove(to, entry);
    this.ownStakes.delete(entry);
  }

  /** Those with a claim or support, without `spent` only what nothing of the wallet spends; the first that came first. */
  stakes(spent: boolean): Entry[] {
    const own = spent
      ? this.ownStakes
      : [...this.spent.unspentStakes()].map((key) => this.entries.get(txKeyOf(key))!);
    return [...new Set([...own, ...this.foreignStakes])].sort(byOrder);
  }
}

const byOrder = (a: Entry, b: Entry): number => a.row.orderPos - b.row.orderPos;
