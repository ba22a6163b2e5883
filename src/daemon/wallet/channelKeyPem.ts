/**
 * Private keys of channels as PEM. They are written as PKCS#8 (RFC 5958) around an ECPrivateKey (RFC 5915). Keys in the form
 * of SEC1, which older versions wrote, are parsed too. Leading zero bytes of the secret are omitted, as in the reference.
 * Source: lbry-sdk lbry/wallet/bip32.py `from_pem`, coincurve `PrivateKey.to_pem`.
 */
import { isValidPrivateKey, PRIVATE_KEY_SIZE } from '../../crypto/ecdsaEncoding.js';
import { ecdsaBackend } from '../../crypto/ecdsa.js';
import type { Bytes } from '../../util/bytes.js';
import { badValue } from '../base/daemonError.js';

const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const SEQUENCE = 0x30;
const PUBLIC_KEY_FIELD = 0xa1;
/** Object ids of keys on elliptic curves (1.2.840.10045.2.1) and of secp256k1 (1.3.132.0.10), with their tags. */
const EC_PUBLIC_KEY = Buffer.from('06072a8648ce3d0201', 'hex');
const SECP256K1 = Buffer.from('06052b8104000a', 'hex');
const PEM_LINE = 64;
/** Maximum number of bytes in the length field of a DER element. Arbitrary: enough for any key. */
const MAX_LENGTH_BYTES = 2;

function element(tag: number, ...contents: Bytes[]): Buffer {
  const content = Buffer.concat(contents);
  const head = content.length < 0x80 ? [content.length] : [0x81, content.length];
  return Buffer.concat([Buffer.of(tag, ...head), content]);
}

/** Writes a private key as PEM. `secret` has 32 bytes. */
export function formatChannelKey(secret: Bytes): string {
  const used = secret.findIndex((byte) => byte !== 0);
  const publicKey = ecdsaBackend().publicKeyOf(secret, false);
  const inner = element(
    SEQUENCE,
    element(INTEGER, Buffer.of(1)),
    element(OCTET_STRING, secret.subarray(used)),
    element(PUBLIC_KEY_FIELD, element(BIT_STRING, Buffer.of(0), publicKey)),
  );
  const der = element(
    SEQUENCE,
    element(INTEGER, Buffer.of(0)),
    element(SEQUENCE, EC_PUBLIC_KEY, SECP256K1),
    element(OCTET_STRING, inner),
  );
  const lines = der.toString('base64').match(new RegExp(`.{1,${PEM_LINE}}`, 'g')) ?? [];
  return ['-----BEGIN PRIVATE KEY-----', ...lines, '-----END PRIVATE KEY-----', ''].join('\n');
}

interface Element {
  readonly tag: number;
  readonly content: Buffer;
  readonly rest: Buffer;
}

function readElement(bytes: Buffer): Element | null {
  const tag = bytes[0];
  const first = bytes[1];
  if (tag === undefined || first === undefined) return null;
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
  if (lengthBytes > MAX_LENGTH_BYTES || bytes.length < 2 + lengthBytes) return null;
  const length = lengthBytes === 0 ? first & 0x7f : bytes.readUIntBE(2, lengthBytes);
  const start = 2 + lengthBytes;
  if (bytes.length < start + length) return null;
  return { tag, content: bytes.subarray(start, start + length), rest: bytes.subarray(start + length) };
}

/**
 * Returns the content of the octet string in a DER sequence that starts with a version. `skipped` elements lie between the
 * version and the octet string.
 */
function octetsIn(bytes: Buffer, skipped: number): Buffer | null {
  const outer = readElement(bytes);
  if (outer?.tag !== SEQUENCE) return null;
  let part = readElement(outer.content);
  if (part?.tag !== INTEGER) return null;
  for (let i = 0; i <= skipped && part !== null; i++) part = readElement(part.rest);
  return part?.tag === OCTET_STRING ? part.content : null;
}

const PEM = /^-----BEGIN [A-Z ]+-----\s([A-Za-z0-9+/=\s]+)-----END [A-Z ]+-----\s*$/;

/** Parses a private key of 32 bytes. Throws `ValueError` if the text is not a valid key. */
export function parseChannelKey(pem: string): Buffer {
  const base64 = PEM.exec(pem.trimStart())?.[1];
  const der = base64 === undefined ? null : Buffer.from(base64, 'base64');
  const wrapped = der && octetsIn(der, 1);
  const number = der && octetsIn(wrapped ?? der, 0);
  if (number && number.length <= PRIVATE_KEY_SIZE) {
    const secret = Buffer.alloc(PRIVATE_KEY_SIZE);
    secret.set(number, PRIVATE_KEY_SIZE - number.length);
    if (isValidPrivateKey(secret)) return secret;
  }
  throw badValue('The text is not a private key of a channel.');
}
