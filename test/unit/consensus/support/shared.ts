/** Recorded chains beside the repository. Without them, tests that need them are skipped. */
import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

const CONFORMANCE = new URL('../../../../../shared/conformance/', import.meta.url);

export const hasShared = existsSync(CONFORMANCE);
if (!hasShared) console.log('skipped: the recorded chains are not here');

export function sharedLines(path: string): string[] {
  const text = gunzipSync(readFileSync(new URL(path, CONFORMANCE))).toString('utf8');
  return text.split('\n').filter((line) => line !== '');
}

export function sharedText(path: string): string {
  return readFileSync(new URL(path, CONFORMANCE), 'utf8');
}
