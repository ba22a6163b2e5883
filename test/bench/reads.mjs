#!/usr/bin/env node
// Measures read calls without HTTP: opens a node in this process, runs the handlers of RPC methods one after the other with all
// arguments, and writes each answer as text. Prints the microseconds of a call.
//
//   npm run bench:reads -- <file.dat[.gz]> [--keep folder] [--seconds 1] [--only name,...] [--profile documented]
//
// A folder that is kept is used again by the next run. `node --cpu-prof test/bench/reads.mjs ...` writes a profile.
import { createReadStream, createWriteStream, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createGunzip } from 'node:zlib';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const dist = (path) => import(pathToFileURL(join(root, 'dist', path)).href);
const args = process.argv.slice(2);
const option = (name, fallback) => {
  const at = args.indexOf(`--${name}`);
  return at < 0 ? fallback : args[at + 1];
};
const source = args.find((arg, i) => !arg.startsWith('--') && !args[i - 1]?.startsWith('--'));
const kept = option('keep');
const work = kept ?? mkdtempSync(join(tmpdir(), 'bench-reads-'));
if (!kept) process.on('exit', () => rmSync(work, { recursive: true, force: true }));
const seconds = Number(option('seconds', 1));
const only = option('only')?.split(',');
const profile = option('profile', 'documented');
const nodeArgs = [
  '-regtest',
  `-datadir=${work}`,
  '-txindex',
  '-supportdelay=proportional',
  '-listen=0',
  '-dnsseed=0',
  '-printtoconsole=0',
];
nodeArgs.push('-server=0', ...(process.env.LBCNODE_BENCH_ARGS?.split(' ') ?? []));

if (!existsSync(join(work, 'regtest'))) {
  if (!source || !existsSync(source)) {
    console.error(
      'usage: npm run bench:reads -- <file.dat[.gz]> [--keep folder] [--seconds n] [--only names]',
    );
    process.exit(2);
  }
  mkdirSync(work, { recursive: true });
  let file = source;
  if (source.endsWith('.gz')) {
    file = join(work, 'bootstrap.dat');
    await pipeline(createReadStream(source), createGunzip(), createWriteStream(file));
  }
  const program = join(root, 'dist/bin/lbcnode.js');
  const imported = spawnSync(
    process.execPath,
    [program, ...nodeArgs, `-loadblock=${file}`, '-stopafterblockimport'],
    {
      encoding: 'utf8',
    },
  );
  if (imported.status !== 0) throw new Error(imported.stdout + imported.stderr);
}

const { RpcDispatcher } = await dist('rpc/call/dispatch.js');
const { invokeMethod } = await dist('rpc/call/callMethod.js');
const { METHODS } = await dist('rpc/declare/methodTable.js');
const { MethodTable } = await dist('rpc/declare/table.js');
const { jsonChunks, stringifyJson } = await dist('util/json/jsonStream.js');
const { startNode } = await dist('node/node.js');
const { createFileLogger } = await dist('node/log/logger.js');
const { loadOptions, parseCommandLine } = await dist('node/options/options.js');
const { hashToHex } = await dist('util/bytes.js');

// The services of the node are private. The dispatcher receives them when the start is complete.
let services;
const { finishWarmup } = RpcDispatcher.prototype;
RpcDispatcher.prototype.finishWarmup = function () {
  services = this.deps.services;
  return finishWarmup.call(this);
};
const loaded = loadOptions(parseCommandLine(nodeArgs).args);
const log = createFileLogger(loaded);
const node = await startNode(loaded, {
  logger: log.logger,
  requestStop: () => {},
  onFatal: (error) => {
    console.error(error);
    process.exit(1);
  },
  signal: new AbortController().signal,
});

const table = new MethodTable(METHODS);
const ctx = {
  profile,
  services,
  signal: new AbortController().signal,
  outOfTurn: (wait) => wait(),
  walletName: undefined,
  table,
  isDeprecatedEnabled: () => true,
};
async function call(name, params) {
  const answer = await invokeMethod(table.find(name, profile), ctx, params);
  if (params[1] !== 2) return stringifyJson(answer);
  // The answer is generated while it is written.
  let size = 0;
  for await (const chunk of jsonChunks(answer)) size += chunk.length;
  return size;
}

/** Up to `count` of the items, spread evenly. */
const spread = (items, count) =>
  Array.from(
    { length: Math.min(count, items.length) },
    (_, i) => items[Math.floor((i * items.length) / Math.min(count, items.length))],
  );

const { chain } = services;
const tip = chain.chain.height;
const hashAt = (height) => hashToHex(chain.headers.hash(chain.chain.index.active.at(height)));
const names = [];
let listing = '';
for await (const chunk of jsonChunks(await invokeMethod(table.find('getclaimsintrie', profile), ctx, [])))
  listing += chunk;
for (const entry of JSON.parse(listing)) {
  if (entry.claims.length === 1) names.push(entry.claims[0].name);
}
const txids = [];
for (let height = 1; height <= tip; height++)
  txids.push(...JSON.parse(await call('getblock', [hashAt(height)])).tx);
const coins = [];
for (const txid of spread(txids, 4000)) {
  for (const n of [0, 1]) if ((await call('gettxout', [txid, n])) !== 'null') coins.push([txid, n]);
}
const single = [];
for (const name of spread(names, 2000)) {
  const answer = JSON.parse(await call('getclaimsforname', [name]));
  if (answer.claims.length === 1 && answer.claims[0].supports.length === 0) single.push(name);
}
const fullest = chain.chain.index.active;
const largest = Array.from({ length: tip + 1 }, (_, h) => h).sort(
  (a, b) => chain.headers.txCount(fullest.at(b)) - chain.headers.txCount(fullest.at(a)),
)[0];
const heights = spread(
  Array.from({ length: tip }, (_, i) => i + 1),
  400,
);
const past = hashAt(Math.max(1, tip - Number(option('back', 10))));

const cases = {
  getblockcount: [['getblockcount', []]],
  getblockheader: heights.map((height) => ['getblockheader', [hashAt(height)]]),
  'getblockheader raw': heights.map((height) => ['getblockheader', [hashAt(height), false]]),
  gettxout: coins.slice(0, 2000).map((params) => ['gettxout', params]),
  'getrawtransaction raw': spread(txids, 2000).map((txid) => ['getrawtransaction', [txid]]),
  'getrawtransaction decoded': spread(txids, 2000).map((txid) => ['getrawtransaction', [txid, 1]]),
  'getclaimsforname, one name': [['getclaimsforname', [single[0]]]],
  getclaimsforname: single.map((name) => ['getclaimsforname', [name]]),
  'getclaimsforname, past': single.map((name) => ['getclaimsforname', [name, past]]),
  getvalueforname: single.map((name) => ['getvalueforname', [name]]),
  getnameproof: single.map((name) => ['getnameproof', [name]]),
  'getnameproof, past': single.map((name) => ['getnameproof', [name, past]]),
  'getblock 0': [['getblock', [hashAt(largest), 0]]],
  'getblock 1': [['getblock', [hashAt(largest), 1]]],
  'getblock 2': [['getblock', [hashAt(largest), 2]]],
};

for (const [name, calls] of Object.entries(cases)) {
  if (
    only &&
    !only.some((wanted) => name === wanted || name.startsWith(`${wanted} `) || name.startsWith(`${wanted},`))
  )
    continue;
  const once = async (ms) => {
    const began = performance.now();
    const before = process.cpuUsage();
    let done = 0;
    while (performance.now() - began < ms) {
      for (let i = 0; i < 20; i++) await call(...calls[done++ % calls.length]);
      await new Promise((resolve) => setImmediate(resolve));
    }
    const { user, system } = process.cpuUsage(before);
    return { wall: ((performance.now() - began) * 1000) / done, cpu: (user + system) / done };
  };
  const median = (values) =>
    values
      .sort((a, b) => a - b)
      [values.length >> 1].toFixed(1)
      .padStart(9);
  try {
    await once(seconds * 500);
    const times = [];
    for (let i = 0; i < 5; i++) times.push(await once(seconds * 200));
    const [wall, cpu] = [times.map((time) => time.wall), times.map((time) => time.cpu)];
    console.log(`${name.padEnd(28)} ${median(wall)} us, processor time ${median(cpu)} us`);
  } catch (error) {
    console.log(`${name.padEnd(28)} ${error.message.slice(0, 80)}`);
  }
}
await node.stop();
await log.close();
process.exit(0);
