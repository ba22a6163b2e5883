/**
 * Finds the public keys that verify the signatures of claims. Signatures are first verified with the current keys of their
 * channels, in batches and on other threads. If that fails, the possible keys are recovered from the signature. Source: hub
 * `verify_signed_metadata`; SEC 1 4.1.6 for the recovery.
 */
import { ecdsaBackend } from '../../crypto/ecdsa.js';
import { formatDer } from '../../crypto/ecdsaEncoding.js';
import { sha256d } from '../../crypto/hash.js';
import { claimSignatureDigest, supportSignatureDigest } from '../../metadata/channelSignature.js';
import { openEnvelope } from '../../metadata/envelope.js';
import { loadNative, type SignatureItem } from '../../native/binding.js';
import type { NetworkParams } from '../../params/network.js';
import { extractDestination } from '../../script/standard.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import { concatBytes, type Bytes } from '../../util/bytes.js';
import { keyTag } from './claimIndexKeys.js';
import type { ClaimOutputInBlock } from './claimOutputs.js';

/** Number of bytes of a compact signature: R and S. */
const SIGNATURE_BYTES = 64;
const CHECKSUM_BYTES = 4;
/** Number of signatures verified in one call: a few milliseconds of one thread. */
const BATCH = 64;
/**
 * Minimum number of signatures that are verified on another thread. The transfer takes about as long as verifying this
 * number.
 */
const ASIDE = 4;

/** Recovery ids. Up to four keys, usually two, verify the same signature. */
const RECOVERY_IDS = [0, 1, 2, 3];

/** Parts of an output that are needed to read and verify its signature. */
export type SignedValue = Pick<ClaimOutputInBlock, 'facts' | 'value' | 'script' | 'firstInput'>;

/** A signature (R and S) and the hash that is signed. */
export interface ReadSignature {
  readonly hash: Bytes;
  readonly compact: Bytes;
}

/** Address that an output pays to, as 25 bytes: prefix, hash, checksum. Null if the output pays to no address. */
function addressBytes(script: Bytes, { base58 }: Pick<NetworkParams, 'base58'>): Bytes | null {
  const destination = extractDestination(script);
  if (destination?.type !== 'pubkeyhash' && destination?.type !== 'scripthash') return null;
  const prefix = destination.type === 'pubkeyhash' ? base58.pubkeyHash : base58.scriptHash;
  const payload = concatBytes(prefix, destination.hash);
  return concatBytes(payload, sha256d(payload).subarray(0, CHECKSUM_BYTES));
}

/** Signature of a claim output; null if the value has no signature or one of a wrong length. */
export function readSignature(
  { facts, value, script, firstInput }: SignedValue,
  params: Pick<NetworkParams, 'base58'>,
): ReadSignature | null {
  if (facts.signature?.length !== SIGNATURE_BYTES) return null;
  const hash = claimSignatureDigest(value, firstInput, () => addressBytes(script, params));
  return hash && { hash, compact: facts.signature };
}

/** A signature, and the key of the channel that it names as signer. Either is null if it is absent. */
export interface SignatureOfChannel {
  readonly signature: ReadSignature | null;
  readonly publicKey: Bytes | null;
}

/**
 * Reads the signature of a support's data, and the id (20 bytes) of the channel that is named as its signer. Null if the
 * data is not signed or cannot be decoded. `firstInput` is the outpoint of the transaction's first input, 36 bytes. The
 * result has views of `data`.
 */
export function readSupportSignature(
  data: Bytes,
  firstInput: Bytes,
): { readonly channelId: Bytes; readonly signature: ReadSignature } | null {
  const envelope = openEnvelope(data);
  if (!envelope?.channelId || envelope.signature?.length !== SIGNATURE_BYTES) return null;
  const hash = supportSignatureDigest(data, firstInput);
  return hash && { channelId: envelope.channelId, signature: { hash, compact: envelope.signature } };
}

/**
 * For each signature, the tags of the keys that verify it. If the channel's current key verifies it, only that key is
 * returned, otherwise all recovered keys. The owner of a key can compute a second key that verifies the same signature.
 * Because only the channel's key is stored in the first case, the signature does not count for the second key.
 */
export async function findKeys(signatures: readonly SignatureOfChannel[]): Promise<string[][]> {
  const valid = await verifyKnown(signatures);
  const signers: string[][] = [];
  let since = performance.now();
  for (const [i, { signature, publicKey }] of signatures.entries()) {
    if (signature === null) signers.push([]);
    else signers.push(valid[i] ? [keyTag(publicKey!)] : recoverSigners(signature));
    const slice = yieldIfDue(since);
    since = typeof slice === 'number' ? slice : await slice;
  }
  return signers;
}

/** Tags of all keys that verify a signature (R and S, 64 bytes of any value) over a hash. */
export function recoverSigners({ hash, compact }: ReadSignature): string[] {
  const ecdsa = ecdsaBackend();
  const keys = RECOVERY_IDS.map((id) => ecdsa.recover(hash, compact, id, true));
  return [...new Set(keys.flatMap((key) => (key === null ? [] : [keyTag(key)])))];
}

/** Whether each signature is valid for the current key of the channel. A malformed signature is invalid; a high S is allowed. */
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
