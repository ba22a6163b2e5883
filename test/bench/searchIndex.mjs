// One size of search.mjs in a process of its own: `<count> <file>` builds the index of that number of claims in the file, or
// uses an existing one, and measures it. Prints a line of JSON, and its progress on standard error.
import { existsSync, statSync } from 'node:fs';
import { CLAIMS_A_BLOCK, SEED_TIME, TAGS, WORDS } from './searchClaims.mjs';
import { below, channelsOf, claim, dist, hex, idOf, ranked, reseed } from './searchClaims.mjs';

const { SqliteBackend } = await dist('search/sqlite/searchWorkers.js');
const { parseConstraints } = await dist('search/query/constraints.js');
const { addressPrefixesOf } = await dist('script/address.js');
const { regtestParams } = await dist('params/regtest.js');

const [countText, path] = process.argv.slice(2);
const COUNT = Number(countText);
const CHANNELS = channelsOf(COUNT);
/** Number of claims that the follower passes at once. */
const BATCH = 500;
/** Number of claims that are made while the clock is stopped. */
const AHEAD = 20_000;
const RUNS = 100;
const COMMON_RUNS = 20;
const BLOCKS = 5;
const BLOCK_OPERATIONS = 1000;

const isThere = existsSync(path);
const backend = await SqliteBackend.open({
  path,
  chain: 'bench',
  prefixes: addressPrefixesOf(regtestParams),
  lists: { blocking: [], filtering: [] },
  readers: 1,
});
const out = { name: backend.description };
// The threads do not keep an idle process alive.
const alive = setInterval(() => undefined, 1000);

const seconds = (ms) => (ms / 1000).toFixed(1);
const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** Wall-clock time and processor time of all threads for a part of the build. */
class Clock {
  ms = 0;
  cpuMs = 0;
  async run(task) {
    const [since, cpu] = [performance.now(), cpuMs()];
    await task();
    this.ms += performance.now() - since;
    this.cpuMs += cpuMs() - cpu;
  }
}

async function build() {
  const clocks = { claims: new Clock(), scores: new Clock(), indexes: new Clock() };
  const { writer } = backend;
  await writer.startBuild({ height: 1 + Math.ceil(COUNT / CLAIMS_A_BLOCK), hash: 'aa'.repeat(32) });
  // In the order of claim ids, as the claim index returns them, so the numbers are not ascending.
  const order = Uint32Array.from({ length: COUNT }, (_, n) => n);
  reseed(5);
  for (let i = COUNT - 1; i > 0; i--) {
    const j = below(i + 1);
    [order[i], order[j]] = [order[j], order[i]];
  }
  const amounts = new Float64Array(COUNT);
  for (let from = 0; from < COUNT; from += AHEAD) {
    const part = order.subarray(from, from + AHEAD);
    const sources = Array.from(part, (n) => claim(n, COUNT).source);
    sources.forEach(({ record }, i) => (amounts[part[i]] = Number(record.effectiveAmountSat)));
    await clocks.claims.run(async () => {
      let writing = Promise.resolve();
      for (let at = 0; at < sources.length; at += BATCH) {
        await writing;
        writing = writer.addClaims({ sources: sources.slice(at, at + BATCH).map(packed), gone: [] });
      }
      await writing;
      if (from + AHEAD >= COUNT) await writer.endClaims();
    });
    console.error(`${COUNT}: ${from + part.length} claims after ${seconds(clocks.claims.ms)} s`);
  }
  for (let from = 0; from < COUNT; from += AHEAD) {
    const blocks = [];
    for (let n = from; n < Math.min(COUNT, from + AHEAD); n += CLAIMS_A_BLOCK) {
      const scores = Array.from({ length: Math.min(CLAIMS_A_BLOCK, COUNT - n) }, (_, i) => ({
        claimId: hex(idOf(n + i < CHANNELS ? 'c' : 's', n + i)),
        formerSat: 0n,
        latterSat: BigInt(amounts[n + i]),
      }));
      blocks.push({ height: 1 + n / CLAIMS_A_BLOCK, scores });
    }
    await clocks.scores.run(() => writer.addScores(blocks));
  }
  await clocks.indexes.run(() => writer.endBuild());
  const total = { ms: 0, cpuMs: 0 };
  for (const [what, clock] of Object.entries(clocks)) {
    total.ms += clock.ms;
    total.cpuMs += clock.cpuMs;
    console.error(`${COUNT}: ${what} ${seconds(clock.ms)} s, of the processors ${seconds(clock.cpuMs)} s`);
  }
  out['first build, documents a second'] = (COUNT / total.ms) * 1000;
  out['the same of processor time'] = (COUNT / total.cpuMs) * 1000;
}

const channelIds = (count) => Array.from({ length: count }, () => hex(idOf('c', ranked(CHANNELS))));
const tag = () => `tag${ranked(TAGS).toString(36)}`;
const SEARCHES = {
  newest: () => ({ order_by: 'release_time' }),
  trending: () => ({
    order_by: ['trending_group', 'trending_mixed'],
    claim_type: ['stream', 'repost'],
    not_tags: ['tag5'],
  }),
  'a tag, newest': () => ({ any_tags: [tag()], order_by: 'release_time' }),
  'three tags, trending': () => ({
    any_tags: [tag(), tag(), tag()],
    order_by: 'trending_mixed',
    limit_claims_per_channel: 3,
    limit: 20,
  }),
  'fifty channels, newest': () => ({ channel_ids: channelIds(50), order_by: 'release_time', limit: 20 }),
  'a channel, by amount': () => ({ channel_ids: channelIds(1), order_by: 'effective_amount' }),
  'without 500 channels': () => ({
    not_channel_ids: channelIds(500),
    order_by: 'trending_mixed',
    has_source: true,
  }),
  'videos of a year': () => ({
    stream_types: ['video'],
    release_time: [`>${SEED_TIME + below(1e8)}`, `<${SEED_TIME + 1.3e8 + below(5e7)}`],
    order_by: 'release_time',
  }),
  'a language, by amount': () => ({
    any_languages: ['en', 'de'],
    order_by: 'effective_amount',
    remove_duplicates: true,
  }),
  'ten claims by id': () => ({
    claim_ids: Array.from({ length: 10 }, () => hex(idOf('s', CHANNELS + below(COUNT - CHANNELS)))),
  }),
  'a rare word': () => ({ text: `w${(1000 + below(WORDS - 1000)).toString(36)}` }),
  'two words': () => ({ text: `w${(5 + below(50)).toString(36)} w${below(2000).toString(36)}` }),
};

function percentiles(name, took) {
  took.sort((a, b) => a - b);
  out[`${name}, median ms`] = took[took.length >> 1];
  out[`${name}, p99 ms`] = took[Math.floor(took.length * 0.99)];
}

/** Measures this number of searches, each with other values. */
async function measure(name, make, times) {
  const took = [];
  for (let i = 0; i < times; i++) {
    reseed(i * 104_729 + 13);
    const query = parseConstraints(make());
    const since = performance.now();
    await backend.search(query, backend);
    took.push(performance.now() - since);
  }
  percentiles(name, took);
  console.error(`${COUNT}: ${name}, median ${out[`${name}, median ms`].toFixed(1)} ms`);
  return took;
}

/** A claim in the form in which the follower passes it to the writer. */
function packed({ record, places, value, repostedValue }) {
  return { claimId: hex(record.claimId), claim: record, places, value, repostedValue };
}

async function follow() {
  const { tip } = await backend.writer.state();
  const took = [];
  for (let block = 1; block <= BLOCKS; block++) {
    const height = tip.height + block;
    const changed = Array.from({ length: BLOCK_OPERATIONS }, (_, i) => (i * 7919 + block * 31) % COUNT);
    const sources = changed.map((n) => claim(n, COUNT, block).source);
    const claimIds = sources.map(({ record }) => hex(record.claimId));
    const scores = sources.map(({ record }, i) => ({
      claimId: claimIds[i],
      formerSat: 1n,
      latterSat: record.amountSat,
    }));
    for (const source of sources) {
      source.record.height = height;
      // Changes the text of every other claim.
      if (source.record.position % 2 === 0)
        source.value = claim((changed[0] + block) % COUNT, COUNT).source.value;
    }
    const since = performance.now();
    await backend.writer.applyBlocks(
      [{ block: { height, hash: `${block}`.padStart(64, 'b'), claimIds }, ended: [], scores }],
      { sources: sources.map(packed), gone: [] },
    );
    took.push(performance.now() - since);
  }
  took.sort((a, b) => a - b);
  out['a block of 1,000 operations, ms'] = took[took.length >> 1];
}

if (!isThere) await build();
const { size } = statSync(path);
out['bytes a claim in the file'] = size / COUNT;
const all = [];
for (const [name, make] of Object.entries(SEARCHES)) all.push(...(await measure(name, make, RUNS)));
percentiles('all twelve', all);
await measure('a word in a third of all', () => ({ text: 'common', offset: below(1e6) }), COMMON_RUNS);
await follow();
out['memory of bench and threads, MB'] = process.memoryUsage().rss / 1e6;
await backend.close();
clearInterval(alive);
console.log(JSON.stringify(out));
