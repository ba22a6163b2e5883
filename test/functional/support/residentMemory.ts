/** Memory of another process, sampled while something is done to it. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

/** Bytes that the process holds in memory. */
export function residentBytes(pid: number): number {
  const kib = Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)]).toString());
  return kib * 1024;
}

/** The most that the process held, in bytes, while `work` ran. */
export async function peakWhile(pid: number, work: () => Promise<void>): Promise<number> {
  let peak = residentBytes(pid);
  const timer = setInterval(() => (peak = Math.max(peak, residentBytes(pid))), 100);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return Math.max(peak, residentBytes(pid));
}

/** The most that the process held since it was started or `resetPeak` was called, in bytes. */
export function peakBytes(pid: number): number {
  const kib = /VmHWM:\s*([0-9]+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
  return Number(kib) * 1024;
}

/** From here on `peakBytes` counts anew. */
export function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
