/**
 * Fuzz target: signatures. The addon and @noble/secp256k1 must agree for any hash, signature and key. Included are sums of equal
 * and opposite points, scalars near the limits of machine words and near the group order, and encodings that only old blocks
 * have.
 */
import type { EcdsaBackend } from '../../../src/crypto/ecdsa.js';
import { formatDer } from '../../../src/crypto/ecdsaEncoding.js';
import { fallbackEcdsa } from '../../../src/crypto/ecdsaFallback.js';
import { toHex } from '../../../src/util/bytes.js';
import { mutate, type Random } from '../../differential/support.js';
import { law, type Target } from '../support/campaign.js';

export const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

export const toBytes = (value: bigint): Buffer => Buffer.from(value.toString(16).padStart(64, '0'), 'hex');
export const toNumber = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
export const modulo = (value: bigint): bigint => ((value % ORDER) + ORDER) % ORDER;

/** 1 / value modulo the order, by Euclid's algorithm. */
export function inverse(value: bigint): bigint {
  let [a, b, x, y] = [modulo(value), ORDER, 1n, 0n];
  while (a > 0n) {
    const quotient = b / a;
    [a, b, x, y] = [b - quotient * a, a, y - quotient * x, x];
  }
  return modulo(y);
}

const CORNERS = [1n, 2n, 3n, 15n, 16n, 17n, 31n, 33n, 511n, 513n, ORDER / 2n, ORDER / 2n + 1n, ORDER / 3n];
for (const bit of [31n, 32n, 33n, 64n, 128n, 223n, 224n, 255n])
  CORNERS.push(1n << bit, (1n << bit) - 1n, (1n << bit) + 1n);

function scalarOf(random: Random): bigint {
  if (random.chance(3)) return modulo(toNumber(random.bytes(32))) || 1n;
  const corner = random.pick(CORNERS);
  return random.chance(2) ? corner : ORDER - corner;
}

interface Question {
  readonly hash: Buffer;
  readonly der: Buffer;
  readonly publicKey: Buffer;
}

/**
 * A signature whose verification computes u1 times the generator plus u2 times the key. R is the x coordinate of the sum, if the
 * sum is not the point at infinity.
 */
function constructed(random: Random, ecdsa: EcdsaBackend): Question {
  const privateKey = scalarOf(random);
  const u2 = scalarOf(random);
  const opposite = modulo(-u2 * privateKey);
  const u1 = random.pick([0n, modulo(u2 * privateKey), opposite, scalarOf(random), scalarOf(random)]);
  const sum = modulo(u1 + u2 * privateKey);
  const r = modulo(toNumber(ecdsa.publicKeyOf(toBytes(sum || modulo(u2 * privateKey)), true).subarray(1)));
  const s = modulo((random.chance(8) ? r + 1n : r) * inverse(u2));
  return {
    hash: toBytes(modulo(u1 * s)),
    der: formatDer(Buffer.concat([toBytes(r), toBytes(s)])),
    publicKey: ecdsa.publicKeyOf(toBytes(privateKey), random.chance(2)),
  };
}

/** A signature like those of a wallet. */
function signed(random: Random, ecdsa: EcdsaBackend): Question {
  const privateKey = toBytes(scalarOf(random));
  const hash = random.bytes(32);
  const compact = Buffer.from(
    ecdsa.sign(hash, privateKey, random.chance(2) ? random.bytes(32) : null).compact,
  );
  if (random.chance(3)) compact.set(toBytes(ORDER - toNumber(compact.subarray(32))), 32);
  const outside = [toBytes(ORDER), Buffer.alloc(32), Buffer.alloc(32, 0xff)];
  if (random.chance(10)) compact.set(random.pick(outside), 32 * random.below(2));
  return { hash, der: formatDer(compact), publicKey: ecdsa.publicKeyOf(privateKey, random.chance(2)) };
}

/** The question with an encoding that `CPubKey::Verify` accepts although it is not strict, or with a corrupt one. */
function disguised(random: Random, { hash, der, publicKey }: Question): Question {
  let key = publicKey;
  if (key.length === 65 && random.chance(2)) {
    key = Buffer.from(key);
    key[0] = 6 + (random.chance(3) ? random.below(2) : key[64]! & 1);
  }
  let signature = der;
  if (random.chance(4)) signature = Buffer.concat([signature, random.bytes(random.below(3))]);
  if (random.chance(4)) {
    // The length in the long form, with leading zeros.
    const zeros = Buffer.alloc(random.below(3));
    signature = Buffer.concat([Buffer.of(0x30, 0x81 + zeros.length), zeros, signature.subarray(1)]);
  }
  if (random.chance(4)) {
    const r = signature.indexOf(0x02, 2);
    const length = Buffer.of(0x82, 0, signature[r + 1]! + 1, 0);
    signature = Buffer.concat([signature.subarray(0, r + 1), length, signature.subarray(r + 2)]);
  }
  if (random.chance(4)) signature = mutate(random, signature);
  if (random.chance(10)) key = mutate(random, key);
  return { hash, der: signature, publicKey: key };
}

/** `ecdsa` is the addon's. */
export function ecdsaTarget(ecdsa: EcdsaBackend): Target<Question> {
  return {
    name: 'ecdsa',
    make: (random) => {
      const question = random.chance(2) ? constructed(random, ecdsa) : signed(random, ecdsa);
      return random.chance(2) ? question : disguised(random, question);
    },
    check: ({ hash, der, publicKey }) => {
      const expected = fallbackEcdsa.verify(hash, der, publicKey);
      // Twice, because the second answer for a valid signature comes from the signature cache.
      for (const time of ['first', 'second'])
        law(ecdsa.verify(hash, der, publicKey) === expected, () => `${time} answer, expected ${expected}`);
      const isKey = fallbackEcdsa.isFullyValidPublicKey(publicKey);
      law(ecdsa.isFullyValidPublicKey(publicKey) === isKey, () => `the key is ${isKey ? 'a' : 'no'} point`);
      return expected ? 'valid' : isKey ? 'invalid' : 'no key';
    },
    show: ({ hash, der, publicKey }) => [hash, der, publicKey].map(toHex).join(' '),
  };
}
