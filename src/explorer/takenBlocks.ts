/** Blocks that a reorg disconnected, for the pages of names and claims. */
import type { TakenBlock, TakenEvent } from './messages.js';

/** Number of blocks above a reorg after which pages no longer mention the reorg. */
const DEPTH = 10;
const MAX_BLOCKS = 100;

/** The disconnected blocks that are near the tip. */
export const withoutOld = (taken: readonly TakenBlock[], tipHeight: number): TakenBlock[] =>
  taken.filter(({ height }) => height > tipHeight - DEPTH).slice(0, MAX_BLOCKS);

/** Events of disconnected blocks that concern one name or claim. Blocks without such an event are omitted. */
export function takenFrom(taken: readonly TakenBlock[], isOf: (event: TakenEvent) => boolean): TakenBlock[] {
  return taken
    .map((block) => ({ ...block, events: block.events.filter(isOf) }))
    .filter(({ events }) => events.length > 0);
}
