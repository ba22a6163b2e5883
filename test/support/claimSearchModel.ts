/**
 * A naive model of claim search: documents in an array, and a loop for each constraint. Also random documents, and random
 * searches with every kind of constraint, many of them with hits.
 */
import { textWords } from '../../src/search/document/analyze.js';
import { makeDocument, type ClaimDocument, type ClaimMetadata } from '../../src/search/document/document.js';
import type { ClaimRecord } from '../../src/index/claims/claimReader.js';

/** Numbers from a seed (mulberry32). */
export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = seed;
  }

  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }

  /** Small numbers often, large ones seldom. */
  skewed(limit: number): number {
    return Math.floor(limit * this.next() ** 3);
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.below(256)));
  }
}

export const WORDS = (
  'bitcoin satoshi history conspiracy conspiracies running runner music video the of cooking cats dogs dog garden freedom ' +
  'science scientific crypto world game games gaming live news tutorial linux open source free speech ärger größe привет'
).split(' ');
export const TAGS = ['art', 'music', 'gaming', 'mature', 'news', 'Crypto!', 'a b', "dad's", 'c:disable', 'x'];
const LANGUAGES = ['en', 'de', 'fr', 'ja', 'none'];
const PLACES = ['US', 'US:NH', 'US:NH:Manchester', 'US:NY', 'FR', 'FR::Paris', 'FR::Paris:75001'];
const MEDIA = [
  ['video/mp4', 'video'],
  ['audio/mpeg', 'audio'],
  ['image/png', 'image'],
  ['text/markdown', 'document'],
  ['application/zip', 'binary'],
] as const;

export interface ModelClaim {
  readonly record: ClaimRecord;
  readonly metadata: ClaimMetadata;
}

export interface ModelDocument extends ClaimDocument {
  readonly score: number | null;
  /** If they are known, searches use them too. */
  readonly urls?: { readonly short: string; readonly canonical: string };
}

export function text(random: Random, most: number): string {
  return Array.from({ length: 1 + random.below(most) }, () => WORDS[random.skewed(WORDS.length)]!).join(' ');
}

export function randomMetadata(
  random: Random,
  kind: ClaimMetadata['kind'],
  channels: readonly Buffer[],
): ClaimMetadata {
  const isSigned = random.chance(0.6) && channels.length > 0;
  const [mediaType, streamType] = random.pick(MEDIA);
  return {
    kind,
    title: random.chance(0.9) ? text(random, 6) : '',
    description: random.chance(0.7) ? text(random, 20) : '',
    tags: Array.from({ length: random.below(4) }, () => random.pick(TAGS)),
    languages: random.chance(0.5) ? [random.pick(LANGUAGES)] : [],
    channelId: isSigned ? random.pick(channels) : null,
    signature: isSigned ? random.bytes(64) : null,
    stream:
      kind !== 'stream'
        ? null
        : {
            author: random.chance(0.3) ? text(random, 2) : '',
            source: random.chance(0.8) ? { mediaType, streamType, sdHash: random.bytes(48) } : null,
            fee: random.chance(0.3)
              ? {
                  currency: random.pick(['LBC', 'USD', 'BTC', null]),
                  amount: BigInt(random.below(5) * 12_345_678),
                }
              : null,
            durationSec: random.chance(0.5) ? random.below(1000) : 0,
            width: random.chance(0.5) ? 100 * (1 + random.below(5)) : 0,
            height: random.chance(0.8) ? 100 * (1 + random.below(5)) : 0,
            releaseTimeSec: random.chance(0.5) ? BigInt(1_500_000_000 + random.below(1000) * 100) : 0n,
          },
    publicKeyId: kind === 'channel' ? `b${random.below(100)}` : null,
    locations: Array.from({ length: random.below(3) }, () => random.pick(PLACES)),
  };
}

/** Key of a claim's metadata in a `Map` and in the model. */
export const keyOf = (id: Uint8Array): string => Buffer.from(id).toString('hex');

/** Random claims of every kind, ten created in each block. Some share a name, some are reposts, some were updated later. */
export function randomClaims(random: Random, count: number): ModelClaim[] {
  const claims: ModelClaim[] = [];
  const channels: Buffer[] = [];
  for (let i = 0; i < count; i++) {
    const draw = random.next();
    const kind =
      draw < 0.65 ? 'stream' : draw < 0.8 ? 'channel' : draw < 0.95 && i > 0 ? 'repost' : 'collection';
    const claimId = random.bytes(20);
    const word = random.pick(WORDS);
    const name =
      kind === 'channel' ? `@${word}` : random.chance(0.3) ? `${word}-${random.pick(WORDS)}` : word;
    const metadata = randomMetadata(random, kind, channels);
    const creationHeight = 1 + Math.floor(i / 10);
    const height = creationHeight + (random.chance(0.3) ? random.below(100) : 0);
    const digits = Buffer.from(claimId).reverse().toString('hex');
    const amountSat = BigInt(1 + random.skewed(50)) * 1_000_000n;
    const supportAmountSat = BigInt(random.skewed(20)) * 500_000n;
    const isSignatureValid = metadata.signature !== null && random.chance(0.8);
    const record: ClaimRecord = {
      claimId,
      name: Buffer.from(random.chance(0.2) ? name.toUpperCase() : name),
      normalizedName: Buffer.from(name.normalize('NFD').toLowerCase()),
      txid: random.bytes(32),
      nout: i,
      height,
      position: random.below(10),
      amountSat,
      creationHeight,
      creationPosition: i % 10,
      creationNout: random.below(2),
      activationHeight: height + random.below(10),
      expirationHeight: height + 500,
      takeoverHeight: random.below(200),
      isControlling: random.chance(0.7),
      effectiveAmountSat: amountSat + supportAmountSat,
      supportAmountSat,
      kind,
      channelId: metadata.channelId,
      isSignatureValid,
      repostedId: kind === 'repost' ? random.pick(claims).record.claimId : null,
      isRepostedGone: kind === 'repost' && random.chance(0.2),
      repostCount: random.skewed(5),
      claimsInChannel: kind === 'channel' ? random.below(5) : 0,
      shortUrl: `${name}#${digits.slice(0, 1 + random.below(3))}`,
      canonicalUrl: isSignatureValid ? `@c#1/${name}#${digits.slice(0, 2)}` : `${name}#${digits.slice(0, 1)}`,
    };
    if (kind === 'channel') channels.push(claimId);
    claims.push({ record, metadata });
  }
  return claims;
}

/** Ten transactions a block, one block every hundred seconds. */
export const MODEL_PLACES = {
  txNum: (height: number, position: number) => height * 10 + position,
  timeSec: (height: number) => 1_500_000_000 + height * 100,
};

export function modelDocument(claim: ModelClaim, reposted: ClaimMetadata | null): ClaimDocument {
  const { record } = claim;
  return makeDocument(
    record,
    {
      txNum: MODEL_PLACES.txNum(record.height, record.position),
      creationTxNum: MODEL_PLACES.txNum(record.creationHeight, record.creationPosition),
      timeSec: MODEL_PLACES.timeSec(record.height),
      creationTimeSec: MODEL_PLACES.timeSec(record.creationHeight),
    },
    claim.metadata,
    reposted,
  )!;
}

export function modelDocuments(claims: readonly ModelClaim[]): ClaimDocument[] {
  const byId = new Map(claims.map((claim) => [keyOf(claim.record.claimId), claim.metadata]));
  return claims.map((claim) => {
    const { repostedId } = claim.record;
    return modelDocument(claim, repostedId === null ? null : (byId.get(keyOf(repostedId)) ?? null));
  });
}

/** A random text with the expected hits and their expected order. */
interface ModelText {
  readonly text: string;
  readonly finds: (fields: readonly (readonly string[])[]) => boolean;
  /** Words that determine the rank, or null if the model has no ranking of its own. */
  readonly words: readonly string[] | null;
}

/** A search: its constraints, and the same constraints as functions. */
export interface ModelSearch {
  readonly constraints: Record<string, unknown>;
  readonly tests: readonly ((document: ModelDocument) => boolean)[];
  readonly text: ModelText | null;
}

const TYPES = ['', 'stream', 'channel', 'repost', 'collection'];
const STREAMS = ['', 'video', 'audio', 'image', 'document', 'binary', 'model'];

const cleanTag = (tag: string) =>
  tag.toLowerCase().replaceAll("'", '').replace(/[#!~]/g, ' ').replace(/\s\s+/g, ' ').trim();

/** Words of each field. Each tag is a value of its own. */
function fieldsOf(document: ClaimDocument): string[][] {
  let fields = knownFields.get(document);
  if (fields === undefined) {
    const values = [document.name, document.title, document.description, document.author, ...document.tags];
    fields = values.map((value) => (value === null ? [] : textWords(value)));
    knownFields.set(document, fields);
  }
  return fields;
}

const knownFields = new WeakMap<ClaimDocument, string[][]>();

function hasRun(words: readonly string[], run: readonly string[]): boolean {
  return words.some((_, at) => run.every((word, i) => words[at + i] === word));
}

function randomText(random: Random): ModelText {
  const [a, b, c] = [random.pick(WORDS), random.pick(WORDS), random.pick(WORDS)] as [string, string, string];
  const [wa, wb, wc] = [a, b, c].map((word) => textWords(word)[0]!) as [string, string, string];
  const has = (word: string) => (fields: readonly (readonly string[])[]) =>
    fields.some((words) => words.includes(word));
  const start = a.slice(0, 3);
  const forms: readonly ModelText[] = [
    { text: a, finds: has(wa), words: [wa] },
    { text: `${a} ${b}`, finds: (f) => has(wa)(f) || has(wb)(f), words: [wa, wb] },
    { text: `${a}|${b}`, finds: (f) => has(wa)(f) || has(wb)(f), words: [wa, wb] },
    { text: `${a}+${b}`, finds: (f) => has(wa)(f) && has(wb)(f), words: [wa, wb] },
    { text: `${a} -${b}`, finds: (f) => has(wa)(f) && !has(wb)(f), words: null },
    { text: `-${b}`, finds: (f) => !has(wb)(f), words: null },
    { text: `"${a} ${b}"`, finds: (f) => f.some((words) => hasRun(words, [wa, wb])), words: null },
    {
      text: `${start}*`,
      finds: (f) => f.some((words) => words.some((word) => word.startsWith(start))),
      words: null,
    },
    { text: `(${a}+${b})|${c}`, finds: (f) => (has(wa)(f) && has(wb)(f)) || has(wc)(f), words: null },
    { text: `${a}|${b} + ${c}`, finds: (f) => (has(wa)(f) || has(wb)(f)) && has(wc)(f), words: null },
    {
      text: `"${a} ${b}"~2`,
      finds: (f) =>
        f.some((words) => words.some((word, i) => word === wa && words.slice(i + 1, i + 4).includes(wb))),
      words: null,
    },
    { text: `${a.toUpperCase()} (`, finds: has(textWords(a.toUpperCase())[0]!), words: null },
    { text: '(*)', finds: () => true, words: null },
  ];
  return random.pick(forms);
}

interface SearchDraft {
  readonly random: Random;
  readonly constraints: Record<string, unknown>;
  readonly tests: ((document: ModelDocument) => boolean)[];
  /** A random document. */
  readonly some: () => ModelDocument;
}

const NUMBERS: readonly [string, (d: ModelDocument) => bigint | number | null][] = [
  ['height', (d) => d.height],
  ['creation_height', (d) => d.creationHeight],
  ['activation_height', (d) => d.activationHeight],
  ['expiration_height', (d) => d.expirationHeight],
  ['timestamp', (d) => d.timeSec],
  ['creation_timestamp', (d) => d.creationTimeSec],
  ['duration', (d) => d.durationSec],
  ['content_width', (d) => d.contentWidth],
  ['content_height', (d) => d.contentHeight],
  ['content_aspect_ratio', (d) => d.contentAspectRatio],
  ['tx_position', (d) => d.txPosition],
  ['tx_num', (d) => d.txNum],
  ['reposted', (d) => d.repostCount],
  ['amount', (d) => d.amountSat],
  ['effective_amount', (d) => d.effectiveAmountSat],
  ['support_amount', (d) => d.supportAmountSat],
  ['trending_mixed', (d) => d.score],
];

const ids = (list: readonly (string | null)[]) => list.filter((id) => id !== null);

/** Constraints about numbers. */
function numberConstraints({ random, constraints, tests, some }: SearchDraft): (() => void)[] {
  return [
    () => {
      const [key, value] = random.pick(NUMBERS);
      const bound = value(some()) ?? 0;
      const op = random.pick(['<', '<=', '>', '>=']);
      constraints[key] = `${op}${bound}`;
      tests.push((d) => {
        const own = value(d);
        if (own === null) return false;
        return op === '<'
          ? own < bound
          : op === '<='
            ? own <= bound
            : op === '>'
              ? own > bound
              : own >= bound;
      });
    },
    () => {
      const [key, value] = random.pick(NUMBERS);
      const [low, high] = [value(some()) ?? 0, value(some()) ?? 0];
      constraints[key] = [`>=${low}`, `<${high}`];
      tests.push((d) => value(d) !== null && value(d)! >= low && value(d)! < high);
    },
    () => {
      const [key, value] = random.pick(NUMBERS.slice(0, -1));
      const values = [value(some()) ?? 0, value(some()) ?? 0].map(String);
      if (values.includes('0')) return;
      constraints[key] = values;
      tests.push((d) => value(d) !== null && values.includes(String(value(d))));
    },
  ];
}

/** Constraints about single values. */
function valueConstraints({ random, constraints, tests, some }: SearchDraft): (() => void)[] {
  return [
    () => {
      const bound = 1_500_000_000 + random.below(100_000);
      constraints['release_time'] = `<${bound}`;
      const rounded = BigInt((Math.floor(bound / 360) + 1) * 360);
      tests.push((d) => d.releaseTimeSec < rounded);
    },
    () => {
      const isGone = random.chance(0.5);
      constraints['is_reposted_claim_gone'] = isGone;
      tests.push((d) => d.isRepostedGone === isGone);
    },
    () => {
      const fee = random.pick(['0', '0.1', '12.345', '0.12345678']);
      constraints['fee_amount'] = `>${fee}`;
      tests.push((d) => d.feeAmount !== null && Number(d.feeAmount) > Number(fee) * 1000);
    },
    () => {
      const name = some().normalizedName;
      constraints['name'] = name.toUpperCase();
      const folded = name.toUpperCase().normalize('NFD').toLowerCase();
      tests.push((d) => d.normalizedName === folded.replaceAll('ß', 'ss'));
    },
    () => {
      const digits = some().claimId.slice(0, 1 + random.below(random.chance(0.5) ? 3 : 40));
      constraints['claim_id'] = digits;
      tests.push((d) => d.claimId.startsWith(digits));
    },
  ];
}

/** Constraints about ids. */
function idConstraints({ constraints, tests, some }: SearchDraft): (() => void)[] {
  return [
    () => {
      const list = [some().claimId, some().claimId, some().claimId];
      constraints['claim_ids'] = list;
      tests.push((d) => list.includes(d.claimId));
    },
    () => {
      const list = ids([some().channelId, some().channelId, some().channelId]);
      if (list.length === 0) return;
      constraints['channel_ids'] = list;
      tests.push((d) => d.channelId !== null && list.includes(d.channelId));
    },
    () => {
      const list = ids([some().channelId, some().channelId]);
      constraints['not_channel_ids'] = list;
      tests.push((d) => !list.includes(d.claimId) && (d.channelId === null || !list.includes(d.channelId)));
    },
    () => {
      const list = [some().claimId];
      constraints['not_claim_id'] = list;
      tests.push((d) => !list.includes(d.claimId));
    },
  ];
}

/** Constraints about signatures and types. */
function kindConstraints({ random, constraints, tests, some }: SearchDraft): (() => void)[] {
  return [
    () => {
      constraints['has_channel_signature'] = true;
      tests.push((d) => d.signature !== null);
    },
    () => {
      const valid = random.chance(0.5);
      constraints['signature_valid'] = valid ? 1 : 0;
      tests.push((d) => d.signature === null || d.isSignatureValid === valid);
    },
    () => {
      constraints['is_controlling'] = true;
      tests.push((d) => d.isControlling);
    },
    () => {
      const types = [random.pick(TYPES.slice(1)), random.pick(TYPES.slice(1))];
      constraints['claim_type'] = types;
      tests.push((d) => types.includes(TYPES[d.type]!));
    },
    () => {
      const types = [random.pick(STREAMS.slice(1))];
      constraints['stream_types'] = types;
      tests.push((d) => d.streamType !== null && types.includes(STREAMS[d.streamType]!));
    },
    () => {
      const types = ids([some().mediaType, some().mediaType]).filter((type) => type !== '');
      if (types.length === 0) return;
      constraints['media_types'] = types;
      tests.push((d) => d.mediaType !== null && types.includes(d.mediaType));
    },
    () => {
      constraints['fee_currency'] = 'usd';
      tests.push((d) => d.feeCurrency === 'USD');
    },
  ];
}

/** Constraints about tags, languages and places. */
function listConstraints({ random, constraints, tests }: SearchDraft): (() => void)[] {
  return [
    () => {
      const tags = [random.pick(TAGS), random.pick(TAGS)];
      const key = random.pick(['any_tags', 'all_tags', 'not_tags']);
      constraints[key] = tags;
      const clean = tags.map(cleanTag);
      const has = (d: ModelDocument) => (tag: string) => d.tags.includes(tag);
      if (key === 'any_tags') tests.push((d) => clean.some(has(d)));
      if (key === 'all_tags') tests.push((d) => clean.every(has(d)));
      if (key === 'not_tags') tests.push((d) => !clean.some(has(d)));
    },
    () => {
      const languages = [random.pick(LANGUAGES), random.pick(LANGUAGES)];
      const key = random.pick(['any_languages', 'all_languages']);
      constraints[key] = languages;
      tests.push((d) =>
        key === 'any_languages'
          ? languages.some((one) => d.languages.includes(one))
          : languages.every((one) => d.languages.includes(one)),
      );
    },
    () => {
      const places = [random.pick(PLACES), random.pick(PLACES)];
      const key = random.pick(['any_locations', 'all_locations', 'not_locations']);
      constraints[key] = places;
      const lies = (d: ModelDocument) => (place: string) =>
        d.locations.some((one) => one === place || one.startsWith(`${place}:`));
      if (key === 'any_locations') tests.push((d) => places.some(lies(d)));
      if (key === 'all_locations') tests.push((d) => places.every(lies(d)));
      if (key === 'not_locations') tests.push((d) => !places.some(lies(d)));
    },
  ];
}

/** Constraints about sources and dimensions. */
function sourceConstraints({ random, constraints, tests }: SearchDraft): (() => void)[] {
  return [
    () => {
      const value = random.chance(0.5);
      constraints['has_source'] = value;
      tests.push((d) => {
        if (d.type !== 1 && d.type !== 3) return true;
        return d.hasSource === value || (d.type === 3 && d.repostedType !== 1);
      });
    },
    () => {
      const value = random.chance(0.5);
      constraints['has_no_source'] = value;
      tests.push((d) => {
        if (d.type !== 1 && d.type !== 3) return true;
        return d.hasSource !== value || (d.type === 3 && d.repostedType !== 1);
      });
    },
    () => {
      const [ratio, duration] = random.chance(0.5) ? [0.95, 180] : [1.25, 600];
      constraints['exclude_shorts'] = true;
      if (ratio !== 0.95) constraints['exclude_shorts_aspect_ratio_lte'] = ratio;
      if (duration !== 180) constraints['exclude_shorts_duration_lte'] = String(duration);
      tests.push(
        (d) =>
          d.contentAspectRatio === null || d.contentAspectRatio > ratio || (d.durationSec ?? 1e9) > duration,
      );
    },
    () => {
      const bound = random.pick([0.5, 0.95, 1, 1.5]);
      constraints[random.pick(['content_aspect_ratio_or_missing', 'content_aspect_ratio__or_missing'])] =
        `<=${bound}`;
      tests.push((d) => d.contentAspectRatio === null || d.contentAspectRatio <= bound);
    },
  ];
}

/** Constraints about exact texts. */
function textConstraints({ random, constraints, tests, some }: SearchDraft): (() => void)[] {
  return [
    () => {
      const { repostedId } = some();
      if (repostedId === null) return;
      constraints['reposted_claim_id'] = repostedId;
      tests.push((d) => d.repostedId === repostedId);
    },
    () => {
      const { title } = some();
      if (title === null || title === '') return;
      constraints['title'] = title;
      tests.push((d) => d.title === title);
    },
    () => {
      const key = random.pick([
        ...(some().urls === undefined ? [] : (['short_url', 'canonical_url'] as const)),
        'txid',
        'signature',
        'sd_hash',
        'public_key_id',
      ] as const);
      const valueOf = (d: ModelDocument) =>
        ({
          short_url: d.urls?.short ?? null,
          canonical_url: d.urls?.canonical ?? null,
          txid: d.txid,
          signature: d.signature,
          sd_hash: d.sdHash,
          public_key_id: d.publicKeyId,
        })[key];
      const value = valueOf(some());
      if (value === null) return;
      constraints[key] = value;
      tests.push((d) => valueOf(d) === value);
    },
  ];
}

/** An order of one or two keys. */
function randomOrder(random: Random): unknown {
  const orders = [
    'release_time',
    'effective_amount',
    '^height',
    'name',
    '^duration',
    'trending_mixed',
    '^release_time',
    'content_aspect_ratio',
  ];
  return random.chance(0.3)
    ? [random.pick(orders), random.pick(['creation_height', '^amount'])]
    : random.pick([
        ...orders,
        'reposted',
        'fee_amount',
        'support_amount',
        '^name',
        'timestamp',
        '^claim_id',
        'title',
        '^title',
        '^author',
        'sd_hash',
      ]);
}

/** A random search over documents. Most constraints have values of these documents. */
export function randomSearch(random: Random, documents: readonly ModelDocument[]): ModelSearch {
  const constraints: Record<string, unknown> = {};
  const tests: ((document: ModelDocument) => boolean)[] = [];
  const some = () => random.pick(documents);
  const draft = { random, constraints, tests, some };
  const kinds = [
    ...numberConstraints(draft),
    ...valueConstraints(draft),
    ...idConstraints(draft),
    ...kindConstraints(draft),
    ...listConstraints(draft),
    ...sourceConstraints(draft),
    ...textConstraints(draft),
  ];
  const count = random.below(4);
  for (let i = 0; i < count; i++) {
    const before = tests.length;
    const keys = Object.keys(constraints).length;
    random.pick(kinds)();
    // A second constraint with the same key replaces the first.
    if (tests.length > before && Object.keys(constraints).length === keys)
      return randomSearch(random, documents);
  }
  let wanted: ModelText | null = null;
  if (random.chance(0.4)) {
    wanted = randomText(random);
    constraints['text'] = wanted.text;
  }
  if (random.chance(0.7) || wanted?.words === null) constraints['order_by'] = randomOrder(random);
  if (random.chance(0.3)) constraints['remove_duplicates'] = true;
  if (random.chance(0.3)) constraints['limit_claims_per_channel'] = random.below(4);
  if (random.chance(0.7)) constraints['limit'] = 1 + random.below(30);
  if (random.chance(0.4)) constraints['offset'] = random.below(40);
  return { constraints, tests, text: wanted };
}

const ORDERED: Readonly<Record<string, (d: ModelDocument) => string | number | bigint | null>> = {
  release_time: (d) => d.releaseTimeSec,
  effective_amount: (d) => d.effectiveAmountSat,
  height: (d) => d.height,
  name: (d) => Buffer.from(d.normalizedName).toString('latin1'),
  duration: (d) => d.durationSec,
  content_aspect_ratio: (d) => d.contentAspectRatio,
  trending_mixed: (d) => d.score,
  creation_height: (d) => d.creationHeight,
  amount: (d) => d.amountSat,
  reposted: (d) => d.repostCount,
  fee_amount: (d) => d.feeAmount,
  support_amount: (d) => d.supportAmountSat,
  timestamp: (d) => d.timeSec,
  claim_id: (d) => d.claimId,
  title: (d) => d.title && Buffer.from(d.title).toString('latin1'),
  author: (d) => d.author && Buffer.from(d.author).toString('latin1'),
  sd_hash: (d) => d.sdHash,
  tx_num: (d) => d.txNum,
  tx_nout: (d) => d.txNout,
};

function compareBy(names: readonly string[]) {
  return (a: ModelDocument, b: ModelDocument): number => {
    for (const name of names) {
      const isAscending = name.startsWith('^');
      const value = ORDERED[isAscending ? name.slice(1) : name]!;
      const [x, y] = [value(a), value(b)];
      if (x === y) continue;
      if (x === null) return 1;
      if (y === null) return -1;
      return x < y === isAscending ? -1 : 1;
    }
    return 0;
  };
}

/** BM25 by loops. Weights: names 4, titles and authors 1, descriptions and tags 0.5. */
function relevance(
  words: readonly string[],
  documents: readonly ModelDocument[],
): Map<ModelDocument, number> {
  const weights = [4, 1, 0.5, 1, 0.5];
  const fields = new Map(
    documents.map((d) => {
      const [name, title, description, author, ...tags] = fieldsOf(d);
      return [d, [name!, title!, description!, author!, tags.flat()]] as const;
    }),
  );
  const averages = weights.map((_, i) => {
    const lengths = [...fields.values()].map((own) => own[i]!.length).filter((length) => length > 0);
    return lengths.reduce((sum, length) => sum + length, 0) / lengths.length;
  });
  const scores = new Map<ModelDocument, number>();
  for (const d of documents) scores.set(d, 0);
  for (const word of new Set(words)) {
    const times = words.filter((other) => other === word).length;
    const holding = [...fields.values()].filter((own) => own.some((field) => field.includes(word))).length;
    const rarity =
      words.length === 1 ? 1 : Math.log(1 + (documents.length - holding + 0.5) / (holding + 0.5));
    for (const [d, own] of fields) {
      own.forEach((field, i) => {
        const found = field.filter((other) => other === word).length;
        if (found === 0) return;
        const bm25 = found / (found + 1.2 * (0.25 + (0.75 * field.length) / averages[i]!));
        scores.set(d, scores.get(d)! + times * weights[i]! * rarity * bm25);
      });
    }
  }
  return scores;
}

function withoutDuplicates(hits: readonly ModelDocument[]): ModelDocument[] {
  const groups = new Map<string, ModelDocument[]>();
  for (const d of hits)
    groups.set(d.repostedId ?? d.claimId, [...(groups.get(d.repostedId ?? d.claimId) ?? []), d]);
  return hits.filter((d) => {
    const group = groups.get(d.repostedId ?? d.claimId)!;
    const least = Math.min(...group.map((other) => other.creationHeight));
    return group.find((other) => other.creationHeight === least) === d;
  });
}

/** Number of hits before the i-th hit that the same channel signed. */
const ofChannel = (hits: readonly ModelDocument[], { channelId }: ModelDocument, i: number): number =>
  hits.slice(0, i).filter((d) => d.isSignatureValid && d.channelId === channelId).length;

/** The expected answer of the search: ids of the page and the total. */
export function modelSearch(
  documents: readonly ModelDocument[],
  search: ModelSearch,
): { readonly rows: readonly string[]; readonly total: number } {
  const { constraints, tests, text: wanted } = search;
  let hits = documents.filter((d) => tests.every((test) => test(d)));
  if (wanted !== null) hits = hits.filter((d) => wanted.finds(fieldsOf(d)));
  const given = constraints['order_by'];
  if (wanted !== null && given === undefined) {
    const scores = relevance(wanted.words!, documents);
    const rounded = (d: ModelDocument) => Number(scores.get(d)!.toPrecision(12));
    hits = hits.toSorted((a, b) => rounded(b) - rounded(a) || a.id - b.id);
  } else {
    const names = given === undefined ? [] : ([given].flat() as string[]);
    hits = hits.toSorted(compareBy([...names, 'trending_mixed', 'release_time', '^tx_num', '^tx_nout']));
  }
  const most = (constraints['limit_claims_per_channel'] as number | undefined) ?? 0;
  const isRanked = wanted !== null && given === undefined;
  hits = hits.slice(0, most > 0 && !isRanked ? 4000 : 1000);
  if (constraints['remove_duplicates'] === true) hits = withoutDuplicates(hits);
  const limit = (constraints['limit'] as number | undefined) ?? 10;
  if (most > 0)
    hits = hits.filter((d, i) => !d.isSignatureValid || ofChannel(hits, d, i) < most).slice(0, 1000);
  const offset = (constraints['offset'] as number | undefined) ?? 0;
  return { rows: hits.slice(offset, offset + limit).map((d) => d.claimId), total: hits.length };
}
