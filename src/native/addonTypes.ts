/** Types of everything that crosses the border to the native addon. */

/**
 * A block (or one transaction) as offsets into its own bytes. All offsets count from the start of the parsed buffer.
 * Rows of `txs`, `inputs` and `outputs` are laid out by the column constants of `primitives/blockView.ts`.
 */
export interface ParsedBlock {
  txCount: number;
  txs: Uint32Array;
  inputs: Uint32Array;
  outputs: Uint32Array;
  /** 32 bytes per transaction, wire order. */
  txids: Buffer;
  wtxids: Buffer;
  /** Root over `txids`; 32 zero bytes without transactions. */
  merkleRoot: Buffer;
  /** Whether two equal siblings are hashed together (CVE-2012-2459). */
  mutated: boolean;
  /** Root over `wtxids` with a zero leaf for the first transaction (BIP141). */
  witnessMerkleRoot: Buffer;
  /** Number of bytes read. Differs from `sizeBytes` when a transaction has the witness marker but no witness. */
  consumedBytes: number;
  /** Size of the reference's serialization, with witness. */
  sizeBytes: number;
  strippedSizeBytes: number;
  /** BIP141: three times the stripped size plus the size. */
  weight: number;
  /** The memory that the tables are views of, where the addon made them together: it reads this instead of each of them. */
  packed?: Buffer;
}

/** The coins that a block spends, by running input number (rows of `ParsedBlock.inputs`); coinbase rows stay zero. */
export interface ResolvedInputs {
  /** height * 2 + coinbase. */
  heightCodes: Uint32Array;
  amounts: BigInt64Array;
  scriptOffsets: Uint32Array;
  scriptLengths: Uint32Array;
  /** All spent scripts, concatenated. */
  scripts: Buffer;
  /** 0: found; 1: missing or spent already (in the same block too). */
  status: Uint8Array;
  /** Kind of the spent script, as in the outputs' claim-kind column. */
  claimKinds: Uint8Array;
  /** Numbers of the transactions with an output that already exists unspent before the block (BIP30). */
  duplicates: Uint32Array;
  /** As `ParsedBlock.packed`. */
  packed?: Buffer;
}

export interface CoinValue {
  /** height * 2 + coinbase. */
  heightCode: number;
  /** Satoshis. */
  amount: bigint;
  script: Uint8Array;
}

/** See `store/cache/coinTable.ts` for the contract of every method. */
export interface NativeCoinTable {
  readonly usageBytes: number;
  readonly entryCount: number;
  readonly dirtyCount: number;
  readonly dirtyBytes: number;
  missing(block: Uint8Array, parsed: ParsedBlock, checkOutputs: boolean): Buffer;
  load(outpoints: Uint8Array, values: readonly (Uint8Array | null | undefined)[]): void;
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
 * Rows by their key, off the JavaScript heap; `null` marks a deletion. Keys are strings of one code unit per byte, or bytes.
 * Records have the format of `store/leveldb/flushJournal.ts`.
 */
export interface NativeRows {
  /** Memory that the rows take. */
  readonly sizeBytes: number;
  readonly count: number;
  /**
   * Copies the value to the start of `target` if it fits. Returns its length; -1 if the key is unknown, -2 for a deletion.
   */
  read(key: Uint8Array | string, target: Uint8Array): number;
  set(key: Uint8Array | string, value: Uint8Array | null): void;
  /** Sets the rows of records (as written by `walk`) whose keys begin with this byte. */
  setRecords(kind: number, records: Uint8Array): void;
  /** The same for all records. */
  addRecords(records: Uint8Array): void;
  /**
   * `u32 how many of the keys nothing is known of ‖ packed values` of the keys of records, 0xfffffffe in place of a
   * length where nothing is known; see `store/rows/rowRecords.ts`.
   */
  readRecords(records: Uint8Array): Buffer;
  clear(): void;
  /**
   * Starts a walk over all rows, grouped by the first byte of their keys; for tables without a size limit. The table must
   * not change until the walk ends.
   */
  beginWalk(): void;
  /** Writes the next records to `target`. Returns the number of bytes; 0 at the end; -n when the next record needs n bytes. */
  walk(target: Uint8Array): number;
  /** Records from `gte` up to but not including `lt`, ascending, if there are any; for tables without a size limit. */
  range(gte: Uint8Array | string, lt: Uint8Array | string): Buffer | undefined;
  /** Number of calls of `beginChange`. */
  readonly changes: number;
  /** The number by which other threads attach (`RowView`); for tables without a size limit. */
  share(): number;
  /** Other threads see either all or none of the changes up to `endChange`, which must be called in the same turn. */
  beginChange(): void;
  endChange(): void;
}

/** The rows that another thread reads: those of a table over those of a database, each given by its number. */
export interface NativeRowView {
  /** See `NativeRows`: incremented before any part of a change is visible. */
  readonly changes: number;
  /** Packed values of all keys. Throws an error with the code LEVEL_DATABASE_NOT_OPEN if the database is closed. */
  getMany(keys: readonly string[]): Buffer;
  /**
   * Size of the table's records (u32, little endian) ‖ these, ascending, with deletions ‖ what `rangeNow` writes of the
   * database, with as many rows more as the table may hide.
   */
  range(gte: string, lt: string, reverse: boolean, maxRows: number): Buffer;
}

/** One element for each claim of a name, as in `NamePlaces`. */
export interface NativeNameClaims {
  readonly starts: Uint32Array;
  readonly txids: Uint32Array;
  readonly outputs: Uint32Array;
  readonly ids: Uint32Array;
  readonly ages: Float64Array;
  /** Offset behind the claims. */
  readonly end: number;
}

/** See `SettledPayments` of `chain/blocks/paymentScan.ts`. */
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
  /** Rows of histories and unspent outputs. Their order matters. */
  records: Buffer;
  /** The amounts that the block adds to the sums of the scripts touched, as records. */
  totals: Buffer;
}

export interface NativeDatabaseOptions {
  /** LevelDB's cache of blocks out of table files. */
  cacheBytes: number;
  /** What is written goes into a table file from here on. */
  writeBufferBytes: number;
  /** A table file is full from here on. */
  fileBytes: number;
  /** Table files that are kept open. */
  openFiles: number;
}

/**
 * LevelDB. Every read verifies checksums; a failure throws, or rejects with, an error whose `code` is LEVEL_CORRUPTION. Keys
 * are strings of one code unit per byte. No operation may be pending, and no walk open, at `close`. "Packed values" are `u32
 * length, or 0xffffffff where there is no row ‖ value`; records those of `store/rows/rowRecords.ts`; all numbers are little
 * endian.
 */
export interface NativeDatabase {
  open(): Promise<void>;
  /** Waits for reads by other threads. */
  close(): Promise<void>;
  /** The number by which other threads attach (`NativeRowView`); it stays valid when the database is reopened. */
  share(): number;
  /** Sequence number of the newest put or delete. */
  readonly sequence: number;
  /**
   * Writes packed values of the first keys to `target`: up to the first key that took `slowMicros`, or that was read after
   * `budgetMicros`. Returns the number of bytes; -n when the n bytes do not fit.
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
   * Packed values of the keys of records that `NativeRows.readRecords` left unknown in `known`, read on another thread. Both
   * arguments must not change before the promise settles.
   */
  getUnknown(records: Uint8Array, known: Uint8Array, fillCache: boolean): Promise<Buffer>;
  /**
   * Writes to `target`: one byte, 1 when nothing is missing of what was asked for ‖ records. How many bytes, as `getNow`
   * says it.
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
  /** LevelDB's `GetProperty`; empty for an unknown name. */
  property(name: string): string;
}

/** A walk over the rows of a range, as they were when the walk was created. Close it when no call is pending. */
export interface NativeDatabaseWalk {
  /** The next rows in the format of `rangeNow`, limited by count and `maxBytes`. One call at a time. */
  next(maxRows: number, maxBytes: number): Promise<Buffer>;
  close(): void;
}

/** One batch of signature checks. The buffers must not change until the promise settles. */
export interface VerifyJob {
  /** The bytes that `parsed` describes: a block or a transaction. */
  block: Uint8Array;
  parsed: ParsedBlock;
  resolved: ResolvedInputs;
  /** The interpreter's verification flags (Core's SCRIPT_VERIFY_* bits). */
  flags: number;
  /** First running input number; default: 0. */
  firstInput?: number;
  /** Number of inputs; default: all following ones. */
  count?: number;
  /** Whether valid signatures are added to the signature cache (for the mempool); otherwise a hit is removed from the cache. */
  cacheResults?: boolean;
}

export interface VerifyReport {
  /** Running numbers, ascending, of the inputs that must be verified by the interpreter. Never an input of a coinbase. */
  undecided: Uint32Array;
  /** Number of inputs verified, without coinbases. */
  checked: number;
  /** Signatures found in the signature cache. */
  cacheHits: number;
}

/** A signature without hash type byte, over a hash of 32 bytes. */
export interface SignatureItem {
  hash: Uint8Array;
  signature: Uint8Array;
  publicKey: Uint8Array;
}

/** Curve arithmetic in the shape of the crypto layer's `EcdsaBackend`; contracts are documented there. */
export interface NativeEcdsa {
  readonly name: string;
  /** Core's `CPubKey::Verify`: lenient DER, any S, hybrid keys. Reads and fills the signature cache. */
  verify(hash: Uint8Array, derSignature: Uint8Array, publicKey: Uint8Array): boolean;
  /** The result of `verify` for each item, without the signature cache. 0: invalid; 1: valid. */
  verifyMany(items: readonly SignatureItem[]): Buffer;
  /** The same, on another thread. The items are read before the call returns. */
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
  /** The libsecp256k1 in use: bundled or the system's. */
  readonly secp256k1: 'bundled' | 'system';
  /** The SHA-256 implementation in use on this processor. */
  readonly sha256Implementation: 'sha-ni' | 'portable';

  sha256(data: Uint8Array): Buffer;
  /** Writes the hash to the 32 bytes of `target`, and answers it; without, to a Buffer of its own. */
  sha256d(data: Uint8Array, target?: Uint8Array): Uint8Array;
  /** Double SHA-256 of each 64-byte item: 64n bytes in, 32n out. */
  sha256dMany(items: Uint8Array): Buffer;
  /** RIPEMD-160 of SHA-256, 20 bytes. */
  hash160(data: Uint8Array): Buffer;
  /** Proof-of-work hash of a 112-byte header. */
  powHash(header: Uint8Array): Buffer;
  merkleRoot(leaves: Uint8Array): { root: Buffer; mutated: boolean };
  /** Writes the siblings of a leaf to `path`, from the leaves upward; `path` must be large enough. Returns their number. */
  merklePath(leaves: Uint8Array, index: number, path: Uint8Array): number;
  /** CRC-32C of the bytes. */
  crc32c(data: Uint8Array): number;
  /** See `claimtrie/trieNode.ts`: packed slots and the claims' half of the hash. Throws `TypeError` for malformed bytes. */
  claimNodeHash(slots: Uint8Array, claims: Uint8Array, target?: Uint8Array): Uint8Array;
  /** First nonce from `startNonce` on whose proof-of-work hash is at most the target, or -1 after `maxTries`. */
  grind(header: Uint8Array, targetLE: Uint8Array, startNonce: number, maxTries: number): number;

  /**
   * Makes the C library return freed memory to the system, instead of keeping it for the thread that allocated it. False if
   * this is not supported.
   */
  returnFreedMemory(): boolean;
  /**
   * What the C library holds for the process, in bytes: in use and free in its arenas, and in mappings of their own, which are
   * all in use. Null where that is not known: glibc before 2.33, and other libraries.
   */
  heapUsage(): { usedBytes: number; freeBytes: number; mappedBytes: number } | null;
  /** Gives free pages of the C library back to the system, on another thread. Resolves to whether there were some. */
  trimHeap(): Promise<boolean>;

  /**
   * Fills `target` with bytes of an open file without waiting for a disk. Returns the number of bytes: fewer than requested
   * at the end of the file or if the following bytes are not in the page cache; -1 if none are available this way. Without
   * the addon the caller reads on a thread.
   */
  readCached(fd: number, target: Uint8Array, position: number): number;

  /** The following functions throw an `Error` with the message of the fallback's `ReadError`. */
  parseBlock(bytes: Uint8Array): ParsedBlock;
  parseTx(bytes: Uint8Array): ParsedBlock;
  /** `parseBlock` on another thread; the bytes must not change before the promise settles. */
  parseBlockAside(bytes: Uint8Array): Promise<ParsedBlock>;
  /**
   * Length of the transaction at the start of the bytes, 0 if there is no complete one. Writes its txid and wtxid to the 64
   * bytes of `ids`.
   */
  scanTx(bytes: Uint8Array, ids: Uint8Array): number;
  /**
   * Looks through blocks for transactions that a wallet may have a part in; see `chain/blocks/paymentScan.ts`. `places`: where each
   * block begins and ends in the bytes; `ids`: 32 bytes a block; `scripts`, `txids`: words of `PrefixFilter`s; `settled`: see
   * `SettledPayments`.
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
  /** The same on another thread; bytes, places, ids and `settled` without its kinds must not change meanwhile. */
  scanPaymentsAside(
    bytes: Uint8Array,
    places: Uint32Array,
    ids: Uint8Array,
    segwitFrom: number,
    scripts: Uint32Array,
    txids: Uint32Array,
    settled: NativeSettled | null,
  ): Promise<Uint32Array>;
  /** The claims in the row of a name, from offset `at` on; null for a truncated row. See `store/claims/namePlaces.ts`. */
  nameClaims(row: Uint8Array, at: number, count: number): NativeNameClaims | null;
  /** See `util/standardSort.ts`; -1 where the whole list must be sorted. */
  standardPlace(numbers: Float64Array, of: number): number;
  buildUndo(parsed: ParsedBlock, resolved: ResolvedInputs): Buffer;
  /** See `index/addressRows.ts`: the address index rows of a block, as records of `store/rows/rowRecords.ts`. */
  addressRows(
    block: Uint8Array,
    parsed: ParsedBlock,
    resolved: ResolvedInputs,
    height: number,
  ): NativeAddressRows;
  /** The same on another thread; the arguments must not change before the promise settles. */
  addressRowsAside(
    block: Uint8Array,
    parsed: ParsedBlock,
    resolved: ResolvedInputs,
    height: number,
  ): Promise<NativeAddressRows>;
  /** See `index/txIndex.ts`: the rows of a block as records. */
  txRows(block: Uint8Array, parsed: ParsedBlock, height: number): Buffer;
  /** See `index/addressScripts.ts`: the key of a script, 16 code units; null for an unspendable script. */
  scriptKey(script: Uint8Array): string | null;
  readonly CoinTable: new () => NativeCoinTable;
  readonly Database: new (path: string, options: NativeDatabaseOptions) => NativeDatabase;
  readonly DatabaseWalk: new (
    database: NativeDatabase,
    gte: string,
    lt: string,
    reverse: boolean,
  ) => NativeDatabaseWalk;
  /** `maxBytes` limits the memory of the rows, which makes the table a cache; 0: no limit. */
  readonly Memtable: new (maxBytes: number) => NativeRows;
  /** Throws when an object with one of the numbers no longer exists. */
  readonly RowView: new (rows: number, database: number) => NativeRowView;

  setVerifyThreads(count: number): void;
  setSignatureCacheBytes(bytes: number): void;
  /** Bound of this thread's signature cache, and how many signatures were inserted since it was set. */
  signatureCacheUsage(): { maxBytes: number; insertions: number };
  verifyInputs(job: VerifyJob): Promise<VerifyReport>;
  /** The same synchronously on the calling thread: for a few inputs, for which switching threads would cost more. */
  verifyInputsHere(job: VerifyJob): VerifyReport;
  /** The digest that a signature of input `inputNumber` commits to; for the differential tests. */
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
