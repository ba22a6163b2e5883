/**
 * Splits the data of several blocks that are applied to the search index together. Claims are read once for all blocks, at
 * one tip, and written block by block.
 */
import type { ClaimStates } from '../document/documentSource.js';
import type { BlockStep } from './indexChange.js';

/**
 * Returns the claim states that each block writes. Documents have the state of the current tip, so the document of a claim
 * is written with the first block that changed the claim. The removal of a claim is written with the block that ended the
 * claim, and with earlier blocks that changed it.
 */
export function* statesByStep(
  steps: readonly BlockStep[],
  states: ClaimStates,
): Generator<readonly [BlockStep, ClaimStates]> {
  if (steps.length === 1) {
    yield [steps[0]!, states];
    return;
  }
  const documents = new Map(states.documents.map((document) => [document.claimId, document]));
  const hidden = new Set(states.hidden);
  const gone = new Set(states.gone);
  for (const step of steps) {
    const { claimIds } = step.block;
    const own = claimIds.flatMap((id) => documents.get(id) ?? []);
    for (const { claimId } of own) documents.delete(claimId);
    yield [
      step,
      {
        documents: own,
        hidden: claimIds.filter((id) => hidden.has(id)),
        gone: claimIds.filter((id) => gone.has(id)),
      },
    ];
  }
}
