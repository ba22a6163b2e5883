/**
 * Mining on demand beside the rest of the node: hundreds of blocks in a row would keep the event loop to themselves, since
 * nothing that they need comes from outside. Peers would wait for answers so long that they hang up: on regtest a block is
 * due every second. So after each block the others have their turn.
 */
import { setImmediate as turn } from 'node:timers/promises';

/** A turn that took less held nothing but this wait. */
const IDLE_TURN_MS = 0.2;

/**
 * Gives the loop to all others: for one turn, and for more of them as long as they have work, until they had it for
 * `workedMs`, the time that the last block took. So peers are served at least half of the time, and mining goes on.
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
