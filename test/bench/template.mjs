#!/usr/bin/env node
// Block templates over a full mempool, in a temporary folder: the first one on a tip, the next ones after some new
// transactions each, both up to the last byte of the answer, and the naive way beside them, in which every template is
// chosen, parsed, run through the claim trie and rewritten.
//
//   node test/bench/template.mjs [--transactions 50000] [--claims 10] [--news 100] [--rounds 15] [--names 20000]
import { close, dist, makeCoin, median, newMempool, nowSec, opened, option } from './mempoolFixture.mjs';

const { blockClaims } = await dist('chain/connect/blockClaims.js');
const { loadCoins } = await dist('chain/connect/connectBlock.js');
const { loadBlock } = await dist('chain/blocks/loadedBlock.js');
const { Miner } = await dist('mining/miner.js');
const { formatTemplate, setExtraNonce } = await dist('mining/blockAssembler.js');
const { commitmentScript } = await dist('mining/coinbase.js');
const { txid } = await dist('primitives/transaction.js');
const { templateAnswer } = await dist('rpc/methods/mining/templateAnswer.js');
const { pushData } = await dist('script/script.js');
const { jsonChunks } = await dist('util/json/jsonStream.js');

const count = option('transactions', 50_000);
const claimPercent = option('claims', 10);
const news = option('news', 100);
const rounds = option('rounds', 15);
const names = option('names', 20_000);

const { chain } = opened;
const mempool = newMempool(1_000_000_000);
const miner = new Miner(
  { maxWeight: 8_000_000, minFeeRatePerKb: 1000n, version: null },
  { chain, source: mempool, adjustedTimeSec: nowSec },
);

// The spent script needs no signature. The input script has the size of a signature and a key.
const drop = Buffer.from('6d51', 'hex');
const scriptSig = Buffer.concat([pushData(Buffer.alloc(72, 1)), pushData(Buffer.alloc(33, 2))]);
const payout = Buffer.concat([Buffer.from('76a914', 'hex'), Buffer.alloc(20, 7), Buffer.from('88ac', 'hex')]);

function claimScript(name) {
  const value = pushData(Buffer.alloc(60, 3));
  return Buffer.concat([
    Buffer.of(0xb5),
    pushData(Buffer.from(name)),
    value,
    Buffer.from('6d75', 'hex'),
    payout,
  ]);
}

function supportScript(name, claimId) {
  const parts = [Buffer.of(0xb6), pushData(Buffer.from(name)), pushData(claimId), Buffer.from('6d6d', 'hex')];
  return Buffer.concat([...parts.slice(0, 3), Buffer.from('6d75', 'hex'), payout]);
}

let scrambled = 12345;
const random = (below) => (scrambled = (Math.imul(scrambled, 1103515245) + 12345) >>> 0) % below;

/** Two inputs and two outputs. One in ten transactions spends another mempool transaction. */
function transaction(script, parent = null) {
  const feeSat = 500n + BigInt(random(4000));
  const prevouts = [parent ?? makeCoin(drop), makeCoin(drop)];
  return {
    version: 2,
    inputs: prevouts.map((prevout) => ({ prevout, scriptSig, sequence: 0xfffffffe, witness: [] })),
    outputs: [
      { value: 100_000n - feeSat, script },
      { value: 100_000n, script: drop },
    ],
    lockTime: 0,
  };
}

const anId = Buffer.alloc(20, 9);
let parent = null;
async function add(howMany) {
  for (let n = 0; n < howMany; n++) {
    const claims = random(100) < claimPercent;
    const name = `name-${random(names * 2)}`;
    const script = !claims ? payout : random(2) === 0 ? claimScript(name) : supportScript(name, anId);
    const tx = transaction(script, random(10) === 0 ? parent : null);
    const { accepted, error } = await mempool.acceptToMempool(tx);
    if (!accepted) throw new Error(error?.reason);
    parent = random(2) === 0 ? { hash: txid(tx), index: 1 } : null;
  }
}

/** Measures the time from the request to the last byte of the answer. `making`: milliseconds until the template was ready. */
async function answer() {
  const began = performance.now();
  const template = await miner.template(Uint8Array.of(0x51), true);
  const making = performance.now() - began;
  return { ...(await write(template)), making };
}

async function write(template) {
  const request = {
    capabilities: new Set(),
    rules: new Set(['segwit']),
    maxVersion: -1n,
    longPollId: undefined,
  };
  const { index } = chain;
  const parts = { template, request, profile: 'documented', index, withCoinbase: false, knowsSegwit: true };
  let bytes = 0;
  for await (const chunk of jsonChunks(
    templateAnswer({ ...parts, submitOld: undefined, adjustedTimeSec: 0 }),
  ))
    bytes += Buffer.byteLength(chunk);
  return { template, bytes };
}

/** A template that is computed without cached data. */
async function naive() {
  const known = new Miner(
    { maxWeight: 8_000_000, minFeeRatePerKb: 1000n, version: null },
    { chain, source: mempool, adjustedTimeSec: nowSec },
  );
  const template = await known.template(Uint8Array.of(0x51), true);
  setExtraNonce(template, 1);
  return template;
}

/**
 * Steps without cached data: select transactions, parse the whole block, connect its claims, compute the witness commitment,
 * serialize.
 */
async function naiveAnswer(transactions) {
  const { template } = await write(await naive());
  const block = loadBlock(formatTemplate(template));
  const { coins, store, claims } = chain.deps;
  const height = chain.height + 1;
  await loadCoins(chain.deps, block, false);
  const operations = blockClaims(block, coins.resolve(block.raw, block.parsed, height, false), height);
  const rows = store.begin();
  const { root: claimRoot } = await claims.connect(rows, operations);
  await store.discard(rows);
  commitmentScript(transactions);
  return claimRoot;
}

const ms = (value) => `${value.toFixed(1)} ms`;
async function timed(task) {
  let longest = 0;
  let last = performance.now();
  let going = true;
  const watch = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (going) setImmediate(watch);
  };
  setImmediate(watch);
  const cpu = process.cpuUsage();
  const began = performance.now();
  const result = await task();
  const took = performance.now() - began;
  const { user, system } = process.cpuUsage(cpu);
  going = false;
  await new Promise(setImmediate);
  return { result, took, processor: (user + system) / 1000, longest };
}

// Above the last fork, with a claim trie of some names.
await miner.generate(payout, 360, Infinity, new AbortController().signal);
for (let n = 0; n < names; n++) {
  const { accepted, error } = await mempool.acceptToMempool(transaction(claimScript(`name-${n * 2}`)));
  if (!accepted) throw new Error(error?.reason);
  if (mempool.size === 4000 || n === names - 1) {
    await miner.generate(payout, 1, Infinity, new AbortController().signal);
  }
}
await miner.generate(payout, 1, Infinity, new AbortController().signal);
await add(count);

const cold = await timed(answer);
const { contents } = cold.result.template;
const weight = contents.transactions.reduce((sum, tx) => sum + tx.weight, 0);
console.log(
  `${mempool.size} transactions wait, ${claimPercent} % of them claims and supports; ` +
    `a template has ${contents.transactions.length} of weight ${weight}, its answer ${cold.result.bytes} bytes`,
);
console.log(
  `first on a tip: ${ms(cold.took)} (processor ${ms(cold.processor)}), the loop held ${ms(cold.longest)} at most`,
);

const warm = [];
for (let round = 0; round < rounds; round++) {
  await add(news);
  warm.push(await timed(answer));
}
const took = warm.map((one) => one.took);
console.log(
  `after ${news} new ones each: median ${ms(median(took))} (template ${ms(median(warm.map((one) => one.result.making)))}, answer's text the rest); worst ${ms(Math.max(...took))} of ${rounds} ` +
    `(processor ${ms(median(warm.map((one) => one.processor)))}), ` +
    `event loop blocked for ${ms(Math.max(...warm.map((one) => one.longest)))} at most`,
);
const again = await timed(answer);
console.log(`with nothing new: ${ms(again.took)}`);

const fresh = [];
for (let round = 0; round < 3; round++) {
  await add(news);
  fresh.push(await timed(naiveAnswer.bind(null, contents.transactions)));
}
console.log(
  `with a new template for each call: median ${ms(median(fresh.map((one) => one.took)))} ` +
    `(processor ${ms(median(fresh.map((one) => one.processor)))})`,
);

const last = (await answer()).template;
setExtraNonce(last, 1);
const { took: testing, result: verdict } = await timed(() =>
  chain.testBlock(loadBlock(formatTemplate(last)), false),
);
console.log(
  `the last template, connected on trial: ${verdict === null ? 'right' : verdict.reason} (${ms(testing)})`,
);
await close();
if (verdict !== null) process.exitCode = 1;
