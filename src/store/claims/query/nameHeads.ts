/**
 * Reads the head of names' rows after the latest block: the controlling claim, and since when it controls. The row of a name
 * with thousands of claims has hundreds of kilobytes, so the caller caches its head until the tip changes.
 */
import type { RowsAtHand } from '../../rows/rowsAtHand.js';
import { nameKey } from '../rows/claimKeys.js';
import { parseNameHead, type NameHead } from '../rows/nameRow.js';

/** Cache of the heads of long name rows. It must be cleared when the tip changes. */
export interface KnownHeads {
  find(name: string): NameHead | undefined;
  keep(name: string, head: NameHead): void;
}

/**
 * Minimum size in bytes of a long row, whose head is cached. Copying a longer row takes more time than the rest of the work.
 * Arbitrary.
 */
const LONG_ROW_BYTES = 4096;

/** The heads of those names that have a row. */
export function readHeads(
  atHand: RowsAtHand,
  names: readonly string[],
  known: KnownHeads | undefined,
): Map<string, NameHead> {
  const heads = new Map<string, NameHead>();
  const unknown: string[] = [];
  for (const name of names) {
    const head = known?.find(name);
    if (head === undefined) unknown.push(name);
    else heads.set(name, head);
  }
  if (unknown.length === 0) return heads;
  const rows = atHand.getMany(unknown.map(nameKey));
  unknown.forEach((name, i) => {
    const row = rows[i];
    if (row === undefined) return;
    const head = parseNameHead(row);
    heads.set(name, head);
    if (row.length > LONG_ROW_BYTES) known?.keep(name, head);
  });
  return heads;
}
