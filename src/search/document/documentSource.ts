/**
 * Source data of documents, in the form in which it is passed to the thread that builds and writes them. Decoding values and
 * splitting texts takes most of the time of a first build.
 */
import { hash160 } from '../../crypto/hash.js';
import type { PlainClaim } from '../../index/claims/claimReader.js';
import { channelPublicKey } from '../../metadata/channelSignature.js';
import { decodeClaim } from '../../metadata/claim.js';
import { enumNames } from '../../metadata/enumNames.js';
import { placeName } from '../../metadata/locations.js';
import { streamKindOf } from '../../metadata/mediaTypes.js';
import { MetadataError } from '../../metadata/metadataError.js';
import {
  Fee_Currency,
  Language_LanguageSchema,
  type Claim,
  type Stream,
} from '../../metadata/messages/claim_pb.js';
import { encodeDestination, type AddressPrefixes } from '../../script/address.js';
import type { Bytes } from '../../util/bytes.js';
import { makeDocument, type ChainPlaces, type ClaimDocument, type ClaimMetadata } from './document.js';

/** A claim with its data from the chain; its value is not decoded yet. */
export interface DocumentSource {
  /** Hex as printed. */
  readonly claimId: string;
  readonly claim: PlainClaim;
  readonly places: ChainPlaces;
  readonly value: Bytes;
  /** The value of the reposted claim; null without a repost, or if that claim is not alive. */
  readonly repostedValue: Bytes | null;
}

/** Claims at the present tip; their values are not decoded yet. */
export interface ClaimSources {
  readonly sources: readonly DocumentSource[];
  /** Hex as printed. */
  readonly gone: readonly string[];
}

/** States of claims at the present tip. */
export interface ClaimStates {
  readonly documents: readonly ClaimDocument[];
  /** Live claims without searchable data (their values cannot be decoded). */
  readonly hidden: readonly string[];
  /** Not there. */
  readonly gone: readonly string[];
}

const CURRENCIES: Readonly<Record<number, 'LBC' | 'BTC' | 'USD'>> = {
  [Fee_Currency.LBC]: 'LBC',
  [Fee_Currency.BTC]: 'BTC',
  [Fee_Currency.USD]: 'USD',
};

const languageNames = enumNames(Language_LanguageSchema);

function languageOf(number: number): string {
  if (number === 0) return 'none';
  try {
    return languageNames.nameOf(number);
  } catch {
    return 'none';
  }
}

function streamOf(stream: Stream): ClaimMetadata['stream'] {
  const { source, fee, type } = stream;
  return {
    author: stream.author,
    source:
      source === undefined
        ? null
        : { mediaType: source.mediaType, streamType: streamKindOf(source.mediaType), sdHash: source.sdHash },
    fee: fee === undefined ? null : { currency: CURRENCIES[fee.currency] ?? null, amount: fee.amount },
    durationSec: type.case === 'video' || type.case === 'audio' ? type.value.duration : 0,
    width: type.case === 'video' ? type.value.width : 0,
    height: type.case === 'video' ? type.value.height : 0,
    releaseTimeSec: stream.releaseTime,
  };
}

function publicKeyIdOf(claim: Claim, prefixes: AddressPrefixes): string | null {
  if (claim.type.case !== 'channel') return null;
  const key = channelPublicKey(claim.type.value.publicKey);
  return key === null ? null : encodeDestination({ type: 'pubkeyhash', hash: hash160(key) }, prefixes);
}

/** The indexed data of a value; null if it cannot be decoded or has no kind. */
export function readMetadata(value: Bytes, prefixes: AddressPrefixes): ClaimMetadata | null {
  try {
    const { kind, claim, channelId, signature } = decodeClaim(value);
    if (kind === null) return null;
    return {
      kind,
      title: claim.title,
      description: claim.description,
      tags: claim.tags,
      languages: claim.languages.map(({ language }) => languageOf(language)),
      locations: claim.locations.map(placeName).filter((name) => name !== ''),
      channelId,
      signature,
      stream: claim.type.case === 'stream' ? streamOf(claim.type.value) : null,
      publicKeyId: publicKeyIdOf(claim, prefixes),
    };
  } catch (error) {
    if (error instanceof MetadataError) return null;
    throw error;
  }
}

/** Builds documents from sources, and separates claims that have none. */
export function statesOf({ sources, gone }: ClaimSources, prefixes: AddressPrefixes): ClaimStates {
  const documents: ClaimDocument[] = [];
  const hidden: string[] = [];
  for (const { claimId, claim, places, value, repostedValue } of sources) {
    const metadata = readMetadata(value, prefixes);
    const reposted = repostedValue === null ? null : readMetadata(repostedValue, prefixes);
    const document = metadata && makeDocument(claim, places, metadata, reposted);
    if (document === null) hidden.push(claimId);
    else documents.push(document);
  }
  return { documents, hidden, gone };
}
