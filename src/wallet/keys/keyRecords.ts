/** Formats and parses rows about keys and scripts. Source: lbrycrd wallet/walletdb.h, wallet/wallet.h. */
import { hash160, sha256d } from '../../crypto/hash.js';
import { isValidPrivateKey } from '../../crypto/ecdsaEncoding.js';
import { loadNative } from '../../native/binding.js';
import type { Bytes } from '../../util/bytes.js';
import { Reader } from '../../util/reader.js';
import { Writer } from '../../util/writer.js';
import { formatPrivateKeyDer, parsePrivateKeyDer } from './privateKeyDer.js';

/** Core's `CLIENT_VERSION` that rows carry where the reference writes one. */
const ROW_VERSION = 170_200;
const META_WITH_PATH = 10;
const CHAIN_SPLIT = 2;
const NO_SEED = Buffer.alloc(20);
/** The path of a key that is a seed. */
export const SEED_PATH = 's';

/** Creation time and derivation of a key. */
export interface KeyMetadata {
  /** 0 if unknown. */
  readonly createdSec: number;
  /** `m/0'/0'/7'`; `s` for a seed itself; empty for other keys. */
  readonly path: string;
  /** Id of the seed's key, 20 bytes; zeros without one. */
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

/** Creation time of a key, from a row whose other fields are validated but not returned. Throws `ReadError`. */
export function keyMetadataSec(bytes: Bytes): number {
  const reader = new Reader(bytes);
  const version = reader.i32();
  const createdSec = Number(reader.i64());
  if (version >= META_WITH_PATH) reader.skip(reader.compactSize() + NO_SEED.length);
  return createdSec;
}

/** Key and checksum of a private key in clear; the caller wipes it. */
export function formatKeyRecord(privateKey: Bytes, publicKey: Bytes): Buffer {
  const der = formatPrivateKeyDer(privateKey, publicKey);
  const check = checksumOf(publicKey, der);
  const record = new Writer(der.length + 40).varBytes(der).raw(check).finish();
  der.fill(0);
  return record;
}

/** Checksum of a key pair. Wipes the scratch memory of the private key. */
function checksumOf(publicKey: Bytes, der: Bytes): Buffer {
  const length = publicKey.length + der.length;
  const covered = length <= COVERED.length ? COVERED.subarray(0, length) : Buffer.alloc(length);
  covered.set(publicKey);
  covered.set(der, publicKey.length);
  const sum = sha256d(covered);
  covered.fill(0);
  return sum;
}

/** Scratch memory for a public key and the longest form of a private key. */
const COVERED = Buffer.alloc(512);

/** A copy of the private key; null if row and public key do not match. Old rows have no checksum. */
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

/** The state of the seed's two chains. */
export interface HdChain {
  /** Numbers of the next address key and the next change key. */
  readonly externalCounter: number;
  readonly internalCounter: number;
  readonly seedId: Bytes;
  /** Whether change has a chain of its own; false in wallets from before 2017. */
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

/** A key made in advance. */
export interface PoolKey {
  readonly createdSec: number;
  readonly publicKey: Bytes;
  /** True for change keys. */
  readonly isInternal: boolean;
  /** Made before change had a chain of its own. */
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

/** The part after the kind in the key of a row that belongs to a public key or a script. */
export const bytesKey = (bytes: Bytes): Buffer => new Writer().varBytes(bytes).finish();

/** The same for a pool index. */
export function poolKeyNumber(index: number): Buffer {
  return new Writer(8).i64(BigInt(index)).finish();
}

/** The id of a key or script. Uses the addon, because a wallet has very many. */
export const idOf = (bytes: Bytes): Buffer => loadNative()?.hash160(bytes) ?? hash160(bytes);
