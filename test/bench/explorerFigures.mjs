// Order statistics, texts of numbers and processor times for the benches of the explorer. Part of explorer.mjs.
import { readdirSync, readFileSync } from 'node:fs';

export const sorted = (values) => [...values].sort((a, b) => a - b);
export const at = (values, share) =>
  sorted(values)[Math.min(values.length - 1, Math.floor(values.length * share))];
export const medianOf = (values) => at(values, 0.5);
export const text = (value) =>
  Math.abs(value) >= 100 ? Math.round(value).toLocaleString('en-US') : value.toPrecision(3);
export const print = (what, goal, measured) => console.log(`| ${what} | ${goal} | ${measured} |`);

/** Processor time of all threads of a process in milliseconds, with a resolution of nanoseconds. */
export function workedMs(pid) {
  const spans = readdirSync(`/proc/${pid}/task`).map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ')[0]),
  );
  return spans.reduce((sum, ns) => sum + ns, 0) / 1e6;
}
