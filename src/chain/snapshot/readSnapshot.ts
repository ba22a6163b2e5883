/**
 * Reads a whole snapshot and checks everything that can be checked without blocks: checksums, network and rules, the proof
 * of work of every header, the order of rows, and the claim trie against the claim root of the block. The coins, and claim
 * data outside the root, are guaranteed only by the hash of the file, which the caller checks.
 */
import type { ClaimRules } from '../../claimtrie/types.js';
import { headerHash, parseHeaderBytes } from '../../primitives/header.js';
import { CLAIM_PREFIX } from '../../store/claims/rows/claimKeys.js';
import { DerivedClaimRows } from '../../store/claims/rows/claimRows.js';
import { HeaderTable, STATUS } from '../../store/files/headerTable.js';
import { RecordCursor } from '../../store/rows/rowRecords.js';
import type { RowReader, RowWriter } from '../../store/rows/rows.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import { equalBytes, hashToHex } from '../../util/bytes.js';
import { ReadError } from '../../util/reader.js';
import { BlockIndex, type BlockIndexOptions } from '../index/blockIndex.js';
import { loadBlock } from '../blocks/loadedBlock.js';
import { kindOfSection, type SnapshotRules } from './dumpSnapshot.js';
import { KIND, type SectionSummary, type SnapshotHead } from './snapshotFormat.js';
import { SnapshotError, SnapshotReader, type ReadPiece } from './snapshotFile.js';
import { keysAround, type SnapshotRows } from './snapshotRows.js';
import { CLAIMS_SECTION, COINS_SECTION, type SnapshotSection } from './snapshotState.js';

/** Number of headers whose rows are written together. */
const HEADERS_AT_ONCE = 4096;
/** Status that the snapshot's blocks get, as implied by the chain state. Their data is missing, like that of pruned blocks. */
const ASSUMED = STATUS.validTransactions | STATUS.validScripts;

/** First byte of the keys of names. No other prefix begins with it. */
const NAME_PREFIX_BYTE = CLAIM_PREFIX.name.charCodeAt(0);
/** Number of pieces that are read and unpacked in advance. Arbitrary: the thread pool has four threads by default. */
const PIECES_AHEAD = 2;

/** Receives the rows that are read from a snapshot. */
export interface SnapshotTarget extends RowWriter {
  /** Writes rows in the format of `rowRecords.ts`, which must not change afterwards. Resolves when the next may follow. */
  putRecords(records: Buffer): Promise<void>;
  /** Writes buffered rows to disk if there are many. Must be called often. */
  relieve(): Promise<void>;
}

export interface SnapshotReadOptions extends SnapshotRules {
  readonly path: string;
  readonly sections: readonly SnapshotSection[];
  readonly claimRules: ClaimRules;
  readonly minimumChainWork: bigint;
  /** Block index that contains only the genesis block's header. It receives the headers of the snapshot. */
  readonly index: BlockIndex;
  readonly signal: AbortSignal;
  /** Called repeatedly with the number of bytes that were read. */
  readonly onProgress?: (bytes: number) => void;
}

export interface ReadSnapshot {
  readonly head: SnapshotHead;
  /** Header id of the snapshot's block in the index. */
  readonly id: number;
  /** SHA-256 of the snapshot file in hex. */
  readonly hash: string;
  readonly sizeBytes: number;
  readonly parts: readonly SectionSummary[];
}

/**
 * Reads a snapshot file and writes its rows to `out`. Throws `SnapshotError` for an invalid file. The rows written before
 * the error must then be discarded.
 */
export async function readSnapshot(options: SnapshotReadOptions, out: SnapshotTarget): Promise<ReadSnapshot> {
  const reader = new SnapshotReader(options.path);
  try {
    return await new Reading(reader, options, out).run();
  } finally {
    reader.close();
  }
}

class Reading {
  private readonly reader: SnapshotReader;
  private readonly options: SnapshotReadOptions;
  private readonly out: SnapshotTarget;
  private sinceMs = performance.now();

  constructor(reader: SnapshotReader, options: SnapshotReadOptions, out: SnapshotTarget) {
    this.reader = reader;
    this.options = options;
    this.out = out;
  }

  async run(): Promise<ReadSnapshot> {
    const { reader, options } = this;
    const { head } = reader;
    this.checkHead(head);
    const id = await this.readHeaders(head);
    const counts = [{ name: 'headers', kind: KIND.headers as number, rows: head.height }];
    for (const [place, section] of options.sections.entries()) {
      const kind = kindOfSection(place);
      counts.push({ name: section.name, kind, rows: await this.readSection(section, kind, id) });
    }
    const { parts, hash } = reader.finish(counts);
    return { head, id, hash, sizeBytes: reader.readBytes, parts };
  }

  private checkHead(head: SnapshotHead): void {
    const { path, network, rules, sections } = this.options;
    if (head.network !== network)
      throw new SnapshotError(`${path} is a snapshot of the network ${head.network}, not ${network}.`);
    if (head.rules !== rules)
      throw new SnapshotError(
        `${path} was created with other fork heights, expiration terms or support delays (${head.rules}; ` +
          `here ${rules}). Use the same options as the node that wrote it.`,
      );
    const wanted = JSON.stringify(sections.map(({ name, version }) => ({ name, version })));
    if (JSON.stringify(head.sections) !== wanted)
      throw new SnapshotError(
        `${path} was written by another version of lbcnode with other row formats ` +
          `(${JSON.stringify(head.sections)}; here ${wanted}). Use that version, or a snapshot written by this ` +
          'one.',
      );
  }

  private async pause(): Promise<void> {
    if (this.options.signal.aborted) throw new SnapshotError('The node is stopping.');
    this.options.onProgress?.(this.reader.readBytes);
    this.sinceMs = await yieldIfDue(this.sinceMs);
  }

  /** Adds the snapshot's headers to the block index. Returns the id of the last header. */
  private async readHeaders(head: SnapshotHead): Promise<number> {
    const { reader, out } = this;
    const { index, path, minimumChainWork } = this.options;
    const { headers } = index;
    let last = 0;
    headers.setTxCount(last, 1);
    headers.setChainTxCount(last, 1);
    headers.addStatus(last, ASSUMED);
    for (const piece of reader.pieces(KIND.headers)) {
      for (const { start, rest, txCount } of reader.headersOf(piece)) {
        const bytes = Buffer.concat([start, headers.hash(last), rest]);
        const { id, error } = index.acceptHeader(parseHeaderBytes(bytes), headerHash(bytes));
        if (error)
          throw new SnapshotError(
            `The header at height ${headers.height(last) + 1} of the snapshot ${path} is invalid ` +
              `(${error.reason}). Get the snapshot from another source.`,
          );
        headers.setTxCount(id, txCount);
        headers.setChainTxCount(id, headers.chainTxCount(last) + txCount);
        headers.addStatus(id, ASSUMED);
        last = id;
        if (headers.count % HEADERS_AT_ONCE > 0) continue;
        headers.writeDirty(out);
        await out.relieve();
        await this.pause();
      }
      reader.release(piece.payload);
    }
    if (headers.height(last) !== head.height || hashToHex(headers.hash(last)) !== head.block)
      throw reader.corruption('its last header is not that of its block');
    if (headers.work(last) < minimumChainWork)
      throw new SnapshotError(
        `The chain of the snapshot ${path} has less work than the minimum chain work of the network. It is ` +
          "not a snapshot of the network's chain.",
      );
    return last;
  }

  /** Reads the rows of one section into the output. Returns the number of rows. */
  private async readSection(section: SnapshotSection, kind: number, block: number): Promise<number> {
    const { reader, out } = this;
    const derived =
      section === CLAIMS_SECTION
        ? await DerivedClaimRows.begin(this.options.claimRules, reader.head.height)
        : null;
    let rows = 0;
    let last = '';
    for await (const unpacked of this.unpacked(section, kind)) {
      const keys = keysAround(unpacked);
      if (keys !== null && keys.first <= last)
        throw reader.corruption(`a row of ${section.name} is out of order`);
      last = keys?.last ?? last;
      rows += unpacked.rows;
      if (derived !== null) this.addNames(derived, unpacked);
      await out.putRecords(unpacked.records);
      await this.pause();
    }
    if (derived !== null) await this.checkRoot(derived, block);
    return rows;
  }

  /** Yields the rows of a section. The next pieces are read and unpacked meanwhile. */
  private async *unpacked({ name, prefixes }: SnapshotSection, kind: number): AsyncGenerator<SnapshotRows> {
    const { reader } = this;
    const isCoins = name === COINS_SECTION.name;
    const ahead: { piece: ReadPiece; rows: Promise<SnapshotRows> }[] = [];
    const first = async (): Promise<SnapshotRows> => {
      const { piece, rows } = ahead.shift()!;
      const unpacked = await rows;
      reader.release(piece.payload);
      return unpacked;
    };
    for (const piece of reader.pieces(kind)) {
      const rows = reader.rowsOf(piece, isCoins, prefixes);
      // The error is handled when the rows are needed.
      rows.catch(() => undefined);
      ahead.push({ piece, rows });
      if (ahead.length > PIECES_AHEAD) yield await first();
    }
    while (ahead.length > 0) yield await first();
  }

  /** Adds the names among the rows to the claim trie. Throws `SnapshotError` if the row of a name is malformed. */
  private addNames(derived: DerivedClaimRows, { records }: SnapshotRows): void {
    const cursor = new RecordCursor(records);
    while (cursor.next()) {
      const { keyStart, valueStart, valueEnd } = cursor;
      if (records[keyStart] !== NAME_PREFIX_BYTE) continue;
      const name = records.toString('latin1', keyStart + CLAIM_PREFIX.name.length, valueStart);
      try {
        derived.add(name, records.subarray(valueStart, valueEnd), this.out);
      } catch (error) {
        throw error instanceof ReadError ? this.reader.corruption(error.message) : error;
      }
    }
  }

  private async checkRoot(derived: DerivedClaimRows, block: number): Promise<void> {
    const { headers } = this.options.index;
    const root = derived.finish(this.out);
    const { claimRoot } = await headers.readHeader(block);
    if (!equalBytes(root, claimRoot))
      throw new SnapshotError(
        `The claims of the snapshot ${this.options.path} have the root ${hashToHex(root)}, but the header of ` +
          `block ${this.reader.head.block} contains ${hashToHex(claimRoot)}. Get the snapshot from another ` +
          'source.',
      );
  }
}

/** Creates a block index that contains only the genesis block's header. Its header table has no stored rows. */
export function freshIndex(options: BlockIndexOptions): BlockIndex {
  const { header, hash } = loadBlock(options.params.genesis.block);
  const index = new BlockIndex(new HeaderTable(NO_ROWS), options);
  index.acceptHeader(header, hash);
  return index;
}

const NO_ROWS: RowReader = {
  get: () => Promise.resolve(undefined),
  getMany: (keys) => Promise.resolve(keys.map(() => undefined)),
  getRange: () => Promise.resolve([]),
  range: () => nothing(),
};

async function* nothing(): AsyncGenerator<never> {}
