#!/usr/bin/env node
// Imports a bootstrap file into a fresh regtest folder with every signature checked and prints seconds, transactions a
// second, the share of each step, peak memory, and the ratio to the signature floor. Where LBRYCRDD names a reference
// binary both run turn by turn.
//
//   npm run bench:import -- <file.dat or file.dat.gz> [--runs 3] [--supportdelay proportional]
import { createReadStream, createWriteStream, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { spawn } from 'node:child_process';
import { cpus, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createGunzip } from 'node:zlib';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const args = process.argv.slice(2);
const option = (name, fallback) => {
  const at = args.indexOf(`--${name}`);
  return at < 0 ? fallback : args[at + 1];
};
const source = args.find((arg, i) => !arg.startsWith('--') && !args[i - 1]?.startsWith('--'));
if (!source || !existsSync(source)) {
  console.error('usage: npm run bench:import -- <file.dat[.gz]> [--runs n] [--supportdelay rule]');
  process.exit(2);
}
const runs = Number(option('runs', 3));
const supportDelay = option('supportdelay', 'proportional');
const work = mkdtempSync(join(tmpdir(), 'bench-import-'));
process.on('exit', () => rmSync(work, { recursive: true, force: true }));

let file = source;
if (source.endsWith('.gz')) {
  file = join(work, 'bootstrap.dat');
  await pipeline(createReadStream(source), createGunzip(), createWriteStream(file));
}

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

/** Ticks per second of the processor times in /proc. Linux uses 100 on every architecture of Node.js. */
const TICKS = 100;

/** Runs a program to its end. Samples its peak resident memory and its processor time from /proc, if that exists. */
async function timed(program, programArgs) {
  const began = performance.now();
  const child = spawn(program, programArgs, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  let peakKb = 0;
  let cpuSeconds = 0;
  const sample = () => {
    try {
      peakKb = Math.max(
        peakKb,
        Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1] ?? 0),
      );
      // User and system time are the 12th and 13th fields after the name, which is in parentheses.
      const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ').at(-1).split(' ');
      cpuSeconds = (Number(fields[11]) + Number(fields[12])) / TICKS;
    } catch {
      // The process has ended, or the system has no /proc.
    }
  };
  const timer = setInterval(sample, 20);
  const code = await new Promise((resolve) => child.once('close', resolve));
  clearInterval(timer);
  return { seconds: (performance.now() - began) / 1000, code, output, cpuSeconds, peakMb: peakKb / 1024 };
}

let run = 0;
async function runOurs() {
  const folder = mkdtempSync(join(work, `ours-${run++}-`));
  const result = await timed(process.execPath, [
    join(root, 'dist/bin/lbcnode.js'),
    '-regtest',
    `-datadir=${folder}`,
    `-loadblock=${file}`,
    '-stopafterblockimport',
    '-assumevalid=0',
    '-listen=0',
    '-server=0',
    '-printtoconsole',
    '-debug=bench',
    `-supportdelay=${supportDelay}`,
    ...(process.env.LBCNODE_BENCH_ARGS?.split(' ') ?? []),
  ]);
  const report = /Import report: (\{.*\})/.exec(result.output);
  if (result.code !== 0 || !report) {
    console.error(result.output.slice(-4000));
    throw new Error(`the node ended with ${result.code}`);
  }
  rmSync(folder, { recursive: true, force: true });
  return { ...result, report: JSON.parse(report[1]) };
}

async function runReference(binary) {
  const folder = mkdtempSync(join(work, `reference-${run++}-`));
  const port = await freePort();
  const result = await timed(binary, [
    '-regtest',
    `-datadir=${folder}`,
    `-loadblock=${file}`,
    '-stopafterblockimport',
    '-assumevalid=0',
    '-checkblockindex=0',
    '-listen=0',
    '-connect=0',
    '-disablewallet',
    `-rpcport=${port}`,
    '-dbcache=450',
  ]);
  rmSync(folder, { recursive: true, force: true });
  if (result.code !== 0)
    throw new Error(`the reference ended with ${result.code}: ${result.output.slice(-2000)}`);
  return result;
}

/** Seconds of one signature verification by the addon on one thread; null without the addon. */
async function measureVerification() {
  const { loadNative } = await import(pathToFileURL(join(root, 'dist/native/binding.js')).href);
  const native = loadNative();
  if (!native) return null;
  const { signHash, generatePrivateKey } = await import(
    pathToFileURL(join(root, 'dist/crypto/ecdsa.js')).href
  );
  // All keys differ, so that a cache of decompressed keys has no effect.
  const items = Array.from({ length: 1500 }, (_, i) => {
    const key = generatePrivateKey();
    const hash = Buffer.alloc(32, i & 255);
    hash.writeUInt32LE(i, 0);
    return { hash, signature: signHash(hash, key), publicKey: native.ecdsa.publicKeyOf(key, true) };
  });
  const times = [];
  for (let round = 0; round < 15; round++) {
    // Processor time, because other programs on the machine must not change the result.
    const began = process.cpuUsage();
    if (native.ecdsa.verifyMany(items).includes(0)) throw new Error('a good signature is refused');
    const { user, system } = process.cpuUsage(began);
    times.push((user + system) / 1e6 / items.length);
  }
  return median(times);
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const reference = process.env.LBRYCRDD;
const ours = [];
const theirs = [];
for (let i = 0; i < runs; i++) {
  ours.push(await runOurs());
  if (reference) theirs.push(await runReference(reference));
}
const best = ours[0].report;
const seconds = median(ours.map((result) => result.seconds));
const verification = await measureVerification();
const threads = Math.min(cpus().length, 16);
console.log(
  `blocks ${best.blocks}, transactions ${best.transactions}, inputs ${best.inputs}, height ${best.height}`,
);
console.log(
  `whole process, median of ${runs}: ${seconds.toFixed(2)} s (${ours.map((r) => r.seconds.toFixed(2)).join(', ')})`,
);
console.log(`transactions/s: ${Math.round(best.transactions / seconds)}`);
const cpuOf = (results) => median(results.map((result) => result.cpuSeconds)).toFixed(2);
console.log(
  `peak memory: ${median(ours.map((result) => result.peakMb)).toFixed(0)} MB; processor time: ${cpuOf(ours)} s`,
);
const total = Object.values(best.steps).reduce((sum, ms) => sum + ms, 0);
for (const [step, ms] of Object.entries(best.steps)) {
  console.log(
    `  ${step.padEnd(10)} ${ms.toFixed(0).padStart(6)} ms ${((100 * ms) / total).toFixed(1).padStart(5)} %`,
  );
}
if (verification !== null) {
  const floor = (best.inputs * verification) / threads;
  console.log(
    `signature floor: ${best.inputs} × ${(verification * 1e6).toFixed(1)} µs ÷ ${threads} threads = ${floor.toFixed(2)} s; ratio ${(seconds / floor).toFixed(2)}`,
  );
}
if (reference) {
  const ratios = ours.map((result, i) => result.seconds / theirs[i].seconds);
  console.log(
    `reference: ${median(theirs.map((r) => r.seconds)).toFixed(2)} s (${theirs.map((r) => r.seconds.toFixed(2)).join(', ')}), peak ${median(theirs.map((r) => r.peakMb)).toFixed(0)} MB, processor time ${cpuOf(theirs)} s`,
  );
  console.log(
    `ratio to the reference, pair by pair: median ${median(ratios).toFixed(2)} (${ratios.map((r) => r.toFixed(2)).join(', ')})`,
  );
}
