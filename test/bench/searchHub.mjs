// The hub's part of search.mjs in a process of its own: `<count>` claims on a regtest chain of a node with -hub. Four fifths of
// the claims that are not channels are signed by one; most have a name of their own. Measures resolve calls of 100 URLs each
// (plain names, first digits of ids, channels with claims) and subscriptions to 1,000 addresses in one call, by a client on the
// loopback interface. Prints a line of JSON, and its progress on standard error.
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { create } from '@bufbuild/protobuf';
import { below, channelsOf, dist, ranked, reseed, text } from './searchClaims.mjs';

const { freePort, startRegtest } = await dist('testing/index.js');
const { ecdsaBackend } = await dist('crypto/ecdsa.js');
const { hash160, sha256 } = await dist('crypto/hash.js');
const { encodeClaim } = await dist('metadata/claim.js');
const { claimSignatureDigest } = await dist('metadata/channelSignature.js');
const { ClaimSchema } = await dist('metadata/messages/claim_pb.js');
const { regtestParams } = await dist('params/regtest.js');
const { formatTransaction, txid } = await dist('primitives/transaction.js');
const { addressPrefixesOf, encodeDestination } = await dist('script/address.js');
const { buildClaimPrefix, claimIdOf } = await dist('script/claimScript.js');
const { scriptForDestination } = await dist('script/standard.js');

const COUNT = Number(process.argv[2]);
const CHANNELS = channelsOf(COUNT);
const CLAIMS_A_TRANSACTION = 200;
const TRANSACTIONS_A_BLOCK = 20;
const NAMES = Math.max(100, COUNT / 4);
const URLS = 100;
const ADDRESSES = 1000;
const RUNS = 30;
const AMOUNT_SAT = 100_000n;
const MATURITY = 100;

const prefixes = addressPrefixesOf(regtestParams);
/** Anyone can spend it. */
const OPEN = { type: 'scripthash', hash: hash160(Buffer.of(0x51)) };
const destination = (n) => ({ type: 'pubkeyhash', hash: hash160(Buffer.from(`address ${n}`)) });
const digits = (id) => Buffer.from(id).reverse().toString('hex');

const port = await freePort();
const node = await startRegtest({ args: ['-hub', `-hubport=${port}`, '-blockmintxfee=0'] });
const out = {};

/** The connection to the hub. Requests are sent one after the other. */
const socket = connect(port, '127.0.0.1');
await once(socket, 'connect');
let pieces = [];
let answered = () => undefined;
socket.on('data', (piece) => {
  pieces.push(piece);
  if (piece.at(-1) === 10) answered();
});
async function ask(method, params) {
  pieces = [];
  const line = new Promise((resolve) => (answered = resolve));
  const since = performance.now();
  socket.write(`${JSON.stringify({ jsonrpc: '2.0', id: 0, method, params })}\n`);
  await line;
  const ms = performance.now() - since;
  const answer = JSON.parse(Buffer.concat(pieces).toString());
  if (answer.error) throw new Error(answer.error.message);
  return { ms, result: answer.result };
}

/** All claims so far, with ids in wire order. Channels have their key. */
const made = [];
const channels = [];

function claimOf(n, firstInput) {
  reseed(n * 7919 + 1);
  const isChannel = n < CHANNELS;
  // A fifth of the claims have a name that other claims have too. Some names have very many claims.
  const name = `${isChannel ? '@' : ''}${below(5) === 0 ? `name-${ranked(NAMES).toString(36)}` : `only-${n}`}`;
  const key = isChannel ? sha256(Buffer.from(`key ${n % 100}`)) : null;
  const claim = create(ClaimSchema, {
    title: text(3),
    description: text(10),
    tags: [`tag${ranked(1000)}`],
    type: isChannel
      ? { case: 'channel', value: { publicKey: ecdsaBackend().publicKeyOf(key, true) } }
      : { case: 'stream', value: { source: { mediaType: 'video/mp4', sdHash: Buffer.alloc(48, 1) } } },
  });
  const signer = isChannel || below(5) === 0 ? null : channels[ranked(channels.length)];
  const plain = { channelId: signer?.claimId ?? null, signature: signer && Buffer.alloc(64), claim };
  if (signer) {
    const digest = claimSignatureDigest(encodeClaim(plain), firstInput, () => null);
    plain.signature = Buffer.from(ecdsaBackend().sign(digest, signer.key, null).compact);
  }
  return { name, key, signer, value: encodeClaim(plain) };
}

function transaction(coinbase, coinSat, from, count) {
  const prevout = { hash: coinbase, index: 0 };
  const firstInput = Buffer.concat([coinbase, Buffer.alloc(4)]);
  const claims = Array.from({ length: count }, (_, i) => claimOf(from + i, firstInput));
  const outputs = claims.map(({ name, value }, i) => ({
    value: AMOUNT_SAT + BigInt(below(1000)),
    script: Buffer.concat([
      buildClaimPrefix(Buffer.from(name), value),
      scriptForDestination(destination((from + i) % (COUNT / 2))),
    ]),
  }));
  if (outputs.reduce((sum, { value }) => sum + value, 0n) >= coinSat)
    throw new Error('a coinbase is too small');
  const tx = {
    version: 2,
    lockTime: 0,
    inputs: [{ prevout, scriptSig: Buffer.of(1, 0x51), sequence: 0xffffffff, witness: [] }],
    outputs,
  };
  const id = txid(tx);
  claims.forEach(({ name, key, signer }, i) => {
    const claimId = claimIdOf(id, i);
    made.push({ name, signer, claimId });
    if (key) channels.push({ name, claimId, key });
  });
  return formatTransaction(tx);
}

async function makeChain() {
  const sizes = [];
  for (let at = 0; at < COUNT; at += CLAIMS_A_TRANSACTION)
    sizes.push(Math.min(CLAIMS_A_TRANSACTION, COUNT - at));
  const hashes = await node.rpc('generatetoaddress', [sizes.length, encodeDestination(OPEN, prefixes)]);
  const elsewhere = encodeDestination(destination('none'), prefixes);
  await node.rpc('generatetoaddress', [MATURITY, elsewhere]);
  for (const [n, size] of sizes.entries()) {
    const block = await node.rpc('getblock', [hashes[n], 2]);
    const { txid: coinbase, vout } = block.tx[0];
    const coinSat = BigInt(Math.round(vout[0].value * 1e8));
    const raw = transaction(Buffer.from(coinbase, 'hex').reverse(), coinSat, made.length, size);
    await node.rpc('sendrawtransaction', [Buffer.from(raw).toString('hex'), true]);
    if (n % TRANSACTIONS_A_BLOCK !== TRANSACTIONS_A_BLOCK - 1 && n < sizes.length - 1) continue;
    await node.rpc('generatetoaddress', [1, elsewhere]);
    console.error(`${COUNT}: ${made.length} claims on the chain`);
  }
  // Waits for the index, because its work would be measured with the requests.
  for (;;) {
    const { synced, claims, search } = await node.rpc('getclaimindexinfo');
    if (synced && claims.total !== COUNT) throw new Error(`${claims.total} of ${COUNT} claims live`);
    if (synced && search.synced) break;
    await sleep(200);
  }
}

function url() {
  const { name, signer, claimId } = made[below(made.length)];
  switch (below(4)) {
    case 0:
      return `lbry://${name}`;
    case 1:
      return `lbry://${name}#${digits(claimId).slice(0, 1 + below(8))}`;
    default:
      return `lbry://${signer ? `${signer.name}#${digits(signer.claimId)}/` : ''}${name}#${digits(claimId)}`;
  }
}

/** Processor time of the node in milliseconds, with a resolution of 10 ms; NaN without /proc. */
function nodeCpuMs() {
  const stat = `/proc/${node.pid}/stat`;
  if (!existsSync(stat)) return NaN;
  // User and system time are the 12th and 13th fields after the name, which is in parentheses.
  const fields = readFileSync(stat, 'utf8').split(') ').at(-1).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

async function measure(name, run) {
  const took = [];
  const since = nodeCpuMs();
  for (let i = 0; i < RUNS; i++) took.push(await run(i));
  const cpuMs = (nodeCpuMs() - since) / RUNS;
  if (!Number.isNaN(cpuMs)) out[`${name}, the node's processor time, ms`] = cpuMs;
  took.sort((a, b) => a - b);
  out[`${name}, median ms`] = took[took.length >> 1];
  out[`${name}, worst ms`] = took.at(-1);
}

await makeChain();
await ask('server.version', ['0.113.0', '0.113.0']);
reseed(3);
let bytes = 0;
await measure('100 URLs in one resolve', async () => {
  const { ms, result } = await ask('blockchain.claimtrie.resolve', Array.from({ length: URLS }, url));
  bytes += result.length;
  return ms;
});
if (bytes < RUNS * URLS * 100) throw new Error('the URLs lead nowhere');
let statuses = 0;
await measure('1,000 subscriptions in one call', async (run) => {
  const addresses = Array.from({ length: ADDRESSES }, (_, i) =>
    encodeDestination(destination((run * ADDRESSES + i) % (COUNT / 2)), prefixes),
  );
  const { ms, result } = await ask('blockchain.address.subscribe', addresses);
  statuses += result.filter((status) => status !== null).length;
  return ms;
});
if (statuses !== RUNS * ADDRESSES) throw new Error('addresses are without history');
socket.destroy();
await node.stop();
console.log(JSON.stringify(out));
