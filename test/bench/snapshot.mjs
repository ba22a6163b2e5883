#!/usr/bin/env node
// Measures the time from a start to the first answer at the tip: with a full import of a bootstrap file, and from a snapshot of
// the same block, in turns; then the time of the background validation of the blocks. With -claimindex, whose rows the snapshot
// contains.
//
//   npm run bench:snapshot -- <bootstrap file[.gz]> [turns] [-- options of the node]
import { createReadStream, createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createGunzip } from 'node:zlib';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const { startRegtest } = await import(pathToFileURL(join(root, 'dist/testing/index.js')).href);

const marks = process.argv.indexOf('--');
const own = process.argv.slice(2, marks < 0 ? undefined : marks);
const nodeArgs = marks < 0 ? ['-supportdelay=proportional'] : process.argv.slice(marks + 1);
const [source, turns = '3'] = own;
if (!source) {
  console.error('usage: npm run bench:snapshot -- <bootstrap file[.gz]> [turns] [-- options of the node]');
  process.exit(1);
}
const work = mkdtempSync(join(tmpdir(), 'bench-snapshot-'));
process.on('exit', () => rmSync(work, { recursive: true, force: true }));

/** Ticks of a second in `/proc/<pid>/stat`. Source: proc(5). */
const TICKS = 100;
/** Processor time of a process so far, in seconds. */
function processorSec(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

/** Runs `use` on a node. Returns the seconds and the processor time since the start of the process. */
async function measured(args, use) {
  const began = performance.now();
  const dataDir = mkdtempSync(join(work, 'node-'));
  const node = await startRegtest({
    dataDir,
    args: ['-claimindex', ...nodeArgs, ...args],
    timeoutMs: 3_600_000,
  });
  try {
    const out = await use(node);
    return { ...out, seconds: (performance.now() - began) / 1000, cpu: processorSec(node.pid), node };
  } catch (error) {
    await node.stop();
    throw error;
  }
}

async function until(question) {
  while (!(await question())) await sleep(20);
}

let file = source;
if (source.endsWith('.gz')) {
  file = join(work, 'bootstrap.dat');
  await pipeline(createReadStream(source), createGunzip(), createWriteStream(file));
}
const snapshot = join(work, 'chain.snapshot');
const results = { full: [], loaded: [] };
let dump = null;
for (let turn = 0; turn < Number(turns); turn++) {
  const full = await measured([`-loadblock=${file}`], async (node) => {
    await until(() => node.output().includes('All blocks are imported'));
    return { height: await node.rpc('getblockcount') };
  });
  if (dump === null) {
    const began = performance.now();
    dump = await full.node.rpc('dumpsnapshot', [snapshot]);
    console.log(
      `dump of block ${dump.height}: ${((performance.now() - began) / 1000).toFixed(2)} s, ${(dump.bytes / (1 << 20)).toFixed(1)} MiB, rows ${dump.parts.map(({ name, rows }) => `${name} ${rows}`).join(', ')}`,
    );
  }
  await full.node.stop();
  const load = [`-loadsnapshot=${snapshot}`, `-snapshothash=${dump.hash}`];
  const loaded = await measured(load, async (node) => ({ height: await node.rpc('getblockcount') }));
  await loaded.node.stop();
  if (loaded.height !== full.height) throw new Error(`tips differ: ${full.height} and ${loaded.height}`);
  results.full.push(full);
  results.loaded.push(loaded);
  console.log(
    `turn ${turn + 1}: full import ${full.seconds.toFixed(2)} s (processor ${full.cpu.toFixed(2)} s), from the snapshot ${loaded.seconds.toFixed(2)} s (processor ${loaded.cpu.toFixed(2)} s)`,
  );
}
const ratio = (what) =>
  median(results.loaded.map((one) => one[what])) / median(results.full.map((one) => one[what]));
console.log(
  `usable from the snapshot in ${ratio('seconds').toFixed(3)} of the time of the full import (processor time ${ratio('cpu').toFixed(3)})`,
);

const validated = await measured(
  [`-loadsnapshot=${snapshot}`, `-snapshothash=${dump.hash}`, `-loadblock=${file}`],
  async (node) => {
    await until(async () => (await node.rpc('getblockchaininfo')).snapshot === undefined);
    return {};
  },
);
await validated.node.stop();
console.log(
  `background validation from the same file: ${validated.seconds.toFixed(2)} s (processor ${validated.cpu.toFixed(2)} s)`,
);
