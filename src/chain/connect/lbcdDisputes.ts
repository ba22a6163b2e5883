/**
 * Detects blocks that lbcd may accept although lbrycrd, and with it this node, rejects them (docs/architecture.md). The log
 * mentions this when such a block is rejected, since a chain with more work on top of it splits the network. Has no effect
 * on validity. Source: lbcd txscript/engine.go, txscript/claimscript.go `ExtractClaimScript`, claimtrie/node/node.go.
 */
import { countsMetadataSupports } from '../../claimtrie/rules.js';
import type { ClaimBlock, ClaimRules } from '../../claimtrie/types.js';
import type { ResolvedInputs } from '../../native/binding.js';
import type { LbcdDifference } from '../../store/claims/claimStore.js';
import { TX_FIRST_INPUT, TX_INPUT_COUNT, TX_STRIDE } from '../../primitives/blockLayout.js';
import { stripClaimPrefix } from '../../script/claimScript.js';
import { isWitnessProgram } from '../../script/script.js';
import { transactionAt } from './checkBlockView.js';
import { spentScript } from './checkSpends.js';
import type { LoadedBlock } from '../blocks/loadedBlock.js';

const ADVICE = 'If other nodes build on it, the network has split because of this difference.';

/** Reason why lbcd might accept a block whose scripts are invalid here; null if none is known. */
export function disputedScripts(block: LoadedBlock, resolved: ResolvedInputs): string | null {
  const { txs, txCount } = block.parsed;
  for (let tx = 1; tx < txCount; tx++) {
    const first = txs[tx * TX_STRIDE + TX_FIRST_INPUT]!;
    const count = txs[tx * TX_STRIDE + TX_INPUT_COUNT]!;
    for (let input = first; input < first + count; input++) {
      if (resolved.claimKinds[input] === 0) continue;
      if (!isWitnessProgram(stripClaimPrefix(spentScript(resolved, input)))) continue;
      if (transactionAt(block.raw, block.parsed, tx).inputs[input - first]!.witness.length === 0)
        return `lbcd does not check for a witness after a claim script, and may accept this block. ${ADVICE}`;
    }
  }
  return null;
}

const DIFFERENCES: Readonly<Record<LbcdDifference['kind'], string>> = {
  metadataSupport: 'before the all-claims fork, lbcd counts supports with metadata, and lbrycrd does not',
  extendedTerm:
    'at the height of the expiration fork, lbcd expires claims and supports whose term ends in that ' +
    'block, and lbrycrd extends their term',
  normalization:
    'at the normalization fork, lbcd also moves supports of names without claims, and computes the ' +
    'activation delays of that block for normalized names',
};

/** Reason, found in the block itself, why lbcd might compute the claim root that this node rejects; null if unknown. */
export function disputedClaims(
  rules: Pick<ClaimRules, 'allClaimsForkHeight' | 'extendedExpirationForkHeight' | 'normalizationForkHeight'>,
  { height, transactions }: ClaimBlock,
): string | null {
  const hasMetadata = transactions.some(({ outputs }) =>
    outputs.some(({ kind, hasMetadata }) => kind === 'support' && hasMetadata),
  );
  const tell = (kind: LbcdDifference['kind']): string =>
    `${DIFFERENCES[kind]}, and may accept this block. ${ADVICE}`;
  if (hasMetadata && !countsMetadataSupports(rules, height)) return tell('metadataSupport');
  if (height === rules.extendedExpirationForkHeight) return tell('extendedTerm');
  if (height === rules.normalizationForkHeight) return tell('normalization');
  return null;
}

/** Reason in earlier blocks why lbcd might compute the claim root that is invalid here; null if none is known. */
export function disputedBefore(earlier: readonly LbcdDifference[]): string | null {
  const [first] = earlier;
  if (first === undefined) return null;
  return (
    `${DIFFERENCES[first.kind]}; in block ${first.height} this may have led lbcd to a different claim ` +
    `trie, so that it accepts this block. ${ADVICE}`
  );
}
