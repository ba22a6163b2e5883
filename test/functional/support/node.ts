/** The built node for functional tests: `startRegtest` of dist, typed by the sources. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type * as Testing from '../../../src/testing/index.js';

const built = new URL('../../../dist/testing/index.js', import.meta.url);
if (!existsSync(fileURLToPath(built))) throw new Error('dist/ is missing: run `npm run build` first');

const testing = (await import(built.href)) as typeof Testing;
export const { freePort } = testing;

/** Wallets of tests have few keys ready: making two thousand takes a part of a second at each start. */
export const startRegtest: typeof testing.startRegtest = (options = {}) =>
  testing.startRegtest({ ...options, args: ['-keypool=5', ...(options.args ?? [])] });

export type { RegtestNode, RegtestOptions } from '../../../src/testing/index.js';

/** Path of a built program. */
export const program = (name: string): string =>
  fileURLToPath(new URL(`../../../dist/bin/${name}.js`, import.meta.url));

/** A file of recorded or benchmark data next to the project; undefined (and a line that says so) when it is absent. */
export function shared(path: string): string | undefined {
  const file = fileURLToPath(new URL(`../../../../shared/${path}`, import.meta.url));
  if (existsSync(file)) return file;
  console.log(`skipped: shared/${path} is not there`);
  return undefined;
}

/** A regtest address that pays to the hash of twenty zero bytes. */
export const ADDRESS = 'mfWxJ45yp2SFn7UciZyNpvDKrzbhyfKrY8';
