#!/usr/bin/env node
// Measures how the time of single answers grows: calls a node with all indexes and a hub for objects of one size, and of twice
// that size. Prints the milliseconds of processor time (all threads of the node on Linux; elsewhere the time of the clock) at n
// and at 2n, and their ratio: 2 for linear growth, 4 for quadratic growth. Calls are repeated for some time, and the shortest
// of several turns counts, so that other programs have little effect.
//
//   npm run bench:growth -- [--scale 1] [--turns 5] [--rows resolve,getclaimsfortx]
//
// At scale 1 a name has 5,000 claims, a claim 10,000 supports, a channel 20,000 streams, an address 100,000 entries and a block
// 20,000 operations at 2n. The methods of the lbcd profile are measured after a restart of the node with this profile.
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { OutputMaker, claimIdsOf, claimPrefixes, supportPrefixes } from './crowdedNames.mjs';
import { dist } from './searchClaims.mjs';

const { freePort, startRegtest } = await dist('testing/index.js');
const { ecdsaBackend } = await dist('crypto/ecdsa.js');
const { hash160, sha256 } = await dist('crypto/hash.js');
const { encodeClaim } = await dist('metadata/claim.js');
const { claimSignatureDigest } = await dist('metadata/channelSignature.js');
const { ClaimSchema } = await dist('metadata/messages/claim_pb.js');
const { regtestParams } = await dist('params/regtest.js');
const { addressPrefixesOf, encodeDestination } = await dist('script/address.js');
const { buildClaimPrefix } = await dist('script/claimScript.js');

const args = process.argv.slice(2);
const option = (name, fallback) => {
  const at = args.indexOf(`--${name}`);
  return at < 0 ? fallback : args[at + 1];
};
const scale = Number(option('scale', '1'));
const turns = Number(option('turns', '5'));
const wanted = option('rows', '').split(',').filter(Boolean);
const sized = (count) => Math.max(250, Math.round((count * scale) / 250) * 250);
const SIZES = {
  claims: sized(5000),
  supports: sized(10_000),
  streams: sized(20_000),
  entries: sized(100_000),
  operations: sized(20_000),
};
/** Resolution of the processor time. A turn is much longer than this. */
const TICK_MS = 10;
const TURN_MS = 600;
const KEY = sha256(Buffer.from('the key of the channels'));
/** The printed form of an id. */
const printed = (bytes) => Buffer.from(bytes).reverse().toString('hex');

const dataDir = mkdtempSync(join(tmpdir(), 'bench-growth-'));
process.on('exit', () => rmSync(dataDir, { recursive: true, force: true }));
const hubPort = await freePort();
let node = await startRegtest({
  dataDir,
  args: [
    '-hub',
    `-hubport=${hubPort}`,
    '-addressindex',
    '-txindex',
    '-spendindex',
    '-rpccache=0',
    '-blockmintxfee=0',
  ],
});
const rpc = (method, params = []) => node.rpc(method, params);

const socket = connect(hubPort, '127.0.0.1');
await once(socket, 'connect');
let pieces = [];
let answered = () => undefined;
socket.on('data', (piece) => {
  pieces.push(piece);
  if (piece.at(-1) === 10) answered();
});
async function hub(method, params) {
  pieces = [];
  const line = new Promise((resolve) => (answered = resolve));
  socket.write(`${JSON.stringify({ jsonrpc: '2.0', id: 0, method, params })}\n`);
  await line;
  const { result, error } = JSON.parse(Buffer.concat(pieces).toString());
  if (error) throw new Error(`${method}: ${error.message}`);
  return result;
}

/** Number of transactions that make all objects at n and at 2n. Each spends one coin. */
const transactions = Object.values(SIZES).reduce((sum, size) => sum + (size * 1.5) / 250 + 4, 20);
const maker = await OutputMaker.start(rpc, Math.ceil(transactions));

function streamPrefixes(channelName, channelId, count) {
  const firstInputs = new Map();
  return Array.from({ length: count }, (_, n) => {
    const coin = maker.coins[maker.next + Math.floor(n / 250)];
    const firstInput = firstInputs.get(coin) ?? Buffer.concat([coin, Buffer.alloc(4)]);
    firstInputs.set(coin, firstInput);
    const claim = create(ClaimSchema, {
      title: `stream ${n}`,
      type: { case: 'stream', value: { source: { mediaType: 'video/mp4', sdHash: Buffer.alloc(48, 1) } } },
    });
    const plain = { channelId, signature: Buffer.alloc(64), claim };
    const digest = claimSignatureDigest(encodeClaim(plain), firstInput, () => null);
    plain.signature = Buffer.from(ecdsaBackend().sign(digest, KEY, null).compact);
    return buildClaimPrefix(Buffer.from(`s-${channelName.slice(1)}-${n}`), encodeClaim(plain));
  });
}

async function makeChannel(name, count) {
  const claim = create(ClaimSchema, {
    type: { case: 'channel', value: { publicKey: ecdsaBackend().publicKeyOf(KEY, true) } },
  });
  const value = encodeClaim({ channelId: null, signature: null, claim });
  const [made] = await maker.make([buildClaimPrefix(Buffer.from(name), value)]);
  const [id] = claimIdsOf([made], 1);
  await maker.make(streamPrefixes(name, id, count));
  return printed(id);
}

async function makeSupported(name, count) {
  const made = await maker.make(claimPrefixes(name, 1));
  const [id] = claimIdsOf(made, 1);
  const supports = await maker.make(supportPrefixes(name, [id], count));
  return { name, claimId: printed(id), supportTransaction: printed(supports[0]) };
}

/** Pays an address this often, with several outputs in a transaction. */
async function makeAddress(text, count) {
  const destination = { type: 'pubkeyhash', hash: hash160(Buffer.from(text)) };
  await maker.make(
    Array.from({ length: count }, () => Buffer.alloc(0)),
    250,
    destination,
  );
  return encodeDestination(destination, addressPrefixesOf(regtestParams));
}

/** Mines a block with this number of claims, each with its own name. */
async function makeBlock(prefix, count) {
  const prefixes = Array.from({ length: count }, (_, n) =>
    buildClaimPrefix(Buffer.from(`${prefix}-${n}`), Buffer.from('value')),
  );
  const [first] = await maker.make(prefixes, 250, undefined, Infinity);
  return {
    block: await rpc('getbestblockhash'),
    blockHeight: await rpc('getblockcount'),
    blockTransaction: printed(first),
  };
}

async function makeObjects(half) {
  const part = (size) => (half ? size / 2 : size);
  const tag = half ? 'half' : 'full';
  const crowd = await maker.make(claimPrefixes(tag, part(SIZES.claims)));
  return {
    name: tag,
    claimTransaction: printed(crowd[0]),
    claimId: printed(claimIdsOf(crowd, 1)[0]),
    supported: await makeSupported(`${tag}-supported`, part(SIZES.supports)),
    channel: await makeChannel(`@${tag}`, part(SIZES.streams)),
    address: await makeAddress(`${tag} address`, part(SIZES.entries)),
    ...(await makeBlock(`${tag}block`, part(SIZES.operations))),
  };
}

const measured = [await makeObjects(true), await makeObjects(false)];
for (let n = 0; n < 10; n++) await maker.mine();

const ROWS = [
  ...['getclaimsforname', 'getvalueforname', 'getnameproof', 'getclaimbybid', 'getclaimbyseq'].map((name) => [
    `${name}, claims`,
    (objects) => rpc(name, [objects.name]),
  ]),
  ['getclaimproofbyseq', (objects) => rpc('getclaimproofbyseq', [objects.name])],
  ['listclaims, claims', (objects) => rpc('listclaims', [objects.name, 1000])],
  ['getclaim, claims', (objects) => rpc('getclaim', [objects.claimId])],
  ['getclaimstatus, claims', (objects) => rpc('getclaimstatus', [objects.claimId])],
  ['gettxinfo, claims', (objects) => rpc('gettxinfo', [objects.claimTransaction, 0, 1000])],
  ['getclaimsfortx, claims', (objects) => rpc('getclaimsfortx', [objects.claimTransaction])],
  ['getclaimbyid, claims', (objects) => rpc('getclaimbyid', [objects.claimId])],
  ['getnamehistory, claims', (objects) => rpc('getnamehistory', [objects.name])],
  ['getclaimproofbybid', (objects) => rpc('getclaimproofbybid', [objects.name])],
  ['listnames, one with all claims', (objects) => rpc('listnames', [objects.name, 1])],
  ['searchclaims, name', (objects) => rpc('searchclaims', [{ name: objects.name }])],
  ['hub search, name', (objects) => hub('blockchain.claimtrie.search', { name: objects.name, limit: 50 })],
  ['hub resolve, claims', (objects) => hub('blockchain.claimtrie.resolve', [objects.name])],
  [
    'hub getclaimbyid, supports',
    (objects) => hub('blockchain.claimtrie.getclaimbyid', [objects.supported.claimId]),
  ],
  ['resolve, claims', (objects) => rpc('resolve', [`lbry://${objects.name}`])],
  ['getclaimsforname, supports', (objects) => rpc('getclaimsforname', [objects.supported.name])],
  ['getclaimbyid, supports', (objects) => rpc('getclaimbyid', [objects.supported.claimId])],
  ['listsupports', (objects) => rpc('listsupports', [objects.supported.claimId, 1000])],
  ['getclaim, supports', (objects) => rpc('getclaim', [objects.supported.claimId])],
  ['getclaimsfortx, supports', (objects) => rpc('getclaimsfortx', [objects.supported.supportTransaction])],
  ['hub support_sum', (objects) => hub('lbcnode.claimtrie.support_sum', [objects.supported.claimId])],
  [
    'hub support_sum of a channel',
    (objects) =>
      SIZES.streams > 10_000 ? null : hub('lbcnode.claimtrie.support_sum', [objects.channel, true]),
  ],
  ['searchclaims, channel', (objects) => rpc('searchclaims', [{ channel_ids: [objects.channel] }])],
  ['resolve, channel', (objects) => rpc('resolve', [`lbry://@${objects.name}`])],
  [
    'hub search, channel',
    (objects) => hub('blockchain.claimtrie.search', { channel_ids: [objects.channel], limit: 50 }),
  ],
  ['getaddressbalance', (objects) => rpc('getaddressbalance', [{ addresses: [objects.address] }])],
  ['getaddresstxids', (objects) => rpc('getaddresstxids', [{ addresses: [objects.address] }])],
  ['getaddressutxos', (objects) => rpc('getaddressutxos', [{ addresses: [objects.address] }])],
  ['hub get_history', (objects) => hub('blockchain.address.get_history', [objects.address])],
  ['hub address.subscribe', (objects) => hub('blockchain.address.subscribe', [objects.address])],
  ['hub get_balance', (objects) => hub('blockchain.address.getbalance', [objects.address])],
  ['getaddressmempool', (objects) => rpc('getaddressmempool', [{ addresses: [objects.address] }])],
  ['hub listunspent', (objects) => hub('blockchain.address.listunspent', [objects.address])],
  ['getblock 2', (objects) => rpc('getblock', [objects.block, 2])],
  ['getblock 1', (objects) => rpc('getblock', [objects.block, 1])],
  ['getblock 0', (objects) => rpc('getblock', [objects.block, 0])],
  ['getblockevents', (objects) => rpc('getblockevents', [objects.block, 1000])],
  ['gettxoutproof', (objects) => rpc('gettxoutproof', [[objects.blockTransaction], objects.block])],
  ['getblockstats', (objects) => rpc('getblockstats', [objects.block])],
  ['getrawtransaction 1', (objects) => rpc('getrawtransaction', [objects.claimTransaction, true])],
  [
    'hub transaction.get_merkle',
    (objects) => hub('blockchain.transaction.get_merkle', [objects.blockTransaction, objects.blockHeight]),
  ],
  [
    'hub transaction.get_batch',
    (objects) => hub('blockchain.transaction.get_batch', [objects.claimTransaction]),
  ],
  ['getchangesinblock', (objects) => rpc('getchangesinblock', [objects.block])],
];

const LBCD_ROWS = [
  ['lbcd getclaimsforname', (objects) => rpc('getclaimsforname', [objects.name])],
  [
    'lbcd getclaimsfornamebyid',
    (objects) => rpc('getclaimsfornamebyid', [objects.name, [objects.claimId.slice(0, 4)]]),
  ],
  ['lbcd getclaimsfornamebybid', (objects) => rpc('getclaimsfornamebybid', [objects.name, [0, 1]])],
  ['lbcd getclaimsfornamebyseq', (objects) => rpc('getclaimsfornamebyseq', [objects.name, [1, 2]])],
  ['lbcd getclaimsforname, supports', (objects) => rpc('getclaimsforname', [objects.supported.name])],
];

/** Processor time of the node in milliseconds; the wall-clock time if the system does not report it. */
function workedMs() {
  try {
    const fields = readFileSync(`/proc/${node.pid}/stat`, 'latin1').split(') ')[1].split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return performance.now();
  }
}

/** The shortest time of a call in milliseconds; NaN if the call is refused. */
async function least(ask, objects) {
  let ms = Infinity;
  for (let turn = 0; turn < turns; turn++) {
    const since = workedMs();
    let calls = 0;
    const until = performance.now() + TURN_MS;
    do {
      if ((await ask(objects)) === null) return NaN;
      calls++;
    } while (performance.now() < until);
    ms = Math.min(ms, (workedMs() - since) / calls);
  }
  return ms;
}

console.log(
  `2n: ${Object.entries(SIZES)
    .map(([name, size]) => `${size.toLocaleString('en-US')} ${name}`)
    .join(', ')}; least of ${turns}`,
);
console.log('| call | ms at n | ms at 2n | ratio |');
console.log('| --- | --- | --- | --- |');

async function measure(rows) {
  for (const [name, ask] of rows) {
    if (wanted.length > 0 && !wanted.some((word) => name.startsWith(word))) continue;
    try {
      const [small, large] = [await least(ask, measured[0]), await least(ask, measured[1])];
      const ratio = (large / small).toFixed(2);
      console.log(`| ${name} | ${small.toPrecision(3)} | ${large.toPrecision(3)} | ${ratio} |`);
    } catch (error) {
      console.log(`| ${name} | ${error.message} | | |`);
    }
  }
}

await measure(ROWS);
socket.destroy();
await node.stop();
node = await startRegtest({ dataDir, args: ['-compat=lbcd', '-addressindex', '-txindex', '-rpccache=0'] });
await measure(LBCD_ROWS);
await node.stop();
