/**
 * Builds the claim trie rows that are derived from the rows of names: nodes, totals, and the filter of idle names. Used when
 * a database is created from a snapshot.
 */
import type { ClaimRules } from '../../../claimtrie/types.js';
import type { Bytes } from '../../../util/bytes.js';
import type { RowReader, RowWriter } from '../../rows/rows.js';
import { generationAt } from '../claimCheck.js';
import { TrieOfNames } from '../hashFork.js';
import { IdleNames } from '../idleNames.js';
import { parseNameRow, rowHasClaims } from './nameRow.js';
import { moveTotals, noTotals, putSummary, totalsOf } from './summaryRow.js';

const NO_ROWS: Pick<RowReader, 'range'> = { range: () => nothing() };

async function* nothing(): AsyncGenerator<never> {}

export class DerivedClaimRows {
  private readonly trie: TrieOfNames;
  private readonly idle = new IdleNames();
  private readonly idleRows = new Map<string, Bytes>();
  private readonly totals = noTotals();

  private constructor(rules: ClaimRules, height: number) {
    this.trie = new TrieOfNames(generationAt(rules, height));
  }

  /** Begins to build the rows for the state after the block at `height`. */
  static async begin(rules: ClaimRules, height: number): Promise<DerivedClaimRows> {
    const rows = new DerivedClaimRows(rules, height);
    await rows.idle.load(NO_ROWS as RowReader);
    return rows;
  }

  /** Adds the row of the next name. Names must be added in ascending byte order. Complete rows are written to `out`. */
  add(name: string, row: Bytes, out: Pick<RowWriter, 'put'>): void {
    if (rowHasClaims(row)) {
      const state = parseNameRow(row);
      this.trie.addState(name, state);
      this.drain(out);
      moveTotals(this.totals, noTotals(), totalsOf(state));
    } else if (!this.idle.mayHold(name))
      this.idle.add({ put: (key, value) => this.idleRows.set(key, value), del: () => undefined }, name);
  }

  private drain(out: Pick<RowWriter, 'put'>): void {
    for (const [key, row] of this.trie.nodes.splice(0)) out.put(key, row);
  }

  /** Writes the remaining rows to `out`. Returns the root of the claim trie. */
  finish(out: RowWriter): Bytes {
    const root = this.trie.finish();
    this.drain(out);
    for (const [key, row] of this.idleRows) out.put(key, row);
    putSummary(out, { root, totals: this.totals });
    return root;
  }
}
