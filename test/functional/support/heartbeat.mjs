/**
 * Loaded into a node by `--import`: notes whenever the event loop was held for long, one line a time in the file that
 * HEARTBEAT_FILE names: milliseconds by the clock, and those in which the loop's thread really ran.
 * On a busy machine the second number is the one that says something about the node.
 */
import { openSync, readSync, writeSync } from 'node:fs';
import process from 'node:process';

const NOTED_MS = 25;
const file = process.env.HEARTBEAT_FILE;
if (file) {
  const out = openSync(file, 'a');
  const stat = openSync('/proc/thread-self/schedstat', 'r');
  const text = Buffer.alloc(64);
  // The first number is the time on a processor in nanoseconds.
  const ranMs = () => Number.parseInt(text.toString('latin1', 0, readSync(stat, text, 0, 64, 0)), 10) / 1e6;
  let last = performance.now();
  let lastRan = ranMs();
  setInterval(() => {
    const now = performance.now();
    const ran = ranMs();
    if (now - last > NOTED_MS) writeSync(out, `${(now - last).toFixed(1)} ${(ran - lastRan).toFixed(1)}\n`);
    last = now;
    lastRan = ran;
  }, 1).unref();
}
