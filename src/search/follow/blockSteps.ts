/** Blocks that are followed together: claims are read once for all, at one tip, and written block by block. Pure. */
import type { ClaimStates } from '../document/documentSource.js';
import type { BlockStep } from './indexChange.js';

/**
 * What each block is to write of what was read. A document is as of the present tip whichever block wrote it, so the first
 * that touches its claim does; the end of a claim counts in the block that brought it and in those before.
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
