/**
 * Computes the part of a node's hash that depends on its claims: value hashes and, in the all-claims form, their merkle
 * root. Source: lbrycrd `getValueHash`, `getClaimHashes`.
 */
import { sha256d } from '../crypto/hash.js';
import { loadNative } from '../native/binding.js';
import type { Bytes } from '../util/bytes.js';
import { rootOf } from './fastHash.js';
import { pointIndex } from './item.js';

/** Maximum number of cached hashes of output numbers and takeover heights. The same numbers occur often. */
const MAX_KEPT = 4096;
const decimals = new Map<number, Bytes>();
const heights = new Map<number, Bytes>();

function kept(hashes: Map<number, Bytes>, value: number, message: (value: number) => Buffer): Bytes {
  let hash = hashes.get(value);
  if (hash === undefined) {
    hash = sha256d(message(value));
    if (hashes.size >= MAX_KEPT) hashes.clear();
    hashes.set(value, hash);
  }
  return hash;
}

function decimalText(n: number): Buffer {
  return Buffer.from(String(n), 'latin1');
}

/** Encodes a takeover height as 8 bytes, big endian. */
function heightBytes(height: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32BE(height, 4);
  return bytes;
}

const TXID_BYTES = 32;
const HASH_BYTES = 32;

const message = Buffer.alloc(96);
/** Buffer to which the addon writes a hash. */
const written = Buffer.alloc(HASH_BYTES);
const txid = Buffer.alloc(TXID_BYTES);

/** The last txid that was hashed, and its hash. Consecutive claims often belong to one transaction. */
let latestTxid = '';
let latestHash: Bytes = Buffer.alloc(0);

function txidHash(point: string): Bytes {
  const id = point.slice(0, TXID_BYTES);
  if (id !== latestTxid) {
    txid.write(id, 'latin1');
    latestHash = sha256d(txid);
    latestTxid = id;
  }
  return latestHash;
}

/** Hash of a claim: H(H(txid) ‖ H(decimal text of n) ‖ H(T)), with H double SHA-256 and T the takeover height. */
export function valueHash(point: string, takeover: number): Bytes {
  const native = loadNative();
  if (!native) return valueHashFallback(point, takeover);
  native.claimValueHash(point, takeover, written);
  return Buffer.from(written);
}

/** TypeScript fallback of the addon's `claimValueHash`. */
export function valueHashFallback(point: string, takeover: number): Bytes {
  return hashOfValue(txidHash(point), pointIndex(point), takeover);
}

/** Like `valueHash`, but writes the hash to `leaves`. The txid is at offset `at` of `row`, and `n` is the output number. */
export function valueHashInto(
  leaves: Buffer,
  to: number,
  row: Buffer,
  at: number,
  n: number,
  takeover: number,
): void {
  leaves.set(hashOfValue(txidHash(row.toString('latin1', at, at + TXID_BYTES)), n, takeover), to);
}

function hashOfValue(hashOfTxid: Bytes, n: number, takeover: number): Bytes {
  message.set(hashOfTxid, 0);
  message.set(kept(decimals, n, decimalText), 32);
  message.set(kept(heights, takeover, heightBytes), 64);
  return sha256d(message);
}

/** The hashes of a name's claims, concatenated in the order of the claims. */
export function claimLeaves(claims: readonly { readonly point: string }[], takeover: number): Buffer {
  const leaves = Buffer.allocUnsafe(claims.length * HASH_BYTES);
  claims.forEach(({ point }, i) => leaves.set(valueHash(point, takeover), i * HASH_BYTES));
  return leaves;
}

/**
 * The part of a node's hash that depends on the claims of its name: 32 bytes, or null without any claims. The claims are
 * ordered, best first.
 */
export function claimsHash(
  claims: readonly { point: string }[],
  takeover: number,
  allClaims: boolean,
): Bytes | null {
  const best = claims[0];
  if (best === undefined) return null;
  if (!allClaims || claims.length === 1) return valueHash(best.point, takeover);
  return rootOf(claims.map((claim) => valueHash(claim.point, takeover)));
}
