/**
 * Holds the signatures of claims against the keys of their channels, many at a time and on other threads.
 * Source: hub `verify_signed_metadata`.
 */
import { defaultEcdsa } from '../../crypto/ecdsa.js';
import { formatDer } from '../../crypto/ecdsaEncoding.js';
import { sha256d } from '../../crypto/hash.js';
import { claimSignatureDigest } from '../../metadata/channelSignature.js';
import { loadNative, type SignatureItem } from '../../native/binding.js';
import type { NetworkParams } from '../../params/network.js';
import { extractDestination } from '../../script/standard.js';
import { breathe } from '../../util/breathe.js';
import { concatBytes, type Bytes } from '../../util/bytes.js';
import type { ClaimOutputInBlock } from './claimOutputs.js';

/** R and S as claims have them. */
const SIGNATURE_BYTES = 64;
const CHECKSUM_BYTES = 4;
/** Verified in one call: a few milliseconds of one thread where the processor has no lanes. */
const BATCH = 64;
/** From so many on another thread verifies: about as many as take the time of the way there. */
const ASIDE = 4;

/** A claim's output and the key that its channel has for it. */
export interface SignedOutput {
  readonly output: ClaimOutputInBlock;
  readonly publicKey: Bytes;
}

/** The address that an output pays to as 25 bytes: prefix, hash, checksum; null where it has none. */
function addressBytes(script: Bytes, { base58 }: Pick<NetworkParams, 'base58'>): Bytes | null {
  const destination = extractDestination(script);
  if (destination?.type !== 'pubkeyhash' && destination?.type !== 'scripthash') return null;
  const prefix = destination.type === 'pubkeyhash' ? base58.pubkeyHash : base58.scriptHash;
  const payload = concatBytes(prefix, destination.hash);
  return concatBytes(payload, sha256d(payload).subarray(0, CHECKSUM_BYTES));
}

function signatureItem(
  { output, publicKey }: SignedOutput,
  params: Pick<NetworkParams, 'base58'>,
): SignatureItem | null {
  const { facts, value, script, firstInput } = output;
  if (facts.signature?.length !== SIGNATURE_BYTES) return null;
  const hash = claimSignatureDigest(value, firstInput, () => addressBytes(script, params));
  return hash && { hash, signature: formatDer(facts.signature), publicKey };
}

/** Whether each signature is right, in order. What cannot be one is wrong; a high S is not. */
export async function verifyClaims(
  claims: readonly SignedOutput[],
  params: Pick<NetworkParams, 'base58'>,
): Promise<boolean[]> {
  const native = loadNative();
  const valid = new Array<boolean>(claims.length).fill(false);
  const underWay: Promise<void>[] = [];
  let since = performance.now();
  for (let at = 0; at < claims.length; at += BATCH) {
    const places: number[] = [];
    const items: SignatureItem[] = [];
    claims.slice(at, at + BATCH).forEach((claim, i) => {
      const item = signatureItem(claim, params);
      if (item === null) return;
      places.push(at + i);
      items.push(item);
    });
    const note = (verdicts: Buffer): void => places.forEach((place, i) => (valid[place] = verdicts[i] !== 0));
    if (native !== null && items.length >= ASIDE) {
      underWay.push(native.ecdsa.verifyManyAside(items).then(note));
    } else if (native !== null) {
      if (items.length > 0) note(native.ecdsa.verifyMany(items));
    } else {
      for (const [i, { hash, signature, publicKey }] of items.entries()) {
        valid[places[i]!] = defaultEcdsa.verify(hash, signature, publicKey);
        since = await breathe(since);
      }
    }
    since = await breathe(since);
  }
  await Promise.all(underWay);
  return valid;
}
