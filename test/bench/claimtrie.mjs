#!/usr/bin/env node
// The claim trie alone, over the real store: grows it to 50,000, 500,000 and 5,000,000 names by blocks of 200 claim
// operations (of 2,000 beyond 500,000 names, to be done in time), and prints per size the time per block of 200, the
// share of bringing rows to disk, resident memory, and the bytes on disk by kind of row.
//
//   npm run bench:claimtrie [-- --sizes 50000,500000,5000000] [--keep folder]
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const dist = (path) => import(pathToFileURL(join(root, 'dist', path)).href);
const { RowStore } = await dist('store/rowStore.js');
const { ClaimStore } = await dist('store/claims/claimStore.js');
const { CLAIM_PREFIX } = await dist('store/claims/claimKeys.js');

const args = process.argv.slice(2);
const option = (name, fallback) => {
  const at = args.indexOf(`--${name}`);
  return at < 0 ? fallback : args[at + 1];
};
const sizes = option('sizes', '50000,500000,5000000').split(',').map(Number);
/** Operations of a block, as the goal has it. */
const OPERATIONS = 200;
/** Up to here by blocks of that many, beyond by blocks of ten times as many. */
const GROWN_BY_SMALL = 500_000;
/** Blocks that are measured at each size. */
const MEASURED = 300;
/** Committed rows are brought to disk when they are this many bytes. */
const DIRTY_BYTES = 64 << 20;

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

const folder = option('keep', mkdtempSync(join(tmpdir(), 'bench-claimtrie-')));
if (!args.includes('--keep')) process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const store = await RowStore.open({ path: join(folder, 'rows'), cacheBytes: 64 << 20 });
const claims = new ClaimStore({ rules, proofWindow: 5000 });

const hash = (text) => createHash('sha256').update(text).digest();
const SYLLABLES =
  'ba be bi bo da de di do fa fi ga go ka ke ki ko la le li lo ma me mi mo na ne ni no pa pe pi po ra re ri ro sa se si so ta te ti to va ve vi vo za zo'.split(
    ' ',
  );
/** A name that reads like one: words of syllables with a dash now and then, some with a number. */
function nameOf(number) {
  const bytes = hash(`name ${number}`);
  let name = number % 5 === 0 ? '@' : '';
  const words = 1 + (bytes[0] % 3);
  for (let word = 0, at = 1; word < words; word++) {
    if (word > 0) name += '-';
    for (let i = 2 + (bytes[at++] % 3); i > 0; i--) name += SYLLABLES[bytes[at++] % SYLLABLES.length];
  }
  return Buffer.from(name + (words === 1 ? number.toString(36) : ''));
}

let height = 0;
let names = 0;
let operations = 0;
/** A sample of claims that can be updated, supported or spent. */
const alive = [];
let random = 1;
const pick = (count) => {
  random = (Math.imul(random, 1103515245) + 12345) >>> 0;
  return random % count;
};

function transaction(block, spends, outputs) {
  const txid = hash(`tx ${height} ${block.length}`);
  block.push({ txid, txOffset: 120 + block.length * 300, spends, outputs });
  return txid;
}

function newClaim(block) {
  const name = nameOf(names++);
  const amount = BigInt(1000000 + pick(100000000));
  const txid = transaction(block, [], [{ n: 0, kind: 'claim', hasMetadata: false, name, amount }]);
  const claim = {
    txid,
    n: 0,
    coinHeight: height,
    kind: 'claim',
    hasMetadata: false,
    name,
    amount,
    claimId: idOf(txid),
  };
  if (alive.length < 20000) alive.push(claim);
  else alive[pick(alive.length)] = claim;
}

function idOf(txid) {
  const first = createHash('sha256').update(txid).update(Buffer.alloc(4)).digest();
  return createHash('ripemd160').update(first).digest();
}

function update(block) {
  const claim = alive[pick(alive.length)];
  if (claim.coinHeight === height) return newClaim(block);
  const { name, amount, claimId } = claim;
  const spend = { ...claim };
  claim.txid = transaction(
    block,
    [spend],
    [{ n: 0, kind: 'update', hasMetadata: false, name, claimId, amount }],
  );
  claim.coinHeight = height;
  claim.kind = 'update';
}

function support(block) {
  const { name, claimId } = alive[pick(alive.length)];
  transaction(block, [], [{ n: 0, kind: 'support', hasMetadata: false, name, claimId, amount: 5000000n }]);
}

function abandon(block) {
  const at = pick(alive.length);
  const claim = alive[at];
  if (claim.coinHeight === height) return newClaim(block);
  transaction(block, [claim], []);
  alive[at] = alive[alive.length - 1];
  alive.pop();
}

async function connect(block) {
  height++;
  const rows = store.begin();
  await claims.connect(rows, { height, transactions: block });
  store.commit(rows);
  operations += block.length;
  if (store.dirtyBytes > DIRTY_BYTES) await flush();
}

let flushMs = 0;
async function flush() {
  const began = performance.now();
  await store.flush();
  for (const { gte, lt } of claims.prunable(height)) await store.dropRange(gte, lt);
  flushMs += performance.now() - began;
}

async function grow(to) {
  const began = performance.now();
  while (names < to) {
    const block = [];
    height++;
    for (let i = names < GROWN_BY_SMALL ? OPERATIONS : 10 * OPERATIONS; i > 0; i--) newClaim(block);
    height--;
    await connect(block);
  }
  return (performance.now() - began) / 1000;
}

async function measure() {
  const times = [];
  await flush();
  const flushedBefore = flushMs;
  for (let i = 0; i < MEASURED; i++) {
    const block = [];
    height++;
    for (let op = 0; op < OPERATIONS; op++) {
      const kind = op % 10;
      if (kind < 5) newClaim(block);
      else if (kind < 7) update(block);
      else if (kind < 9) support(block);
      else abandon(block);
    }
    height--;
    const began = performance.now();
    const flushed = flushMs;
    await connect(block);
    times.push(performance.now() - began - (flushMs - flushed));
  }
  await flush();
  const whole = times.reduce((sum, time) => sum + time, 0);
  times.sort((a, b) => a - b);
  return {
    mean: whole / times.length,
    median: times[times.length >> 1],
    flush: (flushMs - flushedBefore) / times.length,
  };
}

const residentMb = () =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? 0) / 1024;
const peakMb = () =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? 0) / 1024;

async function diskSizes() {
  await store.flush();
  for (const { gte, lt } of claims.prunable(height)) await store.dropRange(gte, lt);
  await store.compact();
  const sizes = {};
  let total = 0;
  for (const [what, prefix] of Object.entries(CLAIM_PREFIX)) {
    const bytes = await store.approximateSize(prefix, String.fromCharCode(prefix.charCodeAt(0) + 1));
    if (bytes > 0) sizes[what] = bytes;
    total += bytes;
  }
  return { sizes, total };
}

let first = 0;
for (const size of sizes) {
  const seconds = await grow(size);
  const { mean, median, flush: flushing } = await measure();
  first ||= mean + flushing;
  const { sizes: kinds, total } = await diskSizes();
  const perOperation = (bytes) => (bytes / operations).toFixed(0);
  console.log(
    `${size} names: ${mean.toFixed(1)} ms a block of ${OPERATIONS} operations (median ${median.toFixed(1)}) and ${flushing.toFixed(1)} ms to bring it to disk, ${((mean + flushing) / first).toFixed(2)} times the first size; grown in ${seconds.toFixed(0)} s; ${residentMb().toFixed(0)} MB resident, peak ${peakMb().toFixed(0)} MB`,
  );
  console.log(
    `  disk: ${(total / 1e6).toFixed(1)} MB, ${perOperation(total)} bytes an operation of ${operations}: ${Object.entries(
      kinds,
    )
      .map(([what, bytes]) => `${what} ${perOperation(bytes)}`)
      .join(', ')}`,
  );
}
await store.close();
