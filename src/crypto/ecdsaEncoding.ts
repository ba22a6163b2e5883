/**
 * The encodings of secp256k1 signatures and keys: DER, low S, key sizes, scalar range. Curve arithmetic is in the backends.
 * Source: Core pubkey.cpp `ecdsa_signature_parse_der_lax`, `CPubKey::CheckLowS`, pubkey.h `GetLen`/`ValidSize`.
 */
import { isZero, type Bytes } from '../util/bytes.js';

export const COMPACT_SIGNATURE_SIZE = 64;
export const COMPRESSED_KEY_SIZE = 33;
export const UNCOMPRESSED_KEY_SIZE = 65;
export const PRIVATE_KEY_SIZE = 32;

/** Number of points of the curve, in big-endian order. */
const ORDER = Buffer.from('fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141', 'hex');
/** The order halved, rounded down: the largest low S. */
const HALF_ORDER = Buffer.from('7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0', 'hex');

/**
 * Whether the first byte matches the length of the key: 2 and 3 for compressed keys; 4 for uncompressed and 6 and 7 for
 * hybrid keys.
 */
export function hasPublicKeySize(key: Bytes): boolean {
  const head = key[0];
  if (head === 2 || head === 3) return key.length === COMPRESSED_KEY_SIZE;
  return (head === 4 || head === 6 || head === 7) && key.length === UNCOMPRESSED_KEY_SIZE;
}

/** Whether 32 bytes are a scalar from 1 to the order minus 1. Source: `secp256k1_ec_seckey_verify`. */
export function isValidPrivateKey(key: Bytes): boolean {
  return key.length === PRIVATE_KEY_SIZE && !isZero(key) && Buffer.compare(key, ORDER) < 0;
}

function isOverflow(compact: Bytes, at: number): boolean {
  return ORDER.compare(compact, at, at + 32) <= 0;
}

/** Whether S is in the upper half of the range from 1 to the group order. */
function isHighS(compact: Bytes): boolean {
  return HALF_ORDER.compare(compact, 32, 64) < 0;
}

/** Factor by which a position and a length are packed into one number. A length has at most three bytes. */
const LENGTH_BASE = 0x1000000;

/**
 * Returns position and length of the content of the DER integer at `at`, as `begin * LENGTH_BASE + length`; -1 if it is
 * malformed.
 */
function parseInteger(input: Bytes, at: number): number {
  let pos = at;
  if (pos === input.length || input[pos] !== 0x02) return -1;
  pos += 1;
  if (pos === input.length) return -1;
  let length = input[pos++]!;
  if (length & 0x80) {
    let lengthBytes = length - 0x80;
    if (lengthBytes > input.length - pos) return -1;
    while (lengthBytes > 0 && input[pos] === 0) {
      pos += 1;
      lengthBytes -= 1;
    }
    if (lengthBytes >= 4) return -1;
    length = 0;
    for (; lengthBytes > 0; lengthBytes--) length = length * 256 + input[pos++]!;
  }
  if (length > input.length - pos) return -1;
  return pos * LENGTH_BASE + length;
}

/** Copies an integer right-aligned into the 32 bytes at `outAt`. Returns false if it has more than 32 significant bytes. */
function placeInteger(input: Bytes, packed: number, out: Bytes, outAt: number): boolean {
  let pos = Math.floor(packed / LENGTH_BASE);
  let length = packed % LENGTH_BASE;
  while (length > 0 && input[pos] === 0) {
    pos += 1;
    length -= 1;
  }
  if (length > 32) return false;
  for (let i = 0; i < length; i++) out[outAt + 32 - length + i] = input[pos + i]!;
  return true;
}

/**
 * Reads a DER signature as leniently as the chain's oldest blocks need: negative or padded integers, long length
 * forms and trailing bytes are accepted. `out` (64 bytes) receives R and S.
 *
 * Returns false when the bytes contain no signature. QUIRK: an R or S out of range parses as zeros and only fails
 * verification; CheckLowS treats such a signature as low. Test: test/unit/crypto/ecdsa.test.ts.
 */
export function parseDerLax(input: Bytes, out: Bytes): boolean {
  out.fill(0);
  let pos = 0;
  if (input.length === 0 || input[0] !== 0x30) return false;
  pos = 1;
  if (pos === input.length) return false;
  const sequenceLength = input[pos++]!;
  if (sequenceLength & 0x80) {
    // The bytes that encode the length are skipped without being read.
    if (sequenceLength - 0x80 > input.length - pos) return false;
    pos += sequenceLength - 0x80;
  }
  const r = parseInteger(input, pos);
  if (r < 0) return false;
  const s = parseInteger(input, Math.floor(r / LENGTH_BASE) + (r % LENGTH_BASE));
  if (s < 0) return false;
  const fits = placeInteger(input, r, out, 0) && placeInteger(input, s, out, 32);
  if (!fits || isOverflow(out, 0) || isOverflow(out, 32)) out.fill(0);
  return true;
}

/** Replaces a high S by the order minus S. Source: `secp256k1_ecdsa_signature_normalize`. */
export function normalizeS(compact: Bytes): void {
  if (!isHighS(compact)) return;
  let borrow = 0;
  for (let i = 31; i >= 0; i--) {
    const difference = ORDER[i]! - compact[32 + i]! - borrow;
    borrow = difference < 0 ? 1 : 0;
    compact[32 + i] = difference & 0xff;
  }
}

const lowSScratch = Buffer.alloc(COMPACT_SIGNATURE_SIZE);

/** Whether a DER signature (without hash type byte) parses and has a low S. Source: `CPubKey::CheckLowS`. */
export function isLowS(derSignature: Bytes): boolean {
  return parseDerLax(derSignature, lowSScratch) && !isHighS(lowSScratch);
}

function derInteger(compact: Bytes, at: number): Buffer {
  let start = at;
  while (start < at + 31 && compact[start] === 0) start += 1;
  const length = at + 32 - start;
  const pad = compact[start]! & 0x80 ? 1 : 0;
  const out = Buffer.alloc(2 + pad + length);
  out[0] = 0x02;
  out[1] = pad + length;
  out.set(compact.subarray(start, at + 32), 2 + pad);
  return out;
}

/** Encodes a compact signature as strict DER: at most 72 bytes; 71 with a low S; 70 with a low S and a low R. */
export function formatDer(compact: Bytes): Buffer {
  const r = derInteger(compact, 0);
  const s = derInteger(compact, 32);
  return Buffer.concat([Buffer.of(0x30, r.length + s.length), r, s]);
}
