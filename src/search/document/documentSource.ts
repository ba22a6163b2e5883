/**
 * What a document is made of, as it is handed to the thread that makes and writes it: decoding and taking apart texts takes
 * most of the time of a first build.
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

/** A claim with what the chain says of it, before its value is looked into. */
export interface DocumentSource {
  /** Hex as printed. */
  readonly claimId: string;
  readonly claim: PlainClaim;
  readonly places: ChainPlaces;
  readonly value: Bytes;
  /** The value of the claim that a repost names; null for others, and where that claim is gone. */
  readonly repostedValue: Bytes | null;
}

/** Claims as they are at the present tip, before their values are looked into. */
export interface ClaimSources {
  readonly sources: readonly DocumentSource[];
  /** Hex as printed. */
  readonly gone: readonly string[];
}

/** How claims are at the present tip. */
export interface ClaimStates {
  readonly documents: readonly ClaimDocument[];
  /** Live, but with nothing to be searched for (values that cannot be decoded). */
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

/** What the index reads from a value; null if it cannot be decoded or says no kind. */
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

/** Documents of sources; claims that can have none are distinguished. */
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
