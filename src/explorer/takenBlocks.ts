/** Blocks that a reorg disconnected, for the pages of names and claims. */
import type { TakenBlock, TakenEvent } from './messages.js';

/** A reorg is mentioned until this many blocks are above it. */
const DEPTH = 10;
const MAX_BLOCKS = 100;

/** The disconnected blocks that are near the tip. */
export const withoutOld = (taken: readonly TakenBlock[], tipHeight: number): TakenBlock[] =>
  taken.filter(({ height }) => height > tipHeight - DEPTH).slice(0, MAX_BLOCKS);

/** The effects of disconnected blocks on a name or a claim; blocks without an effect on it are omitted. */
export function takenFrom(taken: readonly TakenBlock[], isOf: (event: TakenEvent) => boolean): TakenBlock[] {
  return taken
    .map((block) => ({ ...block, events: block.events.filter(isOf) }))
    .filter(({ events }) => events.length > 0);
}
