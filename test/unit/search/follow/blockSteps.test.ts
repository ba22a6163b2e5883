import { expect, it } from 'vitest';
import { statesByStep } from '../../../../src/search/follow/blockSteps.js';
import type { ClaimStates } from '../../../../src/search/document/documentSource.js';
import type { BlockStep } from '../../../../src/search/follow/indexChange.js';

const step = (height: number, claimIds: readonly string[]): BlockStep => ({
  block: { height, hash: `${height}`, claimIds },
  ended: [],
  scores: [],
});

const states = (documents: readonly string[], hidden: readonly string[], gone: readonly string[]) =>
  ({ documents: documents.map((claimId) => ({ claimId })), hidden, gone }) as unknown as ClaimStates;

it('assigns to each block the claims that it touches, and a document to the first one', () => {
  const steps = [step(1, ['a', 'b', 'g']), step(2, ['b', 'h']), step(3, ['c', 'g', 'h'])];
  const parts = [...statesByStep(steps, states(['a', 'b', 'c'], ['h'], ['g']))];
  expect(parts).toEqual([
    [steps[0], states(['a', 'b'], [], ['g'])],
    [steps[1], states([], ['h'], [])],
    [steps[2], states(['c'], ['h'], ['g'])],
  ]);
});

it('assigns everything to a single block', () => {
  const all = states(['a', 'z'], ['h'], ['g']);
  expect([...statesByStep([step(1, ['a'])], all)]).toEqual([[step(1, ['a']), all]]);
});
