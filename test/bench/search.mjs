#!/usr/bin/env node
// The search index over synthetic claims that are shaped like the real ones: two thirds streams, some channels, reposts and
// collections, tags and words by rank (the first word is in a third of all documents), descriptions of 40 words on
// average. Prints documents a second of the first build (decoding included), bytes a claim and the memory of this process
// with its threads, the median and the 99th of a hundred of each of twelve typical searches with other values each time,
// one of a word in a third of all documents, and how long a block of 1,000 operations takes to be followed.
//
//   npm run bench:search [-- --claims 1000000] [--keep file]
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { create } from '@bufbuild/protobuf';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const dist = (path) => import(pathToFileURL(join(root, 'dist', path)).href);
const { SqliteBackend } = await dist('search/searchWorkers.js');
const { parseConstraints } = await dist('search/constraints.js');
const { encodeClaim } = await dist('metadata/claim.js');
const { ClaimSchema } = await dist('metadata/messages/claim_pb.js');
const { addressPrefixesOf } = await dist('script/address.js');
const { regtestParams } = await dist('params/regtest.js');

const args = process.argv.slice(2);
const option = (name, fallback) => {
  const at = args.indexOf(`--${name}`);
  return at < 0 ? fallback : args[at + 1];
};
const COUNT = Number(option('claims', '1000000'));
const kept = option('keep', null);
const BATCH = 500;
const CLAIMS_A_BLOCK = 20;
const CHANNELS = Math.max(50, Math.floor(COUNT / 30));
const WORDS = 200_000;
const TAGS = 20_000;
const SEED_TIME = 1_500_000_000;

let state = 1;
const random = () => {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
};
const below = (limit) => Math.floor(random() * limit);
/** Ranks of which the first are the most frequent. */
const ranked = (limit) => Math.floor(limit ** random()) - 1;
const word = () => `w${ranked(WORDS).toString(36)}`;
const text = (length) => Array.from({ length }, word).join(' ');
const idOf = (kind, n) => createHash('sha256').update(`${kind}${n}`).digest().subarray(0, 20);
const hex = (bytes) => Buffer.from(bytes).reverse().toString('hex');
const MEDIA = [
  'video/mp4',
  'video/mp4',
  'video/mp4',
  'audio/mpeg',
  'image/png',
  'text/markdown',
  'application/pdf',
];

/** The n-th claim: its record, its value, and where it stands. */
function claim(n, change = 0) {
  state = n * 7919 + 1;
  const isChannel = n < CHANNELS;
  const draw = random();
  const kind = isChannel ? 'channel' : draw < 0.85 ? 'stream' : draw < 0.97 ? 'repost' : 'collection';
  const signer = isChannel || random() < 0.2 ? null : idOf('c', ranked(CHANNELS));
  const claimId = isChannel ? idOf('c', n) : idOf('s', n);
  const name = `${isChannel ? '@' : ''}${word()}-${below(1000).toString(36)}`;
  const isCommon = random() < 1 / 3;
  const title = text(3 + below(6));
  const media = MEDIA[below(MEDIA.length)];
  const message = create(ClaimSchema, {
    title,
    description: `${isCommon ? 'common ' : ''}${text(10 + below(60))}`,
    tags: Array.from({ length: below(6) }, () => `tag${ranked(TAGS).toString(36)}`),
    languages: random() < 0.6 ? [{ language: 1 + ranked(60) }] : [],
    type:
      kind === 'stream'
        ? {
            case: 'stream',
            value: {
              author: random() < 0.3 ? text(2) : '',
              releaseTime: BigInt(SEED_TIME + below(2e8)),
              source: { mediaType: media, sdHash: Buffer.concat([claimId, claimId, Buffer.alloc(8)]) },
              ...(random() < 0.05 && { fee: { currency: 1, amount: BigInt(below(1e9)) } }),
              ...(media.startsWith('video') && { type: { case: 'video', value: { duration: below(7200) } } }),
            },
          }
        : kind === 'channel'
          ? { case: 'channel', value: { publicKey: Buffer.alloc(33, 2) } }
          : { case: kind, value: {} },
  });
  const signature = signer === null ? null : Buffer.concat([claimId, claimId, claimId, Buffer.alloc(4)]);
  const creationHeight = 1 + Math.floor(n / CLAIMS_A_BLOCK);
  const height = creationHeight + (random() < 0.1 ? below(1000) : 0);
  const amountSat = 1_000_000n * BigInt(1 + ranked(1000));
  const supportAmountSat = random() < 0.1 ? BigInt(ranked(1e12)) : 0n;
  const digits = hex(claimId);
  return {
    source: {
      record: {
        claimId: new Uint8Array(claimId),
        name: new Uint8Array(Buffer.from(name)),
        normalizedName: new Uint8Array(Buffer.from(name)),
        txid: new Uint8Array(createHash('sha256').update(`t${n}${change}`).digest()),
        nout: 0,
        height,
        position: n % CLAIMS_A_BLOCK,
        amountSat,
        creationHeight,
        creationPosition: n % CLAIMS_A_BLOCK,
        creationNout: 0,
        activationHeight: height,
        expirationHeight: height + 2_102_400,
        takeoverHeight: height,
        isControlling: random() < 0.9,
        effectiveAmountSat: amountSat + supportAmountSat,
        supportAmountSat,
        kind,
        channelId: signer && new Uint8Array(signer),
        isSignatureValid: signer !== null,
        repostedId: kind === 'repost' ? new Uint8Array(idOf('s', CHANNELS + below(COUNT - CHANNELS))) : null,
        repostCount: ranked(100),
        claimsInChannel: isChannel ? ranked(1000) : 0,
        shortUrl: `${name}#${digits.slice(0, 2)}`,
        canonicalUrl: `@c#1/${name}#${digits.slice(0, 2)}`,
      },
      places: {
        txNum: height * 50 + (n % CLAIMS_A_BLOCK),
        creationTxNum: creationHeight * 50 + (n % CLAIMS_A_BLOCK),
        timeSec: SEED_TIME + height * 150,
        creationTimeSec: SEED_TIME + creationHeight * 150,
      },
      value: new Uint8Array(encodeClaim({ channelId: signer, signature, claim: message })),
      repostedValue: null,
    },
    amountSat,
  };
}

const folder = kept ? dirname(kept) : mkdtempSync(join(tmpdir(), 'lbcnode-bench-search-'));
const path = kept ?? join(folder, 'search.sqlite');
const isThere = existsSync(path);
const backend = await SqliteBackend.open({
  path,
  chain: 'bench',
  prefixes: addressPrefixesOf(regtestParams),
  lists: { blocking: [], filtering: [] },
  readers: 1,
});
console.log(`${backend.description}, ${COUNT} claims`);

const top = 1 + Math.ceil(COUNT / CLAIMS_A_BLOCK);
if (!isThere) {
  const since = performance.now();
  let making = 0;
  await backend.writer.startBuild({ height: top, hash: 'aa'.repeat(32) });
  // In the order of ids, as the claim index gives them: the numbers jump.
  const order = Uint32Array.from({ length: COUNT }, (_, n) => n);
  state = 5;
  for (let i = COUNT - 1; i > 0; i--) {
    const j = below(i + 1);
    [order[i], order[j]] = [order[j], order[i]];
  }
  let writing = Promise.resolve();
  for (let at = 0; at < COUNT; at += BATCH) {
    const began = performance.now();
    const sources = Array.from(order.subarray(at, at + BATCH), (n) => claim(n).source);
    making += performance.now() - began;
    await writing;
    writing = backend.writer.addClaims({ sources, gone: [] });
  }
  await writing;
  await backend.writer.endClaims();
  const documentsMs = performance.now() - since;
  let scores = [];
  for (let n = 0; n < COUNT; n++) {
    const { source } = claim(n);
    scores.push({
      claimId: hex(source.record.claimId),
      formerSat: 0n,
      latterSat: source.record.effectiveAmountSat,
    });
    if (scores.length < 20_000 && n < COUNT - 1) continue;
    await backend.writer.addScores([{ height: source.record.creationHeight, scores }]);
    scores = [];
  }
  const scoresMs = performance.now() - since - documentsMs;
  await backend.writer.endBuild();
  const totalMs = performance.now() - since;
  const each = (ms) => `${(ms / 1000).toFixed(1)} s`;
  console.log(
    `first build: ${Math.round((COUNT / totalMs) * 1000)} documents a second ` +
      `(claims ${each(documentsMs)}, of which the bench made them for ${each(making)} on the other thread; ` +
      `scores ${each(scoresMs)}; indexes ${each(totalMs - documentsMs - scoresMs)})`,
  );
}
const bytes = statSync(path).size;
console.log(`file: ${(bytes / 1e6).toFixed(0)} MB, ${Math.round(bytes / COUNT)} bytes a claim`);

const channelIds = (count) => Array.from({ length: count }, () => hex(idOf('c', ranked(CHANNELS))));
const SEARCHES = {
  newest: () => ({ order_by: 'release_time' }),
  trending: () => ({
    order_by: ['trending_group', 'trending_mixed'],
    claim_type: ['stream', 'repost'],
    not_tags: ['tag5'],
  }),
  'a tag, newest': () => ({ any_tags: [`tag${ranked(TAGS).toString(36)}`], order_by: 'release_time' }),
  'three tags, trending': () => ({
    any_tags: [1, 2, 3].map(() => `tag${ranked(TAGS).toString(36)}`),
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
const COMMON = { 'a word in a third of all': () => ({ text: 'common', offset: below(1e6) }) };

async function measure(name, make, times) {
  const took = [];
  for (let i = 0; i < times; i++) {
    state = i * 104_729 + 13;
    const query = parseConstraints(make());
    const since = performance.now();
    await backend.search(query);
    took.push(performance.now() - since);
  }
  took.sort((a, b) => a - b);
  const at = (share) => took[Math.min(took.length - 1, Math.floor(took.length * share))];
  console.log(
    `${name.padEnd(26)} median ${at(0.5).toFixed(1).padStart(7)} ms   p99 ${at(0.99).toFixed(1).padStart(7)} ms`,
  );
  return took;
}

const all = [];
for (const [name, make] of Object.entries(SEARCHES)) all.push(...(await measure(name, make, 100)));
all.sort((a, b) => a - b);
console.log(
  `all twelve                 median ${all[all.length >> 1].toFixed(1)} ms, p99 ${all[Math.floor(all.length * 0.99)].toFixed(1)} ms`,
);
for (const [name, make] of Object.entries(COMMON)) await measure(name, make, 20);

const { tip } = await backend.writer.state();
for (let block = 1; block <= 3; block++) {
  const height = tip.height + block;
  const sources = Array.from(
    { length: 1000 },
    (_, i) => claim((i * 7919 + block * 31) % COUNT, block).source,
  );
  const claimIds = sources.map(({ record }) => hex(record.claimId));
  const scores = sources.map(({ record }, i) => ({
    claimId: claimIds[i],
    formerSat: 1n,
    latterSat: record.amountSat,
  }));
  // Another text, so that words change too.
  for (const source of sources) source.record.height = height;
  const since = performance.now();
  await backend.writer.applyBlock(
    { block: { height, hash: `${block}`.padStart(64, 'b'), claimIds }, ended: [], scores },
    { sources, gone: [] },
  );
  console.log(`a block of 1,000 operations: ${(performance.now() - since).toFixed(0)} ms`);
}
console.log(`memory: ${(process.memoryUsage().rss / 1e6).toFixed(0)} MB (this bench and both threads)`);
await backend.close();
if (!kept) rmSync(folder, { recursive: true });
