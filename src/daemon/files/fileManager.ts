/**
 * Manager of the daemon's files: finds, saves, stops and deletes them, and links them to their claims. An inactive file is
 * only a row; its object exists only while the file is used. A descriptor is read at its first use. Source: lbry-sdk
 * lbry/stream/stream_manager.py `StreamManager`.
 */
import { Lru } from '../../util/lru.js';
import { failureReason } from '../../util/text/environmentError.js';
import { hashToHex } from '../../util/bytes.js';
import { encodeClaim } from '../../metadata/claim.js';
import type { LedgerParams } from '../base/ledgerParams.js';
import type { FileCondition, FileSearch } from '../content/fileSearch.js';
import type { FileRow, NewFile, ResolvedClaim, StoredClaim } from '../content/rows.js';
import type { DownloadProgress, UploadProgress } from '../exchange/ports.js';
import type { Txo } from '../txo/txo.js';
import { searchOf, type FileQuery } from './fileFilters.js';
import { ManagedFile } from './managedFile.js';
import { removeOutput } from './outputs.js';
import type { FilesDeps } from './ports.js';
import { Pins } from './pins.js';
import { StreamReader } from './streamReader.js';

/**
 * Maximum number of file rows per database call, for the check of saved files at the start and for reading unfinished files.
 * Arbitrary.
 */
const FILES_AT_ONCE = 500;
/** Maximum number of claims whose last stored state is known, so that it is not stored again. Arbitrary. */
const RESOLVED_CLAIMS = 10_000;

/** One page of the files that match a query. */
export interface FilePart {
  readonly offset: number;
  readonly limit: number;
}

export class FileManager {
  readonly reader: StreamReader;
  readonly pins: Pins;
  readonly #deps: FilesDeps;
  /** The last stored states of resolved claims, by claim id. */
  readonly #resolved = new Lru<string, string>(RESOLVED_CLAIMS);
  /** Whether the last attempt to store resolved claims failed. */
  #resolvedFail = false;
  /** Objects of files in use, by stream hash. All code that uses a file shares one object. */
  readonly #used = new Map<string, WeakRef<ManagedFile>>();
  readonly #unused = new FinalizationRegistry<string>((streamHash) => {
    if (this.#used.get(streamHash)?.deref() === undefined) this.#used.delete(streamHash);
  });
  /** Streams whose claims are being sent. Each promise resolves when the stream may be deleted. */
  readonly #publishing = new Map<string, Promise<void>>();
  #count = 0;
  #isClosed = false;
  /** Resolves when the background check for missing saved files has ended. */
  settled: Promise<void> = Promise.resolve();

  constructor(deps: FilesDeps) {
    this.#deps = deps;
    this.reader = new StreamReader(deps);
    this.pins = new Pins(deps);
  }

  /** Resumes the files that were being saved when the daemon ended, and checks in the background which saved files are missing. */
  async start(): Promise<void> {
    const { database, log } = this.#deps;
    await this.pins.load();
    this.#deps.blobs.onStreamDeletion = async (streamHash) => {
      await this.#publishing.get(streamHash);
      await this.#use(streamHash)?.endForDeletion();
    };
    this.#deps.blobs.onStreamDeleted = (streamHash) => this.#forget(streamHash);
    this.#count = await database.fileCount();
    for (const file of await this.find({ filter: { status: 'running' } }))
      if (!this.#isClosed) await this.#resume(file);
    this.settled = this.#lookAtSaved().catch((error: unknown) =>
      log.warn(`Not all saved files could be checked: ${failureReason(error)}`),
    );
  }

  async #lookAtSaved(): Promise<void> {
    for (const streamHash of await this.#deps.database.unsynced()) {
      if (this.#isClosed) return;
      const file = await this.byStreamHash(streamHash);
      if (file === null || file.place === null) await this.#deps.database.noteSynced(streamHash);
      else
        await file
          .ensureWhole()
          .catch((error: unknown) =>
            this.#deps.log.warn(`${file.suggestedFileName}: ${failureReason(error)}`),
          );
    }
    for (let after: number | null = 0; after !== null && !this.#isClosed;) {
      const { lost, next }: { lost: readonly string[]; next: number | null } =
        await this.#deps.database.forgetLostOutputs(after, FILES_AT_ONCE);
      for (const streamHash of lost) await this.#use(streamHash)?.lookAtOutput();
      after = next;
    }
  }

  async #resume(file: ManagedFile): Promise<void> {
    const { place, row } = file;
    if (place === null || row.isSaved) {
      await this.#deps.database.setFileStatus(row.streamHash, 'stopped');
      file.row = { ...row, status: 'stopped' };
      return;
    }
    file.resume(place).catch((error: unknown) => this.#deps.log.warn(failureReason(error)));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.settled;
    await Promise.all([...this.#used.values()].map((used) => used.deref()?.close()));
  }

  /** Number of files. */
  get count(): number {
    return this.#count;
  }

  /** Whether the object is the current object of its stream. False after the file was deleted. */
  isCurrent(file: ManagedFile): boolean {
    return this.#use(file.row.streamHash) === file;
  }

  #use(streamHash: string): ManagedFile | null {
    return this.#used.get(streamHash)?.deref() ?? null;
  }

  /**
   * Returns the object of a file. A new object first checks its saved file on disk. If the object exists already, it is
   * returned unchanged, and `row` is ignored.
   */
  async #of(row: FileRow): Promise<ManagedFile> {
    const used = this.#use(row.streamHash);
    if (used !== null) return used;
    const file = new ManagedFile(row, this.#deps, this.reader);
    this.#used.set(row.streamHash, new WeakRef(file));
    this.#unused.register(file, row.streamHash);
    await file.lookAtOutput();
    return file;
  }

  async byStreamHash(streamHash: string): Promise<ManagedFile | null> {
    const row = await this.#deps.database.file(streamHash);
    return row === null ? null : this.#of(row);
  }

  bySdHash(sdHash: string): Promise<ManagedFile | null> {
    return this.#single({ field: 'sd_hash', value: sdHash, comparison: 'eq' });
  }

  byClaimId(claimId: string): Promise<ManagedFile | null> {
    return this.#single({ field: 'claim_id', value: claimId, comparison: 'eq' });
  }

  async #single(condition: FileCondition): Promise<ManagedFile | null> {
    const search = { conditions: [condition], sort: 'rowid', isReversed: false, uploading: [] };
    const { files } = await this.#deps.database.searchFiles(search, { offset: 0, limit: 2 });
    return files.length === 0 ? null : this.#of(files[0]!);
  }

  #searchOf(query: FileQuery): FileSearch {
    const search = searchOf(query);
    const needsUploads = [...search.conditions.map(({ field }) => field), search.sort].includes(
      'uploading_to_reflector',
    );
    return { ...search, uploading: needsUploads ? (this.#deps.reflector()?.uploading ?? []) : [] };
  }

  /** One page of the matching files in the requested order, and their total number. Throws `ValueError`. */
  async findPart(
    query: FileQuery,
    part: FilePart,
  ): Promise<{ readonly files: readonly ManagedFile[]; readonly total: number }> {
    const { files, total } = await this.#deps.database.searchFiles(this.#searchOf(query), part);
    return { files: await Promise.all(files.map((row) => this.#of(row))), total };
  }

  /** Finds all matching files in the requested order. Throws `ValueError` for an invalid query. */
  async find(query: FileQuery): Promise<readonly ManagedFile[]> {
    const found: ManagedFile[] = [];
    for (const streamHash of await this.findStreams(query)) {
      const file = await this.byStreamHash(streamHash);
      if (file !== null) found.push(file);
    }
    return found;
  }

  /** Finds the stream hashes of all matching files in the requested order. Throws `ValueError` for an invalid query. */
  async findStreams(query: FileQuery): Promise<readonly string[]> {
    return this.#deps.database.searchStreams(this.#searchOf(query));
  }

  /** Number of the file's data blobs that are on disk. */
  blobsCompleted({ row }: ManagedFile): Promise<number> {
    return this.#deps.database.finishedCount(row.streamHash);
  }

  progressOf({ row }: ManagedFile): DownloadProgress | null {
    return this.#deps.fetcher()?.progressOf(row.sdHash) ?? null;
  }

  /** Whether a reflector has the whole file. */
  isReflected({ row }: ManagedFile): Promise<boolean> {
    return this.#deps.database.isReflected(row.sdHash);
  }

  /**
   * Progress of the file's upload to a reflector (null if no upload runs), and the error of its last upload (null if it
   * succeeded).
   */
  uploadOf({ row }: ManagedFile): {
    readonly progress: UploadProgress | null;
    readonly failure: string | null;
  } {
    const reflector = this.#deps.reflector();
    return {
      progress: reflector?.progressOf(row.sdHash) ?? null,
      failure: reflector?.failureOf(row.sdHash) ?? null,
    };
  }

  /** Adds a file row for a stream whose descriptor is already in the database. */
  async add(file: NewFile): Promise<ManagedFile> {
    await this.#deps.database.addFile(file);
    this.#count = await this.#deps.database.fileCount();
    return this.reload(file.streamHash);
  }

  /** Reloads the row of a file, for example after its claim changed. */
  async reload(streamHash: string): Promise<ManagedFile> {
    const row = await this.#deps.database.file(streamHash);
    if (row === null) throw new Error(`the file of stream ${streamHash} has no row`);
    const used = this.#use(streamHash);
    if (used === null) return this.#of(row);
    used.row = row;
    return used;
  }

  /** Removes the object of a file and its pin, and updates the count, after the stream was deleted from the database. */
  async #forget(streamHash: string): Promise<void> {
    this.#used.delete(streamHash);
    this.pins.forget(streamHash);
    this.#count = await this.#deps.database.fileCount();
  }

  /**
   * Deletes the blobs and rows of a file and, if requested, the saved file. Blobs that other streams also contain are not
   * deleted. Rejects with `EnvironmentError` if the system refuses to remove a file. If this is the saved file, nothing else is
   * deleted. If it is the file of a blob, everything else is deleted.
   */
  async delete(file: ManagedFile, deletesOutput: boolean): Promise<void> {
    const { streamHash, sdHash } = file.row;
    await this.#publishing.get(streamHash);
    try {
      // The row must be read after this, because a save may complete before it is ended.
      await file.endForDeletion();
      const { place, row } = file;
      await this.#deps.reflector()?.cancel(sdHash);
      // The saved file is deleted first. After a kill between the two steps, the stream is still listed, and the deletion can be repeated.
      if (deletesOutput && place !== null && row.isSaved) await removeOutput(place);
      await this.#deps.blobs.deleteStream(streamHash);
      await this.#forget(streamHash);
    } catch (error) {
      // The object cannot be used any more. If the file is still listed, its next use makes a new object.
      await file.stop().catch(() => undefined);
      this.#used.delete(streamHash);
      throw error;
    } finally {
      // The rows are deleted even if the file of a blob cannot be removed. A later download must therefore fetch the blobs again
      // and not read them from memory.
      this.reader.forget(sdHash);
    }
  }

  /**
   * Delays deletions of a published stream until the returned function is called. Otherwise the claim could be sent after its
   * stream was deleted.
   */
  keepWhilePublishing(streamHash: string): () => void {
    let release: () => void = () => undefined;
    this.#publishing.set(streamHash, new Promise((resolve) => (release = resolve)));
    return () => {
      this.#publishing.delete(streamHash);
      release();
    };
  }

  /**
   * Stores claims that a hub returned, and links each to the file of its stream. Claims that are stored already are skipped. If
   * the disk refuses to write, the log says so once, and the claims are stored when they are resolved again. Source: lbry-sdk
   * daemon.py `resolve`.
   */
  async keepResolved(claims: readonly Txo[], params: LedgerParams): Promise<void> {
    const fresh = claims.flatMap((txo): ResolvedClaim[] => {
      const claim = storedClaim(txo, params);
      return claim === null || this.#resolved.get(claim.claimId) === stateOf(claim)
        ? []
        : [{ claim, sdHash: sdHashOf(txo) }];
    });
    if (fresh.length === 0) return;
    const linked = await this.#deps.database.saveResolved(fresh).catch((error: unknown) => {
      if (!this.#resolvedFail && !this.#isClosed)
        this.#deps.log.warn(`Resolved claims are not stored: ${failureReason(error)}`);
      this.#resolvedFail = true;
      return null;
    });
    if (linked === null) return;
    this.#resolvedFail = false;
    for (const { claim } of fresh) this.#resolved.set(claim.claimId, stateOf(claim));
    for (const streamHash of linked) if (this.#use(streamHash) !== null) await this.reload(streamHash);
  }

  /**
   * Stores a claim and links it to the file of its stream, if that file exists. Resolves to the reason if linking fails,
   * else to null.
   */
  async keepClaim(claim: Txo, params: LedgerParams, streamHash: string | null): Promise<string | null> {
    const stored = storedClaim(claim, params);
    if (stored === null) return 'claim not found';
    const { channel } = claim.notes;
    const signer = channel ? storedClaim(channel, params) : null;
    await this.#deps.database.saveClaims(signer === null ? [stored] : [stored, signer]);
    this.#resolved.delete(stored.claimId);
    if (streamHash === null) return null;
    const problem = await this.#deps.database.tieClaim(streamHash, stored.outpoint);
    if (problem === null && this.#use(streamHash) !== null) await this.reload(streamHash);
    return problem;
  }
}

/** Identifies a state of a claim: its outpoint and height. */
const stateOf = ({ outpoint, height }: StoredClaim): string => `${outpoint} ${height}`;

/** Row of a claim in the database; null for other outputs and for values that cannot be decoded. */
function storedClaim(txo: Txo, params: LedgerParams): StoredClaim | null {
  const { claim, claimId, claimName, channelId } = txo;
  if (claim === null || claimId === null || claimName === null) return null;
  return {
    outpoint: `${txo.txidHex}:${txo.nout}`,
    claimId: hashToHex(claimId),
    name: claimName,
    amountDewies: txo.amountDewies,
    height: txo.height,
    value: encodeClaim(claim).toString('hex'),
    channelClaimId: channelId === null ? null : hashToHex(channelId),
    address: txo.address(params) ?? '',
  };
}

/** Descriptor hash of a claim as hexadecimal digits; null if absent. */
export function sdHashOf({ claim }: Txo): string | null {
  const type = claim?.claim.type;
  const hash = type?.case === 'stream' ? type.value.source?.sdHash : undefined;
  return hash === undefined || hash.length === 0 ? null : Buffer.from(hash).toString('hex');
}
