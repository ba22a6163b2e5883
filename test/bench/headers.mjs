#!/usr/bin/env node
// Measures the speed of the headers of a first sync: in one pass, and in two passes if their work must be proved first. A peer
// without a socket answers at once, so that only the node's own work counts.
//
//   npm run bench:headers [-- <headers>]
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const dist = (path) => import(pathToFileURL(join(root, 'dist', path)).href);
const { BlockIndex } = await dist('chain/index/blockIndex.js');
const { HeaderTable } = await dist('store/files/headerTable.js');
const { regtestParams } = await dist('params/regtest.js');
const { mainParams } = await dist('params/main.js');
const { formatHeader, headerHash, parseHeaderBytes } = await dist('primitives/header.js');
const { nextWorkRequired } = await dist('primitives/retarget.js');
const { decodeCompact, encodeCompact } = await dist('primitives/compactTarget.js');
const { HeadersSync } = await dist('net/sync/headersSync.js');
const { HeaderChain } = await dist('chain/index/headerChain.js');
const { PeerTable } = await dist('net/sync/peerTable.js');
const { Chain } = await dist('chain/chain.js');
const { loadNative } = await dist('native/binding.js');

const COUNT = Number(process.argv[2] ?? 40_000);
const MESSAGE = 2000;
const quiet = { debug() {}, info() {}, warn() {}, error() {} };
// The rules of the main network, with a higher limit of the target, so that headers are cheap to mine and the retarget can still
// change the target.
const powLimit = (1n << 248n) - 1n;
const params = {
  ...mainParams,
  powLimit,
  powLimitBits: encodeCompact(powLimit),
  genesis: regtestParams.genesis,
  genesisHash: regtestParams.genesisHash,
  checkpoints: regtestParams.checkpoints,
};
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

function makeIndex() {
  const table = new HeaderTable({
    get: async () => undefined,
    getMany: async (keys) => keys.map(() => undefined),
  });
  const index = new BlockIndex(table, { params, checkpoints: true, adjustedTimeSec: () => 2_000_000_000 });
  index.acceptHeader(parseHeaderBytes(params.genesis.block), params.genesisHash);
  index.active.reset(0);
  return index;
}

function makeHeaders() {
  const index = makeIndex();
  const headers = [];
  let parent = 0;
  for (let i = 0; i < COUNT; i++) {
    // The spacing varies around the target, so that the difficulty changes.
    const timeSec = index.headers.timeSec(parent) + 100 + ((i * 7919) % 160);
    const bits = nextWorkRequired(index.active, parent, timeSec, params);
    const bytes = formatHeader({
      version: 0x20000000,
      prevHash: index.headers.hash(parent),
      merkleRoot: Buffer.alloc(32),
      claimRoot: Buffer.alloc(32),
      timeSec,
      bits,
      nonce: 0,
    });
    const target = Buffer.from(decodeCompact(bits).target.toString(16).padStart(64, '0'), 'hex').reverse();
    bytes.writeUInt32LE(loadNative().grind(bytes, target, 0, 1 << 20), 108);
    parent = index.acceptHeader(parseHeaderBytes(bytes), headerHash(bytes), true).id;
    headers.push(bytes);
  }
  return { headers, work: index.headers.work(parent) };
}

async function measure(headers, minimumChainWork) {
  const index = makeIndex();
  const chain = new Chain(
    {
      minimumChainWork,
      adjustedTimeSec: () => 2_000_000_000,
      maxTipAgeSec: 0,
      onFatal(e) {
        throw e;
      },
    },
    { index, params, files: null },
    {},
    quiet,
  );
  const headerChain = new HeaderChain(index);
  const peers = new PeerTable({ index, headerChain });
  const clock = { nowMs: () => 1, nowSec: () => 2_000_000_000, adjustedTimeSec: () => 2_000_000_000 };
  const sync = new HeadersSync(
    { minimumChainWork },
    {
      chain,
      headerChain,
      peers,
      params,
      clock,
      log: quiet,
      requests: { fetchTowards() {} },
      staleTips: { considerProtecting() {} },
      random: { bytes: (n) => Buffer.alloc(n, 3), int: () => 0, u64: () => 0n },
    },
  );
  const places = new Map(headers.map((header, i) => [headerHash(header).toString('hex'), i + 1]));
  places.set(params.genesisHash.toString('hex'), 0);
  let asked = null;
  const peer = {
    id: 1,
    kind: 'outbound',
    version: { services: 13n, protocolVersion: 70015 },
    isReady: true,
    send(command, payload) {
      asked = payload;
    },
    punish(points, why) {
      throw new Error(why);
    },
    disconnect(why) {
      throw new Error(why);
    },
  };
  peers.onVersion(peer);
  sync.onVersion(peer);
  sync.onTick(peer, 1);
  const began = process.cpuUsage();
  let messages = 0;
  while (asked) {
    const at = places.get(asked.locator.map((hash) => hash.toString('hex')).find((hash) => places.has(hash)));
    asked = null;
    messages++;
    await sync.handlers.headers(peer, { headers: headers.slice(at, at + MESSAGE) });
  }
  // Processor time, because other programs on the machine must not change the result.
  const { user, system } = process.cpuUsage(began);
  const seconds = (user + system) / 1e6;
  if (index.headers.count !== headers.length + 1)
    throw new Error(`only ${index.headers.count} headers were kept`);
  return { seconds, messages };
}

const { headers, work } = makeHeaders();
const runs = { 'one pass': 0n, 'two passes': work };
const times = { 'one pass': [], 'two passes': [] };
for (let i = 0; i < 5; i++)
  for (const [name, minimum] of Object.entries(runs)) times[name].push(await measure(headers, minimum));
for (const [name, results] of Object.entries(times)) {
  const seconds = median(results.map((result) => result.seconds));
  console.log(
    `${name}: ${seconds.toFixed(2)} s for ${COUNT} headers (${Math.round(COUNT / seconds)} a second), ${results[0].messages} messages`,
  );
}
