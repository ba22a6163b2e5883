/**
 * Keys and signatures of a generated chain. Signing is fast (two multiplications modulo the group order), because a
 * precomputed table provides the nonces. Reused nonces reveal the private keys, which can also be derived from the seed.
 * Never pay coins of value to these keys. Signatures have a low S and are valid.
 */
import { ecdsaBackend } from '../../crypto/ecdsa.js';
import { COMPACT_SIGNATURE_SIZE, formatDer } from '../../crypto/ecdsaEncoding.js';
import { hash160, sha256 } from '../../crypto/hash.js';
import { scriptForDestination } from '../../script/standard.js';
import { toHex, type Bytes } from '../../util/bytes.js';

/** Order of the group of curve points. Source: SEC 2, secp256k1. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const HALF_ORDER = ORDER >> 1n;
/** Number of nonces in the table, which is the number of different values of R. */
const NONCES = 1024;

export interface Key {
  readonly publicKey: Buffer;
  readonly hash: Buffer;
  /** P2PKH script that pays to the key. */
  readonly script: Buffer;
  /** P2WPKH script that pays to the key. */
  readonly witnessScript: Buffer;
  readonly secret: bigint;
}

interface Nonce {
  readonly r: bigint;
  readonly rBytes: Buffer;
  readonly inverse: bigint;
}

function numberOf(bytes: Bytes): bigint {
  return BigInt(`0x${toHex(bytes)}`);
}

function inverseOf(value: bigint): bigint {
  let [low, high] = [value % ORDER, ORDER];
  let [lowFactor, highFactor] = [1n, 0n];
  while (low > 1n) {
    const quotient = high / low;
    [low, high] = [high - quotient * low, low];
    [lowFactor, highFactor] = [highFactor - quotient * lowFactor, lowFactor];
  }
  return ((lowFactor % ORDER) + ORDER) % ORDER;
}

export class KeyRing {
  readonly keys: readonly Key[];
  private readonly nonces: readonly Nonce[];
  private next = 0;

  /** Derives `count` keys from a seed. */
  constructor(seed: string, count: number) {
    this.keys = Array.from({ length: count }, (_, n) => keyOf(sha256(Buffer.from(`${seed} key ${n}`))));
    this.nonces = Array.from({ length: NONCES }, (_, n) =>
      nonceOf(sha256(Buffer.from(`${seed} nonce ${n}`))),
    );
  }

  /** Signs a hash of 32 bytes. Returns R and S. */
  signCompact(hash: Bytes, key: Key): Buffer {
    const { r, rBytes, inverse } = this.nonces[this.next++ % NONCES]!;
    let s = ((numberOf(hash) + r * key.secret) * inverse) % ORDER;
    if (s > HALF_ORDER) s = ORDER - s;
    const compact = Buffer.allocUnsafe(COMPACT_SIGNATURE_SIZE);
    compact.set(rBytes);
    compact.write(s.toString(16).padStart(64, '0'), 32, 'hex');
    return compact;
  }

  /** Signs a hash of 32 bytes. Returns the signature in DER, without the hash type byte. */
  sign(hash: Bytes, key: Key): Buffer {
    return formatDer(this.signCompact(hash, key));
  }
}

function keyOf(secret: Buffer): Key {
  const publicKey = ecdsaBackend().publicKeyOf(secret, true);
  const hash = hash160(publicKey);
  return {
    publicKey,
    hash,
    script: scriptForDestination({ type: 'pubkeyhash', hash }),
    witnessScript: scriptForDestination({ type: 'witness_v0_keyhash', hash }),
    secret: numberOf(secret),
  };
}

function nonceOf(secret: Buffer): Nonce {
  const rBytes = Buffer.from(ecdsaBackend().publicKeyOf(secret, true).subarray(1));
  return { r: numberOf(rBytes), rBytes, inverse: inverseOf(numberOf(secret)) };
}
