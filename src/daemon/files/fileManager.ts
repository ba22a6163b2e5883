/**
 * The files of the daemon: loaded from their rows, saved, stopped, deleted, and tied to their claims. No descriptor is read
 * before it is needed. Source: lbry-sdk lbry/stream/stream_manager.py `StreamManager`.
 */
import { failureReason } from '../../util/environmentError.js';
import { hashToHex } from '../../util/bytes.js';
import { encodeClaim } from '../../metadata/claim.js';
import type { LedgerParams } from '../base/ledgerParams.js';
import type { NewFile, StoredClaim } from '../content/rows.js';
import type { DownloadProgress, UploadProgress } from '../exchange/ports.js';
import type { Txo } from '../txo/txo.js';
import {
  filterFiles,
  needsFinished,
  needsReflected,
  sortFiles,
  type FileFilter,
  type FilterFacts,
} from './fileFilters.js';
import { ManagedFile } from './managedFile.js';
import { removeOutput } from './outputs.js';
import type { FilesDeps } from './ports.js';
import { Pins } from './pins.js';
import { StreamReader } from './streamReader.js';

/** Saved files that are looked at together at the start. */
const LOOKS_AT_ONCE = 64;

export interface FileQuery {
  readonly filter: FileFilter;
  readonly comparison?: string | undefined;
  readonly sort?: string | undefined;
  readonly isReversed?: boolean;
}

export class FileManager {
  readonly reader: StreamReader;
  readonly pins: Pins;
  readonly #deps: FilesDeps;
  readonly #byStream = new Map<string, ManagedFile>();
  readonly #bySd = new Map<string, ManagedFile>();

  constructor(deps: FilesDeps) {
    this.#deps = deps;
    this.reader = new StreamReader(deps);
    this.pins = new Pins(deps);
  }

  /** Loads all files, and goes on with those that were being saved when the daemon ended. */
  async start(): Promise<void> {
    await this.pins.load();
    for (const row of await this.#deps.database.files())
      this.#add(new ManagedFile(row, this.#deps, this.reader));
    const saved = this.all.filter(({ place }) => place !== null);
    for (let at = 0; at < saved.length; at += LOOKS_AT_ONCE)
      await Promise.all(saved.slice(at, at + LOOKS_AT_ONCE).map((file) => file.lookAtOutput()));
    for (const file of this.all.filter(({ isRunning }) => isRunning)) await this.#resume(file);
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
    await Promise.all(this.all.map((file) => file.close()));
  }

  get all(): readonly ManagedFile[] {
    return [...this.#byStream.values()];
  }

  bySdHash(sdHash: string): ManagedFile | null {
    return this.#bySd.get(sdHash) ?? null;
  }

  byClaimId(claimId: string): ManagedFile | null {
    return this.all.find(({ row }) => row.claim?.claimId === claimId) ?? null;
  }

  #add(file: ManagedFile): void {
    this.#byStream.set(file.row.streamHash, file);
    this.#bySd.set(file.row.sdHash, file);
  }

  /** The files that fit, in their order. Throws `ValueError`. */
  async find({ filter, comparison, sort, isReversed }: FileQuery): Promise<ManagedFile[]> {
    const { database } = this.#deps;
    const counts = needsFinished(filter, sort) ? await database.finishedCounts() : [];
    const reflected = new Set(needsReflected(filter, sort) ? await database.reflectedStreams() : []);
    const facts: FilterFacts = {
      finished: new Map(counts),
      isReflected: ({ row }) => reflected.has(row.sdHash),
      isReflecting: (file) => this.uploadOf(file).progress !== null,
      isPinned: (file) => this.pins.has(file),
    };
    return sortFiles(filterFiles(this.all, filter, facts, comparison), facts, sort, isReversed);
  }

  /** Data blobs of the file that are on disk. */
  async blobsCompleted({ row }: ManagedFile): Promise<number> {
    const { finished } = this.#deps.blobs;
    const rows = await this.#deps.database.blobsOfStream(row.streamHash);
    return rows.filter(({ hash }) => hash !== null && finished.has(hash)).length;
  }

  progressOf({ row }: ManagedFile): DownloadProgress | null {
    return this.#deps.fetcher()?.progressOf(row.sdHash) ?? null;
  }

  /** Whether a reflector has the whole file. */
  isReflected({ row }: ManagedFile): Promise<boolean> {
    return this.#deps.database.isReflected(row.sdHash);
  }

  /** How the upload to a reflector goes, null where none runs; why the last one did not end well, null where it did. */
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

  /** Adds the file of a stream whose rows are there already. */
  async add(file: NewFile): Promise<ManagedFile> {
    await this.#deps.database.addFile(file);
    return this.reload(file.streamHash);
  }

  /** Reads the row of a file again, as after its claim changed. */
  async reload(streamHash: string): Promise<ManagedFile> {
    const [row] = await this.#deps.database.files(streamHash);
    if (row === undefined) throw new Error(`the file of stream ${streamHash} has no row`);
    const known = this.#byStream.get(streamHash);
    if (known) {
      known.row = row;
      return known;
    }
    const added = new ManagedFile(row, this.#deps, this.reader);
    this.#add(added);
    await added.lookAtOutput();
    return added;
  }

  /** Deletes blobs and rows, and the saved file where it is asked for. Blobs that other streams share stay. */
  async delete(file: ManagedFile, deletesOutput: boolean): Promise<void> {
    const { place, row } = file;
    const isWhole = row.isSaved;
    await file.stop();
    this.#byStream.delete(row.streamHash);
    this.#bySd.delete(row.sdHash);
    await this.#deps.reflector()?.cancel(row.sdHash);
    await this.#deps.blobs.deleteStream(row.streamHash);
    this.reader.forget(row.sdHash);
    this.pins.forget(row.streamHash);
    if (deletesOutput && place !== null && isWhole) await removeOutput(place);
  }

  /**
   * Keeps a claim, and ties the file of its stream to it where there is one. Resolves to the reason where it cannot be tied.
   */
  async keepClaim(claim: Txo, params: LedgerParams, streamHash: string | null): Promise<string | null> {
    const stored = storedClaim(claim, params);
    if (stored === null) return 'claim not found';
    const { channel } = claim.notes;
    const signer = channel ? storedClaim(channel, params) : null;
    await this.#deps.database.saveClaims(signer === null ? [stored] : [stored, signer]);
    if (streamHash === null) return null;
    const problem = await this.#deps.database.tieClaim(streamHash, stored.outpoint);
    if (problem === null && this.#byStream.has(streamHash)) await this.reload(streamHash);
    return problem;
  }
}

/** A claim as the database keeps it; null for other outputs and for values that cannot be decoded. */
export function storedClaim(txo: Txo, params: LedgerParams): StoredClaim | null {
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

/** The hash of the descriptor that a claim names, hexadecimal digits; null without one. */
export function sdHashOf({ claim }: Txo): string | null {
  const type = claim?.claim.type;
  const hash = type?.case === 'stream' ? type.value.source?.sdHash : undefined;
  return hash === undefined || hash.length === 0 ? null : Buffer.from(hash).toString('hex');
}
