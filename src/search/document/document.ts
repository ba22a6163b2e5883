/**
 * Builds the search document of an unspent and unexpired claim: its searchable fields, from the claim's record, its metadata
 * and, for a repost, the metadata of the reposted claim. Source: lbryio/hub, hub/elastic_sync/db.py
 * `prepare_claim_metadata_batch`.
 */
import { sha256OfText } from '../../crypto/hash.js';
import type { Bytes } from '../../util/bytes.js';
import { hashToHex, toHex } from '../../util/bytes.js';
import { packWords, type DocumentWords } from './analyze.js';
import type { PlainClaim } from '../../index/claims/claimReader.js';

/** Number of each claim type in the index. */
export const CLAIM_TYPES = { stream: 1, channel: 2, repost: 3, collection: 4 } as const;
/** Number of each stream type in the index. */
export const STREAM_TYPES = { video: 1, audio: 2, image: 3, document: 4, binary: 5, model: 6 } as const;

export type ClaimTypeName = keyof typeof CLAIM_TYPES;
export type StreamTypeName = keyof typeof STREAM_TYPES;

/** Data that the index takes from a claim's decoded value. */
export interface ClaimMetadata {
  readonly kind: ClaimTypeName;
  readonly title: string;
  readonly description: string;
  /** Tags as the publisher wrote them. */
  readonly tags: readonly string[];
  /** Language codes of two or three letters; `none` for the unknown language. */
  readonly languages: readonly string[];
  /** Names of locations, formatted by `placeName`. */
  readonly locations: readonly string[];
  readonly channelId: Bytes | null;
  readonly signature: Bytes | null;
  /** Data that only streams have; null for other claims. */
  readonly stream: {
    readonly author: string;
    readonly source: {
      readonly mediaType: string;
      readonly streamType: StreamTypeName;
      readonly sdHash: Bytes;
    } | null;
    /** Fee amount in the smallest unit of the currency. */
    readonly fee: { readonly currency: 'LBC' | 'BTC' | 'USD' | null; readonly amount: bigint } | null;
    readonly durationSec: number;
    /** Width and height of a video in pixels; 0 if unknown. */
    readonly width: number;
    readonly height: number;
    readonly releaseTimeSec: bigint;
  } | null;
  /** Address (base58) derived from a channel's public key; null for other claims. */
  readonly publicKeyId: string | null;
}

/** A document as stored in the index. Ids are hex in display order, so that a prefix selects a range of ids. */
export interface ClaimDocument {
  /**
   * Document number, in creation order of claims: computed from the position of the creating transaction in the chain and
   * the output number. Unique among claims that are unspent and not expired.
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
  /** Fee amount in thousandths of the currency's unit. */
  readonly feeAmount: bigint | null;
  readonly feeCurrency: string | null;
  readonly durationSec: number | null;
  /** Size of a video in pixels, and its aspect ratio (width divided by height). */
  readonly contentWidth: number | null;
  readonly contentHeight: number | null;
  readonly contentAspectRatio: number | null;
  /** Unix time: release time of a stream, creation time of other claims. */
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

/** Times and chain positions that a document contains and a claim record does not. */
export interface ChainPlaces {
  /** Positions in the chain of the claim's current transaction and of its creating transaction. */
  readonly txNum: number;
  readonly creationTxNum: number;
  /** Header times of the blocks at the claim's height and at its creation height. */
  readonly timeSec: number;
  readonly creationTimeSec: number;
}

/** Maximum length in characters of a string that can be searched by equality. Source: `ignore_above` of the hub's index. */
export const MAX_KEYWORD_LENGTH = 256;
/** Number of outputs per transaction that document numbers can distinguish. A block cannot contain more. */
export const OUTPUTS_OF_TRANSACTION = 2 ** 18;
/** Claims whose fee is at least this amount are not indexed. Source: db.py. */
const FEE_LIMIT = 2n ** 63n - 1n;
/** Number of smallest units (dewies, satoshis) in a thousandth of an LBC or BTC. A cent is ten thousandths of a USD. */
const SAT_OF_THOUSANDTH = 100_000n;

/** Returns the number of a document. Numbers are in creation order of claims. */
function documentNumber(creationTxNum: number, creationNout: number): number {
  return creationTxNum * OUTPUTS_OF_TRANSACTION + creationNout;
}

/** Returns the number by which a string is searched by equality: the first 48 bits of its SHA-256. */
export function textKey(text: string): number {
  const digest = sha256OfText(text);
  let key = 0;
  for (let i = 0; i < 6; i++) key = key * 256 + digest.charCodeAt(i);
  return key;
}

/** Decodes a name as UTF-8, or as latin1 if it is not valid UTF-8. Source: lbryio/hub, `normalize_name` and `Claim.name`. */
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

/** Returns the content fields of a stream. For a repost, `metadata` is that of the reposted stream. */
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
 * Returns the size of a video. QUIRK: a video without a duration has no size. Source: OdyseeTeam/hub, hub/elastic_sync/db.py
 * `prepare_claim_metadata_batch`.
 */
function sizeOf(stream: ClaimMetadata['stream']): { readonly width: number; readonly height: number } | null {
  if (stream === null || stream.durationSec === 0 || stream.width === 0 || stream.height === 0) return null;
  return { width: stream.width, height: stream.height };
}

/**
 * Builds the document of a claim. `reposted` is the metadata of the reposted claim; null if that claim does not exist or
 * cannot be decoded. Returns null if the fee is too large for the index.
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
