#!/usr/bin/env node
// Memory over time: a regtest node with all indexes, a hub, claim search and wallets, under a steady load of blocks, claims,
// calls and hub clients. Each minute it prints a row of the table: resident bytes before and after a garbage collection in all
// threads, and what they consist of. At the end it prints the caches with their bounds, and what the growth of resident memory
// since the middle consists of. The load is paced, so that it runs beside other work.
//
//   npm run bench:soak -- [--minutes 30] [--clients 20] [--pause 1000] [--fill 700] [--wallet 1000] [-- options of the node]
//
// --pause: milliseconds between rounds; a round makes a block.
// --fill: number of claims of 7,000 bytes that are made and read before the first row, so that caches are full early.
// --wallet: number of transactions after which the load continues with a new wallet and the old one is unloaded, because a
//   wallet keeps all its transactions in memory; 0: one wallet. Linux only (/proc).
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import WebSocket from 'ws';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const { freePort, startRegtest } = await import(pathToFileURL(join(root, 'dist/testing/index.js')).href);

const mark = process.argv.indexOf('--', 2);
const nodeArgs = mark < 0 ? [] : process.argv.slice(mark + 1);
const text = { type: 'string' };
const { values } = parseArgs({
  args: process.argv.slice(2, mark < 0 ? undefined : mark),
  options: { minutes: text, clients: text, pause: text, fill: text, wallet: text },
});
const minutes = Number(values.minutes ?? 30);
const clientCount = Number(values.clients ?? 20);
const pauseMs = Number(values.pause ?? 1000);
const fillCount = Number(values.fill ?? 700);
const walletTransactions = Number(values.wallet ?? 1000);
if (![minutes - 1, clientCount, pauseMs, fillCount, walletTransactions].every((value) => value >= 0)) {
  console.error(
    'usage: npm run bench:soak -- [--minutes 30] [--clients 20] [--pause 1000] [--fill 700] [--wallet 1000] ' +
      '[-- options of the node]',
  );
  process.exit(1);
}
const MIB = 1 << 20;
const CLAIMS_A_ROUND = 3;
const COINBASES = 130;
/** Size of the value of a claim of `--fill`: the answers about it are among the longest that are cached. */
const FILL_BYTES = 7000;
/** Claims of `--fill` in a block. */
const FILLS_A_BLOCK = 20;
const ADDRESSES = 40;

const hubPort = await freePort();
const node = await startRegtest({
  args: [
    '-hub',
    `-hubport=${hubPort}`,
    '-txindex',
    '-addressindex',
    '-claimindex',
    '-claimsearch',
    ...nodeArgs,
  ],
  env: { NODE_OPTIONS: '--inspect=127.0.0.1:0' },
});
process.on('exit', () => {
  try {
    process.kill(node.pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
});

/** Collects garbage in the main thread and in all workers. Source: the Chrome DevTools Protocol, `NodeWorker` of Node.js. */
async function inspect() {
  const url = /Debugger listening on (ws:\S+)/.exec(node.output())?.[1];
  if (!url) throw new Error('the node printed no address of its inspector');
  const socket = new WebSocket(url);
  await once(socket, 'open');
  const workers = new Set();
  const waiting = new Map();
  let serial = 0;
  const send = (method, params = {}) =>
    new Promise((resolve) => {
      waiting.set(++serial, resolve);
      socket.send(JSON.stringify({ id: serial, method, params }));
    });
  socket.on('message', (data) => {
    const message = JSON.parse(String(data));
    if (message.method === 'NodeWorker.attachedToWorker') workers.add(message.params.sessionId);
    if (message.method === 'NodeWorker.detachedFromWorker') workers.delete(message.params.sessionId);
    if (message.method === 'NodeWorker.receivedMessageFromWorker')
      waiting.get(JSON.parse(message.params.message).id)?.();
    waiting.get(message.id)?.();
  });
  await send('NodeWorker.enable', { waitForDebuggerOnStart: false });
  const collect = async () => {
    await send('HeapProfiler.collectGarbage');
    for (const sessionId of workers) {
      const id = ++serial + 1e9;
      const done = new Promise((resolve) => waiting.set(id, resolve));
      const message = JSON.stringify({ id, method: 'HeapProfiler.collectGarbage' });
      await send('NodeWorker.sendMessageToWorker', { sessionId, message });
      await done;
    }
  };
  return { collect, close: () => socket.close() };
}

/** A client that sends one call at a time over one connection. Lines without an id are notifications. */
class HubClient {
  static async open() {
    const client = new HubClient();
    client.socket = connect(hubPort, '127.0.0.1');
    client.socket.setEncoding('utf8');
    client.rest = '';
    client.answered = () => undefined;
    client.socket.on('data', (piece) => {
      const lines = (client.rest + piece).split('\n');
      client.rest = lines.pop();
      for (const line of lines) if (/"id": ?\d/.test(line)) client.answered(line);
    });
    client.socket.on('error', () => undefined);
    await once(client.socket, 'connect');
    return client;
  }

  ask(method, params = []) {
    return new Promise((resolve, reject) => {
      this.answered = resolve;
      this.socket.once('close', () => reject(new Error('the hub closed a connection')));
      this.socket.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })}\n`);
    }).finally(() => this.socket.removeAllListeners('close'));
  }

  close() {
    this.socket.destroy();
  }
}

/** Name of the wallet that makes the transactions. */
let walletName = '';
let wallets = 0;
let addresses = [];
const claims = [];
let round = 0;

const rpc = (method, params = []) => node.rpc(method, params);

/** Calls a method of the present wallet. */
async function walletRpc(method, params = []) {
  const { text: answer } = await node.post(
    JSON.stringify({ id: 1, method, params }),
    `/wallet/${walletName}`,
  );
  const { result, error } = JSON.parse(answer);
  if (error) throw new Error(`${method}: ${error.message}`);
  return result;
}

/** Makes a wallet that has all coins of the present one, which is unloaded. */
async function changeWallet() {
  const former = walletName;
  const next = `soak-${++wallets}`;
  await rpc('createwallet', [next]);
  const own = [];
  walletName = next;
  for (let n = 0; n < ADDRESSES; n++) own.push(await walletRpc('getnewaddress'));
  walletName = former;
  // Coins of mature blocks; the others are not needed.
  const balance = await walletRpc('getbalance');
  const amounts = Object.fromEntries(
    own.map((address) => [address, Number(((balance * 0.9) / ADDRESSES).toFixed(8))]),
  );
  await walletRpc('sendmany', ['', amounts]);
  await rpc('generatetoaddress', [1, own[0]]);
  walletName = next;
  addresses = own;
  await rpc('unloadwallet', [former]);
}

/** Makes claims with long values and reads them, so that the caches are full before the first row of the table. */
async function fill() {
  for (let n = 0; n < fillCount; n++) {
    const value = Buffer.alloc(FILL_BYTES, `fill ${n} `).toString('hex');
    claims.push({ name: `fill-${n}`, txid: await walletRpc('claimname', [`fill-${n}`, value, 0.001]) });
    if (n % FILLS_A_BLOCK === 0) await rpc('generatetoaddress', [1, addresses[n % addresses.length]]);
  }
  await rpc('generatetoaddress', [1, addresses[0]]);
  // Writes all rows to disk, so that later reads come from the database.
  await rpc('gettxoutsetinfo');
  for (const { name, txid } of claims) {
    await rpc('getclaimsforname', [name]);
    await rpc('getrawtransaction', [txid]);
  }
}

async function load(clients) {
  const own = addresses[round % addresses.length];
  for (let n = 0; n < CLAIMS_A_ROUND; n++) {
    const value = Buffer.from(`value ${round} ${n} `.repeat(40)).toString('hex');
    const txid = await walletRpc('claimname', [`name-${round}-${n}`, value, 0.001]);
    claims.push({ name: `name-${round}-${n}`, txid });
    await walletRpc('sendtoaddress', [addresses[(round + n) % addresses.length], 0.01]);
  }
  if (claims.length > 50) {
    const { name } = claims[(round * 7919) % claims.length];
    const { claims: list } = await rpc('getclaimsforname', [name]);
    const claimId = list[0]?.claimId ?? list[0]?.claimid;
    if (claimId) await walletRpc('supportclaim', [name, claimId, 0.001]);
  }
  const [block] = await rpc('generatetoaddress', [1, own]);
  await rpc('getblock', [block, 2]);
  for (let n = 0; n < 10; n++) {
    const { name, txid } = claims[(round * 31 + n * 7) % claims.length];
    await rpc('resolve', [`lbry://${name}`]).catch(() => undefined);
    await rpc('getclaimsforname', [name]);
    await rpc('getnameproof', [name]);
    await rpc('getrawtransaction', [txid, 1]);
  }
  await walletRpc('listtransactions', ['*', 50]);
  await walletRpc('getbalance');
  await Promise.all(
    clients.map(async (client, n) => {
      const { name } = claims[(round * 13 + n) % claims.length];
      await client.ask('blockchain.claimtrie.resolve', [`lbry://${name}`]);
      await client.ask('blockchain.address.get_history', [addresses[(round + n) % addresses.length]]);
      await client.ask('blockchain.claimtrie.search', { text: name, limit: 20 });
      await client.ask('blockchain.block.headers', [Math.max(0, round - 100), 100]);
    }),
  );
  round++;
}

/** Anonymous and file-backed resident bytes. Source: proc(5). */
function resident() {
  const status = readFileSync(`/proc/${node.pid}/status`, 'utf8');
  const field = (name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)[1]) * 1024;
  return { rss: field('VmRSS'), anonymous: field('RssAnon'), files: field('RssFile') };
}

/** MiB of a cache in all threads. */
const cacheOf = (info, wanted) =>
  mib(
    info.caches
      .filter(({ name }) => name.split('/').at(-1) === wanted)
      .reduce((sum, { bytes }) => sum + bytes, 0),
  );
const columns = [];
const mib = (bytes) => (bytes === undefined ? '' : (bytes / MIB).toFixed(1));
function row(cells) {
  if (columns.length === 0) {
    columns.push(...Object.keys(cells));
    console.log(`| ${columns.join(' | ')} |\n| ${columns.map(() => '---').join(' | ')} |`);
  }
  console.log(`| ${columns.map((name) => cells[name] ?? '').join(' | ')} |`);
}

const inspector = await inspect();
for (let n = 0; n < ADDRESSES; n++) addresses.push(await rpc('getnewaddress'));
for (let n = 0; n < COINBASES; n++) await rpc('generatetoaddress', [1, addresses[n % addresses.length]]);
await fill();
if (walletTransactions > 0) await changeWallet();
const clients = [];
const openClients = async () => {
  while (clients.length < clientCount) {
    const client = await HubClient.open();
    await client.ask('server.version', ['soak', '0.199.0']);
    await client.ask('blockchain.headers.subscribe', []);
    await client.ask('blockchain.address.subscribe', addresses.slice(0, 10));
    clients.push(client);
  }
};
await openClients();

const began = performance.now();
const points = [];
for (let minute = 0; ; minute++) {
  const before = resident();
  await inspector.collect();
  const info = await rpc('getmemoryinfo');
  const after = resident();
  const { native, threads, process: own } = info;
  const heaps = threads.reduce((sum, thread) => sum + thread.heap_total, own.heap_total);
  const { txcount } = await walletRpc('getwalletinfo');
  points.push({ minute, after, info, heaps });
  row({
    minute,
    blocks: await rpc('getblockcount'),
    RSS: mib(before.rss),
    'RSS after GC': mib(after.rss),
    'program files': mib(after.files),
    'JS heaps': mib(heaps),
    'native in use': mib(native.used),
    mapped: mib(native.mapped),
    'native free': mib(native.free),
    'main heap in use': mib(own.heap_used),
    external: mib(own.external),
    coins: cacheOf(info, 'coins'),
    rows: cacheOf(info, 'unwritten_rows'),
    claims: cacheOf(info, 'claims'),
    database: cacheOf(info, 'database'),
    signatures: cacheOf(info, 'signatures'),
    answers: cacheOf(info, 'answers'),
    'block answers': cacheOf(info, 'block_answers'),
    'search pages': cacheOf(info, 'sqlite_pages'),
    mempool: cacheOf(info, 'mempool'),
    texts: cacheOf(info, 'answer_texts'),
    'name texts': cacheOf(info, 'name_texts'),
    'wallet txs': txcount,
    wallets: wallets,
  });
  if (walletTransactions > 0 && txcount >= walletTransactions) await changeWallet();
  if (minute >= minutes) break;
  const until = began + (minute + 1) * 60_000;
  while (performance.now() < until) {
    await load(clients);
    // One client disconnects, and another one connects.
    clients.shift()?.close();
    await openClients();
    await sleep(pauseMs);
  }
}
/** Prints each kind of memory in the middle and at the end. */
function printGrowth(from, to) {
  console.log(
    `\n| MiB | minute ${from.minute} | minute ${to.minute} | growth | bound |\n| --- | --- | --- | --- | --- |`,
  );
  const line = (name, bytesOf, bound) => {
    const [before, now] = [bytesOf(from), bytesOf(to)];
    console.log(`| ${name} | ${mib(before)} | ${mib(now)} | ${mib(now - before)} | ${mib(bound)} |`);
  };
  line('resident memory after collection', ({ after }) => after.rss);
  line('program files', ({ after }) => after.files);
  line('JavaScript heaps', ({ heaps }) => heaps);
  for (const kind of ['used', 'mapped', 'free']) line(`native ${kind}`, ({ info }) => info.native[kind]);
  for (const [n, { name, bound }] of to.info.caches.entries())
    line(`cache ${name}`, ({ info }) => info.caches[n]?.bytes, bound);
}
printGrowth(points[points.length >> 1], points.at(-1));
for (const client of clients) client.close();
// A process with a connected inspector does not end.
inspector.close();
await node.stop();
