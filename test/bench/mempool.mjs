#!/usr/bin/env node
// Measures only the mempool, on a chain in a temporary folder: the time to accept a transaction with two ordinary inputs and
// that of its two signature verifications, the memory of a full mempool and the memory that it counts, and the time to select
// the transactions of a block.
//
//   node test/bench/mempool.mjs [--maxmempool 300] [--transactions 8000]
import { close, dist, makeCoin, median, newMempool, nowSec, opened, option } from './mempoolFixture.mjs';

const { ecdsaBackend, signHash, generatePrivateKey } = await dist('crypto/ecdsa.js');
const { hash160 } = await dist('crypto/hash.js');
const { scriptForDestination } = await dist('script/standard.js');
const { signatureHash, SIG_VERSION, SIGHASH, PrecomputedSighash } = await dist('script/sighash.js');
const { pushData } = await dist('script/script.js');

const maxBytes = option('maxmempool', 300) * 1_000_000;
const signedCount = option('transactions', 8000);

const empty = Buffer.alloc(0);
function transaction(script, feeSat, scriptSig = empty) {
  return {
    version: 2,
    inputs: [0, 1].map(() => ({ prevout: makeCoin(script), scriptSig, sequence: 0xfffffffe, witness: [] })),
    outputs: [
      { value: 150_000n - feeSat, script },
      { value: 50_000n, script },
    ],
    lockTime: 0,
  };
}

function sign(tx, script, key, publicKey) {
  const shared = new PrecomputedSighash(tx);
  tx.inputs.forEach((input, i) => {
    const hash = signatureHash(script, tx, i, SIGHASH.ALL, 100_000n, SIG_VERSION.BASE, shared);
    const signature = Buffer.concat([signHash(hash, key), Buffer.of(SIGHASH.ALL)]);
    input.scriptSig = Buffer.concat([pushData(signature), pushData(publicKey)]);
  });
  return tx;
}

/** Processor time since an earlier reading. Other programs change it less than the wall-clock time. */
function processorUs(since) {
  const { user, system } = process.cpuUsage(since);
  return user + system;
}

// Measures the acceptance and its signatures in turns, so that other programs slow both.
const ecdsa = ecdsaBackend();
const key = generatePrivateKey();
const publicKey = ecdsaBackend().publicKeyOf(key, true);
const script = scriptForDestination({ type: 'pubkeyhash', hash: hash160(publicKey) });
const signed = Array.from({ length: signedCount }, () =>
  sign(transaction(script, 1000n), script, key, publicKey),
);
const TURN = 200;
function verifications(turn) {
  const messages = Array.from({ length: TURN }, (_, i) => Buffer.alloc(32, i + 1));
  messages.forEach((message, i) => message.writeUInt32LE(turn * TURN + i + 7, 0));
  const signatures = messages.map((message) => signHash(message, key));
  const cpu = process.cpuUsage();
  messages.forEach((message, i) => ecdsa.verify(message, signatures[i], publicKey));
  return processorUs(cpu) / TURN;
}
{
  const mempool = newMempool(maxBytes);
  const accept = async (transactions) => {
    const cpu = process.cpuUsage();
    for (const tx of transactions) {
      const { accepted, error } = await mempool.acceptToMempool(tx);
      if (!accepted) throw new Error(error?.reason);
    }
    return processorUs(cpu) / transactions.length;
  };
  await accept(signed.splice(0, signedCount / 2));
  const turns = [];
  while (signed.length >= TURN) {
    const verifyUs = verifications(turns.length);
    const acceptUs = await accept(signed.splice(0, TURN));
    turns.push({ verifyUs, acceptUs, ratio: acceptUs / (2 * verifyUs) });
  }
  const of = (name) => turns.map((turn) => turn[name]);
  console.log(
    `acceptance of two inputs, processor time: ${median(of('acceptUs')).toFixed(1)} us (least ${Math.min(...of('acceptUs')).toFixed(1)}); ` +
      `one verification ${median(of('verifyUs')).toFixed(1)} us (least ${Math.min(...of('verifyUs')).toFixed(1)}); ` +
      `${median(of('ratio')).toFixed(2)} times two (${turns.length} turns)`,
  );
  opened.chain.afterStep.length = 0;
}

// Memory of a full mempool of ordinary size: spends that need no signature but have its bytes.
const drop = Buffer.from('6d51', 'hex');
const scriptSig = Buffer.concat([pushData(Buffer.alloc(72, 1)), pushData(Buffer.alloc(33, 2))]);
const plain = Buffer.concat([Buffer.from('76a914', 'hex'), Buffer.alloc(20, 7), Buffer.from('88ac', 'hex')]);
const wanted = Math.ceil(maxBytes / 1600);
const fill = Array.from({ length: wanted }, () => [makeCoin(drop), makeCoin(drop)]);
global.gc?.();
const rssBefore = process.memoryUsage.rss();
const mempool = newMempool(maxBytes);
let accepted = 0;
for (let n = 0; mempool.usageBytes < maxBytes * 0.99; n++) {
  const prevouts = fill[n] ?? [makeCoin(drop), makeCoin(drop)];
  const feeSat = 500n + BigInt(Math.imul(n, 2654435761) >>> 20);
  const verdict = await mempool.acceptToMempool({
    version: 2,
    inputs: prevouts.map((prevout) => ({ prevout, scriptSig, sequence: 0xfffffffe, witness: [] })),
    outputs: [
      { value: 150_000n - feeSat, script: plain },
      { value: 50_000n, script: plain },
    ],
    lockTime: 0,
  });
  if (!verdict.accepted) throw new Error(verdict.error?.reason);
  accepted++;
}
const rssPeak = process.memoryUsage.rss();
global.gc?.();
const rssAfter = process.memoryUsage.rss();
const mb = (bytes) => (bytes / 1e6).toFixed(0);
console.log(
  `full: ${accepted} transactions, ${mb(mempool.totalSizeBytes)} MB of them, counted ${mb(mempool.usageBytes)} MB; ` +
    `resident +${mb(rssPeak - rssBefore)} MB, after collection +${mb(rssAfter - rssBefore)} MB, heap ${mb(process.memoryUsage().heapUsed)} MB, external ${mb(process.memoryUsage().external)} MB`,
);

for (let round = 0; round < 3; round++) {
  const began = performance.now();
  const chosen = await mempool.selectForBlock({
    height: 2,
    lockTimeCutoffSec: nowSec(),
    includeWitness: true,
    maxWeight: 7_992_000,
    maxSigopsCost: 79_600,
    minFeeRatePerKb: 1000n,
  });
  console.log(
    `a block of ${chosen.length} out of ${mempool.size}: ${(performance.now() - began).toFixed(0)} ms`,
  );
}
const began = performance.now();
await mempool.save();
console.log(`dump: ${(performance.now() - began).toFixed(0)} ms`);
await close();
