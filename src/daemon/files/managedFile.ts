/**
 * A file of the daemon: its row, and whether it is being saved or read. Source: lbry-sdk lbry/stream/managed_stream.py
 * `ManagedStream`.
 */
import { open, type FileHandle } from 'node:fs/promises';
import { SerialQueue } from '../../scheduler/serialQueue.js';
import { environmentError, failureReason } from '../../util/text/environmentError.js';
import { DaemonError, failure } from '../base/daemonError.js';
import type { Timer } from '../base/clock.js';
import { RateWindow } from '../base/rateWindow.js';
import type { EndTransfer } from '../base/transfers.js';
import type { FileRow, FileStatus, SavedPlace } from '../content/rows.js';
import { streamNameOf, suggestedNameOf } from '../content/fileNames.js';
import { createOutput, outputSize, pathOf, removeOutput, type ChosenPlace } from './outputs.js';
import type { FilesDeps } from './ports.js';
import { holdsStream, writeOutput } from './savedOutput.js';
import { dataBlobs, type StreamReader } from './streamReader.js';

/** Milliseconds without a reader after which a running file is stopped. Source: `_delayed_stop`. */
const IDLE_MS = 2000;

/** Reason why saving ended. It decides how the row is changed. */
type SaveEnd = 'stopped' | 'daemon stops' | 'replaced';

class SaveEnded extends Error {
  readonly how: SaveEnd;

  constructor(how: SaveEnd) {
    super(`The download was aborted: ${how}.`);
    this.how = how;
  }
}

interface Save {
  readonly ending: AbortController;
  readonly firstWritten: Promise<void>;
  readonly done: Promise<void>;
}

export class ManagedFile {
  row: FileRow;
  /** Size of the saved file in bytes; null if the file is not saved. */
  writtenBytes: number | null = null;
  #save: Save | null = null;
  /** Queue of the starts and ends of saves. A call thus ends the save that the previous call started. */
  readonly #turns = new SerialQueue();
  /** Number of saves started so far. A change shows that a new save has begun. */
  #saves = 0;
  /** Resolves when the saved file is synced to disk. */
  #syncing: Promise<void> = Promise.resolve();
  #readers = 0;
  readonly #resuming = new AbortController();
  readonly #deleting = new AbortController();
  /** Aborted and replaced at each `stop`. */
  #stopping = new AbortController();
  #idle: Timer | null = null;
  #writing: RateWindow;
  readonly #deps: FilesDeps;
  readonly #reader: StreamReader;

  constructor(row: FileRow, deps: FilesDeps, reader: StreamReader) {
    this.row = row;
    this.#deps = deps;
    this.#reader = reader;
    this.#writing = new RateWindow(deps.clock);
  }

  get isRunning(): boolean {
    return this.row.status === 'running';
  }

  /** Aborts when the stream is deleted. Readers must then stop, because they would download its blobs again. */
  get deleted(): AbortSignal {
    return this.#deleting.signal;
  }

  /** Signal that the next `stop` aborts, so that the current readers end. */
  get stopped(): AbortSignal {
    return this.#stopping.signal;
  }

  get isSaving(): boolean {
    return this.#save !== null;
  }

  get place(): SavedPlace | null {
    const { fileName, directory } = this.row;
    return fileName === null || directory === null ? null : { fileName, directory };
  }

  /** Lower and upper bound of the file size. Source: `lower_bound_decrypted_length`. */
  get bounds(): { readonly lower: number; readonly upper: number } {
    const { blobsInStream, dataBytes } = this.row;
    if (blobsInStream === 0) return { lower: 0, upper: 0 };
    const upper = dataBytes - (blobsInStream - 1);
    return { lower: upper - 16, upper };
  }

  get isCompleted(): boolean {
    return this.writtenBytes !== null && this.writtenBytes >= this.bounds.lower;
  }

  get streamName(): string {
    return streamNameOf(this.row.streamName, this.row.claim?.value ?? '');
  }

  get suggestedFileName(): string {
    return suggestedNameOf(this.row.suggestedFileName, this.row.claim?.value ?? '');
  }

  async #setStatus(status: FileStatus): Promise<void> {
    if (this.row.status === status) return;
    this.row = { ...this.row, status };
    await this.#deps.database.setFileStatus(this.row.streamHash, status);
  }

  /** Sets place and status in one commit. */
  async #setPlace(
    place: SavedPlace | null,
    isSaved: boolean,
    status = this.row.status as FileStatus,
  ): Promise<void> {
    this.row = {
      ...this.row,
      fileName: place?.fileName ?? null,
      directory: place?.directory ?? null,
      isSaved,
      status,
    };
    await this.#deps.database.setFilePlace(this.row.streamHash, place, isSaved, status);
  }

  /** Checks whether the saved file exists on disk. If it is missing, removes its name from the row. */
  async lookAtOutput(): Promise<void> {
    // A file that is being saved is not checked, because it may have gaps.
    if (this.#save !== null) return;
    const saves = this.#saves;
    const writtenBytes = await outputSize(this.place);
    // Saving may have started and ended at another path during the check, so that the result is outdated.
    if (this.#saves !== saves) return;
    this.writtenBytes = writtenBytes;
    if (this.writtenBytes === null && this.row.isSaved) await this.#setPlace(null, false);
  }

  /**
   * Keeps the file running while `use` reads its data blobs. The row of the file is changed only after `begun` resolves to true,
   * because a write would delay the database reads of `use`. If it resolves to false, the row is not changed.
   */
  async withReader<T>(use: () => Promise<T>, begun: Promise<boolean> | null = null): Promise<T> {
    this.#readers++;
    this.#idle?.cancel();
    try {
      const isLong = begun === null || (await begun);
      if (isLong && this.row.status === 'stopped') await this.#setStatus('running');
      return await use();
    } finally {
      this.#readers--;
      this.#stopWhenIdle();
    }
  }

  #stopWhenIdle(): void {
    if (this.#readers > 0 || this.#save !== null || !this.isRunning) return;
    this.#idle?.cancel();
    this.#idle = this.#deps.clock.after(IDLE_MS, () => {
      if (this.#readers > 0 || this.#save !== null || !this.isRunning) return;
      this.#setStatus('stopped').catch((error: unknown) => this.#deps.log.warn(failureReason(error)));
    });
  }

  /**
   * Saves the stream. Resolves when the first blob is written or, for a stream of one blob, when the file is complete. Ends
   * an earlier save of the same file. Rejects with system errors, `InvalidStreamDescriptorError`, or the signal's reason;
   * the status of the file is then stopped. Rejects with `DownloadCancelledError` if the file was deleted before.
   */
  async save({ fileName, directory }: ChosenPlace, signal: AbortSignal | null = null): Promise<void> {
    const save = await this.#turns.run(async () => {
      await this.#endSave('replaced');
      this.deleted.throwIfAborted();
      const name = fileName ?? this.row.fileName ?? this.suggestedFileName;
      const folder = directory ?? this.row.directory ?? this.#deps.settings().downloadDir;
      const { place, file } = await this.#createOutput(folder, name);
      this.writtenBytes = 0;
      this.#saves++;
      return (this.#save = this.#begin(place, file));
    });
    if (signal === null) return save.firstWritten;
    const onAbort = (): void => save.ending.abort(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      await save.firstWritten;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /**
   * Like `save`, with a limit for the time until the first blob is written; default: the setting `download_timeout`. If no blob
   * is written in time, the file is stopped, and the promise rejects with `DownloadDataTimeoutError`.
   */
  async saveInTime(
    place: ChosenPlace,
    limitMs: number = this.#deps.settings().downloadTimeoutMs,
  ): Promise<void> {
    const late = new AbortController();
    const text = `Failed to download data blobs for sd hash ${this.row.sdHash} within timeout.`;
    const timer = this.#deps.clock.after(limitMs, () =>
      late.abort(new DaemonError('DownloadDataTimeoutError', text)),
    );
    try {
      await this.save(place, late.signal);
    } finally {
      timer.cancel();
    }
  }

  /** Creates the output. The row says before that the file is being saved there. If that fails, it is as before. */
  async #createOutput(directory: string, name: string) {
    const { status, isSaved } = this.row;
    const before = this.place;
    let isNoted = false;
    try {
      return await createOutput(directory, name, (place) => {
        isNoted = true;
        return this.#setPlace(place, false, 'running');
      });
    } catch (error) {
      const note = (failed: unknown): void => this.#deps.log.warn(failureReason(failed));
      if (isNoted) await this.#setPlace(before, isSaved, status as FileStatus).catch(note);
      this.#stopWhenIdle();
      throw error;
    }
  }

  /**
   * Continues `save` after a restart of the daemon. A partial file that a killed daemon left at the path is deleted first.
   * Any other file at the path is left unchanged, and the stream gets the next free name.
   */
  async resume(place: SavedPlace): Promise<void> {
    const { signal } = this.#resuming;
    if (await this.#isOwnOutput(place, signal)) await this.#removePartial(place);
    // During the check of the partial file, the user may have stopped the file or saved it.
    if (!signal.aborted && this.isRunning && !this.isSaving) await this.save({});
  }

  /** Whether the file at the path contains a beginning of the stream and nothing else. */
  async #isOwnOutput(place: SavedPlace, signal: AbortSignal): Promise<boolean> {
    const size = await outputSize(place);
    const { finished } = this.#deps.blobs;
    if (size === null || size === 0 || !finished.has(this.row.sdHash)) return size === 0;
    return this.#holds(place, false, signal);
  }

  /** See `holdsStream`. */
  async #holds(place: SavedPlace, isWhole: boolean, signal: AbortSignal): Promise<boolean> {
    const { finished } = this.#deps.blobs;
    const stream = await this.#reader.open(this.row.sdHash, signal);
    const isHere = (hash: string): boolean => finished.has(hash);
    return holdsStream(place, { reader: this.#reader, stream, signal }, { isHere, isWhole });
  }

  /**
   * After a crash: syncs the saved file if it is complete, otherwise saves it again. Does nothing if the user saved or
   * deleted the file during the check, or if a blob for the comparison is missing.
   */
  async ensureWhole(): Promise<void> {
    const { signal } = this.#resuming;
    const { place, row } = this;
    if (place === null || !row.isSaved || this.isSaving) return;
    const saves = this.#saves;
    const stream = await this.#reader.open(row.sdHash, signal);
    const { finished } = this.#deps.blobs;
    if (!dataBlobs(stream.descriptor).every(({ blobHash }) => finished.has(blobHash!))) return;
    if (!(await this.#holds(place, true, signal))) {
      if (signal.aborted || this.#saves !== saves || !this.row.isSaved) return;
      this.#deps.log.warn(`The file ${pathOf(place)} was truncated by a crash. It is saved again.`);
      await this.#removePartial(place);
      return this.save({});
    }
    const file = await open(pathOf(place), 'r');
    await this.#sync(file).finally(() => file.close());
  }

  /** Syncs the saved file to disk. */
  async #sync(file: FileHandle): Promise<void> {
    await file.sync();
    await this.#deps.database.noteSynced(this.row.streamHash);
  }

  #begin(place: SavedPlace, file: FileHandle): Save {
    const ending = new AbortController();
    let wroteFirst: () => void = () => undefined;
    let failedFirst: (error: Error) => void = () => undefined;
    const firstWritten = new Promise<void>((resolve, reject) => {
      wroteFirst = resolve;
      failedFirst = reject;
    });
    firstWritten.catch(() => undefined);
    const end = this.#report(place);
    const done = this.#write(place, file, ending.signal, wroteFirst).then(
      async () => {
        try {
          await this.#saved(place, file);
          wroteFirst();
          end?.('finished');
        } catch (error) {
          failedFirst(error as Error);
          end?.('failed', failureReason(error));
          throw error;
        }
      },
      (error: Error) => {
        const reason = ending.signal.aborted ? (ending.signal.reason as Error) : error;
        if (reason instanceof SaveEnded) end?.('stopped');
        else end?.('failed', reason.message);
        return this.#failed(place, reason).finally(() => {
          this.#save = null;
          // A caller that gets the error finds the file stopped.
          failedFirst(error instanceof SaveEnded ? failure(error.message) : error);
        });
      },
    );
    const save = { ending, firstWritten, done };
    done.catch((error: unknown) => this.#deps.log.warn(failureReason(error)));
    return save;
  }

  #report(place: SavedPlace): EndTransfer | undefined {
    const { transfers, fetcher, clock } = this.#deps;
    const { sdHash, claim } = this.row;
    const path = pathOf(place);
    this.#writing = new RateWindow(clock);
    return transfers?.begin(
      { kind: 'download', sdHash, claimName: claim?.name ?? null, path, reflector: null },
      () => {
        const coming = fetcher()?.progressOf(sdHash) ?? null;
        return {
          bytesDone: this.writtenBytes ?? 0,
          bytesTotal: this.bounds.upper,
          // If no blob is downloaded, because all are on disk, the rate is the rate at which the saved file is written.
          bytesPerSecond: coming?.bytesPerSecond || this.#writing.perSecond,
          peers: coming?.peers ?? null,
        };
      },
    );
  }

  async #write(
    place: SavedPlace,
    file: FileHandle,
    signal: AbortSignal,
    wroteFirst: () => void,
  ): Promise<void> {
    try {
      // A crash before the sync may truncate the file. This is recorded, so that the next start checks the file.
      const noted = this.#syncing.then(() => this.#deps.database.noteUnsynced(this.row.streamHash));
      noted.catch(() => undefined);
      const stream = await this.#reader.open(this.row.sdHash, signal);
      let written = 0;
      const onWritten = (bytes: number): void => {
        written += bytes;
        this.writtenBytes = written;
        this.#writing.add(bytes);
        // For a file of one blob, the call is answered only when the file is complete, as in lbry-sdk.
        if (this.row.blobsInStream > 1) wroteFirst();
      };
      await noted;
      await writeOutput({ reader: this.#reader, stream, file, signal, onWritten });
    } catch (error) {
      await file.close();
      throw environmentError(error, pathOf(place));
    }
  }

  async #saved(place: SavedPlace, file: FileHandle): Promise<void> {
    this.#save = null;
    const recorded = this.#setPlace(place, true, 'finished');
    // The sync may take long. During the sync the file can be used, and its blobs are not deleted. It starts after the commit,
    // because a commit during the sync would wait until the data of the file is on disk.
    this.#syncing = recorded
      .catch(() => undefined)
      .then(() => this.#sync(file))
      .catch((error: unknown) =>
        this.#deps.log.warn(`${pathOf(place)} may not be on disk: ${failureReason(error)}`),
      )
      .finally(() => file.close());
    this.#deps.blobs.keepUntil(this.#syncing);
    await recorded;
  }

  /**
   * Handles an error while saving: deletes the incomplete file. When the daemon stops, the row stays, so that the next start
   * saves the file again.
   */
  async #failed(place: SavedPlace, error: Error): Promise<void> {
    this.writtenBytes = null;
    await this.#removePartial(place);
    await this.#deps.database.noteSynced(this.row.streamHash).catch(() => undefined);
    const how = error instanceof SaveEnded ? error.how : null;
    if (how === 'daemon stops') return;
    // On a full disk the database may refuse the change. The error is only logged, because the file on disk is correct and
    // the next start checks it again.
    const note = (error: unknown): void => this.#deps.log.warn(failureReason(error));
    await this.#setPlace(null, false, how === 'replaced' ? undefined : 'stopped').catch(note);
    if (how === null) this.#deps.log.warn(`The file ${place.fileName} could not be saved: ${error.message}`);
  }

  /** Deletes an incomplete file. If the system refuses, the file stays, and the log says so. */
  async #removePartial(place: SavedPlace): Promise<void> {
    await removeOutput(place).catch((error: unknown) =>
      this.#deps.log.warn(
        `The incomplete file ${pathOf(place)} could not be deleted: ${failureReason(error)}`,
      ),
    );
  }

  async #endSave(how: SaveEnd): Promise<void> {
    const save = this.#save;
    if (save === null) return;
    save.ending.abort(new SaveEnded(how));
    await save.done.catch(() => undefined);
  }

  /** Ends the save. The blobs stay on disk. The row of a file that is not being saved stays. */
  async end(): Promise<void> {
    this.#resuming.abort(new SaveEnded('stopped'));
    this.#idle?.cancel();
    await this.#turns.run(() => this.#endSave('stopped'));
  }

  /** Ends the save and all readers before the stream is deleted. */
  async endForDeletion(): Promise<void> {
    this.#deleting.abort(new DaemonError('DownloadCancelledError', 'The file was deleted.'));
    await this.end();
  }

  /** Ends the save and all readers, and stops the file. A finished file stays finished. Source: lbry-sdk `stop_tasks`. */
  async stop(): Promise<void> {
    this.#stopping.abort(new DaemonError('DownloadCancelledError', 'The download was stopped.'));
    this.#stopping = new AbortController();
    await this.end();
    if (this.isRunning) await this.#setStatus('stopped');
  }

  /** Closes the file when the daemon stops. */
  async close(): Promise<void> {
    this.#resuming.abort(new SaveEnded('daemon stops'));
    this.#idle?.cancel();
    await this.#turns.run(() => this.#endSave('daemon stops'));
    await this.#syncing;
  }

  /** Resolves when nothing is being saved. */
  async settled(): Promise<void> {
    await this.#save?.done.catch(() => undefined);
  }
}
