/** The built node for functional tests: `startRegtest` of dist, typed by the sources. */
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import type * as Testing from '../../../src/testing/index.js';

const built = new URL('../../../dist/testing/index.js', import.meta.url);
if (!existsSync(fileURLToPath(built))) throw new Error('dist/ is missing: run `npm run build` first');

const testing = (await import(built.href)) as typeof Testing;

/** Below the range from which systems choose ports, so that a port stays free until its node listens. */
const [FIRST_PORT, PORTS] = [12_000, 20_000];
/** Each process of tests starts at another port. */
let portsAsked = process.pid * 97;

/** A port of the loopback interface on which no program listens; a different one at each call. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + (portsAsked++ % PORTS);
    const isFree = await new Promise<boolean>((resolve) => {
      const server = createServer();
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
}

/** Time after which an operation counts as hanging. It is long enough for a slow and busy machine. */
export const HANG_MS = 240_000;

/** Wallets of tests have a small key pool: creating two thousand keys takes a part of a second at each start. */
export const startRegtest: typeof testing.startRegtest = (options = {}) =>
  testing.startRegtest({ timeoutMs: HANG_MS, ...options, args: ['-keypool=5', ...(options.args ?? [])] });

export type { RegtestNode, RegtestOptions } from '../../../src/testing/index.js';

/** Path of a built program. */
export const program = (name: string): string =>
  fileURLToPath(new URL(`../../../dist/bin/${name}.js`, import.meta.url));

/** A file of recorded or benchmark data next to the project. If it is absent, prints a line and returns undefined. */
export function shared(path: string): string | undefined {
  const file = fileURLToPath(new URL(`../../../../shared/${path}`, import.meta.url));
  if (existsSync(file)) return file;
  console.log(`skipped: shared/${path} is not there`);
  return undefined;
}

/** A regtest address that pays to the hash of twenty zero bytes. */
export const ADDRESS = 'mfWxJ45yp2SFn7UciZyNpvDKrzbhyfKrY8';
