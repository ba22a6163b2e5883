#!/usr/bin/env node
// Processor time and memory of lbcnet and of lbrynet for calls that read claims: `resolve` of 30 URLs, `claim_search` and
// `claim_list` with `resolve`. Both daemons have the same wallet and the same hub, a regtest node with -hub. The daemons answer
// in turns. lbrynet is the program that LBRYNET names.
//
//   LBRYNET=<lbrynet> npm run bench:lbcnet-calls [-- --channels 5] [--streams 100] [--calls 40] [--turns 3]
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Daemon } from './daemonProcess.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const { startRegtest, freePort } = await import(pathToFileURL(join(root, 'dist/testing/index.js')).href);
const option = (name, fallback) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? fallback : Number(process.argv[at + 1]);
};
const CHANNELS = option('channels', 5);
const STREAMS = option('streams', 100);
const CALLS = option('calls', 40);
const TURNS = option('turns', 3);
const URLS = 30;
/** Time after the start or the load before memory is read. */
const REST_MS = 25_000;
/** Processor time of a kernel tick. */
const TICK_MS = 10;

/** Processor time of a process since its start, in milliseconds. */
function processorMs(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

const folder = mkdtempSync(join(tmpdir(), 'bench-lbcnet-calls-'));
const hubPort = await freePort();
const node = await startRegtest({ args: ['-hub', `-hubport=${hubPort}`, '-hubudpport=0'] });
const command = [process.execPath, join(root, 'dist/bin/lbcnet.js')];
const running = new Set();

async function start(program, place) {
  const daemon = new Daemon(program, place, await freePort(), hubPort);
  running.add(daemon);
  return daemon;
}

async function stop(daemon) {
  await daemon.stop();
  running.delete(daemon);
}

async function mine(daemon, count = 1) {
  await node.rpc('generatetoaddress', [count, await node.rpc('getnewaddress', [])]);
  const height = await node.rpc('getblockcount', []);
  while ((await daemon.call('status')).wallet.blocks < height) await sleep(20);
}

/** Makes channels and signed streams, and stops the daemon. Returns URLs of streams. */
async function makeClaims(place) {
  const daemon = await start(command, place);
  await daemon.up();
  await mine(daemon, 180);
  for (let i = 0; i < 40; i++) await node.rpc('sendtoaddress', [await daemon.call('address_unused'), 0.5]);
  await mine(daemon);
  const channels = [];
  for (let i = 0; i < CHANNELS; i++) {
    const made = await daemon.call('channel_create', {
      name: `@channel${i}`,
      bid: '0.01',
      title: `Channel ${i}`,
    });
    channels.push(made.outputs[0].claim_id);
  }
  await mine(daemon);
  const urls = [];
  for (let i = 0; i < STREAMS; i++) {
    const file = join(place, `file${i}.txt`);
    writeFileSync(file, `content ${i}\n`.repeat(100));
    const made = await daemon.call('stream_create', {
      name: `stream${i}`,
      bid: '0.001',
      file_path: file,
      channel_id: channels[i % CHANNELS],
      title: `Title of stream ${i}`,
      description: `A description of some length. `.repeat(10),
      tags: ['art', `tag${i % 7}`],
      languages: ['en'],
    });
    urls.push(made.outputs[0].permanent_url);
    if (i % 20 === 19) await mine(daemon);
  }
  await mine(daemon);
  await stop(daemon);
  return { urls, channels };
}

try {
  const ours = join(folder, 'lbcnet');
  const theirs = join(folder, 'lbrynet');
  const { urls, channels } = await makeClaims(ours);
  mkdirSync(theirs);
  cpSync(join(ours, 'wallet/wallets'), join(theirs, 'wallet/wallets'), { recursive: true });
  const daemons = { lbcnet: await start(command, ours) };
  if (process.env.LBRYNET) daemons.lbrynet = await start([process.env.LBRYNET], theirs);
  const calls = {
    'resolve of 30 URLs': ['resolve', { urls: urls.slice(0, URLS) }],
    'claim_search, 20 of a tag': ['claim_search', { any_tags: ['art'], page_size: 20 }],
    'claim_search, 50 of a channel': ['claim_search', { channel_ids: [channels[0]], page_size: 50 }],
    'claim_list with resolve': ['claim_list', { resolve: true, page_size: 50 }],
  };
  const figures = {};
  const note = (row, name, value) => ((figures[row] ??= {})[name] ??= []).push(value);
  for (const [name, daemon] of Object.entries(daemons)) {
    await daemon.up();
    await sleep(REST_MS);
    note('memory at rest, MB', name, daemon.memoryMb);
  }
  for (let turn = 0; turn <= TURNS; turn++) {
    for (const [row, [method, params]] of Object.entries(calls)) {
      for (const [name, daemon] of Object.entries(daemons)) {
        const before = processorMs(daemon.child.pid);
        for (let i = 0; i < CALLS; i++) await daemon.call(method, params);
        // The first turn warms both up.
        if (turn > 0) note(`${row}, processor ms`, name, (processorMs(daemon.child.pid) - before) / CALLS);
      }
    }
  }
  await sleep(REST_MS);
  for (const [name, daemon] of Object.entries(daemons)) {
    note('memory after the load, MB', name, daemon.memoryMb);
    await stop(daemon);
  }
  const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
  console.log(`${''.padEnd(46)}      lbcnet     lbrynet       ratio`);
  for (const [row, { lbcnet, lbrynet }] of Object.entries(figures)) {
    const [a, b] = [median(lbcnet), lbrynet && median(lbrynet)];
    console.log(
      `${row.padEnd(46)}${a.toFixed(2).padStart(12)}${(b?.toFixed(2) ?? '-').padStart(12)}${(b ? (a / b).toFixed(2) : '-').padStart(12)}`,
    );
  }
} finally {
  for (const daemon of running) daemon.child.kill('SIGKILL');
  await node.stop();
  rmSync(folder, { recursive: true, force: true });
}
