/** Memory and processor time of another process, sampled during an operation. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/** Resident memory of the process in bytes. */
export function residentBytes(pid: number): number {
  const kib = Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)]).toString());
  return kib * 1024;
}

/** Processor time of the process so far, in milliseconds. Where there is no /proc, the time of the clock. */
export function cpuMs(pid: number): number {
  const path = `/proc/${pid}/stat`;
  if (!existsSync(path)) return performance.now();
  // The name of the process may contain any character, so fields are counted after it: user and system time are the 14th and
  // 15th field, in hundredths of a second.
  const fields = readFileSync(path, 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Maximum resident memory of the process in bytes while `work` ran. */
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

/** Maximum resident memory of the process in bytes since its start or the last `resetPeak`. */
export function peakBytes(pid: number): number {
  const kib = /VmHWM:\s*([0-9]+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
  return Number(kib) * 1024;
}

/** Resets `peakBytes`. */
export function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
