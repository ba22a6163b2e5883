/**
 * Chooses and orders test files by their recorded times, which `node scripts/test.mjs --record` writes to
 * `scripts/testTimes.json`: for a long file the seconds by the clock on a machine of two cores that does nothing else, for another
 * file its processor seconds, which do not depend on the number of processes. A file without a recorded time counts as
 * `UNKNOWN_SECONDS`.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const TIMES_FILE = join(dirname(fileURLToPath(import.meta.url)), 'testTimes.json');
/** Minimum recorded time of a file in seconds. Files that take less hardly affect the order and the distribution. */
export const LEAST_RECORDED_SECONDS = 5;
/** Assumed time in seconds of a long file without a recorded time. Most take less. */
const UNKNOWN_SECONDS = 120;

/** @returns {Record<string, number>} seconds by path below the project */
export function recordedTimes() {
  return JSON.parse(readFileSync(TIMES_FILE, 'utf8'));
}

/**
 * @param {string} file
 * @param {Record<string, number>} times
 */
export function secondsOf(file, times) {
  return times[file] ?? (file.endsWith('.long.test.ts') ? UNKNOWN_SECONDS : 1);
}

/** The long test files below the project, as paths relative to it. */
export function longFiles(root) {
  return readdirSync(join(root, 'test'), { recursive: true })
    .map((name) => `test/${String(name).replaceAll('\\', '/')}`)
    .filter((name) => name.endsWith('.long.test.ts'));
}

/**
 * Selects one of several shares of files; all shares take about the same time. Each file is in exactly one share. The
 * longest file is assigned first, each file to the share with the least total time.
 * @param {readonly string[]} files
 * @param {Record<string, number>} times
 * @param {{ share: number, shares: number }} which `share` is 1 to `shares`
 */
export function shareOf(files, times, { share, shares }) {
  const parts = Array.from({ length: shares }, () => ({ seconds: 0, files: /** @type {string[]} */ ([]) }));
  for (const file of longestFirst(files, times)) {
    const least = parts.reduce((best, part) => (part.seconds < best.seconds ? part : best));
    least.files.push(file);
    least.seconds += secondsOf(file, times);
  }
  return parts[share - 1].files;
}

/**
 * Sorts files by decreasing time, then by name. This avoids one process working on a long file after all others are done.
 * @param {Iterable<string>} files
 * @param {Record<string, number>} times
 */
export function longestFirst(files, times) {
  return [...files].sort((a, b) => secondsOf(b, times) - secondsOf(a, times) || (a < b ? -1 : 1));
}

/**
 * Average number of processors that a run of all fast tests uses on a machine of two cores that does nothing else. It is less
 * than two, because tests of programs wait.
 */
const USUAL_PROCESSORS = 1.2;

/**
 * How many times slower this machine is than the one of the recorded times, at least 1: the product of two factors. The first
 * is the median ratio of measured to recorded processor times, because a slow processor needs more time. The second counts the
 * processors that the tests used on average, because a single core, a limit or other load leaves fewer to them.
 * @param {Record<string, number>} measured processor seconds by file, of a run of all fast tests
 * @param {Record<string, number>} times
 * @param {number} clockSeconds duration of the run by the clock
 */
export function slownessOf(measured, times, clockSeconds) {
  const ratios = Object.entries(measured)
    .filter(([file]) => times[file] !== undefined)
    .map(([file, seconds]) => seconds / times[file])
    .sort((a, b) => a - b);
  const needed = Math.max(1, ratios[Math.floor(ratios.length / 2)] ?? 1);
  const used = Object.values(measured).reduce((sum, seconds) => sum + seconds, 0);
  return used === 0 ? needed : needed * Math.max(1, (USUAL_PROCESSORS * clockSeconds) / used);
}

/**
 * Whether a file that starts now ends before the limit.
 * @param {string} file
 * @param {Record<string, number>} times
 * @param {{ nowSec: number, untilSec: number, slowness: number }} when
 */
export function endsInTime(file, times, { nowSec, untilSec, slowness }) {
  return nowSec + secondsOf(file, times) * slowness <= untilSec;
}
