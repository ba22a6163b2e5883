/** Memory of another process, sampled while something is done to it. */
import { execFileSync } from 'node:child_process';

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
