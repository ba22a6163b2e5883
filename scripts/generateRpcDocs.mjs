#!/usr/bin/env node
// Writes the files derived from the declarations of the RPC methods of node and daemon and from the options table: the
// references in docs/, the client's types, the command line's conversion table, manual pages, completion and the sample
// configuration. Needs a built dist/. With --check it only compares.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const { operatorFiles } = await import(
  new URL('../dist/bin/generate/operatorFiles.js', import.meta.url).href
);
const { methodErrorsText } = await import('./rpcErrors.mjs');
const { generatedFiles } = await import(
  new URL('../dist/node/options/optionsGenerated.js', import.meta.url).href
);

const { generatedDaemonFiles } = await import(
  new URL('../dist/daemon/api/generated.js', import.meta.url).href
);
const { daemonOperatorFiles } = await import(
  new URL('../dist/daemon/main/operatorFiles.js', import.meta.url).href
);

let stale = 0;
for (const [name, text] of Object.entries({
  ...generatedFiles(),
  ...operatorFiles(),
  ...generatedDaemonFiles(),
  ...daemonOperatorFiles(),
  'src/rpc/reference/methodErrors.ts': methodErrorsText(root),
})) {
  const path = join(root, name);
  let present = null;
  try {
    present = readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  if (present === text) continue;
  stale++;
  console.log(`${process.argv.includes('--check') ? 'stale' : 'written'}: ${name}`);
  if (process.argv.includes('--check')) continue;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
if (process.argv.includes('--check') && stale > 0) process.exit(1);
