/** Memory and processor time of another process, sampled while something is done to it. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/** Bytes that the process holds in memory. */
export function residentBytes(pid: number): number {
  const kib = Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)]).toString());
  return kib * 1024;
}

/** Milliseconds that the process had a processor so far, however many others wanted it; by the clock where there is no /proc. */
export function cpuMs(pid: number): number {
  const path = `/proc/${pid}/stat`;
  if (!existsSync(path)) return performance.now();
  // Behind the name, which may hold anything: user and system time are the 14th and 15th field, in hundredths of a second.
  const fields = readFileSync(path, 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
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

/** From here on `peakBytes` counts again. */
export function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
