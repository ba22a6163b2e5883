/**
 * Long work in parallel with the rest of the node. Work that waits for nothing external (connecting hundreds of blocks in a
 * row, filling an index) would monopolize the event loop, and peers and callers would wait; on regtest, where a block is due
 * every second, so long that peers disconnect. Therefore other work has its turn after each piece.
 */
import { setImmediate as turn } from 'node:timers/promises';

/** A turn of the event loop shorter than this had no other work. */
const IDLE_TURN_MS = 0.2;

/**
 * Yields the event loop to other work: for one turn, and for further turns while there is other work, until it has run for
 * `workedMs`, the time of the last piece. Other work thus gets at least half of the time, and the long work continues.
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
