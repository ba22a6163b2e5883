/**
 * Much work beside the rest of the node. What needs nothing from outside (hundreds of blocks to be made in a row, an index
 * that is filled) would keep the event loop to itself, and peers and callers would wait: on regtest, where a block is due
 * every second, so long that peers hang up. So after each piece the others have their turn.
 */
import { setImmediate as turn } from 'node:timers/promises';

/** A turn that took less held only this wait. */
const IDLE_TURN_MS = 0.2;

/**
 * Gives the loop to all others: for one turn, and for more of them as long as they have work, until they had it for
 * `workedMs`, the time that the last piece took. So they are served at least half of the time, and the work continues.
 */
export async function letOthersWork(
  workedMs: number,
  nowMs: () => number = () => performance.now(),
): Promise<void> {
  const began = nowMs();
  for (let last = began; ;) {
    await turn();
    const now = nowMs();
    if (now - last < IDLE_TURN_MS || now - began >= workedMs) return;
    last = now;
  }
}
