/**
 * Rows of tables that are rendered once for many pages. The pages of a name with many claims are rendered for each block, and
 * most of their rows are those of the block before.
 */
import type { VNode } from 'preact';
import { compact } from '../page/markup.js';
import { Lru } from '../util/lru.js';

/** Maximum number of cached rows, of about two kilobytes each with their keys. Arbitrary: those of ten pages. */
const MOST_ROWS = 1500;

export class KeptRows {
  private readonly rows = new Lru<string, VNode>(MOST_ROWS);

  /** Returns the cached row of a key, or the row that `make` returns. The key must contain all data of the row. */
  of(key: string, make: () => VNode): VNode {
    const known = this.rows.get(key);
    if (known !== undefined) return known;
    const made = make();
    // A row with elements that are rendered later is not the same for all pages.
    const whole = compact(made);
    if (whole !== null) this.rows.set(key, whole);
    return whole ?? made;
  }
}
