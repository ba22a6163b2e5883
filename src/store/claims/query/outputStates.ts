/**
 * The current state of the claims and supports of one transaction. Reads one row for each output and the head of each name,
 * independent of the number of other claims. Stores no rows.
 */
import { pointKey, REMOVAL, type Item } from '../../../claimtrie/item.js';
import { normalizeKey } from '../../../claimtrie/nameKey.js';
import type { ClaimRules } from '../../../claimtrie/types.js';
import { toLatin1, type Bytes } from '../../../util/bytes.js';
import type { MaybePromise } from '../../../util/maybePromise.js';
import type { RowReader } from '../../rows/rows.js';
import { readAtHand } from '../../rows/rowsAtHand.js';
import { itemKey } from '../rows/claimKeys.js';
import { parseItemRow } from '../rows/itemRow.js';
import { readHeads, type KnownHeads } from './nameHeads.js';
import type { MadeOutput } from './standings.js';

export interface OutputStatesQuery {
  /** Transaction id in wire order. */
  readonly txid: Bytes;
  /** Height of the block that contains the transaction. */
  readonly madeAt: number;
  readonly outputs: readonly MadeOutput[];
}

/** A claim or support without its claim id. Computing the ids of claims that were never updated takes longer than the rest. */
export type OutputItem = Omit<Item, 'claimId'>;

export interface OutputState {
  /** The claim or support in its current state, or in its state when it was removed. */
  readonly item: OutputItem;
  /** Whether the claim controls its name. */
  readonly controls: boolean;
}

const NO_ID = '';

/**
 * The names under which an output may be stored: its raw name and the normalized name, as in
 * `spendCandidates` of `claimtrie/blockTransactions.ts`.
 */
function filedNames(rawName: string): string[] {
  const normalized = normalizeKey(rawName);
  return [...new Set([rawName, normalized, normalizeKey(normalized)])];
}

/**
 * The current states of the outputs of a transaction. An output that never became part of the trie is null. The result is
 * invalid if a block is connected or disconnected during the call.
 */
export function readOutputStates(
  rows: RowReader,
  rules: ClaimRules,
  { txid, madeAt, outputs }: OutputStatesQuery,
  known?: KnownHeads,
): MaybePromise<(OutputState | null)[]> {
  const fork = rules.normalizationForkHeight;
  const blocks = madeAt < fork ? [fork, madeAt] : [madeAt];
  // Outputs are grouped by name, because most outputs of a transaction have the same name and then need one lookup.
  const byName = new Map<string, string[]>();
  const places = outputs.map(({ name, n }) => {
    const point = pointKey(txid, n);
    const raw = toLatin1(name);
    let names = byName.get(raw);
    if (names === undefined) byName.set(raw, (names = filedNames(raw)));
    const found = names;
    return blocks.flatMap((since) => found.map((filed) => ({ filed, since, point })));
  });
  const keys = places.flatMap((some) => some.map(({ filed, since, point }) => itemKey(filed, since, point)));
  return readAtHand(rows, (atHand) => {
    const found = atHand.getMany(keys);
    let at = 0;
    const items = places.map((some) => {
      let item: OutputItem | null = null;
      for (const { filed, since, point } of some) {
        const row = found[at++];
        if (row === undefined) continue;
        const one = parseItemRow(filed, since, point, row, NO_ID);
        // For an item (claim or support) that the normalization fork moved, the item under its new name is used.
        if (item === null || item.removal === REMOVAL.refiled) item = one;
      }
      return item;
    });
    const names = new Set(items.flatMap((item) => (item === null ? [] : [item.name])));
    const heads = readHeads(atHand, [...names], known);
    return items.map((item) => item && { item, controls: heads.get(item.name)?.best?.point === item.point });
  });
}
