/** Blocks that a reorg disconnected, for the pages of names and claims. */
import type { TakenBlock, TakenEvent } from './messages.js';

/** Number of blocks after a reorg for which pages mention it, and maximum number of disconnected blocks in the list. */
const DEPTH = 10;
const MAX_BLOCKS = 100;

/** Returns those disconnected blocks that are near the tip. */
export const withoutOld = (taken: readonly TakenBlock[], tipHeight: number): TakenBlock[] =>
  taken.filter(({ height }) => height > tipHeight - DEPTH).slice(0, MAX_BLOCKS);

/** Returns the list with a block that was just disconnected in front. */
export const withTaken = (taken: readonly TakenBlock[], block: TakenBlock): TakenBlock[] =>
  [block, ...withoutTaken(taken, block.hash)].slice(0, MAX_BLOCKS);

/** Returns the list without a block that is connected again. */
export const withoutTaken = (taken: readonly TakenBlock[], hash: string): TakenBlock[] =>
  taken.filter((block) => block.hash !== hash);

/** Returns the events of disconnected blocks that concern one name or claim. Blocks without such an event are omitted. */
export function takenFrom(taken: readonly TakenBlock[], isOf: (event: TakenEvent) => boolean): TakenBlock[] {
  return taken
    .map((block) => ({ ...block, events: block.events.filter(isOf) }))
    .filter(({ events }) => events.length > 0);
}
