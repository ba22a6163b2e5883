#!/usr/bin/env node
// Measures only the claim trie, on the real store: grows it to 50,000, 500,000 and 5,000,000 names and measures, at each size,
// 300 blocks of 200 claim operations (half new claims, a fifth updates, a fifth supports, a tenth abandoned). Prints the time
// of a block, the same with its share of the flush of all of them, the time to drop history beyond the proof window (once in
// 1,024 blocks), the peak of resident memory of this process (the kernel's count, with mapped files), and the bytes on disk by
// kind of row. The blocks are made by another process (claimBlocks.mjs). Between the sizes it grows by blocks of 1,000 new
// claims, to save time; they are not measured.
//
// Growing takes a quarter of an hour, in which the speed of a shared machine may change by half. So the ratio is to a trie of
// the first size in a process of its own, which is measured again in turns of 30 blocks each. The process that is not measured
// is stopped, with the background work of its database.
//
//   npm run bench:claimtrie [-- --sizes 50000,500000,5000000] [--keep folder]
//
// The next run continues with a folder that is kept, so it can measure a large trie again without growing it.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const dist = (path) => import(pathToFileURL(join(root, 'dist', path)).href);
const { RowStore } = await dist('store/rows/rowStore.js');
const { ClaimStore } = await dist('store/claims/claimStore.js');
const { CLAIM_PREFIX, RANGE_KINDS, RECENT_SHARES } = await dist('store/claims/rows/claimKeys.js');

const args = process.argv.slice(2);
const option = (name, fallback) => {
  const at = args.indexOf(`--${name}`);
  return at < 0 ? fallback : args[at + 1];
};
const sizes = option('sizes', '50000,500000,5000000').split(',').map(Number);
/** Number of claim operations in a measured block. */
const OPERATIONS = 200;
/** Up to this number of names the trie grows by blocks of this number of claims, above it by blocks of five times as many. */
const GROWN_BY_SMALL = 50_000;
/** Number of measured blocks for each size, and number of blocks in a turn. */
const MEASURED = 300;
const TURN = 30;
/** If no table file has changed for this time, the merges of the database are finished. */
const QUIET_MS = 2000;
/** Number of names by which a kept trie may exceed its size. Arbitrary, enough for several measurements. */
const GROWN_BY_MEASURING = 500_000;
/** Committed rows are flushed when they take this many bytes. */
const DIRTY_BYTES = 64 << 20;
/** Default sizes of a node. */
const DATABASE_CACHE_BYTES = 32 << 20;
const CLAIM_CACHE_BYTES = 224 << 20;

const rules = {
  originalExpiration: 262974,
  extendedExpiration: 2102400,
  extendedExpirationForkHeight: 1,
  normalizationForkHeight: 1,
  takeoverWorkaroundMin: -1,
  takeoverWorkaroundMax: -1,
  allClaimsForkHeight: 2,
  supportDelay: 'proportional',
};

const schedule = `/proc/self/task/${process.pid}/schedstat`;
const folder = option('keep') ?? mkdtempSync(join(tmpdir(), 'bench-claimtrie-'));
if (!args.includes('--keep')) process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const store = await RowStore.open({
  path: join(folder, 'rows'),
  cacheBytes: DATABASE_CACHE_BYTES,
  recent: { shares: RECENT_SHARES, maxBytes: CLAIM_CACHE_BYTES },
  rangeKinds: RANGE_KINDS,
});
const claims = new ClaimStore({ rules, proofWindow: 5000 });

const maker = fork(join(dirname(fileURLToPath(import.meta.url)), 'claimBlocks.mjs'), {
  serialization: 'advanced',
});
/** Resolvers of the calls that `maker` has not answered yet, the oldest first. */
const asked = [];
maker.on('message', (value) => asked.shift()(value));

let height = 0;
let names = 0;
let operations = 0;

/** Calls the process that makes the blocks. It answers calls in their order. */
function ask(message) {
  maker.send(message);
  return new Promise((resolve) => asked.push(resolve));
}

async function connect({ packed, operations: count }) {
  height++;
  const rows = store.begin();
  const ordinary = claims.connectOrdinary(rows, height, () => Buffer.from(packed));
  await (ordinary
    ? ordinary.write()
    : claims.connect(rows, { height, transactions: await ask({ transactions: height }) }));
  store.commit(rows);
  operations += count;
  if (store.dirtyBytes > DIRTY_BYTES) await flush();
}

let flushMs = 0;
let dropMs = 0;
/** Processor time of the main thread in flushes. */
let flushProcessorMs = 0;
async function flush() {
  const began = performance.now();
  const processorBefore = processorMs();
  await store.flush();
  const flushed = performance.now();
  flushMs += flushed - began;
  for (const { gte, lt } of claims.prunable(height)) {
    await store.dropRange(gte, lt);
    store.packRange(gte, lt);
  }
  dropMs += performance.now() - flushed;
  flushProcessorMs += processorMs() - processorBefore;
}

async function grow(to) {
  const began = performance.now();
  const make = (from, at) =>
    ask({ make: 'new', count: from < GROWN_BY_SMALL ? OPERATIONS : 5 * OPERATIONS, height: at });
  let next = names < to ? make(names, height + 1) : null;
  while (next !== null) {
    const block = await next;
    const before = names;
    names = block.names;
    // The next block is made while this one is connected.
    next = names < to ? make(names, height + 2) : null;
    await connect(block);
    if (Math.floor(names / 250_000) > Math.floor(before / 250_000))
      process.stderr.write(`  ${names} names, ${residentMb().toFixed(0)} MB resident\n`);
  }
  return (performance.now() - began) / 1000;
}

/** Connects the next `count` blocks. Returns the time of each and of the flushes. `ends`: also flushes the remaining rows. */
async function measureBlocks(count, ends) {
  const times = [];
  let processor = 0;
  const flushedBefore = flushMs;
  const droppedBefore = dropMs;
  for (let i = 0; i < count; i++) {
    const block = await ask({ make: 'mixed', count: OPERATIONS, height: height + 1 });
    names = block.names;
    const began = performance.now();
    const processorBefore = processorMs();
    const aside = flushMs + dropMs;
    const processorAside = flushProcessorMs;
    await connect(block);
    times.push(performance.now() - began - (flushMs + dropMs - aside));
    processor += processorMs() - processorBefore - (flushProcessorMs - processorAside);
  }
  if (ends) await flush();
  return { times, processor, flush: flushMs - flushedBefore, drop: dropMs - droppedBefore };
}

/** Waits until the database no longer merges table files, because merges after the growth are not part of the measurement. */
async function merged() {
  await flush();
  for (let before = ''; before !== store.tableStats(); await sleep(QUIET_MS)) before = store.tableStats();
}

/** Measures this trie. If `other` is not null, measures the trie of that process in turns with this one. */
async function measure(other) {
  await merged();
  const [own, others] = [[], []];
  for (let done = 0; done < MEASURED; done += TURN) {
    const ends = done + TURN >= MEASURED;
    if (other) others.push(await theirTurn(other, ends));
    own.push(await measureBlocks(TURN, ends));
  }
  return { own: figuresOf(own), others: other && figuresOf(others) };
}

function figuresOf(turns) {
  const times = turns.flatMap((turn) => turn.times).sort((a, b) => a - b);
  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
  return {
    median: times[times.length >> 1],
    // The kernel adds to this time in steps of some milliseconds, so only the mean is meaningful.
    processor: sum(turns.map((turn) => turn.processor)) / times.length,
    p95: times[Math.floor(times.length * 0.95)],
    whole: (sum(times) + sum(turns.map((turn) => turn.flush))) / times.length,
    dropSeconds: sum(turns.map((turn) => turn.drop)) / 1000,
  };
}

/** Resumes the other process for one turn. This process is stopped meanwhile. */
async function theirTurn(other, ends) {
  other.kill('SIGCONT');
  const answer = once(other, 'message');
  other.send({ ends });
  const [turn] = await answer;
  other.kill('SIGSTOP');
  return turn;
}

/** Starts a process with a trie of the first size. It is stopped except during its turns. */
async function startOther() {
  const other = fork(fileURLToPath(import.meta.url), ['--sizes', String(sizes[0]), '--other']);
  await once(other, 'message');
  other.kill('SIGSTOP');
  return other;
}

/** Runs in that process: grows a trie, and measures a turn of blocks for each message of the parent, which is stopped meanwhile. */
async function beOther() {
  await grow(sizes[0]);
  await merged();
  process.on('message', async ({ ends }) => {
    process.kill(process.ppid, 'SIGSTOP');
    const turn = await measureBlocks(TURN, ends).finally(() => process.kill(process.ppid, 'SIGCONT'));
    process.send(turn);
  });
  process.on('disconnect', () => process.exit(0));
  process.send('grown');
}

/** Processor time of the main thread in milliseconds. It depends less on other programs than the time by the clock. */
const processorMs = () => Number(readFileSync(schedule, 'utf8').split(' ', 1)[0]) / 1e6;

const residentMb = () =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? 0) / 1024;
const peakMb = () =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? 0) / 1024;

/** Bytes of the database's files. */
function filesBytes() {
  const path = join(folder, 'rows');
  return readdirSync(path).reduce((sum, name) => sum + statSync(join(path, name)).size, 0);
}

/** Bytes on disk by kind of row, after all merges. */
async function diskSizes() {
  await store.compact();
  const sizes = {};
  for (const [what, prefix] of Object.entries(CLAIM_PREFIX)) {
    const bytes = await store.approximateSize(prefix, String.fromCharCode(prefix.charCodeAt(0) + 1));
    if (bytes > 0) sizes[what] = bytes;
  }
  return sizes;
}

const ms = (value) => value.toFixed(1);

const stateFile = join(folder, 'state.json');
const toJson = (_, value) => {
  if (typeof value === 'bigint') return { big: String(value) };
  return value?.type === 'Buffer' ? { hex: Buffer.from(value.data).toString('hex') } : value;
};
const fromJson = (_, value) => {
  if (typeof value?.big === 'string') return BigInt(value.big);
  return typeof value?.hex === 'string' ? Buffer.from(value.hex, 'hex') : value;
};

/** Continues with a kept folder of an earlier run. */
async function resume() {
  if (!existsSync(stateFile)) return;
  const state = JSON.parse(readFileSync(stateFile, 'utf8'), fromJson);
  ({ height, names, operations } = state);
  await ask({ restore: { names, random: state.random, alive: state.alive } });
}

async function main() {
  await resume();
  for (const size of sizes.filter((wanted) => wanted >= names - GROWN_BY_MEASURING)) {
    const seconds = await grow(size);
    const other = size === sizes[0] ? null : await startOther();
    const { own, others } = await measure(other);
    other?.kill('SIGCONT');
    other?.disconnect();
    await merged();
    const asTheyLie = filesBytes();
    const kinds = await diskSizes();
    const perOperation = (bytes) => (bytes / operations).toFixed(0);
    const rows = Object.entries(kinds).map(([what, bytes]) => `${what} ${perOperation(bytes)}`);
    const ratio = others
      ? `${(own.median / others.median).toFixed(2)}, ${(own.processor / others.processor).toFixed(2)} and ` +
        `${(own.whole / others.whole).toFixed(2)} times that of ${sizes[0]} names turn by turn (${ms(others.median)}, ` +
        `${ms(others.processor)} and ${ms(others.whole)} ms), `
      : '';
    console.log(
      `${size} names, block ${height}: a block of ${OPERATIONS} operations takes ${ms(own.median)} ms (median; p95 ` +
        `${ms(own.p95)}), ${ms(own.processor)} ms of processor time of the main thread (mean), with bringing it to disk ` +
        `${ms(own.whole)} ms (mean), ${ratio}` +
        `peak ${peakMb().toFixed(0)} MB resident (now ${residentMb().toFixed(0)}); grown in ${seconds.toFixed(0)} s` +
        (own.dropSeconds > 0.1 ? `; dropping history took ${own.dropSeconds.toFixed(1)} s` : ''),
    );
    console.log(
      `  on disk ${perOperation(asTheyLie)} bytes an operation of ${operations} as the files lie, ` +
        `${perOperation(filesBytes())} merged: ${rows.join(', ')}`,
    );
  }
  await store.close();
  writeFileSync(stateFile, JSON.stringify({ height, operations, ...(await ask({ state: true })) }, toJson));
  maker.disconnect();
}

await (args.includes('--other') ? beOther() : main());
