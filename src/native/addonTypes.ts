/** Types of the native addon's functions and data. */

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

/**
 * Rows by key, in memory outside the JavaScript heap. The value `null` marks a deletion. Keys are strings of one code unit
 * per byte, or bytes. Records have the format of `store/leveldb/flushJournal.ts`.
 */
export interface NativeRows {
  /** Number of bytes of memory that the rows use. */
  readonly sizeBytes: number;
  readonly count: number;
  /**
   * Copies the value to the offset `at` of `target` if it fits. Returns its length; -1 if the key is unknown, -2 for a deletion.
   */
  read(key: Uint8Array | string, target: Uint8Array, at: number): number;
  set(key: Uint8Array | string, value: Uint8Array | null): void;
  /** Sets the rows in `records` (in the format of `walk`) whose keys start with the byte `kind`. */
  setRecords(kind: number, records: Uint8Array): void;
  /** Sets all rows in `records` (in the format of `walk`). */
  addRecords(records: Uint8Array): void;
  /**
   * Looks up the keys of `records`. Result: `u32 number of unknown keys ‖ packed values`, with 0xfffffffe in place of the
   * length for an unknown key; see `store/rows/rowRecords.ts`.
   */
  readRecords(records: Uint8Array): Buffer;
  clear(): void;
  /**
   * Starts an iteration over all rows, grouped by the first byte of their keys. Only for tables without a size limit. The
   * table must not change until the iteration ends.
   */
  beginWalk(): void;
  /**
   * Writes the next records of the iteration to `target`. Returns the number of bytes; 0 at the end; -n if the next record
   * needs n bytes.
   */
  walk(target: Uint8Array): number;
  /**
   * Records with keys from `gte` (inclusive) to `lt` (exclusive), ascending; undefined if there are none. Only for tables
   * without a size limit.
   */
  range(gte: Uint8Array | string, lt: Uint8Array | string): Buffer | undefined;
  /** Number of changes so far, i.e. of calls of `beginChange`. */
  readonly changes: number;
  /** Number by which other threads attach to the table (`RowView`). Only for tables without a size limit. */
  share(): number;
  /**
   * Starts a change. Other threads see either all or none of the modifications until `endChange`, which must be called in
   * the same turn of the event loop.
   */
  beginChange(): void;
  endChange(): void;
}

/**
 * The part of the claim trie that a block uses (`WorkTrie` of src/claimtrie/workTrie.ts). Paths and names are strings with one code
 * unit for each byte. If a result that may be a string is one, it is the path of a missing row: the caller must supply the row and
 * repeat the call.
 */
export interface NativeClaimTrie {
  /**
   * Starts with an empty trie. `prefix` is the part of a node row's key before the path. If `overlay` is given, rows are looked up
   * there and then in `recent`.
   */
  reset(prefix: string, overlay?: NativeRows | null, recent?: NativeRows | null): void;
  /** Loads the paths of names, and returns the paths whose rows must be supplied before the next call, which has no names. */
  load(names?: readonly string[]): string[];
  /** Returns the loaded nodes whose claims hash is in no row, in the order in which they were found, and clears the list. */
  takeLeaves(): string[];
  /** Returns whether the row is well formed. Null stands for the root of an empty trie. */
  supply(path: string, row: Uint8Array | null): boolean;
  isNode(name: string): boolean | string;
  knowsNode(name: string): boolean | string;
  insert(name: string): boolean | string;
  /** Returns false if no node with claims has this name. */
  remove(name: string): boolean | string;
  /** Returns false if no node has this name. */
  touch(name: string): boolean | string;
  childPaths(name: string): string[] | string;
  storedPath(name: string): string[] | string;
  takeVanished(): string[];
  readonly dirtyCount: number;
  /** Names whose claims hash must be set. */
  unhashed(): string[];
  /** Sets the hashes, 32 bytes each, in the order of `unhashed`. */
  setHashes(hashes: Uint8Array): void;
  /**
   * Hashes all changed nodes, at least one. Result: `root ‖ u8 whether there are notes ‖ records of nodes and notes`; null if a node
   * is not among the children of its parent. `notePrefix` is the part of a note's key before the length of the path.
   */
  finish(allClaims: boolean, height: number, notePrefix: string): Buffer | null;
}

/** Connects the claims of ordinary blocks. See `store/claims/ordinaryBlock.ts`. */
export interface NativeBlockClaims {
  /**
   * Rows are read in `overlay`, then in the cache of the row type, then in `database`. `rules` are packed (`readRules` of the addon).
   * `notePrefix` is the part of a node note's key before the length of the path. `idleBits` is the filter of idle names; bits may be
   * set. `normalize` returns the normalized form of a name that is not ASCII. Result: `root ‖ u8 whether there are notes of nodes ‖
   * records of all changed rows`; null if the fallback must connect the block.
   */
  connect(
    overlay: NativeRows,
    names: NativeRows | null,
    items: NativeRows | null,
    nodes: NativeRows | null,
    database: NativeDatabase | null,
    rules: Uint8Array,
    notePrefix: string,
    idleBits: Uint8Array,
    normalize: (name: string) => string,
    operations: Uint8Array,
  ): Buffer | null;
}

/**
 * Rows for reading in another thread: the rows of a table take precedence over those of a database. Table and database are
 * given by their numbers.
 */
export interface NativeRowView {
  /** Number of changes of the table (`NativeRows`). It is incremented before readers can see any part of a change. */
  readonly changes: number;
  /** Packed values of all keys. Throws an error with the code LEVEL_DATABASE_NOT_OPEN if the database is closed. */
  getMany(keys: readonly string[]): Buffer;
  /**
   * Rows of a range: size of the table's records (u32, little endian) ‖ these records, ascending, with deletions ‖ the
   * output of the database's `rangeNow`, with as many additional rows as the table may hide.
   */
  range(gte: string, lt: string, reverse: boolean, maxRows: number): Buffer;
}

/** Claims in the row of a name. The arrays have one element for each claim, as in `NamePlaces`. */
export interface NativeNameClaims {
  readonly starts: Uint32Array;
  readonly txids: Uint32Array;
  readonly outputs: Uint32Array;
  readonly ids: Uint32Array;
  readonly ages: Float64Array;
  /** Offset in the row after the last claim. */
  readonly end: number;
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

/** Address index rows of a block. */
export interface NativeAddressRows {
  /** Records of the rows for histories and unspent outputs. They must be written in this order. */
  records: Buffer;
  /** Records with the amounts that the block adds to the sums of each script. */
  totals: Buffer;
}

export interface NativeDatabaseOptions {
  /** Size in bytes of LevelDB's cache for blocks of table files. */
  cacheBytes: number;
  /** Number of written bytes that are collected in memory before LevelDB writes them to a table file. */
  writeBufferBytes: number;
  /** Maximum size of a table file in bytes. */
  fileBytes: number;
  /** Maximum number of table files that are kept open. */
  openFiles: number;
}

/**
 * A LevelDB database. Every read verifies checksums; a failed check throws, or rejects with, an error whose `code` is
 * LEVEL_CORRUPTION. Keys are strings with one code unit per byte. When `close` is called, no operation may be pending and no
 * walk may be open. "Packed values" have the format `u32 length ‖ value` for each key, with the length 0xffffffff for a
 * missing row. Records have the format of `store/rows/rowRecords.ts`. All numbers are little endian.
 */
export interface NativeDatabase {
  open(): Promise<void>;
  /** Closes the database, after reads by other threads have ended. */
  close(): Promise<void>;
  /** Number by which other threads attach to the database (`NativeRowView`). It stays valid if the database is reopened. */
  share(): number;
  /** LevelDB's sequence number of the newest put or delete. */
  readonly sequence: number;
  /**
   * Reads the rows of `keys` in order and writes their packed values to `target`. It stops after a key whose read took
   * `slowMicros`, or when `budgetMicros` have passed. Returns the number of written bytes, or -n if the n needed bytes do
   * not fit.
   */
  getNow(
    keys: readonly string[],
    fillCache: boolean,
    slowMicros: number,
    budgetMicros: number,
    target: Uint8Array,
  ): number;
  /** Packed values of all keys, read on another thread. */
  getMany(keys: readonly string[], fillCache: boolean): Promise<Buffer>;
  /**
   * Packed values of those keys in `records` that `NativeRows.readRecords` left unknown in its result `known`. They are read
   * on another thread. Both arguments must not change before the promise settles.
   */
  getUnknown(records: Uint8Array, known: Uint8Array, fillCache: boolean): Promise<Buffer>;
  /**
   * Like `getUnknown`, but on the calling thread. Returns undefined if it stops before the last key, as `getNow` does.
   */
  getUnknownNow(
    records: Uint8Array,
    known: Uint8Array,
    fillCache: boolean,
    slowMicros: number,
    budgetMicros: number,
  ): Buffer | undefined;
  /**
   * Reads a range and writes to `target`: one byte, which is 1 if the range was read completely ‖ records. Returns the
   * number of bytes, like `getNow`.
   */
  rangeNow(
    gte: string,
    lt: string,
    reverse: boolean,
    maxRows: number,
    budgetMicros: number,
    target: Uint8Array,
  ): number;
  /** Writes the records of all pieces as one atomic batch; the pieces must not change before the promise settles. */
  write(pieces: readonly Uint8Array[], synced: boolean): Promise<void>;
  deleteRange(gte: string, lt: string): Promise<void>;
  compact(gte: string, lt: string): Promise<void>;
  approximateSize(gte: string, lt: string): Promise<number>;
  /** Value of a LevelDB property (`GetProperty`); empty for an unknown name. */
  property(name: string): string;
}

/** SHA-384 of a file that is read in order. */
export interface NativeFileDigest {
  /**
   * On another thread, fills the pieces (one to four) one after the other from a position of the open file, and adds the bytes
   * to the hash. Resolves to the number of bytes, which is smaller at the end of the file, or to a negative error number of
   * the system. The file must stay open, and the pieces must not be used, before the promise settles. Throws if an earlier
   * read has not ended.
   */
  read(file: number, position: number, pieces: readonly Uint8Array[]): Promise<number>;
  /** Returns the SHA-384 of all bytes. Must be called once, when no read is running. */
  end(): Buffer;
}

/**
 * An iteration over the rows of a range, in their state at its creation. `close` must be called when no call is pending.
 */
export interface NativeDatabaseWalk {
  /**
   * Next rows, in the format of `rangeNow`. Their number is limited by `maxRows`, their size by `maxBytes`. Only one call
   * may be pending.
   */
  next(maxRows: number, maxBytes: number): Promise<Buffer>;
  close(): void;
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

  /**
   * SHA-384 digests (48 bytes each, concatenated) of one to four messages of the same size. Four messages take little more
   * time than one. Absent if the processor does not support it; the caller then uses `node:crypto`.
   */
  sha384Lanes?(messages: readonly Uint8Array[]): Buffer;
  /**
   * On another thread, computes digests as `sha384Lanes`, and a chunk table (`chunkTable.ts`) for each message. `keys` are
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
  /** Number of bytes from the start of `bytes` in memory to the next page of 4096 bytes. Only on Linux. */
  bytesToPage?(bytes: Uint8Array): number;
  /**
   * On another thread, writes a new file `temporary` with direct I/O, syncs it and renames it to `path`. Resolves to the
   * file's stamp (`FileStamp`). Resolves to an empty string if this failed, for example because the file system needs the
   * page cache or other alignment; then no temporary file remains, and the caller writes the file by another way. `bytes`
   * must start at a page and have whole pages. Only on Linux.
   */
  storeFile?(temporary: Uint8Array, path: Uint8Array, bytes: Uint8Array): Promise<string>;
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
   * On another thread, verifies the file of a blob as `copyBlob` does, and writes nothing. Resolves to false also if the file
   * cannot be read. Only where `copyBlob` exists.
   */
  blobMatches?(path: Uint8Array, stamp: Uint8Array, table: Uint8Array): Promise<boolean>;
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
  /** Address index rows of a block, as records in the format of `store/rows/rowRecords.ts`. See `index/addressRows.ts`. */
  addressRows(
    block: Uint8Array,
    parsed: ParsedBlock,
    resolved: ResolvedInputs,
    height: number,
  ): NativeAddressRows;
  /** Like `addressRows`, but on another thread. The arguments must not change before the promise settles. */
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
  readonly Memtable: new (maxBytes: number) => NativeRows;
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
