/**
 * The claims' part of a node's hash: value hashes and, in the form with all claims, their merkle root.
 * Source: lbrycrd `getValueHash`, `getClaimHashes`.
 */
import { merkleRoot } from '../crypto/merkle.js';
import { sha256, sha256d } from '../crypto/hash.js';
import { asBuffer, fromLatin1, type Bytes } from '../util/bytes.js';
import { pointIndex } from './item.js';

const DECIMAL_HASHES = new Map<number, Buffer>();
/** Output numbers are small but for odd transactions: bounds the memory of the table. */
const MAX_DECIMAL_HASHES = 4096;

/** H of the decimal text of an output number. */
function decimalHash(n: number): Buffer {
  let hash = DECIMAL_HASHES.get(n);
  if (hash === undefined) {
    hash = sha256d(Buffer.from(String(n), 'latin1'));
    if (DECIMAL_HASHES.size >= MAX_DECIMAL_HASHES) DECIMAL_HASHES.clear();
    DECIMAL_HASHES.set(n, hash);
  }
  return hash;
}

let lastTakeover = -1;
let lastTakeoverHash: Buffer = Buffer.alloc(0);

/** H of a takeover height, as 8 bytes big endian. Neighbouring calls mostly ask for the same one. */
function takeoverHash(height: number): Buffer {
  if (height !== lastTakeover) {
    const bytes = Buffer.alloc(8);
    bytes.writeUInt32BE(height, 4);
    lastTakeoverHash = sha256d(bytes);
    lastTakeover = height;
  }
  return lastTakeoverHash;
}

const message = Buffer.alloc(96);

/** H(H(txid) ‖ H(decimal text of n) ‖ H(T)). */
export function valueHash(point: string, takeover: number): Buffer {
  asBuffer(sha256d(fromLatin1(point.slice(0, 32)))).copy(message, 0);
  decimalHash(pointIndex(point)).copy(message, 32);
  takeoverHash(takeover).copy(message, 64);
  return sha256(sha256(message));
}

/** What a name's claims, best first, contribute to its node: 32 bytes; null without claims. */
export function claimsHash(
  claims: readonly { point: string }[],
  takeover: number,
  allClaims: boolean,
): Bytes | null {
  const best = claims[0];
  if (best === undefined) return null;
  if (!allClaims || claims.length === 1) return valueHash(best.point, takeover);
  return merkleRoot(claims.map((claim) => valueHash(claim.point, takeover))).root;
}
