#!/usr/bin/env node
// Measures the cost of indexes, search and hub when blocks are connected, on the main thread. Four nodes on regtest receive the
// blocks of a bootstrap file in turns: one plain, one with the indexes of transactions and addresses, one with the claim index
// too, and one with -hub and a given number of sessions, which follow headers and addresses and search repeatedly. Prints for
// each node the processor time of the main thread (Linux: /proc), the time by the clock, and the ratios; for the hub also the
// processor time without its answers to searches, which are measured between blocks. The order of the four changes in each
// turn. The median of batches is printed beside the ratio of the sums, because single turns may be disturbed by other programs.
//
//   npm run bench:hub -- <file.dat or file.dat.gz> [--sessions 100] [--addresses 0] [--every ms] [--supportdelay proportional]
//
// `--beside <folder of a built checkout of another commit>` compares that commit with this one instead. Four nodes receive the
// blocks in turns: of each commit a plain node and a node with a hub, whose sessions send no requests.
import { existsSync, readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const { startRegtest } = await import(pathToFileURL(join(root, 'dist/testing/index.js')).href);
const args = process.argv.slice(2);
const option = (name, fallback) => {
  const at = args.indexOf(`--${name}`);
  return at < 0 ? fallback : args[at + 1];
};
const source = args.find((arg, i) => !arg.startsWith('--') && !args[i - 1]?.startsWith('--'));
if (!source || !existsSync(source)) {
  console.error(
    'usage: npm run bench:hub -- <file.dat[.gz]> [--sessions n] [--addresses n] [--every ms] [--supportdelay rule] ' +
      '[--beside folder]',
  );
  process.exit(2);
}
const SESSIONS = Number(option('sessions', '100'));
/** Number of addresses to which each session subscribes. They occur in the chain. */
const ADDRESSES = Number(option('addresses', '0'));
/** Interval between the searches of a session. */
const EVERY_MS = Number(option('every', '1000'));
/** Folder of a built checkout of another commit; null if only this commit is measured. */
const BESIDE = option('beside', null);
const common = ['-listen=0', '-disablewallet', `-supportdelay=${option('supportdelay', 'proportional')}`];
/** The hub notifies its clients about 100 ms after a block. */
const REPORTED_MS = 150;
/** Number of blocks between two measurements. */
const BATCH = 10;
/** A record of a bootstrap file: magic and length, then the block. */
const FRAME_BYTES = 8;

function* blocksOf(path) {
  const raw = readFileSync(path);
  const bytes = path.endsWith('.gz') ? gunzipSync(raw) : raw;
  for (let at = 0; at + FRAME_BYTES < bytes.length;) {
    const length = bytes.readUInt32LE(at + 4);
    yield bytes.toString('hex', at + FRAME_BYTES, at + FRAME_BYTES + length);
    at += FRAME_BYTES + length;
  }
}

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

/** Processor time of a process's main thread so far. */
const mainThreadMs = ({ pid }) =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;

const SEARCHES = [
  { order_by: ['release_time'], claim_type: ['stream'], limit: 20 },
  { text: 'hello', limit: 20 },
  { any_tags: ['art', 'music'], not_tags: ['mature'], limit: 50, limit_claims_per_channel: 1 },
  { order_by: ['trending_group', 'trending_mixed'], limit: 20, offset: 20 },
  { claim_type: ['channel'], order_by: ['effective_amount'], limit: 20 },
];

/** A session that searches repeatedly while `isSearching` is true. */
class Session {
  static isSearching = false;
  static answered = 0;

  constructor(port, n) {
    this.n = n;
    this.socket = connect({ port, host: '127.0.0.1' });
    this.rest = '';
    this.waiting = new Map();
    this.socket.setEncoding('latin1').on('data', (text) => this.receive(text));
  }

  receive(text) {
    const lines = (this.rest + text).split('\n');
    this.rest = lines.pop();
    for (const line of lines) {
      const { id } = JSON.parse(line);
      this.waiting.get(id)?.();
      this.waiting.delete(id);
    }
  }

  call(method, params) {
    const id = (this.id = (this.id ?? 0) + 1);
    this.socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return new Promise((resolve) => this.waiting.set(id, resolve));
  }

  async begin(addresses) {
    await this.call('server.version', ['bench', '0.113.0']);
    await this.call('blockchain.headers.subscribe', [true]);
    if (addresses.length > 0) await this.call('blockchain.address.subscribe', addresses);
    void this.searchOn();
  }

  async searchOn() {
    await sleep((EVERY_MS * this.n) / SESSIONS);
    for (let n = this.n; !this.socket.destroyed; n++) {
      if (Session.isSearching) {
        // A different constraint for each search, so that no answer comes from a cache.
        const search = { ...SEARCHES[n % SEARCHES.length], not_claim_ids: [String(n)] };
        await this.call('blockchain.claimtrie.search', { ...search, height: `>${(n * 7919) % 1000}` });
        Session.answered++;
      }
      await sleep(EVERY_MS);
    }
  }
}

/** Starts a node with a hub. `start` is `startRegtest` of its commit. */
async function startHub(start) {
  const hubPort = await freePort();
  const node = await start({ args: [...common, '-hub', `-hubport=${hubPort}`, '-hubudpport=0'] });
  return Object.assign(node, { hubPort });
}

async function startNodes() {
  if (BESIDE === null)
    return {
      plain: await startRegtest({ args: common }),
      addresses: await startRegtest({ args: [...common, '-txindex', '-addressindex'] }),
      claims: await startRegtest({ args: [...common, '-txindex', '-addressindex', '-claimindex'] }),
      hub: await startHub(startRegtest),
    };
  const other = await import(pathToFileURL(join(resolve(BESIDE), 'dist/testing/index.js')).href);
  return {
    plain: await startRegtest({ args: common }),
    'plain, other': await other.startRegtest({ args: common }),
    hub: await startHub(startRegtest),
    'hub, other': await startHub(other.startRegtest),
  };
}

const nodes = await startNodes();
const sessions = [];

/**
 * Waits until the search index is at the tip and clients are notified. The node continues this work after it has answered
 * `submitblock`. The other nodes are polled for the same time, because polling uses the main thread too.
 */
async function settle(node) {
  const height = await node.rpc('getblockcount');
  for (;;) {
    await sleep(REPORTED_MS);
    const { search } = await node.rpc('getclaimindexinfo').catch(() => ({}));
    if (node.hubPort === undefined || search?.height === height) return;
  }
}

/** Submits blocks. Returns the processor time of the main thread and the wall-clock time until all resulting work is finished. */
async function connectAll(node, blocks) {
  const [cpuMs, since] = [mainThreadMs(node), performance.now()];
  for (const block of blocks) {
    const refusal = await node.rpc('submitblock', [block]);
    if (refusal !== null && refusal !== 'duplicate') throw new Error(`a block was refused: ${refusal}`);
  }
  const wallMs = performance.now() - since;
  await settle(node);
  return { cpuMs: mainThreadMs(node) - cpuMs, wallMs };
}

/** Addresses that the latest blocks pay to. */
async function paidAddresses(node) {
  const found = new Set();
  for (let height = await node.rpc('getblockcount'); height > 0 && found.size < 1000; height--) {
    const { tx } = await node.rpc('getblock', [await node.rpc('getblockhash', [height]), 2]);
    for (const { vout } of tx)
      for (const { scriptPubKey } of vout)
        for (const address of scriptPubKey.addresses ?? []) found.add(address);
  }
  return [...found];
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const sum = (list, of) => list.reduce((total, turn) => total + of(turn), 0);

/** Compares this commit with another. */
async function compareCommits(blocks, warm) {
  const names = Object.keys(nodes);
  const turns = [];
  for (let at = warm; at + BATCH <= blocks.length; at += BATCH) {
    const turn = {};
    for (const name of names)
      turn[name] = (await connectAll(nodes[name], blocks.slice(at, at + BATCH))).cpuMs;
    turns.push(turn);
    // A node may still work in the background while the next one is measured.
    names.reverse();
  }
  console.log(
    `${turns.length * BATCH} blocks, ${SESSIONS} sessions at rest, processor time of the main thread:`,
  );
  for (const name of ['plain', 'hub']) {
    const [own, other] = [name, `${name}, other`].map((key) => sum(turns, (turn) => turn[key]));
    const ratios = turns.map((turn) => turn[name] / turn[`${name}, other`]);
    const blocksDone = turns.length * BATCH;
    console.log(
      `${name}: ${(own / blocksDone).toFixed(2)} ms a block, the other commit ${(other / blocksDone).toFixed(2)}; ` +
        `ratio ${(own / other).toFixed(3)}, median of the batches ${median(ratios).toFixed(3)}`,
    );
  }
}

/** Measures the nodes of this commit. */
async function measureNodes(blocks, warm) {
  const turns = [];
  for (let at = warm; at + BATCH <= blocks.length; at += BATCH) {
    const batch = blocks.slice(at, at + BATCH);
    const turn = {};
    const names = ['plain', 'addresses', 'claims'];
    for (let i = 0; i < names.length; i++) {
      const name = names[(turns.length + i) % names.length];
      turn[name] = await connectAll(nodes[name], batch);
    }
    // The sessions of the hub search in every second turn.
    Session.isSearching = (turns.length & 1) === 1;
    let perSearchMs = 0;
    if (Session.isSearching) {
      const [answered, before] = [Session.answered, mainThreadMs(nodes.hub)];
      await sleep(Math.max(1000, EVERY_MS));
      perSearchMs = (mainThreadMs(nodes.hub) - before) / Math.max(1, Session.answered - answered);
    }
    const answered = Session.answered;
    turn.hub = await connectAll(nodes.hub, batch);
    turn.searches = Session.answered - answered;
    turn.isSearching = Session.isSearching;
    turn.perSearchMs = perSearchMs;
    Session.isSearching = false;
    turns.push(turn);
  }
  const cpu =
    (name, without = () => 0) =>
    (turn) =>
      turn[name].cpuMs - without(turn);
  const show = (label, list, of, name) => {
    const ratioTo = (base) =>
      `${(sum(list, of) / sum(list, cpu(base))).toFixed(2)} times ${base} ` +
      `(median ${median(list.map((turn) => of(turn) / turn[base].cpuMs)).toFixed(2)})`;
    const perBlock = (value) => (sum(list, value) / (list.length * BATCH)).toFixed(2).padStart(7);
    const wallRatio = sum(list, (turn) => turn[name].wallMs) / sum(list, (turn) => turn.plain.wallMs);
    console.log(
      `${label.padEnd(44)} ${perBlock(of)} ms a block, ${ratioTo('plain')}, ${ratioTo('addresses')}; ` +
        `by the clock ${perBlock((turn) => turn[name].wallMs)} ms, ${wallRatio.toFixed(2)} times plain`,
    );
  };
  const resting = turns.filter(({ isSearching }) => !isSearching);
  const searching = turns.filter(({ isSearching }) => isSearching);
  console.log(`${turns.length * BATCH} blocks, ${SESSIONS} sessions, processor time of the main thread:`);
  show('plain', turns, cpu('plain'), 'plain');
  show('transactions and addresses', turns, cpu('addresses'), 'addresses');
  show('and claims', turns, cpu('claims'), 'claims');
  show('hub, sessions at rest', resting, cpu('hub'), 'hub');
  const ofAnswers = (turn) => turn.searches * turn.perSearchMs;
  show('hub, sessions searching, without answers', searching, cpu('hub', ofAnswers), 'hub');
  show('hub, sessions searching, with answers', searching, cpu('hub'), 'hub');
  const searches = sum(searching, (turn) => turn.searches);
  console.log(
    `${searches} searches meanwhile, ${median(searching.map((turn) => turn.perSearchMs)).toFixed(2)} ms each`,
  );
  const info = await nodes.hub.rpc('getclaimindexinfo');
  console.log(
    `index: ${JSON.stringify({ height: info.height, claims: info.claims, search: info.search?.documents })}`,
  );
}

try {
  const blocks = [...blocksOf(source)];
  // The first blocks have no transactions, and warm up the nodes.
  const warm = Math.floor(blocks.length / 3);
  for (const node of Object.values(nodes)) await connectAll(node, blocks.slice(0, warm));
  const paid = ADDRESSES > 0 ? await paidAddresses(nodes.plain) : [];
  const addressesOf = (n) =>
    Array.from(
      { length: Math.min(ADDRESSES, paid.length) },
      (_, i) => paid[(n * ADDRESSES + i) % paid.length],
    );
  for (const { hubPort } of Object.values(nodes))
    for (let n = 0; n < SESSIONS && hubPort !== undefined; n++) sessions.push(new Session(hubPort, n));
  await Promise.all(sessions.map((session) => session.begin(addressesOf(session.n))));
  await (BESIDE === null ? measureNodes : compareCommits)(blocks, warm);
} finally {
  for (const { socket } of sessions) socket.destroy();
  for (const node of Object.values(nodes)) await node.stop();
}
