/**
 * The content database (files, streams, blobs). Used by the only thread that has connections to the databases. Each call is
 * atomic.
 */
import { join } from 'node:path';
import type { SqliteProvider } from '../../sqlite/sqliteProvider.js';
import { Statements, textList } from '../../sqlite/statements.js';
import { makeFolder } from '../../util/files/makeFolder.js';
import { onFile } from '../../util/text/environmentError.js';
import { Transferred } from '../../threads/protocol.js';
import { BlobRows } from './blobRows.js';
import { FileRows } from './fileRows.js';
import type { FileSearch } from './fileSearch.js';
import { BLOB_FOLDER_NAME, openDatabases } from './openDatabases.js';
import { LibraryRows } from './libraryRows.js';
import { OffsiteRows, type DueUpload, type OffsiteBlob, type OpenedOffsite } from './offsiteRows.js';
import { OriginalRows } from './originalRows.js';
import { playableRows, type PlayableRows } from './playableRows.js';
import { ReflectorRows } from './reflectorRows.js';
import type {
  BlobCheckRow,
  BlobRow,
  CompletedStream,
  DiskUsage,
  FileRow,
  HashPage,
  LostOutputs,
  NewFile,
  NewStreamRow,
  OriginalRow,
  PeerRow,
  Pin,
  PinKind,
  Reconciled,
  ResolvedClaim,
  SavedPlace,
  StoredBlob,
  StoredClaim,
  StreamBlobRow,
} from './rows.js';

export interface ContentStoreOptions {
  readonly dataDir: string;
  /** Current Unix time, for rows that a migration creates. */
  readonly nowSec: number;
}

const hexOf = (text: string): string => Buffer.from(text, 'utf8').toString('hex');

export class ContentStore {
  /** Message for the operator about a migration; null if there was no migration. */
  readonly notice: string | null;
  readonly #main: Statements;
  readonly #own: Statements;
  readonly #blobs: BlobRows;
  readonly #originals: OriginalRows;
  readonly #library: LibraryRows;
  readonly #reflector: ReflectorRows;
  readonly #offsite: OffsiteRows;
  readonly #files: FileRows;

  /** Opens the databases in the folder. Throws `EnvironmentError` if a file cannot be used. */
  constructor(provider: SqliteProvider, { dataDir, nowSec }: ContentStoreOptions) {
    const blobFolder = join(dataDir, BLOB_FOLDER_NAME);
    onFile(blobFolder, () => makeFolder(blobFolder));
    const { main, own, notice } = openDatabases(provider, dataDir, nowSec);
    this.notice = notice;
    this.#main = new Statements(main);
    this.#own = new Statements(own);
    this.#originals = new OriginalRows(this.#main, this.#own);
    this.#blobs = new BlobRows(this.#main, this.#own, this.#originals, blobFolder);
    this.#library = new LibraryRows(this.#main, this.#own);
    onFile(blobFolder, () => this.#library.noteLoss(blobFolder));
    this.#reflector = new ReflectorRows(this.#main);
    this.#offsite = new OffsiteRows(this.#main);
    this.#files = new FileRows(this.#main);
  }

  addBlobs(rows: readonly BlobRow[], isFinished: boolean): void {
    this.#blobs.add(rows, isFinished);
  }

  setPending(hashes: readonly string[]): void {
    this.#blobs.setPending(hashes);
  }

  /** See `BlobRows.reconcile`. Also removes the blobs and rows of streams whose making was interrupted. */
  reconcile(partialSuffix: string): Transferred<Reconciled> {
    for (const streamHash of this.#library.unfinishedStreams()) this.removeStream(streamHash);
    const unfinished = this.#library.unfinished();
    if (unfinished.length > 0) this.#blobs.forget(unfinished);
    this.#library.endUnfinished();
    const { finished, ...rest } = this.#blobs.reconcile(partialSuffix);
    const { packed, buffers } = finished.pack();
    return new Transferred({ ...rest, finished: packed, isLost: this.#library.isLost }, buffers);
  }

  forgetBlobs(hashes: readonly string[]): void {
    this.#blobs.forget(hashes);
  }

  endDeletion(hashes: readonly string[]): void {
    this.#blobs.endDeletion(hashes);
  }

  /** See `BlobRows.doomed`. */
  doomedBlobs(): string[] {
    return this.#blobs.doomed();
  }

  noteChecked(checks: readonly BlobCheckRow[]): void {
    this.#blobs.noteChecked(checks);
  }

  blobCheck(hash: string): BlobCheckRow | null {
    return this.#blobs.blobCheck(hash);
  }

  /** The last checks of blobs, in any order. Blobs without a check are left out. */
  blobChecks(hashes: readonly string[]): BlobCheckRow[] {
    return hashes.flatMap((hash) => this.#blobs.blobCheck(hash) ?? []);
  }

  announceSoon(hashes: readonly string[], nowSec: number): void {
    this.#blobs.announceSoon(hashes, nowSec);
  }

  alwaysAnnounce(hashes: readonly string[]): void {
    this.#blobs.alwaysAnnounce(hashes);
  }

  dueForAnnouncement(headAndSdOnly: boolean, limit: number, nowSec: number): string[] {
    return this.#blobs.dueForAnnouncement(headAndSdOnly, limit, nowSec);
  }

  noteAnnounced(hashes: readonly string[], nowSec: number): void {
    this.#blobs.noteAnnounced(hashes, nowSec);
  }

  diskUsage(): DiskUsage {
    return this.#blobs.diskUsage();
  }

  /** See `BlobRows.removableContent`. */
  removableContent(limit: number): StoredBlob[] {
    return this.#blobs.removableContent(limit);
  }

  /** See `BlobRows.removableNetwork`. */
  removableNetwork(limit: number): StoredBlob[] {
    return this.#blobs.removableNetwork(limit);
  }

  /** See `BlobRows.onlyOfStream`. */
  blobsOnlyOf(streamHash: string): string[] {
    return this.#blobs.onlyOfStream(streamHash);
  }

  /** See `BlobRows.removeStream`. */
  removeStream(streamHash: string): string[] {
    const removed = this.#blobs.removeStream(streamHash);
    this.#files.changed();
    return removed;
  }

  /**
   * Adds the rows of a stream and its blobs. Blobs that are not known yet become pending. The sd blob is marked for
   * announcement. Source: `store_stream`.
   */
  addStream({ descriptor, sdHash, sdLengthBytes, addedOn, isMine }: NewStreamRow): void {
    const data = descriptor.blobs.filter(({ blobHash }) => blobHash !== null);
    const blobs = data.map(({ blobHash, length }) => ({
      hash: blobHash!,
      lengthBytes: length,
      addedOn,
      isMine,
    }));
    this.#main.transaction(() => {
      this.#blobs.add([...blobs, { hash: sdHash, lengthBytes: sdLengthBytes, addedOn, isMine }], false);
      this.#main.run(
        'insert or ignore into stream values (?, ?, ?, ?, ?)',
        descriptor.streamHash,
        sdHash,
        descriptor.key,
        hexOf(descriptor.streamName),
        hexOf(descriptor.suggestedFileName),
      );
      for (const { blobHash, blobNum, iv } of descriptor.blobs)
        this.#main.run(
          'insert or ignore into stream_blob values (?, ?, ?, ?)',
          descriptor.streamHash,
          blobHash,
          blobNum,
          iv,
        );
      this.#main.run('update blob set should_announce = 1 where blob_hash = ?', sdHash);
    });
  }

  /**
   * Whether the library must be rebuilt, because the folder had blobs but the database had no rows. True until `endRebuild`
   * is called.
   */
  isLibraryLost(): boolean {
    return this.#library.isLost;
  }

  endRebuild(): void {
    this.#library.endRebuild();
  }

  /** See `LibraryRows.beginMaking`. */
  beginMaking(nowSec: number): void {
    this.#library.beginMaking(nowSec);
  }

  endMaking(): void {
    this.#library.endMaking();
  }

  noteUnsynced(streamHash: string): void {
    this.#library.noteUnsynced(streamHash);
  }

  noteSynced(streamHash: string): void {
    this.#library.noteSynced(streamHash);
  }

  unsynced(): string[] {
    return this.#library.unsynced();
  }

  /** See `LibraryRows.ofNoStream`. */
  ofNoStream(hashes: readonly string[]): string[] {
    return this.#library.ofNoStream(hashes);
  }

  streamsWithoutFile(): string[] {
    return this.#library.streamsWithoutFile();
  }

  /** Sets whether the blobs of a stream are own blobs. The cleaning never removes own blobs. */
  setOwn(streamHash: string, isMine: boolean): void {
    this.#library.setOwn(streamHash, isMine);
  }

  originals(): OriginalRow[] {
    return this.#originals.all();
  }

  /** See `OriginalRows.put`. */
  noteOriginal(original: OriginalRow): void {
    this.#originals.put(original);
  }

  removeOriginal(streamHash: string): void {
    this.#originals.remove(streamHash);
  }

  /** The AES key of a stream, 32 hexadecimal digits; null if the stream is not known. */
  streamKey(streamHash: string): string | null {
    const row = this.#main.get('select stream_key from stream where stream_hash = ?', streamHash);
    return (row?.['stream_key'] as string | undefined) ?? null;
  }

  streamHashOf(sdHash: string): string | null {
    const row = this.#main.get('select stream_hash from stream where sd_hash = ?', sdHash);
    return (row?.['stream_hash'] as string | undefined) ?? null;
  }

  sdHashOf(streamHash: string): string | null {
    const row = this.#main.get('select sd_hash from stream where stream_hash = ?', streamHash);
    return (row?.['sd_hash'] as string | undefined) ?? null;
  }

  /** One page of the sd hashes of all files after the row number `after`. Files whose published file changed are omitted. */
  sdHashesOfFiles(after: number, limit: number): HashPage {
    const withheld = new Set(this.#originals.withheld());
    const rows = this.#main.all(
      `select file.rowid as id, sd_hash from file join stream using (stream_hash)
       where file.rowid > ? order by file.rowid limit ?`,
      after,
      limit,
    );
    return {
      hashes: rows.map((row) => row['sd_hash'] as string).filter((sdHash) => !withheld.has(sdHash)),
      next: rows.length < limit ? null : Number(rows.at(-1)!['id']),
    };
  }

  /** The sd hashes of those streams that have a file, sorted as the files are. */
  sdHashesOf(streamHashes: readonly string[]): string[] {
    return this.#main
      .all(
        `select sd_hash from file join stream using (stream_hash)
         where stream_hash in (select value from json_each(?)) order by file.rowid`,
        textList(streamHashes),
      )
      .map((row) => row['sd_hash'] as string);
  }

  /** The blobs of a stream sorted by position, including the terminator. Source: `get_blobs_for_stream`. */
  blobsOfStream(streamHash: string): StreamBlobRow[] {
    return this.#main
      .all(
        `select s.blob_hash, s.position, s.iv, b.blob_length, b.status from stream_blob s
         left join blob b using (blob_hash) where s.stream_hash = ? order by s.position`,
        streamHash,
      )
      .map((row) => ({
        hash: row['blob_hash'] as string | null,
        position: Number(row['position']),
        iv: row['iv'] as string,
        lengthBytes: Number(row['blob_length'] ?? 0),
        isFinished: row['status'] === 'finished',
      }));
  }

  /** Exact size in bytes of a stream's file; null if it is not known. */
  streamSize(streamHash: string): number | null {
    const row = this.#own.get('select size_bytes from stream_size where stream_hash = ?', streamHash);
    return row === undefined ? null : Number(row['size_bytes']);
  }

  /** See `playableRows`. */
  playable(sdHash: string): PlayableRows | null {
    return playableRows(this.#main, this.#own, sdHash, (hash) => this.#blobs.blobCheck(hash));
  }

  setStreamSize(streamHash: string, sizeBytes: number): void {
    this.#own.run('insert or replace into stream_size values (?, ?)', streamHash, sizeBytes);
  }

  // Methods about files.

  file(streamHash: string): FileRow | null {
    return this.#files.file(streamHash);
  }

  fileCount(): number {
    return this.#files.count();
  }

  /** See `FileRows.search`. */
  searchFiles(search: FileSearch, page: { readonly offset: number; readonly limit: number }) {
    return this.#files.search(search, this.pins(), page);
  }

  /** See `FileRows.searchStreams`. */
  searchStreams(search: FileSearch): string[] {
    return this.#files.searchStreams(search, this.pins());
  }

  filesWithoutClaim(): string[] {
    return this.#files.withoutClaim();
  }

  /** See `FileRows.forgetLostOutputs`. */
  forgetLostOutputs(after: number, limit: number): LostOutputs {
    return this.#files.forgetLostOutputs(after, limit);
  }

  addFile(file: NewFile): number {
    return this.#files.addFile(file);
  }

  setFileStatus(streamHash: string, status: string): void {
    this.#files.setFileStatus(streamHash, status);
  }

  setFilePlace(streamHash: string, place: SavedPlace | null, isSaved: boolean, status: string): void {
    this.#files.setFilePlace(streamHash, place, isSaved, status);
  }

  setContentFee(streamHash: string, rawTransaction: string): void {
    this.#files.setContentFee(streamHash, rawTransaction);
  }

  saveClaims(claims: readonly StoredClaim[]): void {
    this.#files.saveClaims(claims);
  }

  /** See `FileRows.saveResolved`. */
  saveResolved(resolved: readonly ResolvedClaim[]): string[] {
    return this.#files.saveResolved(resolved);
  }

  /** See `FileRows.tieClaim`. */
  tieClaim(streamHash: string, outpoint: string): string | null {
    return this.#files.tieClaim(streamHash, outpoint);
  }

  finishedCount(streamHash: string): number {
    return this.#files.finishedCount(streamHash);
  }

  /** Pins a stream or a channel. `id` is a stream hash, or the claim id of a channel as programs print it. */
  pin(kind: PinKind, id: string, nowSec: number): void {
    this.#own.run('insert or ignore into pin values (?, ?, ?)', kind, id, nowSec);
  }

  unpin(kind: PinKind, id: string): void {
    this.#own.run('delete from pin where kind = ? and id = ?', kind, id);
  }

  /** Returns all pins (content that the cleaning spares), the oldest first. */
  pins(): Pin[] {
    return this.#own
      .all('select kind, id from pin order by added_on, kind, id')
      .map((row) => ({ kind: row['kind'] as PinKind, id: row['id'] as string }));
  }

  /** See `ReflectorRows.streamsToReflect`. */
  streamsToReflect(after: number, limit: number): HashPage {
    return this.#reflector.streamsToReflect(after, limit);
  }

  isReflected(sdHash: string): boolean {
    return this.#reflector.isReflected(sdHash);
  }

  noteReflected(sdHash: string, reflectorAddress: string, nowSec: number): void {
    this.#reflector.noteReflected(sdHash, reflectorAddress, nowSec);
  }

  withheldBlobs(blocked: readonly string[]): string[] {
    return this.#reflector.withheldBlobs(blocked);
  }

  completedWith(hash: string): CompletedStream[] {
    return this.#reflector.completedWith(hash);
  }

  orphans(beforeSec: number): string[] {
    return this.#reflector.orphans(beforeSec);
  }

  // Opens the records of the blobs in an object store (`OffsiteRows`). Call before the other functions for these records.

  openOffsite(place: string): OpenedOffsite {
    return this.#offsite.open(place);
  }

  noteWaiting(blob: OffsiteBlob, nowSec: number): void {
    this.#offsite.noteWaiting(blob, nowSec);
  }

  noteStored(hash: string): void {
    this.#offsite.noteStored(hash);
  }

  dueUploads(limit: number, blocked: readonly string[], except: readonly string[]): DueUpload[] {
    return this.#offsite.dueUploads(limit, blocked, except);
  }

  noteFound(blobs: readonly OffsiteBlob[], nowSec: number): void {
    this.#offsite.noteFound(blobs, nowSec);
  }

  ofKnownStreams(hashes: readonly string[]): string[] {
    return this.#offsite.ofKnownStreams(hashes);
  }

  keepFinished(hash: string): void {
    this.#offsite.keepFinished(hash);
  }

  loseOffsite(hashes: readonly string[]): void {
    this.#offsite.lose(hashes);
  }

  waitAgain(hash: string): void {
    this.#offsite.waitAgain(hash);
  }

  noteUsed(hashes: readonly string[], nowSec: number): void {
    this.#offsite.noteUsed(hashes, nowSec);
  }

  ownOffsiteBytes(): number {
    return this.#offsite.ownBytes();
  }

  /**
   * Loads the stored peers. Node ids are stored as blobs or as texts of hexadecimal digits. Source:
   * `get_persisted_kademlia_peers`.
   */
  loadPeers(): PeerRow[] {
    return this.#main.all('select node_id, address, udp_port, tcp_port from peer').flatMap((row) => {
      const id = row['node_id']!;
      const nodeId = Buffer.from(
        typeof id === 'string' ? id : Buffer.from(id as Uint8Array).toString(),
        'hex',
      );
      if (nodeId.length !== 48) return [];
      const tcpPort = row['tcp_port'] === null ? null : Number(row['tcp_port']);
      return [{ nodeId, address: String(row['address']), udpPort: Number(row['udp_port']), tcpPort }];
    });
  }

  /** Replaces all stored DHT peers by these peers. Source: `save_kademlia_peers`. */
  savePeers(peers: readonly PeerRow[]): void {
    this.#main.transaction(() => {
      this.#main.run('delete from peer');
      for (const { nodeId, address, udpPort, tcpPort } of peers)
        this.#main.run(
          'insert or replace into peer values (?, ?, ?, ?)',
          Buffer.from(Buffer.from(nodeId).toString('hex')),
          address,
          udpPort,
          tcpPort,
        );
    });
  }

  close(): void {
    this.#main.database.exec('pragma wal_checkpoint(full)');
    this.#main.close();
    this.#own.close();
  }
}
