/**
 * Converts claims in the formats of 2017 and 2018 to current messages. Source: lbry-sdk lbry/schema/compat.py.
 */
import { isUtf8 } from 'node:buffer';
import { create, isFieldSet } from '@bufbuild/protobuf';
import { asBuffer, EMPTY_BYTES, type Bytes } from '../util/bytes.js';
import { decimalOfDouble } from './decimal.js';
import type { Envelope } from './envelope.js';
import { setFeeAmount } from './fee.js';
import {
  ChannelSchema,
  ClaimSchema,
  FeeSchema,
  LanguageSchema,
  SourceSchema,
  StreamSchema,
  type Claim,
  type Fee,
  type Language_Language,
} from './messages/claim_pb.js';
import {
  LegacyClaim_ClaimType,
  LegacyClaimSchema,
  LegacyFee_CurrencySchema,
  LegacyMetadataSchema,
  LegacySourceSchema,
  type LegacyClaim,
  type LegacyFee,
} from './messages/legacy_pb.js';
import { enumNames } from './enumNames.js';
import { MetadataError } from './metadataError.js';
import { MATURE_TAG } from './tags.js';
import { readPartialMessage, writeMessage } from './wire.js';

const currencies = enumNames(LegacyFee_CurrencySchema);

function textOf(bytes: Bytes): string {
  if (!isUtf8(bytes)) throw new MetadataError('A string is not valid UTF-8');
  return asBuffer(bytes).toString('utf8');
}

function convertFee({ address, currency, amount }: LegacyFee): Fee {
  const fee = create(FeeSchema, { address });
  const decimal = decimalOfDouble(amount);
  if (decimal === null) throw new MetadataError('The amount of the fee is not a number');
  setFeeAmount(fee, currencies.nameOf(currency), decimal);
  return fee;
}

function convertStream(old: LegacyClaim): Claim {
  const metadata = old.stream?.metadata ?? create(LegacyMetadataSchema);
  const source = old.stream?.source ?? create(LegacySourceSchema);
  const { field } = LegacyMetadataSchema;
  const stream = create(StreamSchema, {
    source: create(SourceSchema, { mediaType: textOf(source.contentType), sdHash: source.source }),
    author: textOf(metadata.author),
    license: textOf(metadata.license),
    licenseUrl: textOf(metadata.licenseUrl),
  });
  if (metadata.fee !== undefined) stream.fee = convertFee(metadata.fee);
  return create(ClaimSchema, {
    type: { case: 'stream', value: stream },
    title: textOf(metadata.title),
    description: textOf(metadata.description),
    thumbnail: create(SourceSchema, { url: textOf(metadata.thumbnail) }),
    languages: isFieldSet(metadata, field.language)
      ? [create(LanguageSchema, { language: Number(metadata.language) as Language_Language })]
      : [],
    tags: metadata.nsfw ? [MATURE_TAG] : [],
  });
}

/** Channel id and signature of a claim; both null if it is not signed. */
function openSignature(old: LegacyClaim): Pick<Envelope, 'channelId' | 'signature'> {
  const signature = old.publisherSignature;
  if (signature === undefined) return { channelId: null, signature: null };
  return { channelId: Buffer.from(signature.certificateId).reverse(), signature: signature.signature };
}

/**
 * Converts a claim in a format of 2016 or 2017. `message` in the result is the signed data, or the whole value if there is
 * no signature. Only streams are ever signed. Throws `MetadataError`.
 */
export function convertLegacyClaim(value: Bytes): Envelope & { claim: Claim } {
  const old = readPartialMessage(LegacyClaimSchema, value);
  if (old.claimType === LegacyClaim_ClaimType.certificateType) {
    const channel = create(ChannelSchema, { publicKey: old.certificate?.publicKey ?? EMPTY_BYTES });
    const claim = create(ClaimSchema, { type: { case: 'channel', value: channel } });
    return { channelId: null, signature: null, claim, message: value };
  }
  const claim = convertStream(old);
  const signed = openSignature(old);
  if (signed.signature === null) return { ...signed, claim, message: value };
  delete old.publisherSignature;
  return { ...signed, claim, message: writeMessage(LegacyClaimSchema, old) };
}
