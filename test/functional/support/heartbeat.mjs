/**
 * Preloaded by a node (`--import`). Writes a line to the file HEARTBEAT_FILE each time the event loop was blocked for long: the
 * milliseconds by the clock, and those in which the thread of the loop ran. Writes the same line to the file ANSWERS_FILE for
 * each HTTP request, from its start to the end of its answer. On a busy machine only the second number depends on the node.
 */
import { subscribe } from 'node:diagnostics_channel';
import { openSync, readSync, writeSync } from 'node:fs';
import process from 'node:process';

const NOTED_MS = 25;
const { HEARTBEAT_FILE, ANSWERS_FILE } = process.env;
const stat = openSync('/proc/thread-self/schedstat', 'r');
const text = Buffer.alloc(64);
// The first number is the time on a processor in nanoseconds.
const ranMs = () => Number.parseInt(text.toString('latin1', 0, readSync(stat, text, 0, 64, 0)), 10) / 1e6;

if (HEARTBEAT_FILE) {
  const out = openSync(HEARTBEAT_FILE, 'a');
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

if (ANSWERS_FILE) {
  const out = openSync(ANSWERS_FILE, 'a');
  const begun = new WeakMap();
  const begin = ({ response }) => begun.set(response, [performance.now(), ranMs()]);
  const finish = ({ response }) => {
    const [at, ran] = begun.get(response);
    writeSync(out, `${(performance.now() - at).toFixed(2)} ${(ranMs() - ran).toFixed(2)}\n`);
  };
  for (const server of ['http.server', 'lbcnode.plain']) {
    subscribe(`${server}.request.start`, begin);
    subscribe(`${server}.response.finish`, finish);
  }
}
