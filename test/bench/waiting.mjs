#!/usr/bin/env node
// The cost of mempool claims for a hub. On a regtest chain of claims, resolve calls of 100 URLs each and typical searches
// are measured, each with other values, turn by turn on a hub with so many claims in the mempool and on one with none; the
// ratio is of medians. Then the memory that the waiting claims take, against a node without a claim index that has the same
// mempool. At last a transaction with a claim is broadcast while a block of 1,000 operations connects: until a searching client
// of the hub sees it.
//
//   npm run bench:waiting [-- --chain 20000 --waiting 50000 --runs 40 --blocks 7] [--rows 'a channel,a name']
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { create } from '@bufbuild/protobuf';
import { below, dist, ranked, reseed, text } from './searchClaims.mjs';

const { freePort, startRegtest } = await dist('testing/index.js');
const { ecdsaBackend } = await dist('crypto/ecdsa.js');
const { hash160, sha256 } = await dist('crypto/hash.js');
const { encodeClaim } = await dist('metadata/claim.js');
const { claimSignatureDigest } = await dist('metadata/channelSignature.js');
const { ClaimSchema } = await dist('metadata/messages/claim_pb.js');
const { OutputsSchema } = await dist('metadata/messages/result_pb.js');
const { fromBinary } = await import('@bufbuild/protobuf');
const { regtestParams } = await dist('params/regtest.js');
const { formatTransaction, txid } = await dist('primitives/transaction.js');
const { addressPrefixesOf, encodeDestination } = await dist('script/address.js');
const { buildClaimPrefix, claimIdOf } = await dist('script/claimScript.js');
const { scriptForDestination } = await dist('script/standard.js');

const args = process.argv.slice(2);
const option = (name, fallback) => {
  const at = args.indexOf(`--${name}`);
  return at < 0 ? fallback : Number(args[at + 1]);
};
const rows = args.includes('--rows') ? args[args.indexOf('--rows') + 1].split(',') : null;
const isWanted = (row) => rows === null || rows.includes(row);
const CHAIN = option('chain', 20_000);
const WAITING = option('waiting', 50_000);
const RUNS = option('runs', 40);
const BLOCKS = option('blocks', 7);
const BLOCK_OPERATIONS = 1000;
const CLAIMS_A_TRANSACTION = 200;
const TRANSACTIONS_A_BLOCK = 20;
const URLS = 100;
const AMOUNT_SAT = 100_000n;
const MATURITY = 100;

/** An output that anyone can spend. */
const OPEN = { type: 'scripthash', hash: hash160(Buffer.of(0x51)) };
const prefixes = addressPrefixesOf(regtestParams);
const openAddress = encodeDestination(OPEN, prefixes);
const openScript = scriptForDestination(OPEN);
const printed = (id) => Buffer.from(id).reverse().toString('hex');

// The value of the main network. On regtest, the node checks the mempool after each block by default.
const COMMON = ['-listen=1', '-checkmempool=0'];
const ports = [await freePort(), await freePort()];
const hubs = await Promise.all(
  ports.map((port) => startRegtest({ args: [...COMMON, '-hub', `-hubport=${port}`, '-hubudpport=0'] })),
);
/** A hub whose mempool fills, and one whose mempool stays empty. */
const [node, bare] = hubs;
const [plain, miner] = await Promise.all([startRegtest({ args: COMMON }), startRegtest({ args: COMMON })]);
const others = [bare, plain, miner];

class Client {
  static async open(port = ports[0]) {
    const client = new Client();
    client.socket = connect(port, '127.0.0.1');
    await once(client.socket, 'connect');
    client.pieces = [];
    client.socket.on('data', (piece) => {
      client.pieces.push(piece);
      if (piece.at(-1) === 10) client.answered();
    });
    return client;
  }

  async ask(method, params) {
    this.pieces = [];
    const line = new Promise((resolve) => (this.answered = resolve));
    const since = performance.now();
    this.socket.write(`${JSON.stringify({ jsonrpc: '2.0', id: 0, method, params })}\n`);
    await line;
    const ms = performance.now() - since;
    const { result, error } = JSON.parse(Buffer.concat(this.pieces).toString());
    if (error) throw new Error(error.message);
    return { ms, outputs: fromBinary(OutputsSchema, Buffer.from(result, 'base64')) };
  }
}

/** All claims so far, and the channels among them with their keys. */
const made = [];
const channels = [];
const coins = [];
/** Number of channels that sign claims. */
let signing = 0;
/** While blocks are mined, channels of the mempool do not sign, because the chain does not have them. */
let isMining = false;

function claimOf(n, firstInput) {
  reseed(n * 7919 + 1);
  const isChannel = n % 50 === 0;
  const name = `${isChannel ? '@' : ''}${below(5) === 0 ? `name-${ranked(2000).toString(36)}` : `only-${n}`}`;
  const key = isChannel ? sha256(Buffer.from(`key ${n % 100}`)) : null;
  const claim = create(ClaimSchema, {
    title: text(3),
    description: text(15),
    tags: [`tag${ranked(1000)}`, `tag${ranked(1000)}`],
    type: isChannel
      ? { case: 'channel', value: { publicKey: ecdsaBackend().publicKeyOf(key, true) } }
      : {
          case: 'stream',
          value: {
            releaseTime: BigInt(1_500_000_000 + below(100_000_000)),
            source: { mediaType: 'video/mp4', sdHash: Buffer.alloc(48, 1) },
            type: {
              case: 'video',
              value: { width: 100 + below(900), height: 100 + below(900), duration: 1 + below(600) },
            },
          },
        },
  });
  const signer = isChannel || below(3) === 0 || signing === 0 ? null : channels[ranked(signing)];
  const unsigned = { channelId: signer?.claimId ?? null, signature: signer && Buffer.alloc(64), claim };
  if (signer) {
    const digest = claimSignatureDigest(encodeClaim(unsigned), firstInput, () => null);
    unsigned.signature = Buffer.from(ecdsaBackend().sign(digest, signer.key, null).compact);
  }
  return { name, key, signer, value: encodeClaim(unsigned) };
}

/** A transaction in hex with this number of new claims. */
function transaction(count) {
  const coin = coins.shift();
  if (!coin) throw new Error('there are no coins left');
  const firstInput = Buffer.concat([coin, Buffer.alloc(4)]);
  const claims = Array.from({ length: count }, (_, i) => claimOf(made.length + i, firstInput));
  const outputs = claims.map(({ name, value }) => ({
    value: AMOUNT_SAT + BigInt(below(1000)),
    script: Buffer.concat([buildClaimPrefix(Buffer.from(name), value), openScript]),
  }));
  const inputs = [
    { prevout: { hash: coin, index: 0 }, scriptSig: Buffer.of(1, 0x51), sequence: 0xffffffff, witness: [] },
  ];
  const tx = { version: 2, lockTime: 0, inputs, outputs };
  const id = txid(tx);
  claims.forEach(({ name, key, signer }, i) => {
    const claimId = claimIdOf(id, i);
    made.push({ name, signer, claimId });
    if (key) channels.push({ name, claimId, key });
    if (key && !isMining) signing++;
  });
  return Buffer.from(formatTransaction(tx)).toString('hex');
}

async function makeChain() {
  const wanted = (CHAIN + WAITING + BLOCKS * BLOCK_OPERATIONS) / CLAIMS_A_TRANSACTION + BLOCKS + 10;
  const hashes = await node.rpc('generatetoaddress', [Math.ceil(wanted), openAddress]);
  await node.rpc('generatetoaddress', [
    MATURITY,
    encodeDestination({ type: 'pubkeyhash', hash: hash160(Buffer.of(1)) }, prefixes),
  ]);
  for (const hash of hashes) {
    const { tx } = await node.rpc('getblock', [hash]);
    coins.push(Buffer.from(tx[0], 'hex').reverse());
  }
  for (let n = 1; made.length < CHAIN; n++) {
    await node.rpc('sendrawtransaction', [transaction(CLAIMS_A_TRANSACTION), true]);
    if (n % TRANSACTIONS_A_BLOCK !== 0 && made.length < CHAIN) continue;
    await node.rpc('generatetoaddress', [
      1,
      encodeDestination({ type: 'pubkeyhash', hash: hash160(Buffer.of(1)) }, prefixes),
    ]);
    console.error(`${made.length} claims on the chain`);
  }
  const height = await node.rpc('getblockcount');
  for (const other of others) {
    await other.rpc('addnode', [`127.0.0.1:${node.p2pPort}`, 'onetry']);
    while ((await other.rpc('getblockcount')) < height) await sleep(100);
    await other.rpc('setnetworkactive', [false]);
  }
  for (const hub of hubs)
    for (;;) {
      const { synced, search } = await hub.rpc('getclaimindexinfo');
      if (synced && search.synced) break;
      await sleep(200);
    }
}

function url(from, to) {
  const { name, signer, claimId } = made[from + below(to - from)];
  const id = printed(claimId);
  if (below(4) === 0) return `lbry://${name}`;
  return `lbry://${signer ? `${signer.name}#${printed(signer.claimId)}/` : ''}${name}#${id}`;
}

const SEARCHES = {
  newest: () => ({ order_by: ['release_time'], claim_type: 'stream', limit: 20 }),
  'a tag': () => ({ any_tags: [`tag${ranked(1000)}`], order_by: ['release_time'], limit: 20 }),
  'a word': () => ({ text: text(1), limit: 20 }),
  'a channel': () => ({
    channel_ids: [printed(channels[ranked(CHAIN / 50)].claimId)],
    order_by: ['effective_amount'],
    limit: 20,
  }),
  'ten claims by id': () => ({
    claim_ids: Array.from({ length: 10 }, () => printed(made[below(CHAIN)].claimId)),
  }),
  'a name': () => ({ name: `name-${ranked(2000).toString(36)}` }),
  'no shorts': () => ({
    exclude_shorts: true,
    any_languages: ['none'],
    order_by: ['effective_amount'],
    limit: 20,
  }),
  'trending, page 2': () => ({ order_by: ['trending_mixed'], limit: 20, offset: 20 }),
};

/** Milliseconds of processor time of all threads of a node. */
function cpuMs({ pid }) {
  const threads = readdirSync(`/proc/${pid}/task`);
  const spans = threads.map(
    (id) => readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'latin1').split(' ')[0],
  );
  return spans.reduce((sum, ns) => sum + Number(ns), 0) / 1e6;
}

/** Measures the same calls of each client in turns. Returns the medians of wall-clock time and processor time. */
async function measure(clients, runs) {
  const medians = clients.map(() => ({}));
  const nodes = [bare, node];
  const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
  let wanted = 0;
  const series = async (name, method, paramsOf) => {
    const took = clients.map(() => []);
    for (let n = 0; n < runs; n++) {
      const params = paramsOf();
      for (const i of n % 2 === 0 ? [0, 1] : [1, 0]) {
        const before = cpuMs(nodes[i]);
        const { ms } = await clients[i].ask(method, params);
        took[i].push({ ms, cpu: cpuMs(nodes[i]) - before });
      }
    }
    for (const [i, times] of took.entries())
      medians[i][name] = { ms: median(times.map(({ ms }) => ms)), cpu: median(times.map(({ cpu }) => cpu)) };
  };
  reseed(runs);
  await series('100 URLs of the chain', 'blockchain.claimtrie.resolve', () =>
    Array.from({ length: URLS }, () => url(0, CHAIN)),
  );
  for (const [name, constraints] of Object.entries(SEARCHES).filter(([row]) => isWanted(row)))
    await series(`search: ${name}`, 'blockchain.claimtrie.search', () => ({
      ...constraints(),
      // A different constraint for each search, so that no answer comes from a cache.
      not_claim_ids: [`${runs} ${wanted++}`],
    }));
  return medians;
}

const residentMb = ({ pid }) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;

async function fillMempool() {
  const before = [node, plain].map(residentMb);
  const since = performance.now();
  let inNodeMs = 0;
  let inPlainMs = 0;
  const first = made.length;
  while (made.length < first + WAITING) {
    const raw = transaction(Math.min(CLAIMS_A_TRANSACTION, first + WAITING - made.length));
    let at = performance.now();
    await node.rpc('sendrawtransaction', [raw, true]);
    inNodeMs += performance.now() - at;
    at = performance.now();
    await plain.rpc('sendrawtransaction', [raw, true]);
    inPlainMs += performance.now() - at;
  }
  console.error(`${WAITING} claims wait after ${((performance.now() - since) / 1000).toFixed(1)} s`);
  // The documents of the claims are built after their transactions were accepted.
  const client = await Client.open();
  const { ms, outputs } = await client.ask('blockchain.claimtrie.search', {
    claim_ids: [printed(made.at(-1).claimId)],
  });
  if (outputs.txos.length !== 1) throw new Error('the last claim is not found');
  client.socket.destroy();
  const after = [node, plain].map(residentMb);
  return { ms, acceptRatio: inNodeMs / inPlainMs, extraMb: after[0] - before[0] - (after[1] - before[1]) };
}

async function visibleAfter() {
  isMining = true;
  signing = CHAIN / 50;
  for (let n = 0; n < BLOCK_OPERATIONS / CLAIMS_A_TRANSACTION; n++)
    await miner.rpc('sendrawtransaction', [transaction(CLAIMS_A_TRANSACTION), true]);
  const [hash] = await miner.rpc('generatetoaddress', [1, openAddress]);
  const block = await miner.rpc('getblock', [hash, 0]);
  const raw = transaction(1);
  const wanted = printed(made.at(-1).claimId);
  const client = await Client.open();
  const connecting = node.rpc('submitblock', [block]);
  await sleep(5);
  const since = performance.now();
  let answeredMs = 0;
  const sent = node
    .rpc('sendrawtransaction', [raw, true])
    .then(() => (answeredMs = performance.now() - since));
  let seenMs = 0;
  for (let n = 0; seenMs === 0; n++) {
    const { outputs } = await client.ask('blockchain.claimtrie.search', {
      claim_ids: [wanted],
      not_claim_ids: [`${n}`],
    });
    if (outputs.txos[0]?.height === 0) seenMs = performance.now() - since;
  }
  await Promise.all([connecting, sent]);
  client.socket.destroy();
  return { seenMs, afterAnswerMs: seenMs - answeredMs };
}

const line = (cells) =>
  console.log(
    cells[0].padEnd(40) +
      cells
        .slice(1)
        .map((cell) => String(cell).padStart(14))
        .join(''),
  );
const shown = (value) => value.toFixed(value >= 10 ? 1 : 2);

await makeChain();
const filled = await fillMempool();
const client = await Client.open();
const bareClient = await Client.open(ports[1]);
await measure([bareClient, client], 5);
const [without, withThem] = await measure([bareClient, client], RUNS);
bareClient.socket.destroy();
line([
  `median ms, ${CHAIN} claims on the chain`,
  'none wait',
  `${WAITING} wait`,
  'ratio',
  'CPU',
  'CPU',
  'ratio',
]);
const row = (name, none, some) =>
  line([
    name,
    ...['ms', 'cpu'].flatMap((key) => [
      shown(none[key]),
      shown(some[key]),
      (some[key] / none[key]).toFixed(2),
    ]),
  ]);
for (const [name, none] of Object.entries(without)) row(name, none, withThem[name]);
const sum = (medians, key) => Object.values(medians).reduce((total, one) => total + one[key], 0);
const sums = (medians) => ({ ms: sum(medians, 'ms'), cpu: sum(medians, 'cpu') });
row('all together', sums(without), sums(withThem));
const waits = [];
for (let n = 0; n < RUNS; n++)
  waits.push(
    (
      await client.ask(
        'blockchain.claimtrie.resolve',
        Array.from({ length: URLS }, () => url(CHAIN, made.length)),
      )
    ).ms,
  );
waits.sort((a, b) => a - b);
line(['100 URLs of what waits', '', shown(waits[waits.length >> 1]), '']);
line(['letting them in, times a node without index', '', filled.acceptRatio.toFixed(2), '']);
line(['memory beside the mempool, KB a claim', '', ((filled.extraMb * 1024) / WAITING).toFixed(2), '']);
const seen = [];
for (let n = 0; n < BLOCKS; n++) seen.push(await visibleAfter());
seen.sort((a, b) => a.seenMs - b.seenMs);
if (seen.length > 0) {
  line([`visible while ${BLOCK_OPERATIONS} operations connect, ms`, 'median', 'worst', 'behind answer']);
  const behind = Math.max(...seen.map((one) => one.afterAnswerMs));
  line(['', shown(seen[seen.length >> 1].seenMs), shown(seen.at(-1).seenMs), shown(behind)]);
}
client.socket.destroy();
await Promise.all([node, ...others].map((one) => one.stop()));
