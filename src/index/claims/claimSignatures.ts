/**
 * Finds the public keys that verify the signatures of claims. Signatures are first verified with the keys of their channels,
 * in batches and on other threads. If that fails, the keys are recovered from the signature. Source: hub
 * `verify_signed_metadata`; SEC 1 4.1.6 for the recovery.
 */
import { ecdsaBackend } from '../../crypto/ecdsa.js';
import { formatDer } from '../../crypto/ecdsaEncoding.js';
import { sha256d } from '../../crypto/hash.js';
import { claimSignatureDigest, decodedSupportDigest } from '../../metadata/channelSignature.js';
import { MetadataError } from '../../metadata/metadataError.js';
import { decodeSupport, type DecodedSupport } from '../../metadata/support.js';
import { loadNative, type SignatureItem } from '../../native/binding.js';
import type { NetworkParams } from '../../params/network.js';
import { extractDestination } from '../../script/standard.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import { concatBytes, type Bytes } from '../../util/bytes.js';
import { keyTag } from './claimIndexKeys.js';
import type { ClaimOutputInBlock } from './claimOutputs.js';

/** Bytes of a compact signature: R and S. */
const SIGNATURE_BYTES = 64;
const CHECKSUM_BYTES = 4;
/** Signatures verified in one call: a few milliseconds of one thread. */
const BATCH = 64;
/** Number of signatures from which another thread verifies them. The transfer to it costs about as much as these. */
const ASIDE = 4;

/** Recovery ids: a signature has up to four possible keys, usually two. */
const RECOVERY_IDS = [0, 1, 2, 3];

/** A claim's output and the key that its channel has; null if there is none. */
export interface SignedOutput {
  readonly output: ClaimOutputInBlock;
  readonly publicKey: Bytes | null;
}

/** The signed data of an output. */
export type SignedValue = Pick<ClaimOutputInBlock, 'facts' | 'value' | 'script' | 'firstInput'>;

/** A signature (R and S) and the hash that it signs. */
export interface ReadSignature {
  readonly hash: Bytes;
  readonly compact: Bytes;
}

/** The address that an output pays to as 25 bytes: prefix, hash, checksum; null if it has none. */
function addressBytes(script: Bytes, { base58 }: Pick<NetworkParams, 'base58'>): Bytes | null {
  const destination = extractDestination(script);
  if (destination?.type !== 'pubkeyhash' && destination?.type !== 'scripthash') return null;
  const prefix = destination.type === 'pubkeyhash' ? base58.pubkeyHash : base58.scriptHash;
  const payload = concatBytes(prefix, destination.hash);
  return concatBytes(payload, sha256d(payload).subarray(0, CHECKSUM_BYTES));
}

/** The signature of a claim output; null if the value has none, or none of the right length. */
export function readSignature(
  { facts, value, script, firstInput }: SignedValue,
  params: Pick<NetworkParams, 'base58'>,
): ReadSignature | null {
  if (facts.signature?.length !== SIGNATURE_BYTES) return null;
  const hash = claimSignatureDigest(value, firstInput, () => addressBytes(script, params));
  return hash && { hash, compact: facts.signature };
}

/** A signature and the key of the channel that is named as its signer; null for absent data. */
export interface SignatureOfChannel {
  readonly signature: ReadSignature | null;
  readonly publicKey: Bytes | null;
}

/**
 * The channel that the data of a support names as its signer, in 20 bytes, and the signature; null if the data is not signed
 * or cannot be decoded. `firstInput` is the outpoint of the transaction's first input, 36 bytes. The result points into
 * `data`.
 */
export function readSupportSignature(
  data: Bytes,
  firstInput: Bytes,
): { readonly channelId: Bytes; readonly signature: ReadSignature } | null {
  const decoded = supportOrNull(data);
  if (!decoded?.channelId || decoded.signature?.length !== SIGNATURE_BYTES) return null;
  const hash = decodedSupportDigest(decoded, firstInput);
  return hash && { channelId: decoded.channelId, signature: { hash, compact: decoded.signature } };
}

function supportOrNull(data: Bytes): DecodedSupport | null {
  try {
    return decodeSupport(data);
  } catch (error) {
    if (error instanceof MetadataError) return null;
    throw error;
  }
}

/** `findKeys` for the signatures of claims. */
export function findSigners(
  claims: readonly SignedOutput[],
  params: Pick<NetworkParams, 'base58'>,
): Promise<string[][]> {
  return findKeys(
    claims.map(({ output, publicKey }) => ({ signature: readSignature(output, params), publicKey })),
  );
}

/**
 * Tags of the keys that verify each signature, in order. If the key of the channel verifies it, only that key is returned,
 * else all recovered keys. The owner of a key can compute a second key that verifies the same signature. A signature that is
 * filed under the channel's key does not count for this second key.
 */
export async function findKeys(signatures: readonly SignatureOfChannel[]): Promise<string[][]> {
  const valid = await verifyKnown(signatures);
  const signers: string[][] = [];
  let since = performance.now();
  for (const [i, { signature, publicKey }] of signatures.entries()) {
    if (signature === null) signers.push([]);
    else signers.push(valid[i] ? [keyTag(publicKey!)] : recoverSigners(signature));
    since = await yieldIfDue(since);
  }
  return signers;
}

/** Tags of all keys that verify a signature (R and S, 64 bytes of any value) over a hash. */
export function recoverSigners({ hash, compact }: ReadSignature): string[] {
  const ecdsa = ecdsaBackend();
  const keys = RECOVERY_IDS.map((id) => ecdsa.recover(hash, compact, id, true));
  return [...new Set(keys.flatMap((key) => (key === null ? [] : [keyTag(key)])))];
}

/** Whether each signature is valid for the key of its channel. A malformed signature is invalid; a high S is allowed. */
async function verifyKnown(signatures: readonly SignatureOfChannel[]): Promise<boolean[]> {
  const native = loadNative();
  const valid = new Array<boolean>(signatures.length).fill(false);
  const underWay: Promise<void>[] = [];
  let since = performance.now();
  for (let at = 0; at < signatures.length; at += BATCH) {
    const places: number[] = [];
    const items: SignatureItem[] = [];
    signatures.slice(at, at + BATCH).forEach(({ signature, publicKey }, i) => {
      if (signature === null || publicKey === null) return;
      places.push(at + i);
      items.push({ hash: signature.hash, signature: formatDer(signature.compact), publicKey });
    });
    const note = (verdicts: Buffer): void => places.forEach((place, i) => (valid[place] = verdicts[i] !== 0));
    if (native !== null && items.length >= ASIDE) {
      underWay.push(native.ecdsa.verifyManyAside(items).then(note));
    } else if (native !== null) {
      if (items.length > 0) note(native.ecdsa.verifyMany(items));
    } else {
      for (const [i, { hash, signature, publicKey }] of items.entries()) {
        valid[places[i]!] = ecdsaBackend().verify(hash, signature, publicKey);
        since = await yieldIfDue(since);
      }
    }
    since = await yieldIfDue(since);
  }
  await Promise.all(underWay);
  return valid;
}
