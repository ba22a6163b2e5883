/**
 * Preloaded by a node and its threads (`--import`). The thread that the file ENDING_FLAG names (file of its program, and its
 * role if it has one) removes this file and ends with an error at once.
 */
import { readFileSync, rmSync } from 'node:fs';
import { basename } from 'node:path';
import { isMainThread, workerData } from 'node:worker_threads';

const { ENDING_FLAG } = process.env;

function named() {
  try {
    return readFileSync(ENDING_FLAG, 'utf8');
  } catch {
    return '';
  }
}

if (!isMainThread) {
  setInterval(() => {
    const { role } = workerData ?? {};
    const name = [basename(process.argv[1] ?? ''), ...(typeof role === 'string' ? [role] : [])].join(' ');
    if (named() !== name) return;
    rmSync(ENDING_FLAG);
    throw new Error(`${name} was ended`);
  }, 10).unref();
}
