/** Items (claims and supports) that a block created and spent, in the state that they had until they were spent. */
import type { Item } from '../../../claimtrie/item.js';
import { normalizeKey } from '../../../claimtrie/nameKey.js';
import { matchesNormalized, proportionalDelay } from '../../../claimtrie/rules.js';
import type { ClaimRules } from '../../../claimtrie/types.js';
import { fromLatin1, toLatin1 } from '../../../util/bytes.js';
import { NOT_NOTED } from '../lbcd/lbcdFleeting.js';
import type { RowReader } from '../../rows/rows.js';
import { readName, type ClaimInfo } from './claimQueries.js';
import { readOwnership } from './ownership.js';

/**
 * Completes an item (claim or support) from the row of its block: adds its due height, and the name under which the trie stored it
 * until it was spent.
 */
export async function asFiled(rows: RowReader, rules: ClaimRules, item: Item): Promise<Item> {
  const { height } = item;
  const dueHeight =
    item.dueHeight === NOT_NOTED ? height + (await delayOf(rows, rules, item)) : item.dueHeight;
  const isNormalized = matchesNormalized(rules, height) || dueHeight > rules.normalizationForkHeight;
  return { ...item, dueHeight, name: isNormalized ? normalizeKey(item.rawName) : item.rawName };
}

/**
 * The activation delay of an output whose row was written by an older version, which did not store the delay. The delay is
 * computed from the state of the name before the block. Source: as `delayOf` of `claimtrie/blockTransactions.ts`.
 */
async function delayOf(rows: RowReader, rules: ClaimRules, item: Item): Promise<number> {
  const { rawName, claimId, kind, height } = item;
  const name = matchesNormalized(rules, height) ? normalizeKey(rawName) : rawName;
  const { hasClaims, takeover } = await readOwnership(rows, name, height - 1);
  const owner = hasClaims ? await ownerOf(rows, rules, name, height - 1) : undefined;
  if (owner !== undefined && toLatin1(owner.claimId) === claimId) return 0;
  if (kind === 'support' && rules.supportDelay !== 'proportional') return rules.supportDelay;
  return hasClaims ? proportionalDelay(height - takeover) : 0;
}

/** The controlling claim of a name after the block at `height`; undefined if there is none. */
export async function ownerOf(
  rows: RowReader,
  rules: ClaimRules,
  name: string,
  height: number,
): Promise<ClaimInfo | undefined> {
  if (height < 0) return undefined;
  const { claims } = await readName(rows, rules, { name: fromLatin1(name), height, exact: true });
  return claims[0]?.active === true ? claims[0] : undefined;
}
