/**
 * Creates the database of a new folder from a snapshot. The rows are written to a separate database. After all checks it
 * replaces the database of the folder. If the process is killed, the folder is unchanged, or the next start finishes the
 * replacement.
 */
import { existsSync, renameSync, rmSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { ClaimRules } from '../../claimtrie/types.js';
import { BulkLoad } from '../../store/rows/bulkLoad.js';
import { putFirstProvable } from '../../store/claims/versions.js';
import { HeaderTable, STATUS_FAILED_MASK } from '../../store/files/headerTable.js';
import { PREFIX } from '../../store/rows/keys.js';
import type { RowStore } from '../../store/rows/rowStore.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import { hashToHex } from '../../util/bytes.js';
import {
  environmentError,
  EnvironmentError,
  onFile,
  systemErrorOfText,
  systemErrorText,
} from '../../util/text/environmentError.js';
import type { Logger } from '../../util/logging.js';
import type { BlockIndex, BlockIndexOptions } from '../index/blockIndex.js';
import { formatChainState, parseChainState } from '../connect/chainState.js';
import { checkDiskSpace } from '../blocks/diskSpace.js';
import { FolderError, IDENTITY_KEY, formatIdentity, type FolderIdentity } from '../open/folderIdentity.js';
import { snapshotRules } from './dumpSnapshot.js';
import { freshIndex, readSnapshot, type ReadSnapshot, type SnapshotTarget } from './readSnapshot.js';
import { SnapshotError, SnapshotReader, syncFolder } from './snapshotFile.js';
import { putSnapshotRecord, readSnapshotRecord, snapshotFolders } from './snapshotRecord.js';
import type { SnapshotSection } from './snapshotState.js';

/** A snapshot whose hash is part of this release. */
export interface KnownSnapshot {
  readonly height: number;
  /** Block id in its printed form (reversed bytes, hex). */
  readonly block: string;
  /** SHA-256 of the snapshot file in hex. */
  readonly hash: string;
}

/** The snapshot file from which the node starts. */
export interface SnapshotSource {
  readonly path: string;
  /** SHA-256 of the file in hex, as given by the operator; null for a snapshot that the release knows. */
  readonly hash: string | null;
  readonly known: readonly KnownSnapshot[];
  readonly sections: readonly SnapshotSection[];
}

export interface LoadDeps {
  /** The network's folder and the database in it. */
  readonly folder: string;
  readonly database: string;
  readonly identity: FolderIdentity;
  readonly claimRules: ClaimRules;
  readonly minimumChainWork: bigint;
  readonly indexOptions: BlockIndexOptions;
  /** Opens the folder's database. */
  readonly open: () => Promise<RowStore>;
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Called with the progress of reading, as a sentence without the full stop. */
  readonly onProgress?: (text: string) => void;
  readonly onPoint: (name: string) => void;
}

/** Finishes or removes an incomplete load from an earlier start. */
export function finishSnapshotLoad(database: string): void {
  const { loading, loaded } = snapshotFolders(database);
  onFile(loading, () => rmSync(loading, { recursive: true, force: true }));
  if (existsSync(loaded)) takePlace(database, loaded);
}

/** Removes a load from an earlier start, even a complete one whose database has not replaced that of the folder. */
export function dropSnapshotLoad(database: string): void {
  const { loading, loaded } = snapshotFolders(database);
  for (const path of [loading, loaded]) onFile(path, () => rmSync(path, { recursive: true, force: true }));
}

function takePlace(database: string, loaded: string, onPoint: LoadDeps['onPoint'] = () => undefined): void {
  onFile(database, () => {
    rmSync(`${database}.journal`, { recursive: true, force: true });
    rmSync(database, { recursive: true, force: true });
    onPoint('snapshot:placing');
    renameSync(loaded, database);
    syncFolder(dirname(database));
  });
}

/**
 * Loads the snapshot, unless the folder was started from one before. Throws `SnapshotError` for a file that cannot be used
 * and `FolderError` for a folder that has a chain; neither is changed.
 */
export async function loadSnapshot(source: SnapshotSource, deps: LoadDeps): Promise<void> {
  const { database, log } = deps;
  const { loading, loaded } = snapshotFolders(database);
  const existing = existsSync(database) ? await deps.open() : null;
  try {
    if (existing !== null && (await isStarted(existing, source, deps))) return;
    const began = performance.now();
    const { head, sizeBytes } = await fill(source, deps, loading, existing);
    deps.onPoint('snapshot:filled');
    onFile(loading, () => {
      renameSync(loading, loaded);
      syncFolder(deps.folder);
    });
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    log.info(
      `Loaded the snapshot ${source.path} of block ${head.height} (${head.block}), ${sizeBytes} bytes, in ${seconds} s`,
    );
  } finally {
    await existing?.close();
  }
  deps.onPoint('snapshot:loaded');
  takePlace(database, loaded, deps.onPoint);
}

/** Whether the folder was already started from this snapshot. Throws `FolderError` for a folder with another chain. */
async function isStarted(store: RowStore, { path }: SnapshotSource, deps: LoadDeps): Promise<boolean> {
  const record = await readSnapshotRecord(store);
  if (record !== null) {
    deps.log.info(
      `The folder was started from the snapshot of block ${record.height} (${record.block}); -loadsnapshot is ignored.`,
    );
    return true;
  }
  const { tip, rebuilding, resetting } = parseChainState(await store.get(PREFIX.tip));
  const genesis = hashToHex(deps.indexOptions.params.genesisHash);
  if ((tip === null || tip === genesis) && !rebuilding && !resetting) return false;
  throw new FolderError(
    `${deps.folder} already contains a chain, so that ${path} cannot be loaded. Start without ` +
      '-loadsnapshot, or with another -datadir.',
  );
}

async function fill(
  source: SnapshotSource,
  deps: LoadDeps,
  loading: string,
  existing: RowStore | null,
): Promise<ReadSnapshot> {
  const wanted = wantedHash(source);
  let load: BulkLoad | null = null;
  try {
    load = await BulkLoad.begin(loading);
    const index = freshIndex(deps.indexOptions);
    const read = await readSnapshot(
      {
        path: source.path,
        ...snapshotRules(deps.identity),
        sections: source.sections,
        claimRules: deps.claimRules,
        minimumChainWork: deps.minimumChainWork,
        index,
        signal: deps.signal,
        onProgress: await progressOf(source.path, deps),
      },
      targetOf(load, deps),
    );
    if (read.hash !== wanted)
      throw new SnapshotError(
        `The snapshot ${source.path} has the hash ${read.hash}, but ${wanted} was expected ` +
          `(${source.hash === null ? 'the hash in this release' : 'given by -snapshothash'}). It is not the ` +
          'file that you trust.',
      );
    if (existing !== null) await keepHeaders(existing, index, read, source.path);
    writeState(load, index, read, source, deps);
    await load.finish();
    return read;
  } catch (error) {
    await load?.abandon();
    throw snapshotError(error, loading);
  }
}

/**
 * Returns the expected hash of the snapshot file. Throws `SnapshotError` if neither the operator nor the release states a
 * hash.
 */
function wantedHash({ path, hash, known }: SnapshotSource): string {
  const reader = new SnapshotReader(path);
  reader.close();
  const { block, height } = reader.head;
  const wanted = hash ?? known.find((one) => one.block === block)?.hash;
  if (wanted !== undefined) return wanted.toLowerCase();
  const names = known.map((one) => `block ${one.height} (${one.block})`).join(', ');
  throw new SnapshotError(
    `The snapshot ${path} is of block ${height} (${block}), and this release contains no hash for ` +
      `it${names === '' ? '' : `; it has hashes for ${names}`}. If you have the SHA-256 of the file from ` +
      'your own node or from people that you trust, pass it with -snapshothash=<hash>.',
  );
}

async function progressOf(path: string, { onProgress }: LoadDeps): Promise<(bytes: number) => void> {
  const total = (await stat(path)).size;
  let last = -1;
  return (bytes) => {
    const percent = Math.floor((100 * bytes) / Math.max(1, total));
    if (percent === last) return;
    last = percent;
    onProgress?.(`Loading snapshot... ${percent}%`);
  };
}

function targetOf(load: BulkLoad, { folder, onPoint }: LoadDeps): SnapshotTarget {
  return {
    put: (key, value) => load.put(key, value),
    del: (key) => load.del(key),
    async putRecords(records) {
      onPoint('snapshot:piece');
      checkDiskSpace([folder]);
      await load.putRecords(records);
      if (load.isFull) await load.drain();
    },
    async relieve() {
      onPoint('snapshot:piece');
      if (!load.isFull) return;
      checkDiskSpace([folder]);
      await load.drain();
    },
  };
}

/**
 * Adds the headers that were in the folder before. The snapshot's block must be on the best branch of all headers. Throws
 * `SnapshotError`.
 */
async function keepHeaders(
  existing: RowStore,
  index: BlockIndex,
  { head, id }: ReadSnapshot,
  path: string,
): Promise<void> {
  const { headerCount } = parseChainState(await existing.get(PREFIX.tip));
  const known = new HeaderTable(existing);
  await known.load(headerCount);
  let since = performance.now();
  for (let at = 1; at < headerCount; at++) {
    const header = await known.readHeader(at);
    const accepted = index.acceptHeader(header, Buffer.from(known.hash(at)));
    if (accepted.id >= 0 && known.isFailed(at))
      index.headers.addStatus(accepted.id, known.status(at) & STATUS_FAILED_MASK);
    since = await yieldIfDue(since);
  }
  const { headers, active, bestHeader } = index;
  const there = active.ancestorOf(bestHeader, head.height);
  if (there === id && !headers.isFailed(id)) return;
  throw new SnapshotError(
    `The snapshot ${path} is of block ${head.block} at height ${head.height}, which is not in the chain with the most work that this node knows (its tip is ${hashToHex(headers.hash(bestHeader))} at height ${headers.height(bestHeader)}). Use a snapshot of a block of that chain.`,
  );
}

/** Writes the remaining rows of a complete database: headers, snapshot record, identity and chain state. */
function writeState(
  load: BulkLoad,
  index: BlockIndex,
  read: ReadSnapshot,
  source: SnapshotSource,
  { identity }: LoadDeps,
): void {
  const { headers } = index;
  const { head, hash, parts } = read;
  const block = Buffer.from(headers.hash(read.id));
  headers.writeDirty(load);
  for (const section of source.sections) section.finish?.(load, block);
  putFirstProvable(load, head.height);
  putSnapshotRecord(load, { height: head.height, block: head.block, hash, parts, state: 'assumed' });
  load.put(IDENTITY_KEY, formatIdentity(identity));
  load.put(
    PREFIX.tip,
    formatChainState({
      tip: head.block,
      headerCount: headers.count,
      scannedFile: 0,
      scannedBytes: 0,
      coinsOnDisk: true,
      pruned: false,
      resetting: false,
      rebuilding: false,
    }),
  );
}

/** Converts a system error into a message for the operator. */
function snapshotError(error: unknown, path: string): unknown {
  const refused = systemErrorOfText(error instanceof Error ? error.message : '');
  if (refused && !(error instanceof EnvironmentError))
    return new EnvironmentError(systemErrorText(refused.code, refused.path));
  return environmentError(error, path);
}
