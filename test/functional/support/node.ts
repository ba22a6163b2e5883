/** The built node for functional tests: `startRegtest` of dist, typed by the sources. */
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import type * as Testing from '../../../src/testing/index.js';

const built = new URL('../../../dist/testing/index.js', import.meta.url);
if (!existsSync(fileURLToPath(built))) throw new Error('dist/ is missing: run `npm run build` first');

const testing = (await import(built.href)) as typeof Testing;

/** Where systems choose no ports by themselves, so that one stays free until its node is there. */
const [FIRST_PORT, PORTS] = [12_000, 20_000];
/** Processes of tests begin at different places. */
let portsAsked = process.pid * 97;

/** A port of the loopback interface that no one listens on, another one each time. */
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

/** After this time something hangs. However slow or busy a machine is, nothing that is waited for takes so long. */
export const HANG_MS = 240_000;

/** Wallets of tests have few keys ready: making two thousand takes a part of a second at each start. */
export const startRegtest: typeof testing.startRegtest = (options = {}) =>
  testing.startRegtest({ timeoutMs: HANG_MS, ...options, args: ['-keypool=5', ...(options.args ?? [])] });

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
