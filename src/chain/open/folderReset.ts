/**
 * Deletes the data of a folder so that it is computed again: everything but the block files (`-reindex`), or everything but
 * headers and block files (`-reindex-chainstate`). Both can be killed at any time: a mark, written first and removed last,
 * lets the next start finish the deletion.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { removeUndoFiles, removeUnreachableFiles } from '../../store/files/blockFiles.js';
import { PREFIX } from '../../store/rows/keys.js';
import { prefixEnd } from '../../store/rows/rows.js';
import type { RowStore } from '../../store/rows/rowStore.js';
import { EnvironmentError, onFile } from '../../util/text/environmentError.js';
import type { Logger } from '../../util/logging.js';
import { syncFolder } from '../snapshot/snapshotFile.js';
import { moveToQuarantine } from '../../util/quarantine.js';
import { refuseSpecialFile } from '../../util/files/specialFile.js';
import { formatChainState, parseChainState } from '../connect/chainState.js';

export interface FolderPaths {
  /** Folder of the network inside the data folder. */
  folder: string;
  /** The LevelDB folder; its journal is in the same parent folder. */
  database: string;
  /** Folder that contains the block files. */
  blocks: string;
}

const MARK = 'reindexing';

/**
 * A file in the database folder that marks the database as created by this program, even if other files are lost. LevelDB
 * ignores this file.
 */
const OWNER_FILE = 'lbcnode';

/** Whether the database folder contains the mark of this program. The database is not opened. */
export function isMarkedAsOurs(database: string): boolean {
  return existsSync(join(database, OWNER_FILE));
}

export function markAsOurs(database: string): void {
  const path = join(database, OWNER_FILE);
  if (!existsSync(path)) onFile(path, () => writeFileSync(path, 'The database of lbcnode.\n'));
}

export interface Reindexing {
  /** Whether block files that cannot be used any more are removed too (`-prune`). */
  readonly pruning: boolean;
  /**
   * Whether the database was certainly created by this program. A database that may belong to another program is quarantined
   * instead of deleted.
   */
  readonly isOurs: boolean;
}

/** Requests the deletion of all data except the block files. `finishReindex` performs the deletion. */
export function beginReindex({ folder }: FolderPaths, { pruning, isOurs }: Reindexing): void {
  const path = join(folder, MARK);
  onFile(path, () => {
    refuseSpecialFile(path);
    const fd = openSync(path, 'w');
    writeSync(fd, [pruning ? 'prune' : '', isOurs ? '' : 'keep'].join(' ').trim());
    fsyncSync(fd);
    closeSync(fd);
  });
}

/**
 * Performs the deletion that `beginReindex` requested, in this process or an earlier one. Returns whether a deletion was
 * requested.
 */
export function finishReindex({ folder, database, blocks }: FolderPaths, log: Logger): boolean {
  const mark = join(folder, MARK);
  if (!existsSync(mark)) return false;
  const wanted = onFile(mark, () => {
    refuseSpecialFile(mark);
    return readFileSync(mark, 'utf8');
  }).split(' ');
  onFile(database, () => rmSync(`${database}.journal`, { recursive: true, force: true }));
  if (wanted.includes('keep') && existsSync(database)) {
    const aside = moveToQuarantine(database);
    if (aside === null)
      throw new EnvironmentError(`${database} cannot be moved. Move it to another place and start again.`);
    log.warn(
      `${database} was not written by this program and was not deleted. It was moved to ${aside} and is not needed.`,
    );
  } else onFile(database, () => rmSync(database, { recursive: true, force: true }));
  onFile(blocks, () => {
    if (!existsSync(blocks)) return;
    removeUndoFiles(blocks);
    if (wanted.includes('prune')) removeUnreachableFiles(blocks);
  });
  onFile(mark, () => rmSync(mark, { force: true }));
  return true;
}

/** Records that the whole chain state must be computed from the block files. The record is on disk when the promise resolves. */
export async function beginRebuild(store: RowStore): Promise<void> {
  const state = parseChainState(await store.get(PREFIX.tip));
  store.put(PREFIX.tip, formatChainState({ ...state, rebuilding: true }));
  await store.flush();
}

/**
 * Requests the deletion of coins, claims and indexes. The request is on disk when the promise resolves, with all pending
 * rows of the store.
 */
export async function beginChainStateReset(store: RowStore): Promise<void> {
  const state = parseChainState(await store.get(PREFIX.tip));
  store.put(
    PREFIX.tip,
    formatChainState({ ...state, tip: null, coinsOnDisk: false, resetting: true, rebuilding: true }),
  );
  await store.flush();
}

/** Types of the rows that `-reindex-chainstate` keeps: the headers, and rows about the database. */
const KEPT_KINDS = [PREFIX.headerChunk, PREFIX.meta, PREFIX.tip];
/** Size in bytes of the rows that are copied between two flushes. Arbitrary. */
const FLUSH_BYTES = 16 << 20;

/**
 * Folder in which the new database is built, and folder to which the former database is moved. A start deletes both, so they must
 * not have a name that users give to their copies, such as `chainstate.old`.
 */
const newFolder = (database: string): string => `${database}.reset`;
const oldFolder = (database: string): string => `${database}.replaced`;

/**
 * Performs the deletion that `beginChainStateReset` requested, in this or an earlier process. The kept rows are copied to a new
 * database, which replaces the former one. Deletions of single rows would take longer, and their markers would slow later reads.
 * Returns the store of the new database, or `store` if no deletion was requested. `open` opens a database. If it fails, all
 * stores are closed.
 */
export async function finishChainStateReset(
  store: RowStore,
  database: string,
  open: (path: string) => Promise<RowStore>,
): Promise<RowStore> {
  const state = parseChainState(await store.get(PREFIX.tip));
  if (!state.resetting) return store;
  const path = newFolder(database);
  onFile(path, () => {
    for (const left of [path, `${path}.journal`]) rmSync(left, { recursive: true, force: true });
  });
  try {
    const copy = await open(path);
    try {
      await copyKept(store, copy);
      copy.put(PREFIX.tip, formatChainState({ ...state, resetting: false }));
      await copy.flush();
      markAsOurs(path);
    } finally {
      await copy.close();
    }
  } finally {
    await store.close();
  }
  onFile(database, () => {
    renameSync(database, oldFolder(database));
    renameSync(path, database);
    syncFolder(dirname(database));
  });
  finishReplacing(database);
  const replaced = await open(database);
  replaced.declareKinds(KEPT_KINDS.join(''));
  return replaced;
}

async function copyKept(from: RowStore, to: RowStore): Promise<void> {
  for (const kind of KEPT_KINDS)
    for await (const [key, value] of from.range({ gte: kind, lt: prefixEnd(kind) })) {
      to.put(key, value);
      if (to.dirtyBytes >= FLUSH_BYTES) await to.flush();
    }
}

/** Finishes the replacement of the database that an earlier process began. The database must be closed. */
export function finishReplacing(database: string): void {
  const [added, former] = [newFolder(database), oldFolder(database)];
  onFile(database, () => {
    // The former database is moved only when the new one is complete.
    if (existsSync(former) && !existsSync(database)) renameSync(existsSync(added) ? added : former, database);
    for (const path of [added, `${added}.journal`, former]) rmSync(path, { recursive: true, force: true });
  });
}
