/** Blocks that a reorganisation disconnected, as pages of names and claims speak of them. */
import type { TakenBlock, TakenEvent } from './messages.js';

/** A reorganisation is spoken of until this many blocks are above it. */
const DEPTH = 10;
const MAX_BLOCKS = 100;

/** Those that are near the tip. */
export const withoutOld = (taken: readonly TakenBlock[], tipHeight: number): TakenBlock[] =>
  taken.filter(({ height }) => height > tipHeight - DEPTH).slice(0, MAX_BLOCKS);

/** What blocks of a former branch did to a name or a claim; blocks that did nothing to it are left out. */
export function takenFrom(taken: readonly TakenBlock[], isOf: (event: TakenEvent) => boolean): TakenBlock[] {
  return taken
    .map((block) => ({ ...block, events: block.events.filter(isOf) }))
    .filter(({ events }) => events.length > 0);
}
