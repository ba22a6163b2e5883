/**
 * Lets long work run in parallel with the rest of the node. Long work that waits for nothing external, such as connecting
 * hundreds of blocks or filling an index, would monopolize the event loop, so that peers and RPC clients wait. On regtest,
 * where blocks may be mined every second, peers would even disconnect. Therefore other work gets time after each piece.
 */
import { nextRound } from './rounds.js';

/** Maximum duration in ms of a turn of the event loop that counts as having no other work. */
const IDLE_TURN_MS = 0.2;

/**
 * Yields the event loop to other work. It waits for one turn, and for further turns while there is other work, until other
 * work has run for `workedMs`, the duration of the last piece of long work. Other work thus gets at least half of the time,
 * and the long work still continues.
 */
export async function letOthersWork(
  workedMs: number,
  nowMs: () => number = () => performance.now(),
): Promise<void> {
  const began = nowMs();
  for (let last = began; ;) {
    await nextRound();
    const now = nowMs();
    if (now - last < IDLE_TURN_MS || now - began >= workedMs) return;
    last = now;
  }
}
