#!/usr/bin/env node
/**
 * The content half of lbcnet: making a stream, the transfer of blobs, saving a file, the start with many files, playing,
 * seeding to many peers, and how the API answers meanwhile. With LBRYNET (the program `lbrynet` of a checkout that runs)
 * lbry-sdk does the same in the same run, and ratios are printed; a ratio that misses its goal is marked with `!`, and the
 * program ends with 1 then.
 *
 *   npm run bench:content [-- --mib 1024] [--files 10000] [--stages make,transfer,slow,save,start,seed,api]
 */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, cpSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startRegtest } from '../../dist/testing/index.js';
import { addFiles } from './contentFolder.mjs';
import { BLOB_BYTES, freePort, MIB, ours, processorSeconds, python, residentMib } from './contentSide.mjs';
import { Daemon, SKIPPED } from './daemonProcess.mjs';

const args = process.argv.slice(2);
const option = (name, fallback) => {
  const at = args.indexOf(`--${name}`);
  return at < 0 ? fallback : args[at + 1];
};
const FILE_MIB = Number(option('mib', '1024'));
const FILES = Number(option('files', '10000'));
const STAGES = option('stages', 'make,transfer,slow,save,start,seed,api').split(',');
const LBRYNET = process.env.LBRYNET;
const SLOW_PEERS = 4;
const SLOW_BYTES_PER_SECOND = 2 * MIB;
const SLOW_MIB = Math.min(64, FILE_MIB);
const MANY_PEERS = 100;
/** Pause of a peer of `MANY_PEERS` after each read, in milliseconds. */
const PAUSE_MS = 200;
/** Number of transfers and of saves. The result is their median. Both programs take turns. */
const TURNS = 3;
/** Number of seeks whose times are measured, and of those during which the API is asked. Each goes to another blob. */
const SEEKS = 60;
const ASKED_SEEKS = 30;
/** Number of further files whose first byte is requested, and their size. The first file of the run is not one of them. */
const OPENED = 9;
const OPENED_MIB = 8;
/** Interval of the API calls to each daemon. */
const PROBE_MS = 3;
const P99_LIMIT_MS = 50;

const lbcnet = [process.execPath, join(dirname(fileURLToPath(import.meta.url)), '../../dist/bin/lbcnet.js')];

/** Results. `least`: lower limit for a rate; `most`: upper limit for a time or for memory, as the ratio of ours to lbrynet's. */
const rows = [];
const note = (row) => {
  rows.push(row);
  console.error(`${row.name}: ${JSON.stringify(row)}`);
};

function median(values) {
  return values.toSorted((a, b) => a - b)[values.length >> 1];
}

/** Runs a task on a side. Returns its seconds, and the processor time of all processes of `sides`. */
async function timed(sides, task) {
  const before = sides.map(({ process: { pid } }) => processorSeconds(pid));
  const { seconds, ...rest } = await task();
  const processor = sides.reduce(
    (sum, { process: { pid } }, n) => sum + processorSeconds(pid) - before[n],
    0,
  );
  return { seconds, processor, ...rest };
}

function makeFile(path, mib = FILE_MIB) {
  const fd = openSync(path, 'w');
  for (let n = 0; n < mib; n++) writeSync(fd, randomBytes(MIB));
  closeSync(fd);
}

const KINDS = [{ name: 'ours', make: ours }, ...(LBRYNET ? [{ name: 'theirs', make: python }] : [])];

async function startSide({ make }, folder) {
  mkdirSync(folder, { recursive: true });
  const side = make(folder);
  const port = await freePort();
  await side.call('start', port, await freePort(), 0);
  return { side, port };
}

/**
 * Writes out everything that earlier steps left in the page cache, so that the system does not slow down a writer because of
 * the data of another.
 */
const settle = () => void execFileSync('sync');

/** The medians of the measurements of a side. */
function medians(measured) {
  return {
    seconds: median(measured.map(({ seconds }) => seconds)),
    processor: median(measured.map(({ processor }) => processor)),
  };
}

/** A server of one kind with the stream, and what is measured of it. */
class StreamSide {
  constructor(kind, base) {
    this.kind = kind;
    this.base = base;
    this.folder = join(base, `${kind.name}-server`);
    this.measured = { again: [], first: [], save: [] };
  }

  async make(path) {
    await this.#start();
    settle();
    this.made = await timed([this.server], () => this.server.call('create', path));
    // The last blob of a file is short.
    this.hashes = this.made.blobs.slice(0, Math.floor((FILE_MIB * MIB) / (BLOB_BYTES - 1)));
  }

  async #start() {
    ({ side: this.server, port: this.port } = await startSide(this.kind, this.folder));
  }

  /** A new process of ours has verified no blob yet. lbry-sdk's server verifies none, and starts slowly. */
  async #restart() {
    if (this.kind.name !== 'ours') return;
    await this.server.close();
    await this.#start();
  }

  async #fetch() {
    const folder = join(this.base, `${this.kind.name}-client`);
    const { side: client } = await startSide(this.kind, folder);
    settle();
    const sides = [this.server, client];
    const measured = await timed(sides, () => client.call('fetch', [this.port], this.hashes));
    await client.close();
    rmSync(folder, { recursive: true, force: true });
    return measured;
  }

  async transfer() {
    await this.#restart();
    this.measured.first.push(await this.#fetch());
    this.measured.again.push(this.kind.name === 'ours' ? await this.#fetch() : this.measured.first.at(-1));
  }

  async save(turn) {
    await this.#restart();
    settle();
    const name = `saved-${turn}.bin`;
    const save = () => this.server.call('save', this.made.sd_hash, name);
    this.measured.save.push(await timed([this.server], save));
    rmSync(join(this.folder, name), { force: true });
  }

  close() {
    return this.server.close();
  }
}

/** Measures creating, transferring and saving a stream, with components of either program in separate processes, which take turns. */
async function withSides(base) {
  const path = join(base, 'film.bin');
  makeFile(path);
  const sides = KINDS.map((kind) => new StreamSide(kind, base));
  for (const side of sides) await side.make(path);
  for (let turn = 0; turn < TURNS; turn++)
    for (const side of sides) {
      if (STAGES.includes('transfer')) await side.transfer();
      if (STAGES.includes('save')) await side.save(turn);
    }
  for (const side of sides) await side.close();
  const [mine, other] = sides;
  const each = (name, goal, of) => {
    const [ours, theirs] = [of(mine), other && of(other)];
    note({ name, unit: 's', ours: ours.seconds, theirs: theirs?.seconds, goal, kind: 'faster' });
    note({ name: `${name}: processor`, unit: 's', ours: ours.processor, theirs: theirs?.processor });
  };
  each(`making a stream of ${FILE_MIB} MiB`, 4, ({ made }) => made);
  if (STAGES.includes('transfer')) {
    each('transfer, one peer, blobs verified in this run', 4, ({ measured }) => medians(measured.again));
    each('transfer, one peer, first use', 4, ({ measured }) => medians(measured.first));
  }
  if (STAGES.includes('save')) each('verify, decrypt and save', 3, ({ measured }) => medians(measured.save));
  for (const { kind, measured } of sides) console.error(`${kind.name}: ${JSON.stringify(measured)}`);
  if (STAGES.includes('slow')) {
    const slow = await fromSlowPeers(base, mine.folder, mine.hashes);
    note({
      name: `${SLOW_PEERS} peers of 2 MiB/s together`,
      unit: 'MiB/s',
      ours: SLOW_MIB / slow.seconds,
      least: 7.5,
    });
  }
  for (const { folder } of sides) rmSync(folder, { recursive: true, force: true });
}

async function fromSlowPeers(base, folder, hashes) {
  const servers = [];
  for (let n = 0; n < SLOW_PEERS; n++) {
    const copy = join(base, `slow-${n}`);
    cpSync(folder, copy, { recursive: true });
    const side = ours(copy);
    const port = await freePort();
    await side.call('start', port, 0, SLOW_BYTES_PER_SECOND);
    servers.push({ side, port });
  }
  const { side: client } = await startSide(KINDS[0], join(base, 'slow-client'));
  const some = hashes.slice(0, SLOW_MIB / 2);
  const out = await client.call(
    'fetch',
    servers.map(({ port }) => port),
    some,
  );
  await Promise.all([client, ...servers.map(({ side }) => side)].map((side) => side.close()));
  for (let n = 0; n < SLOW_PEERS; n++) rmSync(join(base, `slow-${n}`), { recursive: true, force: true });
  return out;
}

/** The 99th percentile of the times of API calls in milliseconds, measured while a task runs. */
async function whileAsking(daemon, task) {
  let isRunning = true;
  const took = [];
  const asking = (async () => {
    while (isRunning) {
      const since = performance.now();
      await daemon.call('status');
      took.push(performance.now() - since);
      await sleep(PROBE_MS);
    }
  })();
  let result;
  try {
    result = await task();
  } finally {
    isRunning = false;
    await asking;
  }
  took.sort((a, b) => a - b);
  return { result, p99: took[Math.floor(took.length * 0.99)] };
}

const api = (name, p99) => note({ name: `API p99: ${name}`, unit: 'ms', ours: p99, most: P99_LIMIT_MS });

/** Milliseconds until the first byte of a range arrives. Then the connection is closed. */
async function firstByte(url, from) {
  const since = performance.now();
  const response = await fetch(url, { headers: { range: `bytes=${from}-` } });
  const reader = response.body.getReader();
  const { value } = await reader.read();
  const took = performance.now() - since;
  if (!value?.length) throw new Error(`${url}: no byte came`);
  await reader.cancel();
  return took;
}

/** Measures the start of a daemon on a folder with many files, and the playback of the large file. */
async function startMany(command, folder, hubPort, { large, opened }, isOurs) {
  const media = await freePort();
  const settings = {
    streaming_server: `127.0.0.1:${media}`,
    reflect_streams: false,
    fixed_peers: [],
    tracker_servers: [],
    save_files: false,
  };
  // The first start creates a wallet, which is not part of the measured start.
  const first = new Daemon(command, folder, await freePort(), hubPort, settings);
  await first.up();
  await first.stop();
  const daemon = new Daemon(command, folder, await freePort(), hubPort, settings);
  const seconds = await daemon.up();
  const processor = processorSeconds(daemon.child.pid);
  await sleep(1000);
  const memory = residentMib(daemon.child.pid);
  const { total_items: total } = await daemon.call('file_list', { page_size: 1 });
  const files = FILES + 1 + opened.length;
  if (total !== files) throw new Error(`${total} of ${files} files are listed`);
  const urlOf = (sdHash) => `http://127.0.0.1:${media}/stream/${sdHash}`;
  const url = urlOf(large);
  // The API is not asked while times are measured: how often its calls delay a player would differ from run to run.
  const firstMs = await firstByte(url, 0);
  const starts = [];
  for (const sdHash of opened) starts.push(await firstByte(urlOf(sdHash), 0));
  const all = SEEKS + ASKED_SEEKS;
  // No position is in the first blob, which is in use already.
  const places = Array.from({ length: all }, (_, n) =>
    Math.floor(((((n * 7919) % all) + 0.9) / all) * FILE_MIB * MIB),
  );
  const seek = async (some) => {
    const took = [];
    for (const place of some) took.push(await firstByte(url, place));
    return took;
  };
  const seeks = await seek(places.slice(0, SEEKS));
  const { p99 } = await whileAsking(daemon, () => seek(places.slice(SEEKS)));
  if (isOurs) api('playing', p99);
  await daemon.stop();
  return {
    seconds,
    processor,
    memory,
    first: firstMs,
    start: median(starts),
    seek: median(seeks),
  };
}

async function withManyFiles(base, hubPort) {
  const folder = join(base, 'many');
  const { side } = await startSide(KINDS[0], join(folder, 'data'));
  const made = async (name, mib) => {
    const path = join(base, name);
    makeFile(path, mib);
    const { sd_hash: sdHash } = await side.call('create', path);
    rmSync(path);
    return sdHash;
  };
  const large = await made('large.bin', FILE_MIB);
  const opened = [];
  for (let n = 0; n < OPENED; n++) opened.push(await made(`opened-${n}.bin`, OPENED_MIB));
  await side.close();
  await addFiles(join(folder, 'data'), FILES, (name) => (name === 'large.bin' ? FILE_MIB : OPENED_MIB) * MIB);
  const streams = { large, opened };
  const mine = await startMany(lbcnet, folder, hubPort, streams, true);
  rmSync(join(folder, 'wallet'), { recursive: true });
  const other = LBRYNET ? await startMany([LBRYNET], folder, hubPort, streams, false) : undefined;
  const files = `${FILES.toLocaleString('en-US')} files`;
  const pair = (what) => ({ ours: mine[what], theirs: other?.[what] });
  note({ name: `start with ${files}`, unit: 's', ...pair('seconds'), goal: 8, kind: 'faster' });
  note({ name: `start with ${files}: processor`, unit: 's', ...pair('processor') });
  note({ name: `memory with ${files}`, unit: 'MiB', ...pair('memory'), goal: 2, kind: 'faster' });
  note({ name: 'first byte of a local file', unit: 'ms', ...pair('start'), goal: 3, kind: 'faster' });
  note({ name: 'the same, first request after the start', unit: 'ms', ...pair('first') });
  note({ name: 'first byte after a seek', unit: 'ms', ...pair('seek'), goal: 3, kind: 'faster' });
  rmSync(folder, { recursive: true, force: true });
}

/** Peers that download slowly, all at the same time, for some seconds. */
async function seed(daemon, port, hashes) {
  const sockets = Array.from({ length: MANY_PEERS }, (_, n) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.on('data', () => {
      socket.pause();
      setTimeout(() => socket.resume(), PAUSE_MS);
    });
    socket.write(JSON.stringify({ requested_blob: hashes[n % hashes.length] }));
    return socket;
  });
  let most = 0;
  for (let n = 0; n < 50; n++) {
    await sleep(100);
    most = Math.max(most, residentMib(daemon.child.pid));
  }
  for (const socket of sockets) socket.destroy();
  return most;
}

async function seedToMany(command, base, hubPort, isOurs) {
  const folder = join(base, isOurs ? 'seed-ours' : 'seed-theirs');
  const path = join(base, 'seeded.bin');
  makeFile(path);
  const kind = isOurs ? KINDS[0] : KINDS[1];
  const data = join(folder, 'data');
  const { side } = await startSide(kind, data);
  const { blobs } = await side.call('create', path);
  await side.close();
  if (!isOurs) {
    // lbry-sdk's components store blobs directly in the folder, its daemon in `blobfiles`.
    mkdirSync(join(data, 'blobfiles'), { recursive: true });
    for (const hash of blobs) cpSync(join(data, hash), join(data, 'blobfiles', hash));
  }
  const port = await freePort();
  const settings = {
    tcp_port: port,
    reflect_streams: false,
    fixed_peers: [],
    // lbrynet's server of blobs depends on the component upnp.
    components_to_skip: SKIPPED.filter((name) => !['peer_protocol_server', 'upnp'].includes(name)),
    ...(isOurs && { max_peer_connections_per_address: 2 * MANY_PEERS }),
  };
  const daemon = new Daemon(command, folder, await freePort(), hubPort, settings);
  await daemon.up();
  await sleep(1000);
  const rest = residentMib(daemon.child.pid);
  const { result, p99 } = await whileAsking(daemon, () => seed(daemon, port, blobs));
  if (isOurs) api(`seeding to ${MANY_PEERS} peers`, p99);
  await daemon.stop();
  rmSync(folder, { recursive: true, force: true });
  return { rest, seeding: result };
}

async function seeding(base, hubPort) {
  const mine = await seedToMany(lbcnet, base, hubPort, true);
  const other = LBRYNET ? await seedToMany([LBRYNET], base, hubPort, false) : undefined;
  note({ name: 'memory of the daemon at rest', unit: 'MiB', ours: mine.rest, theirs: other?.rest });
  note({
    name: `memory while seeding to ${MANY_PEERS} peers`,
    unit: 'MiB',
    ours: mine.seeding,
    theirs: other?.seeding,
    goal: 1,
    kind: 'faster',
  });
}

const completed = async (daemon) => (await daemon.call('file_list')).items[0]?.completed === true;

/** Measures the API of two daemons, while one publishes and seeds and the other one downloads and saves. */
async function askingWhileBusy(base, node, hubPort) {
  const path = join(base, 'published.bin');
  makeFile(path);
  const port = await freePort();
  const skipped = SKIPPED.filter((name) => !['peer_protocol_server', 'exchange_rate_manager'].includes(name));
  const settings = {
    reflect_streams: false,
    tracker_servers: [],
    http_blob_servers: [],
    components_to_skip: skipped,
  };
  const seeder = new Daemon(lbcnet, join(base, 'api-seeder'), await freePort(), hubPort, {
    ...settings,
    tcp_port: port,
    fixed_peers: [],
  });
  const reader = new Daemon(lbcnet, join(base, 'api-reader'), await freePort(), hubPort, {
    ...settings,
    tcp_port: await freePort(),
    fixed_peers: [`127.0.0.1:${port}`],
    fixed_peer_delay: 0,
    save_files: true,
  });
  try {
    await Promise.all([seeder.up(), reader.up()]);
    const address = await seeder.call('address_unused');
    await node.rpc('generatetoaddress', [1, address]);
    await node.rpc('generatetoaddress', [100, await reader.call('address_unused')]);
    while (Number((await seeder.call('account_balance')).available) === 0) await sleep(50);
    const published = await whileAsking(seeder, () =>
      seeder.call('stream_create', { name: 'film', bid: '0.1', file_path: path, title: 'film' }),
    );
    api('publishing', published.p99);
    await node.rpc('generatetoaddress', [1, address]);
    while (!(await reader.call('resolve', { urls: 'film' })).film?.claim_id) await sleep(50);
    const download = async () => {
      await reader.call('get', { uri: 'film' });
      while (!(await completed(reader))) await sleep(50);
    };
    const seeded = await whileAsking(seeder, async () => {
      api('downloading and saving', (await whileAsking(reader, download)).p99);
    });
    api('seeding it', seeded.p99);
    const [{ claim_id: claimId }] = (await reader.call('file_list')).items;
    const saved = await whileAsking(reader, async () => {
      await reader.call('file_save', { claim_id: claimId, file_name: 'again.bin' });
      while (!(await completed(reader))) await sleep(50);
    });
    api('saving', saved.p99);
  } finally {
    await Promise.all([seeder.stop(), reader.stop()]);
  }
}

const shown = (value) =>
  value === undefined ? '-' : value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toFixed(2);

/** The limit of a row as text, and whether the row misses it. */
function judged({ ours: mine, theirs, goal, least, most }) {
  if (least !== undefined) return [`at least ${least}`, mine < least];
  if (most !== undefined) return [`at most ${most}`, mine > most];
  if (goal === undefined) return ['', false];
  return [`${goal} times`, theirs !== undefined && theirs / mine < goal];
}

function print() {
  const width = Math.max(...rows.map(({ name, unit }) => name.length + unit.length)) + 4;
  console.log(
    ['content'.padEnd(width), 'lbcnet'.padStart(10), 'lbrynet'.padStart(10), 'ratio'.padStart(8)].join(''),
  );
  for (const row of rows) {
    const [goal, isMissed] = judged(row);
    if (isMissed) process.exitCode = 1;
    const ratio = row.theirs === undefined ? '' : (row.theirs / row.ours).toFixed(2);
    const cells = [shown(row.ours).padStart(10), shown(row.theirs).padStart(10), ratio.padStart(8)];
    console.log(
      [`${row.name}, ${row.unit}`.padEnd(width), ...cells, goal.padStart(14), isMissed ? ' !' : ''].join(''),
    );
  }
}

const base = mkdtempSync(join(tmpdir(), 'bench-content-'));
try {
  if (['make', 'transfer', 'slow', 'save'].some((stage) => STAGES.includes(stage))) await withSides(base);
  if (['start', 'seed', 'api'].some((stage) => STAGES.includes(stage))) {
    const hubPort = await freePort();
    const node = await startRegtest({
      args: ['-hub', `-hubport=${hubPort}`, '-hubudpport=0', '-disablewallet', '-txindex'],
    });
    try {
      await node.rpc('generatetoaddress', [1, 'mfWxJ45yp2SFn7UciZyNpvDKrzbhyfKrY8']);
      if (STAGES.includes('start')) await withManyFiles(base, hubPort);
      if (STAGES.includes('seed')) await seeding(base, hubPort);
      if (STAGES.includes('api')) await askingWhileBusy(base, node, hubPort);
    } finally {
      await node.stop();
    }
  }
  print();
} finally {
  rmSync(base, { recursive: true, force: true });
}
