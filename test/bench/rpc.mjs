#!/usr/bin/env node
// Measures reads by JSON-RPC: imports a bootstrap file into a fresh regtest folder with -txindex, starts the node, and sends
// the requests of each row over eight keep-alive connections, singly and in batches. If LBRYCRDD names a reference binary, it
// gets the same chain and is measured in turns. Prints requests a second, latencies and processor time.
//
//   npm run bench:rpc -- <file.dat or file.dat.gz> [--seconds 3] [--turns 3] [--warmup 3] [--rows getblockcount,gettxout] [--batch 500]
//     [--connections 8] [--back 0] [--supportdelay proportional] [--large 1000]
//   npm run bench:rpc -- <file.dat or file.dat.gz> --esplora [--uncached] [--rows '/tx/:txid$'] ($: the end of the name)
//   npm run bench:rpc -- --crowded [--cached] [--seconds 3] [--turns 3] [--warmup 3] [--rows getvalueforname] [--compat lbrycrd]
//
// With --esplora, the paths of -esplora and the methods with the same answers are measured in turns on one node: first with
// the cache of answers (not with --uncached), then with -rpccache=0.
// With --crowded, the chain is made for the run: names with thousands of claims, and a claim with thousands of supports. One
// connection sends requests, and our node caches answers only with --cached.
// With --back, everything is measured again after this number of empty blocks.
import { spawn } from 'node:child_process';
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createGunzip } from 'node:zlib';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '../..');
const args = process.argv.slice(2);
const option = (name, fallback) => {
  const at = args.indexOf(`--${name}`);
  return at < 0 ? fallback : args[at + 1];
};
const source = args.find((arg, i) => !arg.startsWith('--') && !args[i - 1]?.startsWith('--'));
const isCrowded = args.includes('--crowded');
if (!isCrowded && (!source || !existsSync(source))) {
  console.error(
    'usage: npm run bench:rpc -- <file.dat[.gz]>|--crowded [--seconds n] [--turns n] [--rows a,b] [--back n]',
  );
  process.exit(2);
}
const seconds = Number(option('seconds', 3));
const turns = Number(option('turns', 3));
/** Time before the measurement of a row, in which caches are filled and V8 compiles the code (some ten thousand calls). */
const warmupSeconds = Number(option('warmup', 3));
const connections = Number(option('connections', isCrowded ? 1 : 8));
const batchSize = Number(option('batch', 500));
const back = Number(option('back', 0));
/** Undefined: the default of the node. */
const cacheMb = args.includes('--cached') ? undefined : '0';
const supportDelay = option('supportdelay', 'proportional');
const wanted = option('rows', '').split(',').filter(Boolean);
const reference = process.env.LBRYCRDD;
const AUTH = 'bench:bench';
/** Number of different objects that the requests of a row refer to, if the chain has that many. */
const SAMPLE = 200;
/** Minimum number of transactions of a large block. */
const LARGE_BLOCK_TRANSACTIONS = Number(option('large', 1000));

const work = mkdtempSync(join(tmpdir(), 'bench-rpc-'));
const running = new Set();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
  rmSync(work, { recursive: true, force: true });
});
process.on('SIGINT', () => process.exit(1));

let file = source;
if (source?.endsWith('.gz')) {
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

/** A server under test: its command, and its folder. */
function makeServer(name, program, programArgs) {
  const folder = mkdtempSync(join(work, `${name}-`));
  const [user, password] = AUTH.split(':');
  const common = ['-regtest', `-datadir=${folder}`, '-txindex', '-listen=0', ...programArgs];
  const server = { name, folder, child: null, port: 0 };
  const start = (extra) => {
    const child = spawn(program[0], [...program.slice(1), ...common, ...extra], { stdio: 'ignore' });
    running.add(child);
    child.ended = new Promise((resolve) => child.once('close', resolve)).then((code) => {
      running.delete(child);
      return code;
    });
    return child;
  };
  server.load = async (files) => {
    const port = await freePort();
    const child = start([
      ...files.map((path) => `-loadblock=${path}`),
      '-stopafterblockimport',
      `-rpcport=${port}`,
    ]);
    const code = await child.ended;
    if (code !== 0) throw new Error(`${name} ended its import with ${code}`);
  };
  server.start = async (extra = []) => {
    server.port = await freePort();
    const access = [`-rpcport=${server.port}`, `-rpcuser=${user}`, `-rpcpassword=${password}`];
    server.child = start([...access, ...extra]);
    for (;;) {
      const answer = await call(server, 'getblockcount').catch(() => null);
      if (answer !== null) return;
      if (server.child.exitCode !== null) throw new Error(`${name} does not start`);
      await sleep(100);
    }
  };
  server.stop = async () => {
    server.child.kill('SIGTERM');
    await server.child.ended;
  };
  return server;
}

const post = (server, body) =>
  fetch(`http://127.0.0.1:${server.port}/`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(AUTH)}` },
    body,
  });

async function call(server, method, params = []) {
  const answer = await post(server, JSON.stringify({ method, params }));
  const { result, error } = await answer.json();
  if (error) throw new Error(`${method}: ${error.message}`);
  return result;
}

/**
 * A connection that sends a request at once and reads the answer with little processing, so that this process adds little to the
 * measured time. Answers must have a Content-Length or be chunked.
 */
async function openConnection({ port }) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  const head = `POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Basic ${btoa(AUTH)}\r\nContent-Type: application/json\r\n`;
  return {
    ask: (body) =>
      new Promise((resolve, reject) => {
        const request = Buffer.from(`${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
        let missing = null;
        const finish = (error) => {
          socket.off('data', take);
          socket.off('close', closed);
          if (error === undefined) resolve();
          else reject(error);
        };
        const closed = () => finish(new Error('the server closed the connection'));
        const take = (part) => {
          if (missing === null) {
            const text = part.toString('latin1', 0, 1024);
            const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1];
            missing = length === undefined ? NaN : text.indexOf('\r\n\r\n') + 4 + Number(length);
          }
          if (Number.isNaN(missing)) {
            if (part.toString('latin1', Math.max(0, part.length - 5)) === '0\r\n\r\n') finish();
          } else if ((missing -= part.length) <= 0) finish();
        };
        socket.on('data', take);
        socket.on('close', closed);
        socket.write(request);
      }),
    close: () => socket.destroy(),
  };
}

/** Processor time of a process in seconds, summed over its threads, with a resolution of nanoseconds. */
function cpuSeconds(pid) {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const times = threads.map((id) => readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'utf8'));
    return times.reduce((sum, text) => sum + Number(text.split(' ')[0]), 0) / 1e9;
  } catch {
    return NaN;
  }
}

async function measure(server, bodies, forSeconds = seconds) {
  const load = spawn(
    process.execPath,
    [join(here, 'rpcLoad.mjs'), String(server.port), AUTH, String(connections), String(forSeconds)],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  running.add(load);
  const before = cpuSeconds(server.child.pid);
  load.stdin.end(bodies.join('\n'));
  let text = '';
  load.stdout.on('data', (part) => (text += part));
  const code = await new Promise((resolve) => load.once('close', resolve));
  running.delete(load);
  if (code !== 0) throw new Error(`the load on ${server.name} ended with ${code}`);
  const { answers, seconds: took, p50, p99 } = JSON.parse(text);
  return { rate: answers / took, p50, p99, cpuUs: ((cpuSeconds(server.child.pid) - before) / answers) * 1e6 };
}

/** Finds the arguments of the requests in the chain. */
async function findSamples(server) {
  const height = await call(server, 'getblockcount');
  const hashes = [];
  for (let at = height; at > 0 && hashes.length < SAMPLE; at--)
    hashes.push(await call(server, 'getblockhash', [at]));
  const large = [];
  for (let at = height; at > 0 && large.length < 8; at--) {
    const hash = await call(server, 'getblockhash', [at]);
    const { nTx } = await call(server, 'getblockheader', [hash]);
    if (nTx >= LARGE_BLOCK_TRANSACTIONS) large.push(hash);
  }
  if (large.length === 0)
    throw new Error(`the chain has no block of ${LARGE_BLOCK_TRANSACTIONS} transactions`);
  const { tx } = await call(server, 'getblock', [large[0]]);
  const txids = tx.slice(1, SAMPLE + 1);
  const unspent = [];
  for (const txid of txids) if (await call(server, 'gettxout', [txid, 0])) unspent.push(txid);
  const names = [];
  for (const hash of large) {
    for (const { vout } of (await call(server, 'getblock', [hash, 2])).tx) {
      for (const { scriptPubKey } of vout) {
        const name = nameOf(scriptPubKey.hex);
        if (name === null || names.includes(name) || names.length === SAMPLE) continue;
        const { claims } = await call(server, 'getclaimsforname', [name]);
        if (claims.length === 1) names.push(name);
      }
    }
    if (names.length === SAMPLE) break;
  }
  if (names.length === 0) throw new Error('the chain has no name with one claim');
  return { hashes, large, txids, unspent, names };
}

/** The name in a script that begins with a new claim (OP_CLAIM_NAME and a short push); null for other scripts. */
function nameOf(hex) {
  const script = Buffer.from(hex, 'hex');
  if (script[0] !== 0xb5 || script[1] > 75) return null;
  return script.toString('utf8', 2, 2 + script[1]);
}

const body = (method, params) => JSON.stringify({ id: 1, method, params });
const makeRows = ({ hashes, large, txids, unspent, names }) => [
  { name: 'getclaimsforname', bodies: names.map((name) => body('getclaimsforname', [name])) },
  { name: 'getnameproof', bodies: names.map((name) => body('getnameproof', [name])) },
  { name: 'getrawtransaction raw', bodies: txids.map((txid) => body('getrawtransaction', [txid, false])) },
  { name: 'getrawtransaction decoded', bodies: txids.map((txid) => body('getrawtransaction', [txid, true])) },
  { name: 'getblockheader', bodies: hashes.map((hash) => body('getblockheader', [hash])) },
  { name: 'getblockcount', bodies: [body('getblockcount', [])] },
  { name: 'gettxout', bodies: unspent.map((txid) => body('gettxout', [txid, 0])) },
  // Not sent in batches, because the answers of a batch would have hundreds of megabytes.
  ...[0, 1, 2].map((verbosity) => ({
    name: `getblock ${verbosity}`,
    bodies: large.map((hash) => body('getblock', [hash, verbosity])),
    isSingle: true,
  })),
];

/** A batch of `batchSize` calls, which repeats the bodies if there are fewer. */
const batchOf = (bodies) => [
  `[${Array.from({ length: batchSize }, (_, i) => bodies[i % bodies.length]).join(',')}]`,
];

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const medians = (results) =>
  Object.fromEntries(Object.keys(results[0]).map((key) => [key, median(results.map((one) => one[key]))]));

/** Measures a row on all servers, turn by turn. If the reference does not have the method, it receives `theirs` instead. */
async function measureRow(servers, own, theirs = own) {
  const asked = servers.map((_, i) => (i === 0 ? own : theirs));
  for (const [i, server] of servers.entries())
    if (warmupSeconds > 0) await measure(server, asked[i], warmupSeconds);
  const results = servers.map(() => []);
  for (let turn = 0; turn < turns; turn++) {
    for (const [i, server] of servers.entries()) results[i].push(await measure(server, asked[i]));
  }
  return results.map(medians);
}

const shown = (value) => (value >= 1000 ? Math.round(value).toLocaleString('en-US') : value.toPrecision(3));
const line = (...cells) =>
  console.log(`| ${cells.map((cell, i) => (i === 0 ? cell.padEnd(26) : cell.padStart(11))).join(' | ')} |`);

/** Prints a table. Returns our rates by row. */
async function table(title, servers, rows, perAnswer = 1, earlier = null) {
  console.log(`\n${title}`);
  const theirs = servers.length > 1;
  line(
    '',
    'a second',
    'p50 ms',
    'p99 ms',
    'CPU µs',
    ...(theirs ? [servers[1].name, 'p50 ms', 'p99 ms', 'CPU µs', 'ratio'] : []),
    ...(earlier ? ['before'] : []),
  );
  const rates = new Map();
  for (const { name, bodies, theirs } of rows) {
    const [ours, other] = await measureRow(servers, bodies, theirs);
    rates.set(name, ours.rate);
    const cells = ({ rate, p50, p99, cpuUs }) => [rate * perAnswer, p50, p99, cpuUs / perAnswer].map(shown);
    line(
      name,
      ...cells(ours),
      ...(other ? [...cells(other), (ours.rate / other.rate).toFixed(2)] : []),
      ...(earlier ? [`${(earlier.get(name) / ours.rate).toFixed(2)} ×`] : []),
    );
  }
  return rates;
}

/** The block files of our node, which must be stopped. */
function blockFiles() {
  const blocks = join(ours.folder, 'regtest', 'blocks');
  const files = readdirSync(blocks).filter((name) => /^blk\d+\.dat$/.test(name));
  return files.sort().map((name) => join(blocks, name));
}

/** Number of blocks. After each of them, a row is requested once. */
const FIRST_CALLS = 9;

/**
 * Times of the first answer after a block: the least by the clock, which other work on the machine disturbs most, and the
 * median of processor time. `prepare` is called before each block is mined.
 */
async function firstCalls(title, rows, prepare) {
  console.log(`\n${title}: of ${FIRST_CALLS} the least time and the median of processor time`);
  const theirs = servers.length > 1;
  line('', 'ms', 'CPU ms', ...(theirs ? ['lbrycrd ms', 'CPU ms', 'ratio', 'ratio CPU'] : []));
  for (const { name, bodies, theirs = bodies } of rows) {
    const connected = await Promise.all(servers.map(openConnection));
    const results = servers.map(() => ({ ms: [], cpuMs: [] }));
    // No request is older than a few blocks: caches drop what was not requested for many blocks.
    for (const [i, connection] of connected.entries())
      for (const request of (i === 0 ? bodies : theirs).slice(0, FIRST_CALLS)) await connection.ask(request);
    for (let n = 0; n < FIRST_CALLS; n++) {
      await prepare();
      const [hash] = await call(ours, 'generatetoaddress', [1, 'mfWxJ45yp2SFn7UciZyNpvDKrzbhyfKrY8']);
      const block = await call(ours, 'getblock', [hash, 0]);
      for (const server of servers.slice(1)) await call(server, 'submitblock', [block]);
      // Waits for the work that a block starts in the background.
      await sleep(200);
      const order = [...servers.entries()];
      // The order alternates, because the first of two requests is slower in this process.
      for (const [i, server] of n % 2 === 0 ? order : order.reverse()) {
        const asked = i === 0 ? bodies : theirs;
        const cpu = cpuSeconds(server.child.pid);
        const since = performance.now();
        await connected[i].ask(asked[n % asked.length]);
        results[i].ms.push(performance.now() - since);
        results[i].cpuMs.push((cpuSeconds(server.child.pid) - cpu) * 1000);
      }
    }
    for (const connection of connected) connection.close();
    const [own, other] = results.map(({ ms, cpuMs }) => [Math.min(...ms), median(cpuMs)]);
    const ratios = other ? own.map((value, i) => (value / other[i]).toFixed(2)) : [];
    line(name, ...own.map(shown), ...(other ?? []).map(shown), ...ratios);
  }
}

/** Times of single answers about crowded names. */
async function compareCrowded() {
  const { makeCrowdedNames } = await import('./crowdedNames.mjs');
  await ours.start(['-blockmintxfee=0', '-txindex', '-spendindex']);
  const crowded = await makeCrowdedNames((method, params) => call(ours, method, params));
  await ours.stop();
  for (const server of servers.slice(1)) await server.load(blockFiles());
  await ours.start([
    ...(cacheMb === undefined ? [] : [`-rpccache=${cacheMb}`]),
    '-txindex',
    '-spendindex',
    `-compat=${option('compat', 'documented')}`,
  ]);
  for (const server of servers.slice(1)) await server.start();
  const { crowd, supported, many, supportedId } = crowded;
  const rows = [
    // What any request takes.
    { name: 'getblockcount', bodies: [body('getblockcount', [])] },
    { name: 'getclaimsforname 5,001 claims', bodies: [body('getclaimsforname', [crowd])] },
    // Compared with the whole answer of the reference.
    {
      name: 'listclaims 5,001 claims',
      bodies: [body('listclaims', [crowd])],
      theirs: [body('getclaimsforname', [crowd])],
    },
    {
      name: 'gettxinfo 250 claims',
      bodies: crowded.crowdTransactions.map((id) => body('gettxinfo', [id, 0, 250])),
      theirs: each('getclaimsfortx', crowded.crowdTransactions),
    },
    {
      name: 'gettxinfo, the same',
      bodies: [body('gettxinfo', [crowded.crowdTransactions[0], 0, 250])],
      theirs: each('getclaimsfortx', crowded.crowdTransactions.slice(0, 1)),
    },
    // Without the argument for the count: a page of 100 outputs.
    {
      name: 'gettxinfo, first page',
      bodies: each('gettxinfo', crowded.crowdTransactions),
      theirs: each('getclaimsfortx', crowded.crowdTransactions),
    },
    { name: 'getvalueforname 5,001 claims', bodies: [body('getvalueforname', [crowd])] },
    { name: 'getclaimsfortx 250 claims', bodies: each('getclaimsfortx', crowded.crowdTransactions) },
    {
      name: 'getclaimsfortx, the same',
      bodies: each('getclaimsfortx', crowded.crowdTransactions.slice(0, 1)),
    },
    { name: 'getclaimbyid of 5,001', bodies: each('getclaimbyid', crowded.crowdIds) },
    { name: 'getnameproof 5,001 claims', bodies: [body('getnameproof', [crowd])] },
    { name: 'getclaimsforname 8,000 supports', bodies: [body('getclaimsforname', [supported])] },
    { name: 'getvalueforname 8,000 supports', bodies: [body('getvalueforname', [supported])] },
    { name: 'getclaimbyid 8,000 supports', bodies: [body('getclaimbyid', [supportedId])] },
    { name: 'getclaimsfortx 250 supports', bodies: each('getclaimsfortx', crowded.supportTransactions) },
    { name: 'getclaimsforname 8,000 claims', bodies: [body('getclaimsforname', [many])] },
    { name: 'getvalueforname 8,000 claims', bodies: [body('getvalueforname', [many])] },
  ].filter(({ name }) => wanted.length === 0 || wanted.some((word) => name.startsWith(word)));
  await table('Crowded names, one connection', servers, rows);
  await firstCalls('The first call after an empty block', rows, async () => undefined);
  await firstCalls('The first call after a block that changes these names', rows, () =>
    crowded.changeAll((method, params) => call(ours, method, params)),
  );
  for (const server of servers) await server.stop();
}

const each = (method, params) => params.map((param) => body(method, [param]));

const ours = makeServer(
  'lbcnode',
  [
    process.execPath,
    ...(process.env.LBCNODE_BENCH_NODE_ARGS?.split(' ') ?? []),
    process.env.LBCNODE_BENCH_PROGRAM ?? join(root, 'dist/bin/lbcnode.js'),
  ],
  [`-supportdelay=${supportDelay}`, ...(process.env.LBCNODE_BENCH_ARGS?.split(' ') ?? [])],
);
const servers = [ours];
if (reference) {
  const theirs = ['-checkblockindex=0', '-connect=0', '-disablewallet', '-dbcache=450'];
  servers.push(makeServer('lbrycrd', [reference], theirs));
}
/** Each path with the RPC call that returns the same data: about one transaction or block, a whole answer, or a page. */
function esploraRows({ hashes, large, txids, families, heights, addresses, paid }) {
  const paths = (list, path) => list.map((value) => `GET /api${path.replace(':', value)}`);
  const pages = Array.from({ length: 8 }, (_, n) => txids.slice(n * 25, n * 25 + 25));
  const calls = (ids) => each2('getrawtransaction', ids, true);
  const batch = (ids) => `[${calls(ids).join(',')}]`;
  const batches = pages.map(batch);
  return [
    ['/blocks/tip/height', ['GET /api/blocks/tip/height'], [body('getblockcount', [])]],
    ['/blocks/tip/hash', ['GET /api/blocks/tip/hash'], [body('getbestblockhash', [])]],
    ['/block-height/:height', paths(heights, '/block-height/:'), each('getblockhash', heights)],
    ['/block/:hash', paths(large, '/block/:'), each2('getblock', large, 1)],
    ['/block/:hash, header alone', paths(hashes, '/block/:'), each('getblockheader', hashes)],
    ['/block/:hash/header', paths(hashes, '/block/:/header'), each2('getblockheader', hashes, false)],
    ['/block/:hash/raw', paths(large, '/block/:/raw'), each2('getblock', large, 0)],
    ['/block/:hash/txids', paths(large, '/block/:/txids'), each2('getblock', large, 1)],
    ['/block/:hash/txs', paths(large, '/block/:/txs'), batches],
    ['/tx/:txid', paths(txids, '/tx/:'), each2('getrawtransaction', txids, true)],
    ['/tx/:txid, with parents', paths(txids, '/tx/:'), families.map(batch)],
    ['/tx/:txid, spent outputs', paths(txids, '/tx/:'), each('gettxinfo', txids)],
    ['/tx/:txid/hex', paths(txids, '/tx/:/hex'), each2('getrawtransaction', txids, false)],
    ['/tx/:txid/status', paths(txids, '/tx/:/status'), each2('getrawtransaction', txids, true)],
    ['/tx/:txid/outspends', paths(txids, '/tx/:/outspends'), each('gettxinfo', txids)],
    [
      '/tx/:txid/merkle-proof',
      paths(txids, '/tx/:/merkle-proof'),
      txids.map((txid) => body('gettxoutproof', [[txid]])),
    ],
    ['/address/:address', paths(addresses, '/address/:'), each('getaddressbalance', addresses)],
    ['/address/:address/utxo', paths(addresses, '/address/:/utxo'), each('getaddressutxos', addresses)],
    [
      '/address/:address/txs',
      paths(addresses, '/address/:/txs'),
      // By RPC, a client must request the ids first.
      paid.map((ids, n) => `[${[body('getaddresstxids', [addresses[n]]), ...calls(ids)].join(',')}]`),
    ],
    ['/mempool', ['GET /api/mempool'], [body('getmempoolinfo', [])]],
    ['/v1/fees/recommended', ['GET /api/v1/fees/recommended'], [body('estimatesmartfee', [2])]],
  ]
    .map(([name, bodies, theirs]) => ({ name, bodies, theirs }))
    .filter(({ name }) => wanted.length === 0 || wanted.some((word) => `${name}$`.startsWith(word)));
}

const each2 = (method, params, more) => params.map((param) => body(method, [param, more]));

/** Measures the rates of the paths and of the RPC calls. */
async function compareEsplora() {
  await ours.load([file]);
  await ours.start(['-esplora']);
  for (;;) {
    const indexes = Object.values(await call(ours, 'getindexinfo'));
    if (indexes.every(({ synced }) => synced)) break;
    await sleep(500);
  }
  const samples = await findSamples(ours);
  const heights = Array.from({ length: SAMPLE }, (_, n) => n + 1);
  // New addresses with one page of transactions each, because those of the chain have thousands of transactions.
  const addresses = [];
  const paid = [];
  for (let n = 0; n < 4; n++) {
    addresses.push(await call(ours, 'getnewaddress'));
    await call(ours, 'generatetoaddress', [25, addresses[n]]);
    paid.push(await call(ours, 'getaddresstxids', [addresses[n]]));
  }
  // A transaction and its previous transactions. The path returns the amounts and scripts of the spent outputs, so by RPC they
  // must be read too.
  const families = [];
  for (const txid of samples.txids) {
    const { vin } = await call(ours, 'getrawtransaction', [txid, true]);
    families.push([...new Set([txid, ...vin.flatMap((input) => input.txid ?? [])])]);
  }
  const rows = esploraRows({ ...samples, families, heights, addresses, paid });
  const both = [ours, { ...ours, name: 'RPC' }];
  if (!args.includes('--uncached')) await table('Paths of -esplora beside JSON-RPC', both, rows);
  await ours.stop();
  await ours.start(['-esplora', '-rpccache=0']);
  both[0].child = both[1].child = ours.child;
  both[1].port = ours.port;
  await table('The same with -rpccache=0', both, rows);
  await ours.stop();
}

if (args.includes('--esplora')) {
  await compareEsplora();
  process.exit(0);
}
if (isCrowded) {
  await compareCrowded();
  process.exit(0);
}
for (const server of servers) await server.load([file]);
for (const server of servers) await server.start();
const rows = makeRows(await findSamples(ours)).filter(
  ({ name }) => wanted.length === 0 || wanted.some((word) => name.startsWith(word)),
);
console.log(
  `${await call(ours, 'getblockcount')} blocks; ${connections} connections, ${seconds} s a turn, medians of ${turns} turns`,
);
const before = await table('Single requests', servers, rows);
const batches = rows
  .filter(({ isSingle }) => !isSingle)
  .map(({ name, bodies }) => ({ name, bodies: batchOf(bodies) }));
if (batchSize > 0)
  await table(`Batches of ${batchSize}: calls a second, latency of a batch`, servers, batches, batchSize);

if (back > 0) {
  const address = 'mfWxJ45yp2SFn7UciZyNpvDKrzbhyfKrY8';
  // One block per second up to the present, because a node refuses to start with blocks from the future.
  const { time } = await call(ours, 'getblockheader', [await call(ours, 'getbestblockhash')]);
  let timeSec = Math.max(time, Math.floor(Date.now() / 1000) - back);
  for (let left = back; left > 0; left -= 1000) {
    await call(ours, 'setmocktime', [(timeSec += 1000)]);
    await call(ours, 'generatetoaddress', [Math.min(left, 1000), address]);
  }
  await ours.stop();
  if (servers.length > 1) {
    await servers[1].stop();
    await servers[1].load(blockFiles());
    await servers[1].start();
  }
  await ours.start();
  await table(
    `The same, ${back} blocks later`,
    servers,
    rows.filter(({ name }) => name !== 'getblockcount'),
    1,
    before,
  );
}
for (const server of servers) await server.stop();
