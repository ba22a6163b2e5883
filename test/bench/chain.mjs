#!/usr/bin/env node
// Imports a chain of `npm run make-chain` into a node, one tenth after the other, and in turns into lbrycrd, if LBRYCRDD names
// it. Prints for each tenth: blocks a second, processor time, peak memory, bytes on disk by kind. At the end: the time of a
// start after kill -9 at the last block, until all blocks are connected again; of a start after a clean stop; and of ten calls.
// A tenth is a whole process, from start to stop; for the last one, until the last block is connected. Every signature is
// verified. Linux only: figures of processes come from /proc.
//
// With `--assumevalid` the chain state is then computed again from the block files (`-reindex-chainstate`), and the last block
// of the chain is given as `-assumevalid`. A header of that block must be known before the blocks are connected, so an import
// from a file cannot measure this.
//
//   npm run bench:chain -- <file> [--tenths 10] [--dbcache 450] [--assumevalid]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, createReadStream, createWriteStream, existsSync, mkdtempSync, openSync } from 'node:fs';
import { readdirSync, readFileSync, readSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const dist = (path) => import(pathToFileURL(join(root, 'dist', path)).href);
const { HEADER_SIZE_BYTES } = await dist('primitives/header.js');
const { parseTransaction, txid } = await dist('primitives/transaction.js');
const { claimIdOf, decodeClaimScript } = await dist('script/claimScript.js');
const { Reader } = await dist('util/reader.js');

const args = process.argv.slice(2);
const option = (name, fallback) => {
  const at = args.indexOf(`--${name}`);
  return at < 0 ? fallback : args[at + 1];
};
const isAssuming = args.includes('--assumevalid');
const file = args.find((arg, i) => !arg.startsWith('--') && !/^--(tenths|dbcache)$/.test(args[i - 1]));
if (!file || !existsSync(`${file}.json`)) {
  console.error(
    'usage: npm run bench:chain -- <file> [--tenths 10] [--dbcache 450] [--assumevalid]\n' +
      '<file> is one that `npm run make-chain` wrote; it needs <file>.json beside it',
  );
  process.exit(2);
}
const summary = JSON.parse(readFileSync(`${file}.json`, 'utf8'));
const parts = Number(option('tenths', 10));
const dbcache = option('dbcache', '450');
const work = mkdtempSync(join(tmpdir(), 'bench-chain-'));
const running = new Set();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
  rmSync(work, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

/** Ticks per second of the processor times in /proc. Linux uses 100 on every architecture of Node.js. */
const TICKS = 100;
const POLL_MS = 50;
const MB = 1 << 20;

/** Offsets of all records of the file, and its end. */
function recordOffsets() {
  const opened = openSync(file, 'r');
  const { size } = statSync(file);
  const head = Buffer.alloc(8);
  const offsets = [];
  for (let at = 0; at < size; at += 8 + head.readUInt32LE(4)) {
    offsets.push(at);
    readSync(opened, head, 0, 8, at);
  }
  closeSync(opened);
  return [...offsets, size];
}

const offsets = recordOffsets();
/** Block numbers at which the parts begin; block 0 is genesis. */
const bounds = Array.from({ length: parts + 1 }, (_, i) => Math.round(((offsets.length - 1) * i) / parts));

/** Writes the records from block `from` up to `to` to a file of their own. */
async function cutPart(from, to) {
  const part = join(work, 'part.dat');
  const range = { start: offsets[from], end: offsets[to] - 1 };
  await pipeline(createReadStream(file, range), createWriteStream(part));
  return part;
}

const freePort = async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
};

function side(name, program, programArgs) {
  const folder = mkdtempSync(join(work, `${name}-`));
  return {
    name,
    program,
    folder,
    peakMb: 0,
    cpuSeconds: 0,
    rates: [],
    args: [...programArgs, `-datadir=${folder}`],
  };
}

const COMMON = ['-listen=0', '-disablewallet', '-checkblockindex=0', '-assumevalid=0', `-dbcache=${dbcache}`];
const ours = side('lbcnode', process.execPath, [
  join(root, 'dist/bin/lbcnode.js'),
  ...summary.nodeArgs.lbcnode,
  ...COMMON,
  '-compat=lbrycrd',
  ...(process.env.LBCNODE_BENCH_ARGS?.split(' ') ?? []),
]);
const sides = [ours];
/** Whether lbrycrd has the option `-assumevaliddepth`. */
let knowsDepth = false;

/** Adds lbrycrd, or says why not. */
async function addReference() {
  const binary = process.env.LBRYCRDD;
  if (!binary) return console.log('LBRYCRDD names no lbrycrd: figures of lbcnode alone');
  const help = spawn(binary, ['-help', '-help-debug'], { stdio: ['ignore', 'pipe', 'ignore'] });
  let shown = '';
  help.stdout.on('data', (chunk) => (shown += chunk));
  await once(help, 'close');
  const theirs = summary.nodeArgs.lbrycrd;
  if (theirs.some((arg) => arg.startsWith('-forkheight')) && !shown.includes('-forkheight'))
    return console.log(
      'This lbrycrd has no -forkheight: figures of lbcnode alone. It follows a chain made with --forks regtest',
    );
  knowsDepth = shown.includes('-assumevaliddepth');
  sides.push(side('lbrycrd', binary, [...theirs, ...COMMON, '-connect=0', '-dnsseed=0', '-listenonion=0']));
}

const statOf = (pid) => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ').map(Number);
/** User and system time are the 12th and 13th fields after the name; those of ended children follow them. */
const cpuOf = (pid) => (statOf(pid)[11] + statOf(pid)[12]) / TICKS;
const childrenCpu = () => (statOf('self')[13] + statOf('self')[14]) / TICKS;

/** Starts the program. `peakMb()` returns its peak resident memory, as the kernel reported it at the last poll. */
function start(of, more) {
  const child = spawn(of.program, [...of.args, ...more], { stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  let output = '';
  let peakKb = 0;
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => (output = (output + chunk).slice(-20_000)));
  const look = () => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      peakKb = Math.max(peakKb, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0));
    } catch {
      // The process has ended.
    }
  };
  const timer = setInterval(look, POLL_MS);
  const ended = once(child, 'close').then(([code]) => {
    clearInterval(timer);
    running.delete(child);
    of.peakMb = Math.max(of.peakMb, peakKb / 1024);
    return code;
  });
  return { child, ended, output: () => output, peakMb: () => peakKb / 1024 };
}

/** Bytes by kind: block files, undo files, the log, and the folders of databases by their names. */
function diskOf(of) {
  const kinds = {};
  const walk = (path, kind) => {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const inner = join(path, entry.name);
      if (entry.isDirectory()) walk(inner, entry.name === 'blocks' ? 'block index' : entry.name);
      else {
        const name = /^blk\d/.test(entry.name) ? 'blocks' : /^rev\d/.test(entry.name) ? 'undo' : kind;
        const shown = entry.name.endsWith('.log') && /debug/.test(entry.name) ? 'log' : name;
        kinds[shown] = (kinds[shown] ?? 0) + statSync(inner).size;
      }
    }
  };
  walk(join(of.folder, 'regtest'), 'other');
  return kinds;
}

const total = (kinds) => Object.values(kinds).reduce((sum, bytes) => sum + bytes, 0);

/** Records the bytes on disk without logs and locks, and returns them by kind as text. */
function noteDisk(of) {
  const disk = diskOf(of);
  of.disk = total(disk) - (disk.log ?? 0) - (disk.lock ?? 0);
  const kinds = Object.entries(disk)
    .sort((a, b) => b[1] - a[1])
    .map(([kind, bytes]) => `${kind} ${(bytes / MB).toFixed(1)}`);
  return `disk ${(total(disk) / MB).toFixed(1)} MB: ${kinds.join(', ')}`;
}

function report(of, what, blocks, seconds, cpuSeconds, peakMb) {
  of.cpuSeconds += cpuSeconds;
  of.rates.push(blocks / seconds);
  console.log(
    `${what} ${of.name.padEnd(8)} ${(blocks / seconds).toFixed(0).padStart(6)} blocks/s ${cpuSeconds.toFixed(2).padStart(8)} ` +
      `processor s ${peakMb.toFixed(0).padStart(5)} MB; ${noteDisk(of)}`,
  );
}

async function importPart(of, what, part, blocks) {
  const [began, cpuBefore] = [performance.now(), childrenCpu()];
  const run = start(of, ['-server=0', `-loadblock=${part}`, '-stopafterblockimport']);
  const code = await run.ended;
  if (code !== 0) throw new Error(`${of.name} ended with ${code}: ${run.output()}`);
  const seconds = (performance.now() - began) / 1000;
  report(of, what, blocks, seconds, childrenCpu() - cpuBefore, run.peakMb());
}

/** Starts it with a server; `rpc` throws while the program does not answer yet. */
async function serve(of, more = []) {
  const port = await freePort();
  const began = performance.now();
  const run = start(of, ['-server', `-rpcport=${port}`, '-rpcuser=u', '-rpcpassword=p', ...more]);
  const authorization = `Basic ${Buffer.from('u:p').toString('base64')}`;
  const rpc = async (method, params = []) => {
    const body = JSON.stringify({ jsonrpc: '1.0', id: 1, method, params });
    const answer = await fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      headers: { authorization },
      body,
    });
    const { result, error } = await answer.json();
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  };
  const elapsed = () => (performance.now() - began) / 1000;
  return { ...run, rpc, elapsed };
}

/** Seconds until the node answers with at least this height. */
async function until(node, height) {
  for (;;) {
    if (node.child.exitCode !== null) throw new Error(`the node ended: ${node.output()}`);
    const tip = await node.rpc('getblockcount').catch(() => -1);
    if (tip >= height) return node.elapsed();
    await sleep(POLL_MS);
  }
}

/** The last part, at whose end the process is killed. */
async function importLast(of, what, part, blocks) {
  const node = await serve(of, [`-loadblock=${part}`]);
  const seconds = await until(node, summary.blocks);
  report(of, what, blocks, seconds, cpuOf(node.child.pid), node.peakMb());
  node.child.kill('SIGKILL');
  await node.ended;
}

/** Returns the arguments of calls for an unspent claim of the latest blocks. */
function findClaim() {
  for (let n = offsets.length - 2; n > 0; n--) {
    const bytes = Buffer.alloc(offsets[n + 1] - offsets[n]);
    const opened = openSync(file, 'r');
    readSync(opened, bytes, 0, bytes.length, offsets[n]);
    closeSync(opened);
    const reader = new Reader(bytes, 8);
    reader.skip(HEADER_SIZE_BYTES);
    for (let left = reader.compactSize(); left > 0; left--) {
      const tx = parseTransaction(reader);
      const claim = decodeClaimScript(tx.outputs[0].script);
      if (claim?.kind !== 'claim' || !/^[a-z0-9-]+$/.test(claim.name.toString())) continue;
      const hex = (hash) => Buffer.from(hash).reverse().toString('hex');
      return { name: claim.name.toString(), id: hex(claimIdOf(txid(tx), 0)), txid: hex(txid(tx)) };
    }
  }
  return { name: 'none', id: '00'.repeat(20), txid: '00'.repeat(32) };
}

async function timeCalls(of, node) {
  const { name, id, txid: made } = findClaim();
  const middle = await node.rpc('getblockhash', [Math.floor(summary.blocks / 2) + 1]);
  const calls = [
    ['getblockcount'],
    ['getbestblockhash'],
    ['getblockhash', [Math.floor(summary.blocks / 2)]],
    ['getblockheader', [middle]],
    ['getblock', [middle]],
    ['gettxout', [made, 0]],
    ['getclaimsforname', [name]],
    ['getvalueforname', [name]],
    ['getclaimbyid', [id]],
    ['getnameproof', [name]],
  ];
  const shown = [];
  for (const [method, params] of calls) {
    const began = performance.now();
    await node.rpc(method, params);
    shown.push(`${method} ${(performance.now() - began).toFixed(1)}`);
  }
  console.log(`${of.name}, first calls, ms: ${shown.join(', ')}`);
}

/**
 * Starts the program after the kill and passes the last part again, because lbrycrd loses blocks whose index was not on disk. If
 * lbrycrd refuses to start, the advice in its message is followed, and this time is included.
 */
async function startKilled(of) {
  const again = `-loadblock=${join(work, 'part.dat')}`;
  let node = await serve(of, [again]);
  try {
    const answered = await until(node, 0);
    of.afterKill = await until(node, summary.blocks);
    console.log(
      `${of.name} after kill -9: answers after ${answered.toFixed(2)} s, has all blocks after ${of.afterKill.toFixed(2)} s`,
    );
  } catch (error) {
    if (of === ours || node.child.exitCode === null) throw error;
    node = await serve(of, ['-reindex-chainstate', again]);
    of.afterKill = await until(node, summary.blocks);
    console.log(
      `${of.name} after kill -9: does not start; with -reindex-chainstate it has all blocks after ${of.afterKill.toFixed(2)} s`,
    );
  }
  return node;
}

async function restarts(of) {
  let node = await startKilled(of);
  await node.rpc('stop');
  await node.ended;
  node = await serve(of);
  of.afterStop = await until(node, summary.blocks);
  console.log(`${of.name} after a clean stop: has all blocks after ${of.afterStop.toFixed(2)} s`);
  const tip = await node.rpc('getbestblockhash');
  if (tip !== summary.tip) throw new Error(`${of.name} is at ${tip}, not at ${summary.tip}`);
  await timeCalls(of, node);
  await node.rpc('stop');
  await node.ended;
  // The size that was recorded before the kill lacks rows that were only in memory then.
  console.log(`${of.name} after the last clean stop: ${noteDisk(of)}`);
}

/**
 * Reconnects all blocks from the block files. Scripts are assumed valid except those of the last block. Blocks of regtest are one
 * second apart, so without `-assumevaliddepth` the assumed-valid block would need more than a million blocks after it.
 */
async function connectAssumed(of) {
  if (of !== ours && !knowsDepth)
    return console.log(
      `${of.name} has no -assumevaliddepth (contrib/lbrycrd), so it is not measured with assumed-valid scripts`,
    );
  const assumed = [`-assumevalid=${summary.tip}`, '-assumevaliddepth=0'];
  const node = await serve(of, ['-reindex-chainstate', ...assumed]);
  const seconds = await until(node, summary.blocks);
  of.assumedSeconds = cpuOf(node.child.pid);
  console.log(
    `${of.name} with assumed-valid scripts, from its block files: ${(summary.blocks / seconds).toFixed(0)} blocks/s ` +
      `${of.assumedSeconds.toFixed(2)} processor s ${node.peakMb().toFixed(0)} MB`,
  );
  await node.rpc('stop');
  await node.ended;
}

/** Processor time of a start and a stop without any block to import, as each tenth but the last has one. */
async function measureStart(of) {
  const before = childrenCpu();
  await start(of, ['-server=0', '-stopafterblockimport']).ended;
  of.startSeconds = childrenCpu() - before;
}

function printRatios([mine, theirs]) {
  const ratio = (pick) => (pick(mine) / pick(theirs)).toFixed(2);
  console.log(
    `lbcnode to lbrycrd: processor time ${ratio((of) => of.cpuSeconds)}, without the starts ` +
      `${ratio((of) => of.cpuSeconds - (parts - 1) * of.startSeconds)}, peak memory ${ratio((of) => of.peakMb)}, ` +
      `disk without logs ${ratio((of) => of.disk)}, start after a stop ${ratio((of) => of.afterStop)}, ` +
      `after kill -9 ${ratio((of) => of.afterKill)}` +
      (theirs.assumedSeconds
        ? `, processor time with assumed-valid scripts ${ratio((of) => of.assumedSeconds)}`
        : ''),
  );
}

await addReference();
console.log(
  `${summary.blocks} blocks, ${summary.transactions} transactions, ${summary.inputs} signatures, ${(summary.bytes / MB).toFixed(1)} MB`,
);
for (let i = 0; i < parts; i++) {
  const part = await cutPart(bounds[i], bounds[i + 1]);
  const what = `${i + 1}/${parts}`.padEnd(6);
  const run = i === parts - 1 ? importLast : importPart;
  for (const of of sides) await run(of, what, part, bounds[i + 1] - bounds[i]);
}
for (const of of sides) {
  await restarts(of);
  if (isAssuming) await connectAssumed(of);
  await measureStart(of);
  console.log(
    `${of.name} in all: ${of.cpuSeconds.toFixed(2)} processor s, start included (${of.startSeconds.toFixed(2)}), peak ${of.peakMb.toFixed(0)} MB, tip ${summary.tip}`,
  );
}
if (sides.length > 1) printRatios(sides);
