/**
 * The two encryptions of wallets, both with AES-256-CBC. Single fields of the file are encrypted with the hash of a
 * password. For export and synchronization, the whole wallet is compressed and encrypted with a key from scrypt. Source:
 * lbry-sdk lbry/crypto/crypt.py.
 */
import { createCipheriv, createDecipheriv, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { sha256d } from '../../crypto/hash.js';
import type { Bytes } from '../../util/bytes.js';
import type { DaemonRandom } from '../base/clock.js';
import { badValue, invalidPassword, type DaemonError } from '../base/daemonError.js';

const CIPHER = 'aes-256-cbc';
const KEY_SIZE = 32;
export const INIT_VECTOR_SIZE = 16;

function encrypt(key: Bytes, initVector: Bytes, text: Bytes): Buffer {
  const cipher = createCipheriv(CIPHER, key, initVector);
  return Buffer.concat([cipher.update(text), cipher.final()]);
}

/** Decrypts data. Throws `InvalidPasswordError` for invalid padding, the result of a wrong key in 255 of 256 cases. */
function decrypt(key: Bytes, initVector: Bytes, encrypted: Bytes): Buffer {
  try {
    const decipher = createDecipheriv(CIPHER, key, initVector);
    return Buffer.concat([decipher.update(encrypted), decipher.final()]);
  } catch {
    throw invalidPassword();
  }
}

const fieldKey = (password: string): Buffer => sha256d(Buffer.from(password, 'utf8'));

/** Encrypts a field of the file: base64 of the initialization vector and the ciphertext. */
export function encryptField(password: string, text: string, initVector: Bytes): string {
  const encrypted = encrypt(fieldKey(password), initVector, Buffer.from(text, 'utf8'));
  return Buffer.concat([initVector, encrypted]).toString('base64');
}

/** Throws `InvalidPasswordError`. */
export function decryptField(password: string, encrypted: string): { text: string; initVector: Buffer } {
  const bytes = Buffer.from(encrypted, 'base64');
  const initVector = bytes.subarray(0, INIT_VECTOR_SIZE);
  const plain = decrypt(fieldKey(password), initVector, bytes.subarray(INIT_VECTOR_SIZE));
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(plain), initVector };
  } catch {
    throw invalidPassword();
  }
}

interface ScryptCost {
  readonly n: number;
  readonly r: number;
  readonly p: number;
}

const EXPORT_COST: ScryptCost = { n: 8192, r: 16, p: 1 };
/**
 * Maximum memory of scrypt in bytes, 128 times N times r. The parameters come from the export, which another program may
 * have written. Arbitrary: sixteen times the memory for the parameters of lbcnode's exports.
 */
const MAX_SCRYPT_BYTES = 256 * 1024 * 1024;
const MAX_SCRYPT_PARALLEL = 16;

const scryptAsync = promisify<string, Bytes, number, object, Buffer>(scrypt);

function exportKey(password: string, salt: Bytes, { n, r, p }: ScryptCost): Promise<Buffer> {
  return scryptAsync(password, salt, KEY_SIZE, { N: n, r, p, maxmem: 2 * MAX_SCRYPT_BYTES });
}

/** Encrypts an export: base64 of `s:N:r:p:`, the initialization vector (also the salt) and the ciphertext. */
export async function encryptExport(password: string, bytes: Bytes, random: DaemonRandom): Promise<string> {
  const initVector = random.bytes(INIT_VECTOR_SIZE);
  const encrypted = encrypt(await exportKey(password, initVector, EXPORT_COST), initVector, bytes);
  const { n, r, p } = EXPORT_COST;
  return Buffer.concat([Buffer.from(`s:${n}:${r}:${p}:`), initVector, encrypted]).toString('base64');
}

const EXPORT_PREFIX = /^[^:]*:([0-9]{1,9}):([0-9]{1,9}):([0-9]{1,9}):/;
const MAX_PREFIX_SIZE = 64;

/** Decrypts an export. Throws `InvalidPasswordError`, or `ValueError` if the text is not an encrypted export. */
export async function decryptExport(password: string, text: string): Promise<Buffer> {
  const bytes = Buffer.from(text, 'base64');
  const prefix = EXPORT_PREFIX.exec(bytes.subarray(0, MAX_PREFIX_SIZE).toString('latin1'));
  if (prefix === null) throw badExport();
  const cost = { n: Number(prefix[1]), r: Number(prefix[2]), p: Number(prefix[3]) };
  const isPowerOfTwo = cost.n > 1 && Number.isInteger(Math.log2(cost.n));
  if (!isPowerOfTwo || cost.r < 1 || cost.p < 1 || cost.p > MAX_SCRYPT_PARALLEL) throw badExport();
  if (128 * cost.n * cost.r > MAX_SCRYPT_BYTES) throw badExport();
  const body = bytes.subarray(prefix[0].length);
  const initVector = body.subarray(0, INIT_VECTOR_SIZE);
  if (initVector.length < INIT_VECTOR_SIZE) throw badExport();
  return decrypt(await exportKey(password, initVector, cost), initVector, body.subarray(INIT_VECTOR_SIZE));
}

const badExport = (): DaemonError => badValue('The data is not an exported wallet.');
