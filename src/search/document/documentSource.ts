/**
 * Source data of search documents, as passed to the thread that builds and writes them. Another thread does this, because
 * decoding values and splitting texts takes most of the time of a first build.
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

/** A claim with its data from the chain. Its value is not decoded yet. */
export interface DocumentSource {
  /** Claim ids in hex, in display order. */
  readonly claimId: string;
  readonly claim: PlainClaim;
  readonly places: ChainPlaces;
  readonly value: Bytes;
  /**
   * Value of the reposted claim. Null if the claim is not a repost, or if the reposted claim does not exist in the claim
   * trie.
   */
  readonly repostedValue: Bytes | null;
}

/** Claims as of the current tip. Their values are not decoded yet. */
export interface ClaimSources {
  readonly sources: readonly DocumentSource[];
  /** Claim ids in hex, in display order. */
  readonly gone: readonly string[];
}

/** Index states of claims as of the current tip. */
export interface ClaimStates {
  readonly documents: readonly ClaimDocument[];
  /** Live claims that search does not find, because their values cannot be decoded. */
  readonly hidden: readonly string[];
  /** Claims that do not exist as of the tip. */
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

/** Returns the data of a claim value that is indexed; null if the value cannot be decoded or has no type. */
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

/** Builds documents from sources. The result lists claims that must not be searchable separately. */
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
