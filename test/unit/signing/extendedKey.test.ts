import { describe, expect, it } from 'vitest';
import { decodeBase58Check, encodeBase58Check } from '../../../src/script/base58.js';
import {
  deriveChild,
  HARDENED,
  parseExtendedKey,
  type ExtendedKey,
} from '../../../src/signing/extendedKey.js';
import { concatBytes, type Bytes } from '../../../src/util/bytes.js';

/** BIP32's first and second test vector: path, extended public key, extended private key. */
const VECTORS: readonly (readonly [readonly number[], string, string])[] = [
  [
    [],
    'xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8',
    'xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi',
  ],
  [
    [HARDENED],
    'xpub68Gmy5EdvgibQVfPdqkBBCHxA5htiqg55crXYuXoQRKfDBFA1WEjWgP6LHhwBZeNK1VTsfTFUHCdrfp1bgwQ9xv5ski8PX9rL2dZXvgGDnw',
    'xprv9uHRZZhk6KAJC1avXpDAp4MDc3sQKNxDiPvvkX8Br5ngLNv1TxvUxt4cV1rGL5hj6KCesnDYUhd7oWgT11eZG7XnxHrnYeSvkzY7d2bhkJ7',
  ],
  [
    [HARDENED, 1],
    'xpub6ASuArnXKPbfEwhqN6e3mwBcDTgzisQN1wXN9BJcM47sSikHjJf3UFHKkNAWbWMiGj7Wf5uMash7SyYq527Hqck2AxYysAA7xmALppuCkwQ',
    'xprv9wTYmMFdV23N2TdNG573QoEsfRrWKQgWeibmLntzniatZvR9BmLnvSxqu53Kw1UmYPxLgboyZQaXwTCg8MSY3H2EU4pWcQDnRnrVA1xe8fs',
  ],
];

const payload = (text: string): Buffer => decodeBase58Check(text)!;

function serialize(key: ExtendedKey, prefix: Bytes, keyBytes: Bytes): string {
  const head = Buffer.alloc(9);
  head[0] = key.depth;
  head.set(key.parentFingerprint, 1);
  head.writeUInt32BE(key.childNumber, 5);
  return encodeBase58Check(concatBytes(prefix, head, key.chainCode, keyBytes));
}

const PUBLIC = Buffer.from('0488b21e', 'hex');
const PRIVATE = Buffer.from('0488ade4', 'hex');

describe('extended keys', () => {
  const root = parseExtendedKey(payload(VECTORS[0]![2]).subarray(4), true)!;

  it('derive the children of the test vectors', () => {
    for (const [path, publicText, privateText] of VECTORS) {
      let key = root;
      for (const number of path) key = deriveChild(key, number)!;
      expect(serialize(key, PUBLIC, key.publicKey)).toBe(publicText);
      expect(serialize(key, PRIVATE, concatBytes(Buffer.of(0), key.privateKey!))).toBe(privateText);
    }
  });

  it('derive unhardened children from the public key, but no hardened ones', () => {
    const [path, publicText] = VECTORS[1]!;
    const parent = parseExtendedKey(payload(publicText).subarray(4), false)!;
    expect(path).toEqual([HARDENED]);
    const child = deriveChild(parent, 1)!;
    expect(serialize(child, PUBLIC, child.publicKey)).toBe(VECTORS[2]![1]);
    expect(child.privateKey).toBeNull();
    expect(deriveChild(parent, HARDENED)).toBeNull();
  });

  it('refuse bytes that are not a valid key', () => {
    const bytes = Buffer.from(payload(VECTORS[0]![1]).subarray(4));
    expect(parseExtendedKey(bytes.subarray(1), false)).toBeNull();
    bytes[41] = 5;
    expect(parseExtendedKey(bytes, false)).toBeNull();
    expect(parseExtendedKey(Buffer.alloc(74), true)).toBeNull();
  });
});
