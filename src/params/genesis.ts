/**
 * Builds the genesis block of each network. Contains the coinbase that all networks share; the proof of work comes from the
 * network's parameters. Source: lbrycrd chainparams.cpp `CreateGenesisBlock`.
 */
import { sha256d } from '../crypto/hash.js';
import { fromHex, type Bytes } from '../util/bytes.js';
import { Writer } from '../util/writer.js';

const GENESIS_TIMESTAMP_TEXT = 'insert timestamp string';
const GENESIS_PUBKEY_HASH = fromHex('345991dbf57bfb014b87006acdfafbfc5fe8292f');
/** Value of the genesis coinbase in satoshis: 400,000,000 coins. After maturity it can be spent like any other coinbase. */
const GENESIS_VALUE_SAT = 400_000_000n * 100_000_000n;
/** Beginning of the coinbase script: pushes of 486604799 (four bytes) and 4 (one byte of data), as in Bitcoin's genesis block. */
const GENESIS_SCRIPT_PREFIX = fromHex('04ffff001d0104');
const GENESIS_BLOCK_VERSION = 1;
/** Claim trie root of an empty trie: the number one, little endian. */
const EMPTY_CLAIM_ROOT: Bytes = Uint8Array.from({ length: 32 }, (_, i) => (i === 0 ? 1 : 0));

export interface GenesisProof {
  readonly timeSec: number;
  readonly bits: number;
  readonly nonce: number;
}

export interface GenesisBlock extends GenesisProof {
  readonly version: number;
  /** Merkle root, 32 bytes in wire order. Equal to the id of the only transaction, the coinbase. */
  readonly merkleRoot: Buffer;
  readonly claimRoot: Bytes;
  /** The serialized header of 112 bytes. */
  readonly header: Buffer;
  /** The serialized block: header, transaction count, coinbase. */
  readonly block: Buffer;
  /** Id of the genesis block, 32 bytes in wire order. */
  readonly hash: Buffer;
}

function genesisCoinbase(): Buffer {
  const text = Buffer.from(GENESIS_TIMESTAMP_TEXT, 'latin1');
  const scriptSig = new Writer().raw(GENESIS_SCRIPT_PREFIX).varBytes(text).finish();
  // Standard script: DUP HASH160 <20 bytes> EQUALVERIFY CHECKSIG
  const script = new Writer().u8(0x76).u8(0xa9).varBytes(GENESIS_PUBKEY_HASH).u8(0x88).u8(0xac).finish();
  return new Writer()
    .i32(1)
    .compactSize(1)
    .raw(new Uint8Array(32))
    .u32(0xffffffff)
    .varBytes(scriptSig)
    .u32(0xffffffff)
    .compactSize(1)
    .i64(GENESIS_VALUE_SAT)
    .varBytes(script)
    .u32(0)
    .finish();
}

/** Builds the genesis block with the given proof of work. */
export function buildGenesis(proof: GenesisProof): GenesisBlock {
  const coinbase = genesisCoinbase();
  const merkleRoot = sha256d(coinbase);
  const header = new Writer(112)
    .i32(GENESIS_BLOCK_VERSION)
    .raw(new Uint8Array(32))
    .raw(merkleRoot)
    .raw(EMPTY_CLAIM_ROOT)
    .u32(proof.timeSec)
    .u32(proof.bits)
    .u32(proof.nonce)
    .finish();
  const block = new Writer().raw(header).compactSize(1).raw(coinbase).finish();
  return {
    ...proof,
    version: GENESIS_BLOCK_VERSION,
    merkleRoot,
    claimRoot: EMPTY_CLAIM_ROOT,
    header,
    block,
    hash: sha256d(header),
  };
}
