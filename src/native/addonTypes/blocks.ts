/** Types of the addon for blocks, coins and signatures. */
import type { NativeRows, NativeDatabase } from './stores.js';

/**
 * A block (or one transaction) as offsets into its own bytes. All offsets count from the start of the parsed buffer.
 * Rows of `txs`, `inputs` and `outputs` are laid out by the column constants of `primitives/blockView.ts`.
 */
export interface ParsedBlock {
  txCount: number;
  txs: Uint32Array;
  inputs: Uint32Array;
  outputs: Uint32Array;
  /** Txids of all transactions: 32 bytes each, wire order. */
  txids: Buffer;
  wtxids: Buffer;
  /** Merkle root of `txids`; 32 zero bytes without transactions. */
  merkleRoot: Buffer;
  /** Whether two equal sibling hashes are hashed together in the merkle tree (CVE-2012-2459). */
  mutated: boolean;
  /** Merkle root of `wtxids`, with zeros as the leaf of the first transaction (BIP141). */
  witnessMerkleRoot: Buffer;
  /** Number of bytes read. Differs from `sizeBytes` if a transaction has the witness marker but no witness. */
  consumedBytes: number;
  /** Size of the block in the reference's serialization, with witness. */
  sizeBytes: number;
  strippedSizeBytes: number;
  /** Weight (BIP141): three times the stripped size plus the size. */
  weight: number;
  /**
   * Buffer that contains all tables, if the addon created them together. The addon then reads this buffer instead of each
   * table.
   */
  packed?: Buffer;
}

/**
 * Coins that a block spends, by number of the input within the block (the row of `ParsedBlock.inputs`). Rows of coinbase
 * inputs are zero.
 */
export interface ResolvedInputs {
  /** Height of the coin's block times 2, plus 1 for a coin of a coinbase. */
  heightCodes: Uint32Array;
  amounts: BigInt64Array;
  scriptOffsets: Uint32Array;
  scriptLengths: Uint32Array;
  /** All spent scripts, concatenated. */
  scripts: Buffer;
  /** Status of each coin. 0: found. 1: missing or already spent, possibly earlier in the same block. */
  status: Uint8Array;
  /** Claim kind of each spent script, with the values of the claim-kind column of `ParsedBlock.outputs`. */
  claimKinds: Uint8Array;
  /** Numbers of those transactions with an output that exists unspent before the block (BIP30). */
  duplicates: Uint32Array;
  /** As `ParsedBlock.packed`. */
  packed?: Buffer;
}

export interface CoinValue {
  /** Height of the coin's block times 2, plus 1 for a coin of a coinbase. */
  heightCode: number;
  /** Satoshis. */
  amount: bigint;
  script: Uint8Array;
}

/** Coin table of the addon. `store/cache/coinTable.ts` describes the contract of every method. */
export interface NativeCoinTable {
  readonly usageBytes: number;
  readonly entryCount: number;
  readonly dirtyCount: number;
  readonly dirtyBytes: number;
  missing(block: Uint8Array, parsed: ParsedBlock, checkOutputs: boolean): Buffer;
  load(outpoints: Uint8Array, values: readonly (Uint8Array | null | undefined)[]): void;
  /**
   * Loads the outpoints of `missing` from the rows in `overlay`, else in `database` (null if it has no coins). Stops after
   * `budgetMicros`, after a row that took `slowMicros`, and at a row that cannot be read. Returns the outpoints that were not loaded;
   * null if there are none.
   */
  loadFrom(
    block: Uint8Array,
    parsed: ParsedBlock,
    checkOutputs: boolean,
    overlay: NativeRows,
    database: NativeDatabase | null,
    budgetMicros: number,
    slowMicros: number,
  ): Buffer | null;
  resolve(block: Uint8Array, parsed: ParsedBlock, height: number, checkOutputs?: boolean): ResolvedInputs;
  apply(block: Uint8Array, parsed: ParsedBlock, height: number): void;
  revert(block: Uint8Array, parsed: ParsedBlock, undo: Uint8Array, height: number): 'ok' | 'unclean';
  get(outpoint: Uint8Array): CoinValue | null | undefined;
  add(outpoint: Uint8Array, value: CoinValue, possibleOverwrite: boolean): void;
  spend(outpoint: Uint8Array): boolean;
  takeDirty(maxBytes: number): Buffer | null;
  trim(targetBytes: number, maxVisits?: number): void;
  clear(): void;
}

/** Address index rows of a block, as records in the format of `store/rows/rowRecords.ts`. */
export interface NativeAddressRows {
  /** First the rows of histories and unspent outputs, which must be written in this order, then the sums of each script. */
  records: Buffer;
  /** Position of the first sums. They contain only what the block adds. */
  totalsAt: number;
}

/** Confirmed transactions of the wallet, as input of `scanPayments`. See `SettledPayments` in `chain/blocks/paymentScan.ts`. */
export interface NativeSettled {
  readonly ids: Uint8Array;
  readonly idSlots: Int32Array;
  readonly blockOf: Uint32Array;
  readonly blocks: Uint8Array;
  readonly places: Int32Array;
  readonly kinds: Uint8Array;
}

/** One batch of signature checks. The buffers must not change until the promise settles. */
export interface VerifyJob {
  /** Bytes of the block or transaction that `parsed` describes. */
  block: Uint8Array;
  parsed: ParsedBlock;
  resolved: ResolvedInputs;
  /** The interpreter's verification flags (Core's SCRIPT_VERIFY_* bits). */
  flags: number;
  /** Number of the first input to verify, counted over the whole block; 0 by default. */
  firstInput?: number;
  /** Number of inputs to verify; absent means all inputs from the first one on. */
  count?: number;
  /**
   * Whether valid signatures are added to the signature cache, as for the mempool. If false, a signature that is found in
   * the cache is removed from it.
   */
  cacheResults?: boolean;
}

export interface VerifyReport {
  /**
   * Running numbers, ascending, of the inputs that the addon could not verify, so that the interpreter must verify them.
   * Inputs of a coinbase are never included.
   */
  undecided: Uint32Array;
  /** Number of inputs that were verified, without coinbase inputs. */
  checked: number;
  /** Number of signatures that were found in the signature cache. */
  cacheHits: number;
}

/** A signature without the hash type byte, the hash (32 bytes) that it signs, and the public key. */
export interface SignatureItem {
  hash: Uint8Array;
  signature: Uint8Array;
  publicKey: Uint8Array;
}

/** Elliptic curve operations. The interface is that of `EcdsaBackend` in the module `crypto`, which describes the contracts. */
export interface NativeEcdsa {
  readonly name: string;
  /** Verifies a signature like Core's `CPubKey::Verify`: lenient DER, any S, hybrid keys. Uses and fills the signature cache. */
  verify(hash: Uint8Array, derSignature: Uint8Array, publicKey: Uint8Array): boolean;
  /** Verifies each item as `verify` does, without the signature cache. Result bytes: 0 for invalid, 1 for valid. */
  verifyMany(items: readonly SignatureItem[]): Buffer;
  /** Like `verifyMany`, but on another thread. The items are read before the call returns. */
  verifyManyAside(items: readonly SignatureItem[]): Promise<Buffer>;
  isFullyValidPublicKey(publicKey: Uint8Array): boolean;
  publicKeyOf(privateKey: Uint8Array, compressed: boolean): Buffer;
  convertPublicKey(publicKey: Uint8Array, compressed: boolean): Buffer | null;
  sign(
    hash: Uint8Array,
    privateKey: Uint8Array,
    extraEntropy: Uint8Array | null,
  ): { compact: Buffer; recoveryId: number };
  recover(hash: Uint8Array, compact: Uint8Array, recoveryId: number, compressed: boolean): Buffer | null;
  tweakPrivateKey(privateKey: Uint8Array, tweak: Uint8Array): Buffer | null;
  tweakPublicKey(publicKey: Uint8Array, tweak: Uint8Array): Buffer | null;
}
