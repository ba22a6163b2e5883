/**
 * The master key encrypts a wallet's private keys, and is itself encrypted with a passphrase. The passphrase is stretched
 * (made expensive to guess) by scrypt or, in wallets created by the reference, by rounds of SHA-512. The row has the format
 * of the reference. Source: lbrycrd wallet/crypter.h `CMasterKey`, `CCrypter::SetKeyFromPassphrase`; RFC 7914.
 */
import { createHash, randomBytes, scrypt } from 'node:crypto';
import { yieldIfDue } from '../../scheduler/yield.js';
import type { Bytes } from '../../util/bytes.js';
import { Reader } from '../../util/reader.js';
import { Writer } from '../../util/writer.js';
import { decrypt, encrypt, IV_BYTES, KEY_BYTES } from './cipher.js';

const SALT_BYTES = 8;
const STRETCHED_BYTES = KEY_BYTES + IV_BYTES;
/** Number of rounds of SHA-512 between two checks of the elapsed time. */
const ROUNDS_A_LOOK = 500;

/** Methods of stretching a passphrase. The numbers are those of the reference's rows. */
const METHOD = { sha512: 0, scrypt: 1 } as const;

/** Cost parameters of scrypt in new wallets: about 0.1 s of time and 32 MiB of memory. */
const SCRYPT_LOG2_COST = 15;
const SCRYPT_BLOCK_SIZE = 8;
const SCRYPT_PARALLEL = 1;
/** Maximum memory in bytes that scrypt may use with the parameters of a row. */
const MAX_SCRYPT_BYTES = 1 << 30;

export interface MasterKeyRow {
  readonly encryptedKey: Bytes;
  readonly salt: Bytes;
  readonly method: number;
  /** Number of rounds of SHA-512, or the parameter N of scrypt. */
  readonly rounds: number;
  /** Parameters r and p of scrypt, four bytes each; empty for SHA-512. */
  readonly parameters: Bytes;
}

export function parseMasterKeyRow(bytes: Bytes): MasterKeyRow {
  const reader = new Reader(bytes);
  return {
    encryptedKey: Buffer.from(reader.varBytes()),
    salt: Buffer.from(reader.varBytes()),
    method: reader.u32(),
    rounds: reader.u32(),
    parameters: Buffer.from(reader.varBytes()),
  };
}

export function formatMasterKeyRow(row: MasterKeyRow): Buffer {
  const size = row.encryptedKey.length + row.salt.length + row.parameters.length + 35;
  return new Writer(size)
    .varBytes(row.encryptedKey)
    .varBytes(row.salt)
    .u32(row.method)
    .u32(row.rounds)
    .varBytes(row.parameters)
    .finish();
}

/** Creates a new random master key. The caller must overwrite it after use. */
export function makeMasterKey(): Buffer {
  return randomBytes(KEY_BYTES);
}

/** Encrypts a master key with a passphrase. */
export async function sealMasterKey(key: Bytes, passphrase: Bytes): Promise<MasterKeyRow> {
  const parameters = Buffer.alloc(8);
  parameters.writeUInt32LE(SCRYPT_BLOCK_SIZE, 0);
  parameters.writeUInt32LE(SCRYPT_PARALLEL, 4);
  const how = {
    salt: randomBytes(SALT_BYTES),
    method: METHOD.scrypt,
    rounds: 2 ** SCRYPT_LOG2_COST,
    parameters,
  };
  const stretched = await stretch(passphrase, how);
  const encryptedKey = encrypt(key, stretched.subarray(0, KEY_BYTES), stretched.subarray(KEY_BYTES));
  stretched.fill(0);
  return { encryptedKey, ...how };
}

/** Decrypts a master key with a passphrase; null if the passphrase is wrong. The caller must wipe the key. */
export async function openMasterKey(row: MasterKeyRow, passphrase: Bytes): Promise<Buffer | null> {
  const stretched = await stretch(passphrase, row);
  const key = decrypt(row.encryptedKey, stretched.subarray(0, KEY_BYTES), stretched.subarray(KEY_BYTES));
  stretched.fill(0);
  if (key === null || key.length === KEY_BYTES) return key;
  key.fill(0);
  return null;
}

/** Whether a passphrase is stretched less than in a new wallet. */
export function isWeak({ method, rounds }: MasterKeyRow): boolean {
  return method !== METHOD.scrypt || rounds < 2 ** SCRYPT_LOG2_COST;
}

type Stretching = Pick<MasterKeyRow, 'salt' | 'method' | 'rounds' | 'parameters'>;

/**
 * Stretches a passphrase. Returns 48 bytes: key and initialization vector. Throws if the method or the parameters of the row
 * are unknown.
 */
function stretch(passphrase: Bytes, how: Stretching): Promise<Buffer> {
  if (how.method === METHOD.sha512 && how.rounds >= 1 && how.salt.length === SALT_BYTES)
    return stretchSha512(passphrase, how);
  if (how.method === METHOD.scrypt && how.parameters.length === 8) return stretchScrypt(passphrase, how);
  throw new Error(
    `The passphrase uses key derivation method ${how.method}, which this version does not support`,
  );
}

/** Source: `BytesToKeySHA512AES`. */
async function stretchSha512(passphrase: Bytes, { salt, rounds }: Stretching): Promise<Buffer> {
  let digest = createHash('sha512').update(passphrase).update(salt).digest();
  let since = performance.now();
  for (let round = 1; round < rounds; round++) {
    const next = createHash('sha512').update(digest).digest();
    digest.fill(0);
    digest = next;
    if (round % ROUNDS_A_LOOK === 0) since = await yieldIfDue(since);
  }
  return digest.subarray(0, STRETCHED_BYTES);
}

function stretchScrypt(passphrase: Bytes, { salt, rounds, parameters }: Stretching): Promise<Buffer> {
  const view = Buffer.from(parameters);
  const options = {
    N: rounds,
    r: view.readUInt32LE(0),
    p: view.readUInt32LE(4),
    maxmem: MAX_SCRYPT_BYTES,
  };
  return new Promise((resolve, reject) => {
    scrypt(passphrase, salt, STRETCHED_BYTES, options, (error, stretched) => {
      if (error) reject(error);
      else resolve(stretched);
    });
  });
}
