/**
 * Effective amounts of claims after a block, from the rows of the claim trie. If the block is the tip, the present rows are
 * used. Otherwise the history of the names is used, because a fill in the background may be far behind. An instance is used
 * for one block.
 */
import type { Item } from '../../claimtrie/item.js';
import { findClaim } from '../../claimtrie/nameState.js';
import type { ClaimRules } from '../../claimtrie/types.js';
import { nameKey } from '../../store/claims/rows/claimKeys.js';
import { aliveItems, filedAt } from '../../store/claims/query/itemHistory.js';
import { parseNameRow } from '../../store/claims/rows/nameRow.js';
import type { NamesAfter, StateAfter } from '../../store/claims/claimStore.js';
import type { RowReader } from '../../store/rows/rows.js';
import { assert } from '../../util/assert.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import type { MaybePromise } from '../../util/maybePromise.js';
import { filedNames } from './filedNames.js';

export interface ClaimWeight {
  /** Amount of the claim itself; null while the claim is not active. */
  readonly amountSat: bigint | null;
  /** Active supports. */
  readonly supportSat: bigint;
  /** Name under which the claim trie stores the claim; null if the trie does not contain it. */
  readonly name: string | null;
}

/** Number of names whose rows are read in one call. Arbitrary. */
const NAMES_AT_ONCE = 500;
const NO_WEIGHT: ClaimWeight = { amountSat: null, supportSat: 0n, name: null };

export class EffectiveAmounts {
  private readonly rows: RowReader;
  private readonly rules: ClaimRules;
  private readonly height: number;
  private readonly isPresent: boolean;
  private readonly known: NamesAfter | null;
  private readonly filed: ReadonlyMap<string, readonly Item[]> | null;
  /** States of names, by name in the claim trie, if they are known or the block is the tip. */
  private readonly states = new Map<string, StateAfter | null>();
  /** Active items (claims and supports) of the other names. */
  private readonly items = new Map<string, readonly Item[]>();
  /** Those of the other names that have exactly one item (claim or support) after the block. */
  private readonly alone = new Set<string>();

  /**
   * Effective amounts after the block at `height`. `isPresent` means that `rows` are those immediately after this block.
   * `names` contains states after the block that are in memory, `filed` the items of names that have been read
   * (`BlockItems`).
   */
  constructor(
    rows: RowReader,
    rules: ClaimRules,
    height: number,
    isPresent: boolean,
    names: NamesAfter | null,
    filed: ReadonlyMap<string, readonly Item[]> | null = null,
  ) {
    this.filed = filed;
    this.rows = rows;
    this.known = names;
    this.rules = rules;
    this.height = height;
    this.isPresent = isPresent;
  }

  /** Reads the rows that `weightOf` needs for claims with these names. The names are spelled as in the outputs. */
  load(rawNames: Iterable<string>): MaybePromise<void> {
    let wanted: Set<string> | null = null;
    for (const rawName of rawNames) {
      for (const name of this.namesOf(rawName)) {
        const known = this.known?.get(name);
        if (known) this.states.set(name, known.state);
        else (wanted ??= new Set()).add(name);
      }
    }
    return wanted === null ? undefined : this.read([...wanted]);
  }

  private async read(wanted: readonly string[]): Promise<void> {
    let since = performance.now();
    for (let at = 0; at < wanted.length; at += NAMES_AT_ONCE) {
      const part = wanted.slice(at, at + NAMES_AT_ONCE);
      if (this.isPresent) {
        const rows = await this.rows.getMany(part.map(nameKey));
        part.forEach((name, i) => this.states.set(name, rows[i] ? parseNameRow(rows[i]) : null));
      } else {
        for (const name of part) {
          const known = this.filed?.get(name);
          const filed = known ? filedAt(known, this.height) : await aliveItems(this.rows, name, this.height);
          const active = filed.filter(({ activated }) => activated !== 0 && activated <= this.height);
          this.items.set(name, active);
          if (filed.length === 1) this.alone.add(name);
          since = await yieldIfDue(since);
        }
      }
      since = await yieldIfDue(since);
    }
  }

  /**
   * Whether a claim is the only item (claim or support) under its name in the claim trie. The claim must exist, and its name
   * must have been loaded.
   */
  isAlone(name: string): boolean {
    return this.states.get(name)?.alive === 1 || this.alone.has(name);
  }

  private namesOf(rawName: string): readonly string[] {
    return filedNames(this.rules, rawName, this.height);
  }

  /** Effective amount of the claim whose latest output is at `point`. Its name must have been loaded. */
  weightOf(claimId: string, point: string, rawName: string): ClaimWeight {
    let pending = NO_WEIGHT;
    for (const name of this.namesOf(rawName)) {
      const state = this.states.get(name);
      const weight =
        state === undefined ? this.pastWeight(name, claimId, point) : weightIn(state, name, claimId, point);
      if (weight.amountSat !== null) return weight;
      if (weight.supportSat > 0n) pending = weight;
    }
    return pending;
  }

  private pastWeight(name: string, claimId: string, point: string): ClaimWeight {
    const items = this.items.get(name);
    assert(items !== undefined, 'a name was weighed before it was loaded');
    let amountSat: bigint | null = null;
    let supportSat = 0n;
    for (const item of items) {
      if (item.kind === 'support') {
        if (item.claimId === claimId) supportSat += item.amount;
      } else if (item.point === point) amountSat = item.amount;
    }
    return { amountSat, supportSat, name };
  }
}

function weightIn(state: StateAfter | null, name: string, claimId: string, point: string): ClaimWeight {
  if (state === null) return NO_WEIGHT;
  const claim = findClaim(state, point);
  if (claim) return { amountSat: claim.amount, supportSat: claim.effective - claim.amount, name };
  return { amountSat: null, supportSat: state.dangling.get(claimId) ?? 0n, name };
}
