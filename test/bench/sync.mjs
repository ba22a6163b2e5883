#!/usr/bin/env node
// Measures the sync of the bench chain from another lbcnode on the loopback interface, in turns with an import from its file:
// the seconds from the start of the process until the tip is connected, and meanwhile the delay of the event loop (measured in
// the process) and the time of an RPC call (measured outside). If LBRYCRDD names a reference binary, it syncs from our node
// too.
//
//   npm run bench:sync -- <file.dat or file.dat.gz> [--runs 3]
import { spawn } from 'node:child_process';
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createGunzip } from 'node:zlib';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const args = process.argv.slice(2);
const at = args.indexOf('--runs');
const runs = at < 0 ? 3 : Number(args[at + 1]);
const source = args.find((arg, i) => !arg.startsWith('--') && args[i - 1] !== '--runs');
if (!source || !existsSync(source)) {
  console.error('usage: npm run bench:sync -- <file.dat[.gz]> [--runs n]');
  process.exit(2);
}
const work = mkdtempSync(join(tmpdir(), 'bench-sync-'));
process.on('exit', () => rmSync(work, { recursive: true, force: true }));
let file = source;
if (source.endsWith('.gz')) {
  file = join(work, 'bootstrap.dat');
  await pipeline(createReadStream(source), createGunzip(), createWriteStream(file));
}
/** Preloaded by the node: measures the delay of its event loop, and writes the result at the end. */
const probe = join(work, 'probe.mjs');
writeFileSync(
  probe,
  `import { monitorEventLoopDelay } from 'node:perf_hooks';
import { writeFileSync } from 'node:fs';
const delay = monitorEventLoopDelay({ resolution: 5 });
setTimeout(() => delay.enable(), 1000);
process.on('exit', () => writeFileSync(process.env.BENCH_DELAY, JSON.stringify({
  p50: delay.percentile(50) / 1e6, p99: delay.percentile(99) / 1e6, max: delay.max / 1e6 })));
`,
);

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const percentile = (values, share) =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))];

function call(port, method) {
  return new Promise((resolve) => {
    const body = JSON.stringify({ id: 1, method, params: [] });
    const options = { host: '127.0.0.1', port, method: 'POST', auth: 'u:p', agent: false };
    const post = request(options, (answer) => {
      let text = '';
      answer.on('data', (chunk) => (text += chunk));
      answer.on('end', () => resolve(JSON.parse(text || '{}').result ?? null));
    });
    post.on('error', () => resolve(null));
    post.end(body);
  });
}

let run = 0;
/** Starts a node. `reached` resolves when it is at a height, with the seconds and the times of RPC calls until then. */
async function start(program, programArgs) {
  const folder = mkdtempSync(join(work, `node-${run++}-`));
  const [rpcPort, p2pPort] = [await freePort(), await freePort()];
  const delayFile = join(folder, 'delay.json');
  const ours = program === process.execPath;
  const began = performance.now();
  const child = spawn(
    program,
    [
      ...(ours ? ['--import', probe, join(root, 'dist/bin/lbcnode.js'), '-supportdelay=proportional'] : []),
      ...(ours ? ['-printtoconsole=0'] : ['-disablewallet', '-checkblockindex=0', '-dbcache=450']),
      '-regtest',
      '-server',
      `-datadir=${folder}`,
      `-rpcport=${rpcPort}`,
      '-rpcuser=u',
      '-rpcpassword=p',
      '-assumevalid=0',
      '-dnsseed=0',
      '-listenonion=0',
      ...programArgs(p2pPort),
    ],
    { stdio: 'ignore', env: { ...process.env, BENCH_DELAY: delayFile } },
  );
  const exited = new Promise((resolve) => child.once('exit', resolve));
  return {
    p2pPort,
    async reached(height) {
      const times = [];
      for (;;) {
        const asked = performance.now();
        const count = await call(rpcPort, 'getblockcount');
        if (count !== null) times.push(performance.now() - asked);
        if (count === height) return { seconds: (performance.now() - began) / 1000, times };
        await sleep(10);
      }
    },
    info: () => call(rpcPort, 'getblockchaininfo'),
    async stop() {
      child.kill('SIGTERM');
      await exited;
      const delay = ours ? JSON.parse(readFileSync(delayFile, 'utf8')) : null;
      rmSync(folder, { recursive: true, force: true });
      return delay;
    },
  };
}

const listen = (port) => ['-maxtipage=2000000000', '-listen=1', `-bind=127.0.0.1:${port}`, `-port=${port}`];
const server = await start(process.execPath, (port) => [...listen(port), `-loadblock=${file}`]);
let info = null;
while (info?.initialblockdownload !== false) {
  await sleep(200);
  info = await server.info();
}
const height = info.blocks;
const [imports, syncs, references] = [[], [], []];
const delays = [];
const rpcTimes = [];
for (let i = 0; i < runs; i++) {
  const importing = await start(process.execPath, () => ['-listen=0', '-connect=0', `-loadblock=${file}`]);
  imports.push((await importing.reached(height)).seconds);
  await importing.stop();
  const syncing = await start(process.execPath, () => ['-listen=0', `-connect=127.0.0.1:${server.p2pPort}`]);
  const { seconds, times } = await syncing.reached(height);
  syncs.push(seconds);
  rpcTimes.push(...times);
  delays.push(await syncing.stop());
  if (process.env.LBRYCRDD) {
    const theirs = await start(process.env.LBRYCRDD, () => [
      '-listen=0',
      `-connect=127.0.0.1:${server.p2pPort}`,
    ]);
    references.push((await theirs.reached(height)).seconds);
    await theirs.stop();
  }
}
await server.stop();
const show = (values) => `${median(values).toFixed(2)} s (${values.map((s) => s.toFixed(2)).join(', ')})`;
console.log(`height ${height}; median of ${runs}, from the start of the process until the tip stands`);
console.log(`import from file: ${show(imports)}`);
console.log(`sync over loopback: ${show(syncs)}`);
console.log(`ratio, pair by pair: ${median(syncs.map((s, i) => s / imports[i])).toFixed(2)} (goal 1.15)`);
if (references.length > 0) console.log(`the reference, from the same peer: ${show(references)}`);
console.log(
  `event loop's delay while syncing: p50 ${median(delays.map((d) => d.p50)).toFixed(1)} ms, p99 ${median(delays.map((d) => d.p99)).toFixed(1)} ms (goal 50), max ${Math.max(...delays.map((d) => d.max)).toFixed(0)} ms`,
);
console.log(
  `RPC call while syncing: p50 ${percentile(rpcTimes, 0.5).toFixed(1)} ms, p99 ${percentile(rpcTimes, 0.99).toFixed(1)} ms (goal 150), ${rpcTimes.length} calls`,
);
