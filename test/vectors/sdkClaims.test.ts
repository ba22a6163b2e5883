/**
 * Compares values of claims, data of supports and purchases with recordings of the Python lbry-sdk, which parsed, printed,
 * created, encoded and verified them. Differences are rows of `docs/lbcnet-recordings.md`.
 */
import { mainParams } from '../../src/params/main.js';
import { addressPrefixesOf } from '../../src/script/address.js';
import { decodeBase58 } from '../../src/script/base58.js';
import { claimToJson, purchaseToJson, supportToJson } from '../../src/metadata/claimJson.js';
import {
  channelPublicKey,
  decodedClaimDigest,
  decodedSupportDigest,
  isChannelSignatureValid,
} from '../../src/metadata/channelSignature.js';
import { decodeClaim, encodeClaim, type DecodedClaim, type DecodedKind } from '../../src/metadata/claim.js';
import { newClaim, setClaimFields } from '../../src/metadata/claimFields.js';
import { MetadataError } from '../../src/metadata/metadataError.js';
import { decodePurchase, encodePurchase } from '../../src/metadata/purchase.js';
import { decodeSupport, encodeSupport } from '../../src/metadata/support.js';
import { hashFromHex, hashToHex } from '../../src/util/bytes.js';
import { JsonObject, type JsonValue } from '../../src/util/json/json.js';
import { parseJson } from '../../src/util/json/jsonParse.js';
import { AcceptedDifferences } from '../support/acceptedDifferences.js';
import {
  checkAccepted,
  checkSdkVectors,
  differs,
  firstOf,
  type SdkCheck,
  type SdkLine,
} from './sdkVectors.js';

const accepted = new AcceptedDifferences('sdkClaims');
/** The exception of lbry-sdk for a value that cannot be decoded. */
const UNDECODABLE = 'DecodeError';
const prefixes = addressPrefixesOf(mainParams);
const bytesOf = (hex: unknown): Buffer => Buffer.from(hex as string, 'hex');

/** The result of the function, or null if it throws `MetadataError`. */
function attempt<Result>(run: () => Result): Result | null {
  try {
    return run();
  } catch (error) {
    if (error instanceof MetadataError) return null;
    throw error;
  }
}

interface Signed {
  readonly channelId: Uint8Array | null;
  readonly signature: Uint8Array | null;
}

function checkSignature(line: SdkLine, decoded: Signed, digest: Buffer | null): string | null {
  const signed = line['signed'] as Record<string, unknown> | undefined;
  if (signed === undefined) return null;
  const { channelId, signature } = decoded;
  const isValid = isChannelSignatureValid(
    digest!,
    signature!,
    channelPublicKey(bytesOf(signed['channel_key']))!,
  );
  return firstOf(
    differs(
      [hashToHex(channelId!), Buffer.from(signature!).toString('hex'), digest!.toString('hex')],
      [signed['channel_id'], signed['signature'], signed['digest']],
    ),
    accepted.unless(
      !isValid && typeof signed['valid'] === 'string',
      'signature whose check ends with an exception',
      differs(isValid, signed['valid']),
    ),
  );
}

const outPointOf = (line: SdkLine): Buffer =>
  bytesOf((line['signed'] as Record<string, unknown>)['outpoint']);

function checkClaimSignature(line: SdkLine, decoded: DecodedClaim): string | null {
  const signed = line['signed'] as Record<string, unknown> | undefined;
  if (signed === undefined) return null;
  const address = decodeBase58(signed['address'] as string)!;
  return checkSignature(line, decoded, decodedClaimDigest(decoded, outPointOf(line), address));
}

/** Compares the bytes that are made from the arguments, if the line has arguments. */
function checkMade(line: SdkLine, text: string): string | null {
  if (line['args'] === undefined) return null;
  const recorded = parseJson(text) as JsonObject;
  const start = line['start'] as string | null;
  const add = (name: string, argument: string): [string, JsonValue][] => {
    const value = recorded.get(name);
    return value === undefined ? [] : [[argument, value]];
  };
  const make = (): string => {
    const claim = start === null ? newClaim(line.kind as DecodedKind) : decodeClaim(bytesOf(start)).claim;
    const before = new JsonObject([
      ...add('public_key', 'public_key'),
      ...add('reposted', 'reposted_claim_id'),
    ]);
    const changed = setClaimFields(setClaimFields(claim, before), recorded.get('args') as JsonObject);
    return encodeClaim({ channelId: null, signature: null, claim: changed }).toString('hex');
  };
  try {
    return differs(make(), line['made']);
  } catch (error) {
    if (!(error instanceof MetadataError)) throw error;
    return accepted.unless(
      line['error'] !== undefined,
      'text of a refused argument',
      differs(error.message, line['error_text']),
    );
  }
}

/** Null if lbry-sdk finds a value undecodable, too. */
const refusalDiffers = ({ error }: SdkLine): string | null =>
  accepted.unless(error !== undefined, 'undecodable by another exception', differs(UNDECODABLE, error));

/** The signed bytes of a present signature are the end of the value when it is encoded again. */
function checkCanonical(line: SdkLine, { version, message }: DecodedClaim): string | null {
  if (version !== 2) return null;
  const encoded = (line['again'] ?? line['raw']) as string;
  return differs(Buffer.from(message).toString('hex'), encoded.slice(encoded.startsWith('01') ? 170 : 2));
}

function shownDiffers(line: SdkLine, decoded: DecodedClaim): string | null {
  const shown = attempt(() => claimToJson(decoded, prefixes));
  const difference = differs(shown, line['empty'] === undefined ? line['value'] : null);
  return accepted.unless(
    shown === null && line['value_error'] !== undefined,
    'value that cannot be shown',
    difference,
  );
}

const checkClaim: SdkCheck = (line, text) => {
  const made = checkMade(line, text);
  if (made !== null || line['raw'] === undefined) return made;
  const decoded = attempt(() => decodeClaim(bytesOf(line['raw'])));
  if (decoded === null) return refusalDiffers(line);
  if (line['error'] !== undefined) return 'we decode it';
  const kinds: Record<string, DecodedKind> = { v0: 'stream' };
  const kind = kinds[line.kind] ?? line.kind;
  return firstOf(
    ['v1', 'claim'].includes(kind) ? null : differs(decoded.kind, kind),
    differs(decoded.kind === null, line['empty'] === true),
    shownDiffers(line, decoded),
    differs(
      attempt(() => encodeClaim(decoded).toString('hex')),
      line['again'] ?? line['raw'],
    ),
    checkCanonical(line, decoded),
    checkClaimSignature(line, decoded),
  );
};

const checkSupport: SdkCheck = (line) => {
  const decoded = attempt(() => decodeSupport(bytesOf(line['raw'])));
  if (decoded === null) return refusalDiffers(line);
  return firstOf(
    differs(line['error'], undefined),
    differs(supportToJson(decoded.support), line['value']),
    differs(encodeSupport(decoded).toString('hex'), line['again'] ?? line['raw']),
    line['signed'] === undefined
      ? null
      : checkSignature(line, decoded, decodedSupportDigest(decoded, outPointOf(line))),
  );
};

const checkPurchase: SdkCheck = ({ raw, claim_id, value, script }) => {
  const purchase = decodePurchase(bytesOf(raw));
  const made = encodePurchase(hashFromHex(claim_id as string));
  return differs(
    [hashToHex(purchase.claimHash), purchaseToJson(purchase), made.toString('hex'), script],
    [claim_id, value, raw, Buffer.concat([Buffer.of(0x6a, made.length), made]).toString('hex')],
  );
};

checkSdkVectors('claims', {
  stream: checkClaim,
  channel: checkClaim,
  collection: checkClaim,
  repost: checkClaim,
  v0: checkClaim,
  v1: checkClaim,
  support: checkSupport,
  purchase: checkPurchase,
});

checkSdkVectors('mutated', { claim: checkClaim, support: checkSupport });

checkAccepted(accepted);
