/**
 * Records the blocks after which lbcd may have other claims than lbrycrd and this node (docs/architecture.md). A difference
 * is recorded when its block is connected, because it may affect only the root of a much later block. The recorded rows do
 * not affect the trie.
 */
import { countsMetadataSupports, expirationHeight } from '../../../claimtrie/rules.js';
import { normalizeKey } from '../../../claimtrie/nameKey.js';
import type { ClaimBlock, ClaimOutput, ClaimRules } from '../../../claimtrie/types.js';
import { toLatin1 } from '../../../util/bytes.js';
import { prefixEnd, type RowReader, type RowTransaction } from '../../rows/rows.js';
import { CLAIM_PREFIX, differenceKey, readU32 } from '../rows/claimKeys.js';
import { readStranded } from '../query/stranded.js';

/** Type of a difference. `LETTERS` maps the types to the letters in row keys. */
export type LbcdDifferenceKind = 'metadataSupport' | 'extendedTerm' | 'normalization';

const LETTERS: Readonly<Record<LbcdDifferenceKind, string>> = {
  metadataSupport: 'm',
  extendedTerm: 'x',
  normalization: 'n',
};

export interface LbcdDifference {
  readonly kind: LbcdDifferenceKind;
  readonly height: number;
}

/**
 * Records the possible differences of a block. `hadDue` tells whether items (claims and supports) would have expired in this
 * block if the expiration term had not been extended in it.
 */
export async function noteDifference(
  rows: RowTransaction,
  rules: ClaimRules,
  { height, transactions }: ClaimBlock,
  hadDue: () => Promise<boolean>,
): Promise<void> {
  const put = (kind: LbcdDifferenceKind): void =>
    rows.put(differenceKey(height, LETTERS[kind]), Buffer.alloc(0));
  const hasOutput = (test: (output: ClaimOutput) => boolean): boolean =>
    transactions.some(({ outputs }) => outputs.some(test));
  if (!countsMetadataSupports(rules, height) && hasOutput(({ hasMetadata }) => hasMetadata))
    put('metadataSupport');
  if (height === rules.extendedExpirationForkHeight && (await hadDue())) put('extendedTerm');
  const isRaw = (name: string): boolean => normalizeKey(name) !== name;
  if (height === rules.normalizationForkHeight && hasOutput(({ name }) => isRaw(toLatin1(name))))
    put('normalization');
}

/** Deletes the recorded differences of a block. */
export async function undoDifferences(rows: RowTransaction, height: number): Promise<void> {
  const prefix = differenceKey(height, '');
  for await (const [key] of rows.range({ gte: prefix, lt: prefixEnd(prefix) })) rows.del(key);
}

/** Blocks below `height` with claims or supports that lbcd stores differently, in the order of height. */
export async function differencesBefore(
  rows: RowReader,
  rules: ClaimRules,
  height: number,
): Promise<LbcdDifference[]> {
  const found: LbcdDifference[] = [];
  const fork = rules.normalizationForkHeight;
  const livesStill = (madeAt: number): boolean => expirationHeight(rules, madeAt) > height;
  for await (const [key] of rows.range({ gte: CLAIM_PREFIX.difference, lt: differenceKey(height, '') })) {
    const [at, letter] = [readU32(key, 1), key.slice(5)];
    for (const [kind, known] of Object.entries(LETTERS) as [LbcdDifferenceKind, string][]) {
      const madeAt = kind === 'extendedTerm' ? at - rules.originalExpiration : at;
      if (letter === known && livesStill(madeAt)) found.push({ kind, height: at });
    }
  }
  const isNoted = found.some(({ kind }) => kind === 'normalization');
  if (height > fork && !isNoted) {
    const stranded = await readStranded(rows);
    if (stranded.some(({ removed, height: madeAt }) => removed === 0 && livesStill(madeAt)))
      found.push({ kind: 'normalization', height: fork });
  }
  return found;
}
