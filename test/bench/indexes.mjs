#!/usr/bin/env node
// Imports a chain of `npm run make-chain` with and without indexes, and fills the indexes of an imported chain afterwards. Each
// run is a process from its start until all indexes, the search included, are at the tip. Prints processor time, the time of the
// clock, and the ratio to an import without indexes or the operations a second, without the time of a start that fills nothing. An
// operation is a claim, an update, a support or an abandoned claim. The rows of transactions and addresses follow from all
// transactions, so these are printed too. `--threads` also prints the processor time of each thread. Linux only: figures of
// processes come from /proc.
//
//   npm run bench:indexes -- <file> [--turns 3] [--runs import,hub,fill-claims,fill-search,fill-hub] [--beside <checkout>] [--threads]
//
// With `--beside` each run is repeated with another checkout, in turn, and the ratio to it is printed. Both need rows of the same
// versions.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const args = process.argv.slice(2);
const option = (name, fallback) => {
  const at = args.indexOf(`--${name}`);
  return at < 0 ? fallback : args[at + 1];
};
const file = args.find((arg, i) => !arg.startsWith('--') && !/^--(turns|runs|beside)$/.test(args[i - 1]));
if (!file || !existsSync(`${file}.json`)) {
  console.error(
    'usage: npm run bench:indexes -- <file> [--turns 3] [--runs import,hub] [--beside <checkout>] [--threads]\n' +
      '<file> is one that `npm run make-chain` wrote; it needs <file>.json beside it',
  );
  process.exit(2);
}
const summary = JSON.parse(readFileSync(`${file}.json`, 'utf8'));
const turns = Number(option('turns', 3));
const beside = option('beside', null);
const showsThreads = args.includes('--threads');
const { claim, update, support, abandon, channel } = summary.kinds;
const operations = claim + update + support + abandon + channel;

const CLAIMS = ['-txindex', '-addressindex', '-claimindex'];
const HUB = ['-hub', '-hubport=0'];
/** For each run: the chain it starts from, its options, and the run whose time is subtracted or divided by. */
const RUNS = {
  import: { from: null, args: [] },
  'import-claims': { from: null, args: CLAIMS, ratioTo: 'import' },
  hub: { from: null, args: HUB, ratioTo: 'import' },
  start: { from: 'plain', args: [] },
  'fill-claims': { from: 'addresses', args: CLAIMS, startOf: 'start' },
  'fill-search': { from: 'claims', args: HUB, startOf: 'start' },
  'fill-hub': { from: 'plain', args: HUB, startOf: 'start' },
};
/** Options with which the folders of chains are made. */
const FOLDERS = { plain: [], addresses: CLAIMS.slice(0, 2), claims: CLAIMS };
const wanted = option('runs', 'import,hub,start,fill-claims,fill-search,fill-hub').split(',');

const work = mkdtempSync(join(tmpdir(), 'bench-indexes-'));
const running = new Set();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
  rmSync(work, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

/** Ticks per second of the processor times in /proc. Linux uses 100 on every architecture of Node.js. */
const TICKS = 100;
const POLL_MS = 20;

const freePort = async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
};

/** User and system time in seconds, from a `stat` file of /proc. */
function secondsIn(path) {
  const fields = readFileSync(path, 'latin1').split(') ').at(-1).split(' ').map(Number);
  return (fields[11] + fields[12]) / TICKS;
}

/** Processor time of each thread that has used any, in the order in which the threads started. */
function threadsOf(pid) {
  const folder = `/proc/${pid}/task`;
  return readdirSync(folder)
    .map((id) => [readFileSync(join(folder, id, 'comm'), 'utf8').trim(), secondsIn(join(folder, id, 'stat'))])
    .filter(([, seconds]) => seconds >= 0.05)
    .map(([name, seconds]) => `${name} ${seconds.toFixed(2)}`)
    .join(', ');
}

/** Runs the node on a folder until it is at the tip with all its indexes. Returns its times in seconds. */
async function run(checkout, folder, more, isImport) {
  const [port, hubPort] = [await freePort(), await freePort()];
  const began = performance.now();
  const child = spawn(
    process.execPath,
    [
      join(checkout, 'dist/bin/lbcnode.js'),
      ...summary.nodeArgs.lbcnode,
      ...['-listen=0', '-disablewallet', '-checkblockindex=0', '-assumevalid=0', '-server'],
      ...[`-datadir=${folder}`, `-rpcport=${port}`, '-rpcuser=u', '-rpcpassword=p', '-maxtipage=1000000000'],
      ...more.map((arg) => (arg === '-hubport=0' ? `-hubport=${hubPort}` : arg)),
      ...(isImport ? [`-loadblock=${file}`] : []),
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  running.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => (output = (output + chunk).slice(-20_000)));
  const ended = once(child, 'close').then(() => running.delete(child));
  const rpc = async (method) => {
    const answer = await fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from('u:p').toString('base64')}` },
      body: JSON.stringify({ id: 1, method, params: [] }),
    });
    return (await answer.json()).result;
  };
  const isDone = async () => {
    if ((await rpc('getblockcount')) !== summary.blocks) return false;
    const found = Object.entries(await rpc('getindexinfo'));
    if (!found.every(([, { synced }]) => synced)) return false;
    if (!found.some(([name]) => name === 'claimindex')) return true;
    return (await rpc('getclaimindexinfo')).search?.synced !== false;
  };
  while (!(await isDone().catch(() => false))) {
    if (child.exitCode !== null) throw new Error(`the node ended: ${output}`);
    await sleep(POLL_MS);
  }
  const times = {
    clock: (performance.now() - began) / 1000,
    cpu: secondsIn(`/proc/${child.pid}/stat`),
    threads: threadsOf(child.pid),
  };
  await rpc('stop');
  await ended;
  return times;
}

/** Makes the folders that the wanted runs start from. */
async function makeFolders() {
  for (const [name, more] of Object.entries(FOLDERS)) {
    if (!wanted.some((one) => RUNS[one].from === name)) continue;
    await run(root, join(work, name), ['-nodebuglogfile', ...more].filter(Boolean), true).catch((error) => {
      throw new Error(`${name}: ${error.message}`);
    });
  }
}

const sides =
  beside === null
    ? [['here', root]]
    : [
        ['here', root],
        ['beside', beside],
      ];
const results = new Map();
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

async function turn(name, side, checkout) {
  const { from, args: more } = RUNS[name];
  const folder = mkdtempSync(join(work, 'run-'));
  if (from !== null) cpSync(join(work, from), folder, { recursive: true });
  const times = await run(checkout, folder, more, from === null);
  rmSync(folder, { recursive: true });
  const key = `${name} ${side}`;
  results.set(key, [...(results.get(key) ?? []), times]);
  console.error(`${key}: ${times.cpu.toFixed(2)} processor s, ${times.clock.toFixed(2)} s by the clock`);
  if (showsThreads) console.error(`  ${times.threads}`);
}

function print(name, side) {
  const pick = (of, field) => median(results.get(`${of} ${side}`).map((times) => times[field]));
  const { ratioTo, startOf } = RUNS[name];
  for (const [field, unit] of [
    ['cpu', 'processor s'],
    ['clock', 's by the clock'],
  ]) {
    const seconds = pick(name, field);
    let text = `${name} ${side}: ${seconds.toFixed(2)} ${unit}`;
    if (ratioTo && wanted.includes(ratioTo))
      text += `, ${(seconds / pick(ratioTo, field)).toFixed(2)} of ${ratioTo}`;
    if (startOf && wanted.includes(startOf)) {
      const rate = (count) => Math.round(count / (seconds - pick(startOf, field))).toLocaleString('en-US');
      text += `, ${rate(operations)} operations and ${rate(summary.transactions)} transactions a second`;
    }
    if (side === 'here' && beside !== null) {
      const other = median(results.get(`${name} beside`).map((times) => times[field]));
      text += `, ${(seconds / other).toFixed(2)} of the other checkout`;
    }
    console.log(text);
  }
}

console.log(
  `${summary.blocks} blocks, ${summary.transactions} transactions, ${operations} claim operations; medians of ${turns} turns`,
);
await makeFolders();
for (let n = 0; n < turns; n++)
  for (const name of wanted) for (const [side, checkout] of sides) await turn(name, side, checkout);
for (const name of wanted) for (const [side] of sides) print(name, side);
