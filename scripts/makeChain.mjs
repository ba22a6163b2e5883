#!/usr/bin/env node
// Generates a regtest chain with the main network's proportions as a file of blocks in Core's format (magic, length,
// block). Writes <file>.json beside it: statistics of the chain, and the options that a node needs to follow it. Equal
// options give equal bytes.
//
//   npm run make-chain -- --blocks 20000 --like main --out chain.dat [--seed S] [--density 0.1] [--forks main|regtest]
//
// docs/testing.md explains the options and names the sources of the proportions.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = (name) => import(pathToFileURL(join(root, 'dist/testing/mainLike', name)).href);
const { makeChain } = await dist('makeChain.js');
const { chainForks } = await dist('forks.js');

/** Maximum number of blocks: five times those of the main network. */
const MAX_BLOCKS = 10_000_000;
/** Maximum of `--density`: ten times the transactions of the main network. Arbitrary. */
const MAX_DENSITY = 10;

const USAGE =
  'usage: npm run make-chain -- --blocks <number> --like main --out <file> [--seed <text>] [--density <share>] [--forks main|regtest]';

function fail(message) {
  console.error(`${message}\n${USAGE}`);
  process.exit(2);
}

/** Parses the options; exits with an error message when they are invalid. */
function readOptions() {
  const text = { type: 'string' };
  let values;
  try {
    ({ values } = parseArgs({
      options: { blocks: text, like: text, out: text, seed: text, density: text, forks: text },
    }));
  } catch (error) {
    fail(error.message);
  }
  const { blocks, like, out, seed = 'main', density = '0.1', forks = 'main' } = values;
  if (blocks === undefined || out === undefined) fail('--blocks and --out are needed');
  if (!/^\d{1,8}$/.test(blocks)) fail(`--blocks is a number of blocks, not ${blocks}`);
  if (Number(blocks) > MAX_BLOCKS) fail(`--blocks is at most ${MAX_BLOCKS}, not ${blocks}`);
  if (like !== 'main') fail('--like main is the one kind of chain');
  if (!/^\d+(\.\d+)?$/.test(density))
    fail(`--density is a share of the main network's transactions, not ${density}`);
  if (Number(density) > MAX_DENSITY)
    fail(`--density is a share of the main network's transactions, at most ${MAX_DENSITY}, not ${density}`);
  if (forks !== 'main' && forks !== 'regtest') fail(`--forks is main or regtest, not ${forks}`);
  return { blocks: Number(blocks), out: resolve(out), seed, density: Number(density), forks };
}

const { out, ...options } = readOptions();
try {
  chainForks(options.blocks, options.forks);
} catch (error) {
  fail(error.message);
}
const began = performance.now();
let folder;
let file;
try {
  // Temporary folder beside the output file, where enough space is available: the claim trie of a large chain takes
  // gigabytes.
  folder = mkdtempSync(`${out}.tmp-`);
  file = await open(out, 'w');
} catch (error) {
  fail(`${out} cannot be written: ${error.message}`);
}
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

const step = Math.max(1, Math.ceil(options.blocks / 20));
let summary;
try {
  summary = await makeChain({
    ...options,
    folder,
    write: (bytes) => file.writeFile(bytes),
    onBlock: (height) => {
      if (height % step !== 0) return;
      const rate = Math.round(height / ((performance.now() - began) / 1000));
      process.stderr.write(`${height} of ${options.blocks} blocks, ${rate} a second\n`);
    },
  });
} catch (error) {
  if (typeof error.code === 'string') fail(`${out} cannot be written: ${error.message}`);
  throw error;
} finally {
  await file.close();
}
writeFileSync(`${out}.json`, `${JSON.stringify(summary, null, 2)}\n`);
const seconds = (performance.now() - began) / 1000;
console.log(
  `${summary.blocks} blocks, ${summary.transactions} transactions, ${summary.inputs} signatures, ${summary.bytes} bytes in ` +
    `${seconds.toFixed(1)} s: ${Math.round(summary.blocks / seconds)} blocks a second`,
);
console.log(
  `${summary.emptyBlocks} blocks without transactions; the largest has ${summary.largestBlock}; by kind: ` +
    Object.entries(summary.kinds)
      .map(([kind, count]) => `${kind} ${count}`)
      .join(', '),
);
console.log(`tip ${summary.tip}, claim root ${summary.claimRoot}`);
console.log(`lbcnode ${summary.nodeArgs.lbcnode.join(' ')} -loadblock=${out}`);
console.log(`lbrycrdd ${summary.nodeArgs.lbrycrd.join(' ')} -loadblock=${out}`);
