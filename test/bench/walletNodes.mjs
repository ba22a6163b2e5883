// Whole nodes with a wallet beside lbrycrd with the same, turn by turn in one run: opening (`loadwallet`), `rescanblockchain`, and
// the memory that the wallet adds. Belongs to wallet.mjs, and runs by itself too:
//
//   LBRYCRDD=<lbrycrdd> node test/bench/walletNodes.mjs [--transactions 5000] [--turns 10] [--chain <file.dat[.gz]>] [--runs 3] [--only kill,memory] [--keep <folder>]
//
// The wallet of each node mines its own chain: as many blocks as it has transactions, each paid to one of 50 addresses. With
// --chain (by default the bench chain, where it is there) the rescan of that chain is measured too. With --keep the folders stay,
// and are used again.
import { spawn } from 'node:child_process';
import {
  copyFileSync,
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createGunzip } from 'node:zlib';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '../..');
const args = process.argv.slice(2);
const option = (name, fallback) => {
  const at = args.indexOf(`--${name}`);
  return at < 0 ? fallback : args[at + 1];
};
const TRANSACTIONS = Number(option('transactions', 5000));
const TURNS = Number(option('turns', 10));
/** Number of starts of each node with the wallet, and of starts without it. */
const RUNS = Number(option('runs', 3));
/** Number of starts of each node for the rows "first call after a start". */
const STARTS = 5;
/** Parts of the measurement. */
const ONLY = option('only', 'times,first,kill,restored,copied,memory,chain').split(',');
const BENCH_CHAIN = join(root, '../shared/bench/bench-40x1000.dat.gz');
const ADDRESSES = 50;
const WALLET = 'history';
const AUTH = 'bench:bench';
/** Idle time before memory is read, in which V8 collects garbage. */
const REST_MS = 12_000;
/** Number of turns before the measured ones, in which code is compiled. The time of the first one is printed separately. */
const WARMUP = 3;

/** Processor time of all threads of a process in milliseconds. */
function cpuMs(pid) {
  let ns = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      ns += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
    } catch {
      // It has ended.
    }
  }
  return ns / 1e6;
}

const residentMb = (pid) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;

const freePort = () =>
  new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });

class Node {
  constructor(name, program, programArgs, folder) {
    Object.assign(this, { name, program, programArgs, folder });
    mkdirSync(folder, { recursive: true });
  }

  run(extra) {
    const common = ['-regtest', `-datadir=${this.folder}`, '-listen=0', ...this.programArgs];
    this.child = spawn(this.program[0], [...this.program.slice(1), ...common, ...extra], { stdio: 'ignore' });
    this.ended = new Promise((done) => this.child.once('close', done));
  }

  async start(extra = []) {
    this.port = await freePort();
    const [user, password] = AUTH.split(':');
    this.run([`-rpcport=${this.port}`, `-rpcuser=${user}`, `-rpcpassword=${password}`, ...extra]);
    while ((await this.call('getblockcount').catch(() => null)) === null) {
      if (this.child.exitCode !== null) throw new Error(`${this.name} does not start`);
      await sleep(50);
    }
  }

  async stop() {
    this.child?.kill('SIGTERM');
    await this.ended;
  }

  async call(method, ...params) {
    const answer = await fetch(`http://127.0.0.1:${this.port}/`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(AUTH)}` },
      body: JSON.stringify({ id: 1, method, params }),
    });
    const { result, error } = await answer.json();
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  /** Milliseconds of the clock and of the processor that a call takes. */
  async timed(method, ...params) {
    const cpu = cpuMs(this.child.pid);
    const started = performance.now();
    await this.call(method, ...params);
    return { wall: performance.now() - started, cpu: cpuMs(this.child.pid) - cpu };
  }
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const least = (values) => Math.min(...values);

/** Runs a measurement on both nodes in turns. Returns the first turn, and the medians of the turns that count. */
async function turnByTurn(nodes, task, turns = TURNS) {
  const seen = nodes.map(() => []);
  for (let turn = 0; turn < turns + WARMUP; turn++)
    for (const [i, node] of nodes.entries()) seen[i].push(await task(node));
  return seen.map((all) => {
    const counted = all.slice(WARMUP);
    return {
      firstCpu: all[0].cpu,
      firstWall: all[0].wall,
      wall: median(counted.map(({ wall }) => wall)),
      leastWall: least(counted.map(({ wall }) => wall)),
      cpu: median(counted.map(({ cpu }) => cpu)),
    };
  });
}

const shown = (value) => value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0).padStart(9);
function print(name, ours, theirs) {
  console.log(`${name.padEnd(44)}${shown(ours)}${shown(theirs)}${(ours / theirs).toFixed(2).padStart(8)}`);
}

function printTimes(name, [ours, theirs]) {
  print(`${name}, wall`, ours.wall, theirs.wall);
  print(`${name}, wall, least`, ours.leastWall, theirs.leastWall);
  print(`${name}, processor`, ours.cpu, theirs.cpu);
  print(`${name}, first, wall`, ours.firstWall, theirs.firstWall);
  print(`${name}, first, processor`, ours.firstCpu, theirs.firstCpu);
}

async function makeHistory(node) {
  await node.start();
  if (!(await node.call('listwalletdir')).wallets.some(({ name }) => name === WALLET)) {
    await node.call('createwallet', WALLET);
    await node.call('unloadwallet', '');
    const perAddress = TRANSACTIONS / ADDRESSES;
    for (let n = 0; n < ADDRESSES; n++)
      await node.call('generatetoaddress', perAddress, await node.call('getnewaddress'));
  }
  await node.stop();
}

/** lbrycrd 0.17 has no `listwalletdir`. */
function withoutListing(node) {
  const call = node.call.bind(node);
  node.call = (method, ...params) =>
    method === 'listwalletdir'
      ? { wallets: existsSync(join(node.folder, 'regtest/wallets', WALLET)) ? [{ name: WALLET }] : [] }
      : call(method, ...params);
  return node;
}

async function measureTimes(nodes) {
  for (const node of nodes) await node.start();
  const opening = await turnByTurn(nodes, async (node) => {
    if ((await node.call('listwallets')).includes(WALLET)) await node.call('unloadwallet', WALLET);
    // Waits until the work after closing is done.
    await sleep(200);
    return node.timed('loadwallet', WALLET);
  });
  printTimes('loadwallet', opening);
  for (const node of nodes) await node.call('unloadwallet', '');
  printTimes('getbalance', await turnByTurn(nodes, (node) => node.timed('getbalance')));
  printTimes(
    `rescan of ${TRANSACTIONS} blocks`,
    await turnByTurn(nodes, (node) => node.timed('rescanblockchain')),
  );
  for (const node of nodes) await node.stop();
}

/** The first calls after a start, whose code V8 has not optimized yet: medians of several starts in turns. */
async function measureFirstCalls(nodes) {
  const calls = [
    { name: 'loadwallet', args: [], call: ['loadwallet', WALLET] },
    { name: `rescan of ${TRANSACTIONS} blocks`, args: [`-wallet=${WALLET}`], call: ['rescanblockchain'] },
  ];
  for (const { name, args: extra, call } of calls) {
    const seen = nodes.map(() => []);
    for (let run = 0; run < STARTS; run++) {
      for (const [i, node] of nodes.entries()) {
        await node.start(extra);
        // Waits until the work after the start is done.
        await sleep(500);
        seen[i].push(await node.timed(...call));
        await node.stop();
      }
    }
    for (const what of ['wall', 'cpu'])
      print(
        `${name}, first of ${STARTS} starts, ${what === 'cpu' ? 'processor' : what}`,
        ...seen.map((all) => median(all.map((one) => one[what]))),
      );
  }
}

/**
 * `loadwallet` in a new process, after the wallet received blocks and its process was killed. Before the kill, the node has time
 * to write its files.
 */
async function measureAfterKill(nodes) {
  const seen = nodes.map(() => []);
  for (let run = 0; run < STARTS; run++) {
    for (const [i, node] of nodes.entries()) {
      await node.start([`-wallet=${WALLET}`]);
      const address = await node.call('getnewaddress');
      // lbcnode writes its cache file some seconds after many changes, lbrycrd its database at intervals of half a second.
      if (run === 0) await node.call('generatetoaddress', 100, address);
      await sleep(run === 0 ? REST_MS : 2000);
      await node.call('generatetoaddress', 20, address);
      await sleep(2000);
      node.child.kill('SIGKILL');
      await node.ended;
      await node.start();
      await sleep(500);
      seen[i].push(await node.timed('loadwallet', WALLET));
      await node.stop();
    }
  }
  for (const what of ['wall', 'cpu'])
    print(
      `loadwallet after a kill, ${STARTS} starts, ${what === 'cpu' ? 'processor' : what}`,
      ...seen.map((all) => median(all.map((one) => one[what]))),
    );
}

/**
 * The first `loadwallet` of a restored backup in a new process, or (`copied`) of a wallet file that was copied without its cache
 * file.
 */
async function measureRestored(nodes, kind) {
  const seen = nodes.map(() => []);
  for (let run = 0; run < STARTS; run++)
    for (const [i, node] of nodes.entries()) {
      const name = `${kind}-${Date.now()}`;
      const folder = join(node.folder, 'regtest/wallets', name);
      const file = i === 0 ? 'wallet.db' : 'wallet.dat';
      await node.start([`-wallet=${WALLET}`]);
      mkdirSync(folder);
      if (kind === 'restored') await node.call('backupwallet', join(folder, file));
      await node.stop();
      if (kind === 'copied')
        copyFileSync(join(node.folder, 'regtest/wallets', WALLET, file), join(folder, file));
      await node.start();
      await sleep(500);
      seen[i].push(await node.timed('loadwallet', name));
      await node.stop();
    }
  const what = kind === 'restored' ? 'a backup' : 'a file without cache';
  for (const time of ['wall', 'cpu'])
    print(
      `loadwallet of ${what}, ${STARTS} starts, ${time === 'cpu' ? 'processor' : time}`,
      ...seen.map((all) => median(all.map((one) => one[time]))),
    );
}

/** Resident memory of nodes that were just started with the wallet, and without any. */
async function measureMemory(nodes) {
  const kinds = { without: ['-disablewallet'], with: [`-wallet=${WALLET}`] };
  const seen = nodes.map(() => ({ without: [], with: [], used: [] }));
  for (let run = 0; run < RUNS; run++) {
    for (const kind of Object.keys(kinds)) {
      for (const node of nodes) await node.start(kinds[kind]);
      await sleep(REST_MS);
      for (const [i, node] of nodes.entries()) seen[i][kind].push(residentMb(node.child.pid));
      if (kind === 'with') {
        for (const node of nodes) {
          await node.call('getbalance');
          await node.call('listtransactions', '*', 100);
          await node.call('listunspent');
          await node.call('getnewaddress');
        }
        await sleep(REST_MS);
        for (const [i, node] of nodes.entries()) seen[i].used.push(residentMb(node.child.pid));
      }
      for (const node of nodes) await node.stop();
    }
  }
  const [ours, theirs] = seen.map((one) => ({
    without: median(one.without),
    adds: median(one.with) - median(one.without),
    addsUsed: median(one.used) - median(one.without),
  }));
  print('memory without a wallet, MiB', ours.without, theirs.without);
  print(`wallet of ${TRANSACTIONS} adds, MiB`, ours.adds, theirs.adds);
  print('the same after calls', ours.addsUsed, theirs.addsUsed);
}

async function measureChain(file, makeNodes, work) {
  let path = resolve(file);
  if (path.endsWith('.gz')) {
    path = join(work, 'bootstrap.dat');
    await pipeline(createReadStream(file), createGunzip(), createWriteStream(path));
  }
  const nodes = makeNodes('chain');
  for (const node of nodes) {
    node.run([`-loadblock=${path}`, '-stopafterblockimport', `-rpcport=${await freePort()}`]);
    await node.ended;
  }
  const heights = [];
  for (const node of nodes) {
    await node.start();
    heights.push(await node.call('getblockcount'));
  }
  if (heights[0] === 0 || heights[0] !== heights[1])
    throw new Error(`${file} gave ${heights.join(' and ')} blocks`);
  printTimes('rescan of the bench chain', await turnByTurn(nodes, (node) => node.timed('rescanblockchain')));
  for (const node of nodes) await node.stop();
}

/** Measures and prints all rows. `binary`: lbrycrd's. */
export async function compareNodes(binary) {
  const keep = option('keep', null);
  const work = keep === null ? mkdtempSync(join(tmpdir(), 'bench-wallet-nodes-')) : resolve(keep);
  const made = [];
  const makeNodes = (name) => {
    const ours = new Node(
      'lbcnode',
      [process.execPath, join(root, 'dist/bin/lbcnode.js')],
      ['-supportdelay=proportional'],
      join(work, `${name}-ours`),
    );
    const theirs = new Node(
      'lbrycrd',
      [binary],
      ['-server', '-dnsseed=0', '-checkblockindex=0'],
      join(work, `${name}-theirs`),
    );
    made.push(ours, theirs);
    return [ours, withoutListing(theirs)];
  };
  try {
    const nodes = makeNodes('history');
    for (const node of nodes) await makeHistory(node);
    console.log(
      `${'milliseconds'.padEnd(44)}${'lbcnode'.padStart(9)}${'lbrycrd'.padStart(9)}${'ratio'.padStart(8)}`,
    );
    if (ONLY.includes('times')) await measureTimes(nodes);
    if (ONLY.includes('first')) await measureFirstCalls(nodes);
    if (ONLY.includes('kill')) await measureAfterKill(nodes);
    for (const kind of ['restored', 'copied']) if (ONLY.includes(kind)) await measureRestored(nodes, kind);
    if (ONLY.includes('memory')) await measureMemory(nodes);
    const chain = option('chain', existsSync(BENCH_CHAIN) ? BENCH_CHAIN : null);
    if (!ONLY.includes('chain')) return;
    if (chain === null) console.log('no bench chain: its rescan is left out');
    else await measureChain(chain, makeNodes, work);
  } finally {
    for (const { child } of made) if (child?.exitCode === null) child.kill('SIGKILL');
    if (keep === null) rmSync(work, { recursive: true, force: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  if (!process.env.LBRYCRDD) {
    console.error(
      'usage: LBRYCRDD=<lbrycrdd> node test/bench/walletNodes.mjs [--transactions n] [--turns n] [--chain file] [--runs n]',
    );
    process.exit(2);
  }
  await compareNodes(process.env.LBRYCRDD);
}
