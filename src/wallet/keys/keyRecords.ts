/**
 * Formats and parses rows of the wallet file that contain keys and scripts. Source: lbrycrd wallet/walletdb.h,
 * wallet/wallet.h.
 */
import { hash160, sha256d } from '../../crypto/hash.js';
import { isValidPrivateKey } from '../../crypto/ecdsaEncoding.js';
import { loadNative } from '../../native/binding.js';
import type { Bytes } from '../../util/bytes.js';
import { Reader } from '../../util/reader.js';
import { Writer } from '../../util/writer.js';
import { formatPrivateKeyDer, parsePrivateKeyDer } from './privateKeyDer.js';

/** Core's `CLIENT_VERSION`, written to rows in which the reference writes it. */
const ROW_VERSION = 170_200;
const META_WITH_PATH = 10;
const CHAIN_SPLIT = 2;
const NO_SEED = Buffer.alloc(20);
/** Derivation path in the row of a key that is a seed. */
export const SEED_PATH = 's';

/** Creation time and derivation path of a key. */
export interface KeyMetadata {
  /** Creation time in seconds since 1970; 0 if unknown. */
  readonly createdSec: number;
  /** Derivation path: `m/0'/0'/7'`; `s` for a seed; empty for a key that was not derived. */
  readonly path: string;
  /** Id of the seed's key (20 bytes); zeros for a key that was not derived. */
  readonly seedId: Bytes;
}

export const plainMetadata = (createdSec: number): KeyMetadata => ({ createdSec, path: '', seedId: NO_SEED });

export function formatKeyMetadata({ createdSec, path, seedId }: KeyMetadata): Buffer {
  return new Writer()
    .i32(META_WITH_PATH)
    .i64(BigInt(createdSec))
    .varBytes(Buffer.from(path, 'utf8'))
    .raw(seedId)
    .finish();
}

export function parseKeyMetadata(bytes: Bytes): KeyMetadata {
  const reader = new Reader(bytes);
  const version = reader.i32();
  const createdSec = Number(reader.i64());
  if (version < META_WITH_PATH) return plainMetadata(createdSec);
  const path = reader.varBytes().toString('utf8');
  return { createdSec, path, seedId: Buffer.from(reader.view(20)) };
}

/** Parses the creation time of a key from its row. The other fields are validated but not returned. Throws `ReadError`. */
export function keyMetadataSec(bytes: Bytes): number {
  const reader = new Reader(bytes);
  const version = reader.i32();
  const createdSec = Number(reader.i64());
  if (version >= META_WITH_PATH) reader.skip(reader.compactSize() + NO_SEED.length);
  return createdSec;
}

/** Formats the row of an unencrypted private key: the key and a checksum. The caller must overwrite the result after use. */
export function formatKeyRecord(privateKey: Bytes, publicKey: Bytes): Buffer {
  const der = formatPrivateKeyDer(privateKey, publicKey);
  const check = checksumOf(publicKey, der);
  const record = new Writer(der.length + 40).varBytes(der).raw(check).finish();
  der.fill(0);
  return record;
}

/** Checksum of a key pair. The private key in the scratch memory is overwritten after the computation. */
function checksumOf(publicKey: Bytes, der: Bytes): Buffer {
  const length = publicKey.length + der.length;
  const covered = length <= COVERED.length ? COVERED.subarray(0, length) : Buffer.alloc(length);
  covered.set(publicKey);
  covered.set(der, publicKey.length);
  const sum = sha256d(covered);
  covered.fill(0);
  return sum;
}

/** Scratch memory with space for a public key and the longest form of a private key. */
const COVERED = Buffer.alloc(512);

/** Returns a copy of the private key in a row; null if row and public key do not match. Old rows have no checksum. */
export function parseKeyRecord(bytes: Bytes, publicKey: Bytes): Buffer | null {
  const reader = new Reader(bytes);
  const der = reader.varBytes();
  if (reader.remaining >= 32) {
    const check = checksumOf(publicKey, der);
    if (check.compare(reader.bytes, reader.offset, reader.offset + 32) !== 0) return null;
  }
  const key = parsePrivateKeyDer(der);
  return key !== null && isValidPrivateKey(key) ? key : null;
}

/** State of the two key chains that are derived from a seed (addresses and change). */
export interface HdChain {
  /** Numbers of the next address key and of the next change key. */
  readonly externalCounter: number;
  readonly internalCounter: number;
  readonly seedId: Bytes;
  /** Whether change keys have a separate chain; false in wallets from before 2017. */
  readonly isSplit: boolean;
}

export function formatHdChain({ externalCounter, internalCounter, seedId, isSplit }: HdChain): Buffer {
  const writer = new Writer()
    .i32(isSplit ? CHAIN_SPLIT : 1)
    .u32(externalCounter)
    .raw(seedId);
  return (isSplit ? writer.u32(internalCounter) : writer).finish();
}

export function parseHdChain(bytes: Bytes): HdChain {
  const reader = new Reader(bytes);
  const isSplit = reader.i32() >= CHAIN_SPLIT;
  const externalCounter = reader.u32();
  const seedId = Buffer.from(reader.view(20));
  return { externalCounter, internalCounter: isSplit ? reader.u32() : 0, seedId, isSplit };
}

/** A key that was created in advance, for the key pool. */
export interface PoolKey {
  readonly createdSec: number;
  readonly publicKey: Bytes;
  /** Whether the key is for change outputs instead of addresses. */
  readonly isInternal: boolean;
  /** Whether the key was created before change keys had a separate chain. */
  readonly isPreSplit: boolean;
}

export function formatPoolKey({ createdSec, publicKey, isInternal, isPreSplit }: PoolKey): Buffer {
  return new Writer()
    .i32(ROW_VERSION)
    .i64(BigInt(createdSec))
    .varBytes(publicKey)
    .u8(isInternal ? 1 : 0)
    .u8(isPreSplit ? 1 : 0)
    .finish();
}

export function parsePoolKey(bytes: Bytes): PoolKey {
  const reader = new Reader(bytes);
  reader.skip(4);
  const createdSec = Number(reader.i64());
  const publicKey = Buffer.from(reader.varBytes());
  const isInternal = reader.remaining > 0 && reader.u8() !== 0;
  const isPreSplit = reader.remaining > 0 && reader.u8() !== 0;
  return { createdSec, publicKey, isInternal, isPreSplit };
}

/** The part of a row's key that follows the row type, for a row that belongs to a public key or a script. */
export const bytesKey = (bytes: Bytes): Buffer => new Writer().varBytes(bytes).finish();

/** The part of a row's key that follows the row type, for a pool index. */
export function poolKeyNumber(index: number): Buffer {
  return new Writer(8).i64(BigInt(index)).finish();
}

/** The id (HASH160) of a key or script. The native addon is used, because a wallet may have very many keys. */
export const idOf = (bytes: Bytes): Buffer => loadNative()?.hash160(bytes) ?? hash160(bytes);
