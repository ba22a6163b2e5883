/** The native addon: its functions and classes. */
import type { NativeClaimTrie, NativeBlockClaims, NativeNameClaims } from './claims.js';
import type {
  NativeCachedRows,
  NativeRows,
  NativeRowView,
  NativeDatabaseOptions,
  NativeDatabase,
  NativeDatabaseWalk,
  NativeFileDigest,
} from './stores.js';
import type {
  ParsedBlock,
  ResolvedInputs,
  NativeCoinTable,
  NativeAddressRows,
  NativeSettled,
  VerifyJob,
  VerifyReport,
  NativeEcdsa,
} from './blocks.js';

export interface NativeAddon {
  readonly abi: number;
  /** Source of the libsecp256k1 in use: the bundled copy or the system's library. */
  readonly secp256k1: 'bundled' | 'system';
  /** Name of the SHA-256 implementation that is used on this processor. */
  readonly sha256Implementation: 'sha-ni' | 'portable';

  sha256(data: Uint8Array): Buffer;
  /**
   * Double SHA-256. The hash is written to the 32 bytes of `target` and `target` is returned; without `target` a new Buffer
   * is returned.
   */
  sha256d(data: Uint8Array, target?: Uint8Array): Uint8Array;
  /** Double SHA-256 of each item of 64 bytes. The input has 64n bytes, the result 32n. */
  sha256dMany(items: Uint8Array): Buffer;
  /** Hash160: RIPEMD-160 of the SHA-256 of the data, 20 bytes. */
  hash160(data: Uint8Array): Buffer;
  /** Base58 of a payload of at most 128 bytes and the first four bytes of its double SHA-256. */
  base58Check(payload: Uint8Array): string;
  /** Bech32 address of a witness program of at most 40 bytes. `prefix` is in lower case, `version` at most 16. */
  witnessAddress(prefix: string, version: number, program: Uint8Array): string;
  /** Returns the proof-of-work hash of a 112-byte header. */
  powHash(header: Uint8Array): Buffer;
  merkleRoot(leaves: Uint8Array): { root: Buffer; mutated: boolean };
  /**
   * Writes the sibling hashes of a leaf to `path`, from the leaves upwards. `path` must be large enough. Returns the number
   * of siblings.
   */
  merklePath(leaves: Uint8Array, index: number, path: Uint8Array): number;
  /** Returns the CRC-32C checksum of the bytes. */
  crc32c(data: Uint8Array): number;
  /**
   * Hash of a claim trie node, see `claimtrie/trieNode.ts`. `slots` are the packed children, `claims` is the hash of the
   * claims (null without claims), `allClaims` selects the hash form. Throws `TypeError` for malformed bytes.
   */
  claimNodeHash(
    slots: Uint8Array,
    claims: Uint8Array | null,
    allClaims: boolean,
    target?: Uint8Array,
  ): Uint8Array;
  /**
   * Computes the hash of a node as `claimNodeHash` does, and writes it, with the leaf flag, to the parent's slot whose edge
   * begins with the byte `first`. Returns false, without a change, if the parent has no such slot.
   */
  claimNodeHashInto(
    slots: Uint8Array,
    claims: Uint8Array | null,
    allClaims: boolean,
    parentSlots: Uint8Array,
    first: number,
  ): boolean;
  /**
   * Writes the note of a node's change to `target`, see `noteRow` of `store/claims/rows/nodeNote.ts`. `before` and `after` are
   * packed slots, `place` selects the blocks in which the whole node is stored. Returns the size of the note; 0 if no slot
   * changed. `target` must have 258 bytes more than `before`. Throws `TypeError` for malformed bytes.
   */
  claimNodeNote(before: Uint8Array, after: Uint8Array, place: number, target: Uint8Array): number;
  /** Hash of a claim, see `valueHash` of `claimtrie/claimsHash.ts`. Throws `TypeError` if `point` does not have 36 bytes. */
  claimValueHash(point: string | Uint8Array, takeover: number, target?: Uint8Array): Uint8Array;
  /** Claim id of the claim created at an outpoint (36 bytes), as latin1. Throws `TypeError` for another size. */
  claimIdAtPoint(point: string | Uint8Array): string;
  /** First nonce from `startNonce` on whose proof-of-work hash is at most the target, or -1 after `maxTries`. */
  grind(header: Uint8Array, targetLE: Uint8Array, startNonce: number, maxTries: number): number;

  /**
   * Configures the C library to return freed memory to the system instead of keeping it for the thread that allocated it.
   * Returns false if this is not supported.
   */
  returnFreedMemory(): boolean;
  /**
   * Sets the size in bytes from which the C library maps an allocation separately and returns its memory when it is freed.
   * `returnFreedMemory` sets 128 KiB at its first call. Returns false if this is not supported.
   */
  mapAllocationsFrom(bytes: number): boolean;
  /**
   * Memory of the C library's heap in bytes: used and free bytes in its arenas, and bytes in separate mappings, which are
   * all in use. Null if unknown: with glibc before 2.33, and with other C libraries.
   */
  heapUsage(): { usedBytes: number; freeBytes: number; mappedBytes: number } | null;
  /** Returns free pages of the C library's heap to the system, on another thread. Resolves to whether there were any. */
  trimHeap(): Promise<boolean>;
  /**
   * Unmaps the unchanged pages of Node's program file, on another thread. Linux only; elsewhere it does nothing. An access
   * maps a page again, from the page cache. Resident memory thereby counts only pages that are in use.
   */
  unmapIdleCode(): Promise<void>;

  /**
   * Fills `target` with bytes of an open file without waiting for a disk. Returns the number of bytes. There are fewer than
   * requested at the end of the file, or if further bytes are not in the page cache; -1 if no byte is available without
   * waiting. Without the addon the caller reads on a thread.
   */
  readCached(fd: number, target: Uint8Array, position: number): number;
  /**
   * Opens a file for reading without waiting for a disk. Returns its descriptor, which the caller must close; -1 if the
   * entries of the path are not in memory, or if the file cannot be opened. The caller then opens the file on a thread, which
   * reports the error. Opening a pipe does not wait. Only on Linux.
   */
  openCached?(path: Uint8Array): number;

  /** Number of messages that the processor hashes at the same time: 8 with AVX-512, 4 with AVX2, otherwise 0. */
  readonly sha384LaneCount?: number;
  /**
   * SHA-384 digests (48 bytes each, concatenated) of one to `lanes` messages of the same size. The time hardly depends on the
   * number of messages. `lanes` is 4 or 8, at most `sha384LaneCount`. Absent if the processor does not support it; the caller
   * then uses `node:crypto`.
   */
  sha384Lanes?(messages: readonly Uint8Array[], lanes: number): Buffer;
  /**
   * On another thread, computes digests as `sha384Lanes` with all lanes, and a chunk table (`chunkTable.ts`) for each message. `keys` are
   * the keys of the tables (16 bytes each, concatenated). Resolves to the digest and the table of each message, concatenated.
   * The messages must not change until the promise settles. Absent if `sha384Lanes` is, or if the program does not export
   * OpenSSL.
   */
  digestBlobs?(messages: readonly Uint8Array[], keys: Uint8Array): Promise<Buffer>;
  /**
   * Whether chunks of a blob from number `firstChunk` on match its chunk table. Throws a `TypeError` if the table has no codes
   * for them. Only on Linux, and only if the program exports OpenSSL.
   */
  chunksMatch?(table: Uint8Array, firstChunk: number, bytes: Uint8Array): boolean;
  /**
   * Creates an ArrayBuffer of at most 128 MiB that is filled with zeros and starts at a page, in huge pages if the system has
   * them. The memory returns to the system when the ArrayBuffer is garbage collected. Only on Linux.
   */
  blobMemory?(size: number): ArrayBuffer;
  /**
   * On another thread, writes a new file with direct I/O. Resolves to its descriptor, which the caller must pass to
   * `keepFiles`. Resolves to -1 if this failed, for example because the file system needs the page cache or other alignment; then no
   * file remains, and the caller writes the file by another way. Returns null if the bytes do not start at a page or are
   * not whole pages. The bytes must not change before the promise settles. Only on Linux.
   */
  writeDirect?(path: Uint8Array, bytes: Uint8Array): Promise<number> | null;
  /**
   * On another thread, syncs the data of files in `folder`, renames the files, and syncs the folder. `names` has the present and
   * the new name of each file, each followed by a zero byte. Also removes files whose names are the new names followed by
   * `obsolete`, if they exist. Closes `files`. Resolves to the stamp of each file (`FileStamp`), or to the negative number of a
   * system error; a file that was not renamed is removed then. Only where `writeDirect` exists.
   */
  keepFiles?(
    folder: Uint8Array,
    files: readonly number[],
    names: Uint8Array,
    obsolete: Uint8Array,
  ): Promise<(string | number)[]>;
  /**
   * On another thread, decrypts the file of a blob (AES-128-CBC) and writes the plaintext without padding into the open file
   * `target` at `position`. The file of the blob must have the stamp `stamp` (`FileStamp`), and each chunk must match `table`
   * before it is written. Without a table, a file with this stamp counts as verified. Resolves to the number of written
   * bytes. Resolves to -1 if a condition does not hold or a system call fails; the caller then copies the blob by another
   * way, which reports the error. The chunks before the failure may be written then. `target` must stay open until the
   * promise settles. Only on Linux, and only if the program exports OpenSSL.
   */
  copyBlob?(
    path: Uint8Array,
    stamp: Uint8Array,
    table: Uint8Array | null,
    key: Uint8Array,
    iv: Uint8Array,
    target: number,
    position: number,
  ): Promise<number>;
  /**
   * Like `copyBlob`, for a blob in memory whose hash was verified. Resolves to -1 if the padding is wrong or a system call fails.
   * `bytes` must not change before the promise settles. Only where `copyBlob` exists.
   */
  decryptBlob?(
    bytes: Uint8Array,
    key: Uint8Array,
    iv: Uint8Array,
    target: number,
    position: number,
  ): Promise<number>;
  /**
   * On another thread, reads the file of a blob into the start of `into`, under the conditions of `copyBlob`. Resolves to the
   * size of the blob; to -1 if a condition does not hold, a system call fails or the blob is larger than `into`, which may
   * contain any bytes then. `into` must not be used before the promise settles. Only where `copyBlob` exists.
   */
  readBlob?(path: Uint8Array, stamp: Uint8Array, table: Uint8Array | null, into: Uint8Array): Promise<number>;
  /** Hash of a file that is read in order. Only on Linux, and only if the program exports OpenSSL. */
  readonly FileDigest?: new () => NativeFileDigest;
  /**
   * On another thread, encrypts one to four pieces of a file into blobs (AES-128-CBC, padding of PKCS #7), in place. `sizes`
   * has the size of each piece (u32, little-endian). The memory of a piece must have room for the padding, and must not be used
   * before the promise settles.
   * `ivs` and `tableKeys` have 16 bytes for each piece. Resolves to the SHA-384 and the chunk table of each blob, one after
   * the other. `usesLanes`: whether blobs of the same size are hashed at the same time, if the processor supports that. Only
   * where `FileDigest` exists.
   */
  encryptBlobs?(
    pieces: readonly Uint8Array[],
    sizes: Uint8Array,
    key: Uint8Array,
    ivs: Uint8Array,
    tableKeys: Uint8Array,
    usesLanes: boolean,
  ): Promise<Buffer>;

  /**
   * Parses a block (`parseBlock`) or a transaction (`parseTx`). For malformed bytes it throws an `Error` with the message of
   * the `ReadError` that the fallback throws.
   */
  parseBlock(bytes: Uint8Array): ParsedBlock;
  parseTx(bytes: Uint8Array): ParsedBlock;
  /** Like `parseBlock`, but on another thread. The bytes must not change before the promise settles. */
  parseBlockAside(bytes: Uint8Array): Promise<ParsedBlock>;
  /**
   * Length of the transaction at the start of the bytes; 0 if it is incomplete. Writes its txid and wtxid to the 64 bytes of
   * `ids`.
   */
  scanTx(bytes: Uint8Array, ids: Uint8Array): number;
  /**
   * Searches blocks for transactions that may concern a wallet; see `chain/blocks/paymentScan.ts`. `places`: start and end
   * offset of each block in the bytes; `ids`: block ids, 32 bytes each; `scripts`, `txids`: words of `PrefixFilter`s;
   * `settled`: see `SettledPayments`.
   */
  scanPayments(
    bytes: Uint8Array,
    places: Uint32Array,
    ids: Uint8Array,
    segwitFrom: number,
    scripts: Uint32Array,
    txids: Uint32Array,
    settled: NativeSettled | null,
  ): Uint32Array;
  /**
   * Like `scanPayments`, on another thread. `bytes`, `places`, `ids` and `settled` (except its kinds) must not change before
   * the promise settles.
   */
  scanPaymentsAside(
    bytes: Uint8Array,
    places: Uint32Array,
    ids: Uint8Array,
    segwitFrom: number,
    scripts: Uint32Array,
    txids: Uint32Array,
    settled: NativeSettled | null,
  ): Promise<Uint32Array>;
  /**
   * Unpacks the rows of a snapshot's piece into records, on another thread. See `chain/snapshot/snapshotRows.ts`. `payload`
   * must not change before the promise settles. Rejects with an error whose `code` is SNAPSHOT_ROWS for an invalid piece.
   */
  unpackSnapshotRows(
    payload: Uint8Array,
    checksum: Uint8Array,
    isCoins: boolean,
    prefixes: readonly string[],
  ): Promise<{ records: Buffer; rows: number; lastAt: number }>;
  /** The claims in the row of a name, from offset `at` on; null for a truncated row. See `store/claims/namePlaces.ts`. */
  nameClaims(row: Uint8Array, at: number, count: number): NativeNameClaims | null;
  /** Position that the number at index `of` gets in a sort, see `util/standardSort.ts`; -1 if the whole list must be sorted. */
  standardPlace(numbers: Float64Array, of: number): number;
  buildUndo(parsed: ParsedBlock, resolved: ResolvedInputs): Buffer;
  /** See `store/cache/coinRow.ts`. Null if the undo data is malformed or belongs to another block. */
  resolvedFromUndo(parsed: ParsedBlock, undo: Uint8Array): ResolvedInputs | null;
  /**
   * Returns the `records` of `NativeAddressRows`. The stored sums of each script are read from `overlay` and `database`, and
   * added; without `overlay` none are added. `database` is null if it contains no such rows. Stops reading after
   * `budgetMicros` or after one read that takes `slowMicros`. Sets `places[0]` to `totalsAt`, and `places[1]` to the position
   * of the first sums to which no stored sums were added. See `index/addressRows.ts`.
   */
  addressRows(
    block: Uint8Array,
    parsed: ParsedBlock,
    resolved: ResolvedInputs,
    height: number,
    overlay: NativeRows | null,
    database: NativeDatabase | null,
    budgetMicros: number,
    slowMicros: number,
    places: Uint32Array,
  ): Buffer;
  /** Like `addressRows` without `overlay`, but on another thread. The arguments must not change before the promise settles. */
  addressRowsAside(
    block: Uint8Array,
    parsed: ParsedBlock,
    resolved: ResolvedInputs,
    height: number,
  ): Promise<NativeAddressRows>;
  /** Transaction index rows of a block, as records. See `index/txIndex.ts`. */
  txRows(block: Uint8Array, parsed: ParsedBlock, height: number): Buffer;
  /**
   * Script key in the address index, as a latin1 string of 16 characters; null for an unspendable script. See
   * `index/addressScripts.ts`.
   */
  scriptKey(script: Uint8Array): string | null;
  readonly BlockClaims: new () => NativeBlockClaims;
  /** The claim operations of a block, packed (`native/claims/claimOperations.h`). */
  claimOperations(block: Uint8Array, parsed: ParsedBlock, resolved: ResolvedInputs): Buffer;
  readonly ClaimTrie: new () => NativeClaimTrie;
  readonly CoinTable: new () => NativeCoinTable;
  readonly Database: new (path: string, options: NativeDatabaseOptions) => NativeDatabase;
  readonly DatabaseWalk: new (
    database: NativeDatabase,
    gte: string,
    lt: string,
    reverse: boolean,
  ) => NativeDatabaseWalk;
  /** Table of rows. `maxBytes` limits the memory, in which case the table is a cache that evicts rows; 0 for no limit. */
  readonly Memtable: new () => NativeRows;
  readonly RowCache: new (maxBytes: number) => NativeCachedRows;
  /** View of a table and a database, given by their numbers. The constructor throws if one of them no longer exists. */
  readonly RowView: new (rows: number, database: number) => NativeRowView;

  setVerifyThreads(count: number): void;
  setSignatureCacheBytes(bytes: number): void;
  /** Size limit of this thread's signature cache in bytes, and number of signatures inserted since the limit was set. */
  signatureCacheUsage(): { maxBytes: number; insertions: number };
  verifyInputs(job: VerifyJob): Promise<VerifyReport>;
  /**
   * Like `verifyInputs`, but synchronous on the calling thread. For a few inputs, for which switching threads would take
   * longer.
   */
  verifyInputsHere(job: VerifyJob): VerifyReport;
  /** Digest that a signature of input `inputNumber` signs; for the differential tests. */
  signatureHash(
    tx: Uint8Array,
    parsed: ParsedBlock,
    inputNumber: number,
    scriptCode: Uint8Array,
    hashType: number,
    amount: bigint,
    witness: boolean,
  ): Buffer;

  readonly ecdsa: NativeEcdsa;
}
