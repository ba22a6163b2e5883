/**
 * Encodes and decodes private keys in the form in which the reference stores them: the DER format of SEC 1 with explicit
 * curve parameters. Source: SEC 1 C.4; lbrycrd key.cpp `ec_privkey_export_der`, `ec_privkey_import_der`.
 */
import { COMPRESSED_KEY_SIZE, PRIVATE_KEY_SIZE } from '../../crypto/ecdsaEncoding.js';
import type { Bytes } from '../../util/bytes.js';

const TAG = {
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  oid: 0x06,
  sequence: 0x30,
  field0: 0xa0,
  field1: 0xa1,
};

const hex = (digits: string): Buffer => Buffer.from(digits, 'hex');

/** Encodes a DER item: tag, length in its shortest form, contents. */
function item(tag: number, ...parts: readonly Bytes[]): Buffer {
  const contents = Buffer.concat(parts);
  const { length } = contents;
  const head =
    length < 0x80
      ? [tag, length]
      : length < 0x100
        ? [tag, 0x81, length]
        : [tag, 0x82, length >> 8, length & 0xff];
  const whole = Buffer.concat([Buffer.from(head), contents]);
  contents.fill(0);
  return whole;
}

const ONE = item(TAG.integer, Buffer.of(1));
/** The prime of secp256k1's field, and the order of its generator, as DER-encoded positive integers. */
const PRIME = hex('00fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f');
const ORDER = hex('00fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141');
const GENERATOR_X = hex('79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798');
const GENERATOR_Y = hex('483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8');
/** `prime-field` (1.2.840.10045.1.1). */
const PRIME_FIELD = item(TAG.oid, hex('2a8648ce3d0101'));

/**
 * Encodes the curve parameters: field, curve (a = 0, b = 7), generator (compressed or uncompressed like the public key),
 * order, cofactor.
 */
function parameters(isCompressed: boolean): Buffer {
  // The y coordinate of the generator is even, so its compressed form begins with 2.
  const generator = isCompressed
    ? Buffer.concat([Buffer.of(2), GENERATOR_X])
    : Buffer.concat([Buffer.of(4), GENERATOR_X, GENERATOR_Y]);
  return item(
    TAG.sequence,
    ONE,
    item(TAG.sequence, PRIME_FIELD, item(TAG.integer, PRIME)),
    item(TAG.sequence, item(TAG.octets, Buffer.of(0)), item(TAG.octets, Buffer.of(7))),
    item(TAG.octets, generator),
    item(TAG.integer, ORDER),
    ONE,
  );
}

/** Encodes a key pair: 214 bytes, or 279 with an uncompressed public key. */
export function formatPrivateKeyDer(privateKey: Bytes, publicKey: Bytes): Buffer {
  const secret = item(TAG.octets, privateKey);
  const der = item(
    TAG.sequence,
    ONE,
    secret,
    item(TAG.field0, parameters(publicKey.length === COMPRESSED_KEY_SIZE)),
    item(TAG.field1, item(TAG.bits, Buffer.of(0), publicKey)),
  );
  secret.fill(0);
  return der;
}

/** Returns a copy of the 32 bytes of the private key; null if `der` does not contain one. */
export function parsePrivateKeyDer(der: Bytes): Buffer | null {
  // Skips tag and length of the outer sequence.
  if (der[0] !== TAG.sequence || der.length < 2) return null;
  const lengthBytes = der[1]! < 0x80 ? 0 : der[1]! & 0x7f;
  if (lengthBytes > 2) return null;
  let at = 2 + lengthBytes;
  if (der[at] !== TAG.integer || der[at + 1] !== 1 || der[at + 2] !== 1) return null;
  at += 3;
  const size = der[at + 1]!;
  if (der[at] !== TAG.octets || size > PRIVATE_KEY_SIZE || at + 2 + size > der.length) return null;
  const key = Buffer.alloc(PRIVATE_KEY_SIZE);
  key.set(der.subarray(at + 2, at + 2 + size), PRIVATE_KEY_SIZE - size);
  return key;
}
