#!/usr/bin/env node
// The goals of the explorer, each beside its anchor in one run: size of the first visit, of script and style; answers on a long
// chain against a short one; a name with 5,000 claims and a transaction with 250 of them; a thousand viewers; a flood beside an
// import; memory and processor time of the thread; the time until an open page shows a takeover.
//
//   npm run bench:explorer [-- --long 1100000 --folder <data> --viewers 1000 --blocks 15 --file <bootstrap.dat[.gz]>] [--flood-turns 7] [--flood-ways <ways>] [--rows visit,long,…]
//
// The values of --flood-ways are `sync`, `loadblock` and `reindex`, separated by commas. --long is the number of blocks of the long
// chain. --folder is a data folder with this chain from an earlier run. If LBRYCRDD names a reference binary, it also gets the crowded
// chain, and both programs are measured in turns. Rows: visit, paint, long, address, crowd, viewers, flood, idle, takeover. --turns: of the row long.
import { spawn } from 'node:child_process';
import { createReadStream, createWriteStream, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync, createGunzip, gzipSync } from 'node:zlib';
import { claimPrefixes, OutputMaker } from './crowdedNames.mjs';
import { writeEmptyChain } from './emptyChain.mjs';
import { Crowd, measureCrowd } from './explorerCrowd.mjs';
import { at, print, sorted, text, workedMs } from './explorerFigures.mjs';
import { timedCall, timedRequest } from './explorerReference.mjs';
import { dist } from './searchClaims.mjs';

const { startRegtest } = await dist('testing/index.js');
const here = dirname(fileURLToPath(import.meta.url));
const args = process.argv.slice(2);
const option = (name, fallback) => {
  const at = args.indexOf(`--${name}`);
  return at < 0 ? fallback : args[at + 1];
};
const LONG = Number(option('long', 1_100_000));
const FOLDER = option('folder', '');
const SHORT = 1000;
const VIEWERS = Number(option('viewers', 1000));
const BLOCKS = Number(option('blocks', 15));
const wanted = option('rows', '').split(',').filter(Boolean);
const FILE = option('file', join(here, '../../../shared/bench/bench-40x1000.dat.gz'));
const ADDRESS = 'mfWxJ45yp2SFn7UciZyNpvDKrzbhyfKrY8';
const TICK_MS = 10;
/** Number of turns of the row "long". */
const TURNS = Number(option('turns', 5));
/** Number of transactions of the address of the row "address". */
const ADDRESS_TRANSACTIONS = 100_000;
/** Goals of pages whose data grows with the chain. */
const GOALS = { charts: '≤ 100 ms', address: '≤ 50 ms' };
/** Number of measured answers of one kind in a turn. The 95th percentile leaves out the five slowest. */
const ASKED = 100;
/** Number of answers before the measured ones, which are not measured. */
const WARM = 20;
const METRICS = ['difficulty', 'hashrate', 'interval', 'transactions', 'names', 'claims', 'amount'];
const TAKEOVERS = 10;
const PAINTS = 9;
/** Number of pairs of the row "flood": a sync without and one with the flood. */
const FLOOD_TURNS = Number(option('flood-turns', 7));

/** Ways in which the flooded node gets its blocks: `sync`, `loadblock`, `reindex`. */
const FLOOD_WAYS = option('flood-ways', 'sync').split(',');

/** Processor time of a process in milliseconds, and its resident memory in bytes. */
function usageOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1].split(' ');
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  return {
    cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS,
    bytes: Number(/VmRSS:\s+(\d+)/.exec(status)[1]) * 1024,
  };
}

let visitors = 0;
/** Starts a node whose explorer trusts X-Forwarded-For from this machine, so that each request can have another address. */
async function startNode(more = [], options = {}) {
  const own = ['-explorer', '-explorerport=0', '-explorerproxy=127.0.0.1', '-metrics', '-listen=0'];
  const node = await startRegtest({ args: [...own, ...more], ...options });
  const port = Number(/open http:\/\/localhost:(\d+)\/ in a browser/.exec(node.output())[1]);
  const base = `http://127.0.0.1:${port}`;
  const ask = async (path, encoding = 'br') => {
    const n = visitors++;
    const headers = { 'X-Forwarded-For': `10.9.${n >> 8}.${n & 255}`, 'Accept-Encoding': encoding };
    const { ms, status, headers: given, bytes } = await timedRequest({ port, path, headers });
    const isPacked = given['content-encoding'] === 'br';
    return { ms, status, body: String(isPacked ? brotliDecompressSync(bytes) : bytes), headers: given };
  };
  const { username, password } = new URL(node.url);
  const msOf = async (method, params) =>
    (await timedCall(node.rpcPort, `${username}:${password}`, method, params)).ms;
  const metric = async (name) => {
    // The explorer's thread sends its counters to the main thread once a second.
    await sleep(1500);
    const answer = await fetch(`http://127.0.0.1:${node.rpcPort}/metrics`);
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(await answer.text())?.[1]);
  };
  return { node, port, base, ask, metric, msOf, rpc: (method, params = []) => node.rpc(method, params) };
}

/** Number of transferred bytes: compressed body and headers. */
async function wireBytes(site, path) {
  const answer = await site.ask(path);
  const head = Object.entries(answer.headers).reduce(
    (sum, [key, value]) => sum + key.length + value.length + 4,
    19,
  );
  return { ...answer, bytes: head + Number(answer.headers['content-length']) };
}

async function visit(site) {
  const home = await wireBytes(site, '/');
  const found = [...home.body.matchAll(/(?:src|href)="([^"]+\.(?:css|js|svg))"/g)].map(([, path]) => path);
  const parts = [home];
  for (const path of new Set(found)) parts.push(await wireBytes(site, path));
  const foreign = [...home.body.matchAll(/<(?:link|script|img)[^>]*(?:src|href)="(https?:[^"]+)"/g)].length;
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
  // The fifth request opens the WebSocket.
  print(
    'first visit of the home page',
    '≤ 45 kB, 5 requests, 0 other hosts',
    `${(bytes / 1000).toFixed(1)} kB in ${parts.length + 1} requests, ${foreign} other hosts (esplora: 1,140 kB in 11)`,
  );
  for (const [kind, goal] of [
    ['js', 12],
    ['css', 8],
  ]) {
    const path = found.find((one) => one.endsWith(`.${kind}`));
    const packed = gzipSync((await site.ask(path, 'identity')).body, { level: 9 });
    print(
      `${kind === 'js' ? 'script' : 'style'}, gzip`,
      `≤ ${goal} kB`,
      `${(packed.length / 1000).toFixed(2)} kB`,
    );
  }
}

/** Starts a node with a chain of this number of blocks and complete indexes. */
async function nodeOf(folder, blocks, crowdedEvery) {
  const file = join(folder, `${blocks}.dat`);
  await writeEmptyChain(file, blocks, crowdedEvery);
  const site = await startNode([`-loadblock=${file}`, '-maxtipage=2000000000'], { timeoutMs: 7_200_000 });
  rmSync(file);
  return withIndexes(site);
}

async function withIndexes(site) {
  const isBehind = async () => {
    const indexes = Object.values(await site.rpc('getindexinfo'));
    const { search } = await site.rpc('getclaimindexinfo');
    return indexes.some(({ synced }) => !synced) || search?.synced === false;
  };
  while (await isBehind()) await sleep(500);
  return site;
}

/** The address to which `writeEmptyChain` pays every tenth coinbase. */
async function crowdedAddress({ rpc }) {
  const { tx } = await rpc('getblock', [await rpc('getblockhash', [10]), 2]);
  return tx[0].vout[0].scriptPubKey.addresses[0];
}

async function longChain() {
  const folder = mkdtempSync(join(tmpdir(), 'bench-explorer-'));
  const short = await nodeOf(folder, SHORT);
  const site = FOLDER
    ? await withIndexes(await startNode(['-maxtipage=2000000000'], { dataDir: FOLDER, timeoutMs: 600_000 }))
    : await nodeOf(folder, LONG);
  const height = await site.rpc('getblockcount');
  const hashOf = ({ rpc }, block) => rpc('getblockhash', [block]);
  const kinds = {
    home: () => '/?',
    block: async (one, block) => `/block/${await hashOf(one, block)}?`,
    tx: async (one, block) => `/tx/${(await one.rpc('getblock', [await hashOf(one, block)])).tx[0]}?`,
    charts: (_, n) => `/charts/${METRICS[n % METRICS.length]}?`,
    address: async (one) => `/address/${await crowdedAddress(one)}?`,
  };
  for (const [kind, pathOf] of Object.entries(kinds)) {
    const found = [];
    for (let turn = 0; turn < TURNS; turn++) {
      const times = { short: [], long: [] };
      for (let n = 0; n < ASKED + WARM; n++)
        for (const [name, one, top] of [
          ['short', short, SHORT],
          ['long', site, height],
        ]) {
          const block = 1 + (((turn * ASKED + n) * 7919) % (top - 1));
          const path = `${await pathOf(one, block)}n=${turn}-${n}`;
          const { ms, status } = await one.ask(path);
          if (status !== 200) throw new Error(`${path} answers ${status}`);
          if (n >= WARM) times[name].push(ms);
        }
      const [few, many] = [at(times.short, 0.95), at(times.long, 0.95)];
      found.push({ few, many, ratio: many / few });
    }
    const ratios = sorted(found.map(({ ratio }) => ratio));
    const median = found.find(({ ratio }) => ratio === at(ratios, 0.5));
    print(
      `answer p95 of ${kind}, ${height.toLocaleString('en-US')} blocks against ${SHORT.toLocaleString('en-US')}`,
      GOALS[kind] ?? '≤ 1.2, ≤ 30 ms',
      `${text(median.ratio)} (${text(median.many)} ms, ${text(median.few)} ms), ${TURNS} turns: ${text(ratios[0])} to ${text(ratios.at(-1))}`,
    );
  }
  await site.node.stop();
  await short.node.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** Measures the first pages of an address with very many transactions, after a block that pays to it and after another one. */
async function address() {
  const folder = mkdtempSync(join(tmpdir(), 'bench-explorer-'));
  const site = await nodeOf(folder, ADDRESS_TRANSACTIONS, 1);
  const payee = await crowdedAddress(site);
  const times = { own: [], other: [], few: [] };
  // Each request has another path, so that the code is optimized before the measured requests.
  for (let n = 0; n < WARM; n++) await site.ask(`/address/${payee}?n=${n}`);
  for (let n = 0; n < BLOCKS; n++)
    for (const [kind, miner] of [
      ['own', payee],
      ['other', ADDRESS],
    ]) {
      await site.rpc('generatetoaddress', [1, miner]);
      await sleep(200);
      times[kind].push((await site.ask(`/address/${payee}`)).ms);
      times.few.push((await site.ask(`/address/${ADDRESS}`)).ms);
    }
  const first = at(times.own.concat(times.other), 1);
  print(
    `the first page of an address with ${ADDRESS_TRANSACTIONS.toLocaleString('en-US')} transactions, after a block`,
    '≤ 50 ms',
    `${text(at(times.other, 0.5))} ms, after a block that pays to it ${text(at(times.own, 0.5))} ms, slowest ${text(first)} ms; an address with few transactions ${text(at(times.few, 0.5))} ms`,
  );
  await site.node.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** Measures the times of a cheap call, one call after the other, until `isOver` returns true. */
async function pinging(site, isOver) {
  const times = [];
  while (!isOver()) {
    const since = performance.now();
    await site.rpc('getblockcount');
    times.push(performance.now() - since);
    await sleep(10);
  }
  return times;
}

function child(file, ...childArgs) {
  const started = spawn(process.execPath, [join(here, file), ...childArgs.map(String)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let output = '';
  started.stdout.on('data', (chunk) => (output += chunk));
  return {
    async until(word) {
      while (!output.includes(word))
        await Promise.race([once(started.stdout, 'data'), once(started, 'exit')]);
    },
    async end() {
      started.stdin.end();
      await once(started, 'close');
      return JSON.parse(output.trim().split('\n').at(-1));
    },
  };
}

async function viewers(site) {
  const path = '/name/crowd';
  const mining = async () => {
    for (let n = 0; n < BLOCKS; n++) {
      const next = sleep(1000);
      await site.rpc('generatetoaddress', [1, ADDRESS]);
      await next;
    }
  };
  const during = async () => {
    let isOver = false;
    const pings = pinging(site, () => isOver);
    await mining();
    isOver = true;
    return pings;
  };
  const alone = await during();
  const load = child('explorerViewers.mjs', site.port, VIEWERS, path);
  await load.until('ready');
  await site.ask(path);
  const before = await site.metric('lbcnode_explorer_rendered_total');
  const watched = await during();
  await sleep(3000);
  const rendered = (await site.metric('lbcnode_explorer_rendered_total')) - before;
  const counts = await load.end();
  print(
    `${VIEWERS.toLocaleString('en-US')} viewers of a page, a block each second`,
    'one rendering a page and block; RPC p99 < 50 ms',
    `${rendered} renderings for ${BLOCKS} blocks; ${counts.hints.toLocaleString('en-US')} hints, answers ${JSON.stringify(counts.statuses)}, ` +
      `${counts.failed} failed ${JSON.stringify(counts.errors)}, ${counts.again} sent again; RPC p99 ${text(at(watched, 0.99))} ms (without viewers ${text(at(alone, 0.99))} ms)`,
  );
}

/** Processor time of the main thread of a process in milliseconds. */
const mainWorkedMs = (pid) =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'latin1').split(' ')[0]) / 1e6;

/** Starts a node that gets its blocks in this way. Resolves to the node and the function that begins a sync. */
async function floodedNode(way, { source, file, dataDir }) {
  const rule = ['-supportdelay=proportional'];
  if (way === 'loadblock') return startNode([...rule, `-loadblock=${file}`]);
  if (way === 'reindex') return startNode([...rule, '-reindex'], { dataDir, timeoutMs: 600_000 });
  const site = await startNode(rule);
  return { ...site, begin: () => site.rpc('addnode', [`127.0.0.1:${source.p2pPort}`, 'onetry']) };
}

/**
 * Measures how long a node takes to get its blocks while this number of connections requests pages: milliseconds, and the processor
 * time of its main thread and of all its threads. Measures the times of RPC calls meanwhile.
 */
async function importing(way, from, height, connections) {
  const site = await floodedNode(way, from);
  const flood = connections > 0 ? child('explorerFlood.mjs', site.port, connections) : null;
  // The flood begins before a sync. An import begins at the start of the node.
  if (flood && site.begin) await sleep(1000);
  const { pid } = site.node;
  const before = { main: mainWorkedMs(pid), all: workedMs(pid) };
  const since = performance.now();
  let isOver = false;
  const pings = pinging(site, () => isOver);
  await site.begin?.();
  while ((await site.rpc('getblockcount')) < height) await sleep(50);
  const ms = performance.now() - since;
  const main = mainWorkedMs(pid) - before.main;
  const all = workedMs(pid) - before.all;
  isOver = true;
  const p99 = at(await pings, 0.99);
  const statuses = await flood?.end();
  await site.node.stop();
  return { ms, main, all, statuses, p99 };
}

async function flood() {
  if (!existsSync(FILE))
    return print('200 connections beside a sync', '≥ 0.9', `not measured: ${FILE} is not there`);
  const folder = mkdtempSync(join(tmpdir(), 'bench-explorer-'));
  const file = FILE.endsWith('.gz') ? join(folder, 'bootstrap.dat') : FILE;
  if (FILE.endsWith('.gz')) await pipeline(createReadStream(FILE), createGunzip(), createWriteStream(file));
  const source = await startRegtest({
    args: ['-listen=1', '-maxtipage=2000000000', '-supportdelay=proportional', `-loadblock=${file}`],
    timeoutMs: 600_000,
  });
  let height = 0;
  for (let last = -1; last !== height || height === 0;) {
    last = height;
    await sleep(1000);
    height = await source.rpc('getblockcount');
  }
  const { dataDir } = source;
  for (const way of FLOOD_WAYS) await floodBeside(way, { source, file, dataDir }, height);
  await source.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function floodBeside(way, from, height) {
  const ratios = { ms: [], main: [], all: [] };
  const p99 = { 0: [], 200: [] };
  let last;
  for (let turn = 0; turn < FLOOD_TURNS; turn++) {
    // The order alternates, because the load of the machine changes.
    const kinds = turn % 2 === 0 ? [0, 200] : [200, 0];
    const found = {};
    for (const connections of kinds) {
      found[connections] = await importing(way, from, height, connections);
      p99[connections].push(found[connections].p99);
    }
    last = found[200];
    for (const [what, values] of Object.entries(ratios)) values.push(found[0][what] / last[what]);
  }
  const shown = (values) =>
    `${at(values, 0.5).toFixed(2)} (${values.map((ratio) => ratio.toFixed(2)).join(', ')})`;
  print(
    `200 connections that ask for uncached pages beside a node with blocks by ${way}`,
    '≥ 0.9 of its speed',
    `${shown(ratios.ms)}; by processor time of the main thread ${shown(ratios.main)}, of all threads ${shown(ratios.all)}; answers ${JSON.stringify(last.statuses)}`,
  );
  print(
    'RPC p99 during this flood, beside the import',
    '< 50 ms',
    `median of turns ${text(at(p99[200], 0.5))} ms (${p99[200].map((ms) => text(ms)).join(', ')}); without the flood ${text(at(p99[0], 0.5))} ms`,
  );
}

async function idle() {
  const explorer = ['-explorer=1', '-explorerport=0'];
  const indexes = ['-txindex', '-addressindex', '-spendindex', '-claimindex', '-claimsearch'];
  const found = [];
  for (let turn = 0; turn < 3; turn++)
    for (const [name, more] of [
      ['without', []],
      ['with', explorer],
    ]) {
      const node = await startRegtest({ args: ['-listen=0', ...indexes, ...more] });
      await node.rpc('generatetoaddress', [200, ADDRESS]);
      // Each thread collects the garbage of its start after some idle seconds.
      await sleep(30_000);
      const before = workedMs(node.pid);
      await sleep(10_000);
      found.push({ name, bytes: usageOf(node.pid).bytes, cpuMs: workedMs(node.pid) - before });
      await node.stop();
    }
  const of = (name, key) =>
    at(
      found.filter((one) => one.name === name).map((one) => one[key]),
      0.5,
    );
  print(
    'explorer on, without viewers',
    '≤ 25 MB, no processor time',
    `${text((of('with', 'bytes') - of('without', 'bytes')) / 1e6)} MB; in 10 s ${text(of('with', 'cpuMs'))} ms of processor, without it ${text(of('without', 'cpuMs'))} ms`,
  );
}

async function takeover(site) {
  const program = process.env.CHROMIUM ?? '/usr/bin/chromium';
  if (!existsSync(program))
    return print('takeover in an open page', '≤ 3 s', `not measured: there is no ${program}`);
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'] });
  const page = await browser.newPage();
  await page.goto(`${site.base}/name/contested`);
  await page.locator('#live[data-live="yes"]').waitFor();
  const maker = await OutputMaker.start((method, params) => site.rpc(method, params), TAKEOVERS);
  const times = [];
  const holder = () => page.evaluate('document.querySelector("main .lead a")?.getAttribute("href") ?? null');
  for (let n = 0; n < TAKEOVERS; n++) {
    const before = await holder();
    await maker.send([claimPrefixes(`contested`, n + 1).at(-1)], 1_000_000n * BigInt(n + 1));
    await maker.mine();
    const since = performance.now();
    while ((await holder()) === before) await sleep(20);
    times.push((performance.now() - since) / 1000);
  }
  await browser.close();
  print(
    'a takeover is seen in an open page after its block',
    '≤ 3 s',
    `median ${text(at(times, 0.5))} s, most ${text(Math.max(...times))} s`,
  );
}

/**
 * Measures the first paint of the home page in Chromium, at full speed and with a slow processor and network, beside a page of
 * one line with the same headers, which shows the time of the browser itself.
 */
async function paint(site) {
  const program = process.env.CHROMIUM ?? '/usr/bin/chromium';
  if (!existsSync(program)) return;
  const { chromium } = await import('playwright-core');
  const { headers } = await site.ask('/');
  const [policy, opener] = ['content-security-policy', 'cross-origin-opener-policy'];
  const plain = createServer((_, response) => {
    response.setHeader('Content-Type', 'text/html');
    for (const name of [policy, opener]) response.setHeader(name, headers[name]);
    response.end('<!doctype html><title>one line</title><p>one line');
  });
  plain.listen(0, '127.0.0.1');
  await once(plain, 'listening');
  const browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'] });
  const painted = async (url, isSlow) => {
    const context = await browser.newContext();
    const page = await context.newPage();
    if (isSlow) {
      const devtools = await context.newCDPSession(page);
      await devtools.send('Emulation.setCPUThrottlingRate', { rate: 4 });
      const [downloadThroughput, uploadThroughput] = [1.6e6 / 8, 750e3 / 8];
      await devtools.send('Network.enable');
      await devtools.send('Network.emulateNetworkConditions', {
        offline: false,
        latency: 0,
        downloadThroughput,
        uploadThroughput,
      });
    }
    await page.goto(url);
    const ms = await page.evaluate(
      `new Promise((resolve) => { new PerformanceObserver((list) => resolve(list.getEntries()[0].startTime)).observe({ type: 'paint', buffered: true }); })`,
    );
    await context.close();
    return ms;
  };
  const times = { line: [], fast: [], slow: [] };
  for (let n = 0; n < PAINTS; n++) {
    times.line.push(await painted(`http://127.0.0.1:${plain.address().port}`, false));
    times.fast.push(await painted(site.base, false));
    times.slow.push(await painted(site.base, true));
  }
  await browser.close();
  plain.close();
  const [line, fast, slow] = [times.line, times.fast, times.slow].map((values) => at(values, 0.5));
  print(
    'first paint on loopback; at a quarter of the processor and 1.6 Mbit/s',
    '≤ 150 ms; ≤ 1 s',
    `${text(fast)} ms; ${text(slow)} ms (medians of ${PAINTS}); a page of one line ${text(line)} ms`,
  );
}

const isWanted = (row) => wanted.length === 0 || wanted.includes(row);
console.log('| what | goal | measured |\n| --- | --- | --- |');
const site = await startNode(['-blockmintxfee=0', '-txindex']);
if (isWanted('visit')) await visit(site);
if (isWanted('paint')) await paint(site);
if (isWanted('takeover')) await takeover(site);
await site.node.stop();
if (isWanted('crowd') || isWanted('viewers')) {
  // A takeover changes the documents of all claims for the name. The search index would be updated during the measurements.
  const crowded = await startNode(['-blockmintxfee=0', '-txindex', '-claimsearch=0']);
  const crowd = await Crowd.make(crowded, BLOCKS);
  if (isWanted('crowd')) await measureCrowd(crowd, process.env.LBRYCRDD, BLOCKS);
  if (isWanted('viewers')) await viewers(crowded);
  await crowded.node.stop();
}
if (isWanted('long')) await longChain();
if (isWanted('address')) await address();
if (isWanted('flood')) await flood();
if (isWanted('idle')) await idle();
