// Synthetic claims shaped like the real ones: two thirds streams, some channels, reposts and collections, tags and words by
// rank (the first word is in a third of all documents), descriptions of 40 words on average.
import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { create } from '@bufbuild/protobuf';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
export const dist = (path) => import(pathToFileURL(join(root, 'dist', path)).href);
const { encodeClaim } = await dist('metadata/claim.js');
const { ClaimSchema } = await dist('metadata/messages/claim_pb.js');

export const CLAIMS_A_BLOCK = 20;
export const WORDS = 200_000;
export const TAGS = 20_000;
export const SEED_TIME = 1_500_000_000;

let state = 1;
/** Resets the generator, so that later random numbers are the same in every run. */
export const reseed = (seed) => {
  state = seed;
};
const random = () => {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
};
export const below = (limit) => Math.floor(random() * limit);
/** Ranks. The first ones are the most frequent. */
export const ranked = (limit) => Math.floor(limit ** random()) - 1;
const word = () => `w${ranked(WORDS).toString(36)}`;
export const text = (length) => Array.from({ length }, word).join(' ');
export const idOf = (kind, n) => createHash('sha256').update(`${kind}${n}`).digest().subarray(0, 20);
export const hex = (bytes) => Buffer.from(bytes).reverse().toString('hex');
const MEDIA = [
  'video/mp4',
  'video/mp4',
  'video/mp4',
  'audio/mpeg',
  'image/png',
  'text/markdown',
  'application/pdf',
];

/** Number of channels among `count` claims. */
export const channelsOf = (count) => Math.max(50, Math.floor(count / 30));

/** Returns the n-th of `count` claims: its record, its value, and its position. */
export function claim(n, count, change = 0) {
  const channels = channelsOf(count);
  state = n * 7919 + 1;
  const isChannel = n < channels;
  const draw = random();
  const kind = isChannel ? 'channel' : draw < 0.85 ? 'stream' : draw < 0.97 ? 'repost' : 'collection';
  const signer = isChannel || random() < 0.2 ? null : idOf('c', ranked(channels));
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
        isRepostedGone: false,
        repostedId: kind === 'repost' ? new Uint8Array(idOf('s', channels + below(count - channels))) : null,
        repostCount: ranked(100),
        claimsInChannel: isChannel ? ranked(1000) : 0,
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
