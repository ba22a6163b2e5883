/**
 * The document of a live claim: its searchable fields, from the claim's record, its metadata and, for a repost, the metadata
 * of the reposted claim. Pure. Source: lbryio/hub, hub/elastic_sync/db.py `prepare_claim_metadata_batch`.
 */
import { sha256OfText } from '../../crypto/hash.js';
import type { Bytes } from '../../util/bytes.js';
import { hashToHex, toHex } from '../../util/bytes.js';
import { packWords, type DocumentWords } from './analyze.js';
import type { PlainClaim } from '../../index/claims/claimReader.js';

/** Numbers of `claim_type`. */
export const CLAIM_TYPES = { stream: 1, channel: 2, repost: 3, collection: 4 } as const;
/** Numbers of `stream_type`. */
export const STREAM_TYPES = { video: 1, audio: 2, image: 3, document: 4, binary: 5, model: 6 } as const;

export type ClaimTypeName = keyof typeof CLAIM_TYPES;
export type StreamTypeName = keyof typeof STREAM_TYPES;

/** What the index reads from a claim's decoded value. */
export interface ClaimMetadata {
  readonly kind: ClaimTypeName;
  readonly title: string;
  readonly description: string;
  /** Tags as published. */
  readonly tags: readonly string[];
  /** Codes of two or three letters, `none` for the unknown one. */
  readonly languages: readonly string[];
  /** Names of locations (`placeName`). */
  readonly locations: readonly string[];
  readonly channelId: Bytes | null;
  readonly signature: Bytes | null;
  /** Data of a stream; null for other claims. */
  readonly stream: {
    readonly author: string;
    readonly source: {
      readonly mediaType: string;
      readonly streamType: StreamTypeName;
      readonly sdHash: Bytes;
    } | null;
    /** Amount in the smallest unit of the currency. */
    readonly fee: { readonly currency: 'LBC' | 'BTC' | 'USD' | null; readonly amount: bigint } | null;
    readonly durationSec: number;
    /** Video size in pixels; 0 if it is unknown. */
    readonly width: number;
    readonly height: number;
    readonly releaseTimeSec: bigint;
  } | null;
  /** Address of a channel's key; null for other claims. */
  readonly publicKeyId: string | null;
}

/** A document in the form of the index. Ids are hex in printed order, so that a prefix is a range. */
export interface ClaimDocument {
  /**
   * Creation order: the number of the first output's transaction in the chain, and the output number. Unique among live
   * claims.
   */
  readonly id: number;
  readonly claimId: string;
  readonly type: number;
  readonly name: string;
  readonly normalizedName: string;
  readonly txid: string;
  readonly txNout: number;
  readonly txNum: number;
  readonly txPosition: number;
  readonly amountSat: bigint;
  readonly effectiveAmountSat: bigint;
  readonly supportAmountSat: bigint;
  readonly height: number;
  readonly creationHeight: number;
  readonly activationHeight: number;
  readonly expirationHeight: number;
  readonly timeSec: number;
  readonly creationTimeSec: number;
  readonly isControlling: boolean;
  readonly takeoverHeight: number;
  readonly title: string | null;
  readonly author: string | null;
  readonly description: string | null;
  readonly hasSource: boolean;
  readonly sdHash: string | null;
  readonly mediaType: string | null;
  readonly streamType: number | null;
  /** Thousandths of the currency's unit. */
  readonly feeAmount: bigint | null;
  readonly feeCurrency: string | null;
  readonly durationSec: number | null;
  /** Video size in pixels, and width divided by height. */
  readonly contentWidth: number | null;
  readonly contentHeight: number | null;
  readonly contentAspectRatio: number | null;
  /** Release time of a stream; creation time of other claims. */
  readonly releaseTimeSec: bigint;
  readonly repostCount: number;
  readonly repostedId: string | null;
  readonly repostedType: number | null;
  readonly isRepostedGone: boolean;
  readonly channelId: string | null;
  readonly signature: string | null;
  readonly isSignatureValid: boolean;
  readonly publicKeyId: string | null;
  readonly claimsInChannel: number | null;
  readonly tags: readonly string[];
  readonly languages: readonly string[];
  readonly locations: readonly string[];
  readonly words: DocumentWords;
}

/** Heights and chain positions that are not in a record. */
export interface ChainPlaces {
  /** Number of the record's transaction in the chain, and that of the claim's first transaction. */
  readonly txNum: number;
  readonly creationTxNum: number;
  /** Header times at the record's height and at its creation height. */
  readonly timeSec: number;
  readonly creationTimeSec: number;
}

/** Longer strings are not indexed for equality. Source: `ignore_above` of the hub's index. */
export const MAX_KEYWORD_LENGTH = 256;
/** Number of outputs of a transaction that document numbers can distinguish. A block has no space for more. */
export const OUTPUTS_OF_TRANSACTION = 2 ** 18;
/** Claims with a fee from this amount on are not indexed. Source: db.py. */
const FEE_LIMIT = 2n ** 63n - 1n;
/** Smallest currency units in a thousandth of a unit, for dewies and satoshis. A cent is ten thousandths. */
const SAT_OF_THOUSANDTH = 100_000n;

/** The number of a document; numbers are in creation order. */
export function documentNumber(creationTxNum: number, creationNout: number): number {
  return creationTxNum * OUTPUTS_OF_TRANSACTION + creationNout;
}

/** Key of a string for equality: 48 bits of its SHA-256. */
export function textKey(text: string): number {
  const digest = sha256OfText(text);
  let key = 0;
  for (let i = 0; i < 6; i++) key = key * 256 + digest.charCodeAt(i);
  return key;
}

/** A name as text: UTF-8, or else latin1. Source: lbryio/hub, `normalize_name` and `Claim.name`. */
export function nameText(name: Bytes): string {
  try {
    return strictUtf8.decode(name);
  } catch {
    return Buffer.from(name).toString('latin1');
  }
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function feeOf(metadata: ClaimMetadata): { amount: bigint; currency: string | null } {
  const fee = metadata.stream?.fee ?? null;
  if (fee === null || fee.currency === null) return { amount: 0n, currency: null };
  const amount = fee.currency === 'USD' ? fee.amount * 10n : fee.amount / SAT_OF_THOUSANDTH;
  return { amount, currency: fee.currency };
}

function languagesOf(metadata: ClaimMetadata): readonly string[] {
  return metadata.languages.length > 0 ? metadata.languages : ['none'];
}

/** Content data of a stream; for a repost, of the reposted stream. */
function contentOf(metadata: ClaimMetadata | null) {
  if (metadata === null) {
    return {
      hasSource: false,
      mediaType: null,
      streamType: null,
      feeAmount: null,
      feeCurrency: null,
      duration: 0,
      size: null,
    };
  }
  const { stream } = metadata;
  const fee = feeOf(metadata);
  return {
    hasSource: stream !== null && stream.source !== null,
    mediaType: stream === null ? null : (stream.source?.mediaType ?? ''),
    streamType: stream?.source ? STREAM_TYPES[stream.source.streamType] : 0,
    feeAmount: fee.amount,
    feeCurrency: fee.currency,
    duration: stream?.durationSec ?? 0,
    size: sizeOf(stream),
  };
}

/**
 * The size of a video. QUIRK: a video without a duration has no size. Source: OdyseeTeam/hub, hub/elastic_sync/db.py
 * `prepare_claim_metadata_batch`.
 */
function sizeOf(stream: ClaimMetadata['stream']): { readonly width: number; readonly height: number } | null {
  if (stream === null || stream.durationSec === 0 || stream.width === 0 || stream.height === 0) return null;
  return { width: stream.width, height: stream.height };
}

/**
 * The document of a claim; `reposted` is the metadata of the reposted claim; null if that does not exist or cannot be
 * decoded. Returns null if a fee is too large for the index.
 */
export function makeDocument(
  record: PlainClaim,
  places: ChainPlaces,
  metadata: ClaimMetadata,
  reposted: ClaimMetadata | null,
): ClaimDocument | null {
  const { kind, stream } = metadata;
  const isRepost = kind === 'repost';
  const rep = isRepost ? reposted : null;
  const content = contentOf(isRepost ? rep : metadata);
  if (content.feeAmount !== null && content.feeAmount >= FEE_LIMIT) return null;
  const tags = [...new Set([...metadata.tags, ...(rep?.tags ?? [])])];
  const languages = [...new Set([...languagesOf(metadata), ...(rep === null ? [] : languagesOf(rep))])];
  const locations = [...new Set([...metadata.locations, ...(rep?.locations ?? [])])];
  const name = nameText(record.name);
  const title = stream === null ? null : metadata.title;
  const description = stream === null ? null : metadata.description;
  const author = stream === null ? null : stream.author;
  const released = stream !== null && stream.releaseTimeSec !== 0n ? stream.releaseTimeSec : null;
  return {
    id: documentNumber(places.creationTxNum, record.creationNout),
    claimId: hashToHex(record.claimId),
    type: CLAIM_TYPES[kind],
    name,
    normalizedName: nameText(record.normalizedName),
    txid: hashToHex(record.txid),
    txNout: record.nout,
    txNum: places.txNum,
    txPosition: record.position,
    amountSat: record.amountSat,
    effectiveAmountSat: record.effectiveAmountSat,
    supportAmountSat: record.supportAmountSat,
    height: record.height,
    creationHeight: record.creationHeight,
    activationHeight: record.activationHeight,
    expirationHeight: record.expirationHeight,
    timeSec: places.timeSec,
    creationTimeSec: places.creationTimeSec,
    isControlling: record.isControlling,
    takeoverHeight: record.takeoverHeight,
    title,
    author,
    description,
    hasSource: content.hasSource,
    sdHash: stream?.source ? toHex(stream.source.sdHash) : null,
    mediaType: content.mediaType,
    streamType: content.streamType,
    feeAmount: content.feeAmount,
    feeCurrency: content.feeCurrency,
    durationSec: content.duration === 0 ? null : content.duration,
    contentWidth: content.size && content.size.width,
    contentHeight: content.size && content.size.height,
    contentAspectRatio: content.size && content.size.width / content.size.height,
    releaseTimeSec: released ?? BigInt(places.creationTimeSec),
    repostCount: record.repostCount,
    repostedId: record.repostedId === null ? null : hashToHex(record.repostedId),
    repostedType: rep === null ? null : CLAIM_TYPES[rep.kind],
    isRepostedGone: record.isRepostedGone,
    channelId: metadata.channelId === null ? null : hashToHex(metadata.channelId),
    signature: metadata.signature === null ? null : toHex(metadata.signature),
    isSignatureValid: record.isSignatureValid,
    publicKeyId: metadata.publicKeyId,
    claimsInChannel: kind === 'channel' ? record.claimsInChannel : null,
    tags,
    languages,
    locations,
    words: packWords([
      [name],
      title === null ? [] : [title],
      description === null ? [] : [description],
      author === null ? [] : [author],
      tags,
    ]),
  };
}
