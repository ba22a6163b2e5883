/**
 * Forgets what a data folder knows, so that it is computed again: everything but the block files (`-reindex`), or
 * everything but headers and block files (`-reindex-chainstate`). Both can be killed at any moment: a mark, made first
 * and removed last, lets the next start finish what was begun.
 */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { removeUndoFiles, removeUnreachableFiles } from '../store/blockFiles.js';
import { PREFIX } from '../store/keys.js';
import type { RowStore } from '../store/rowStore.js';
import { formatChainState, parseChainState } from './chainState.js';

export interface FolderPaths {
  /** The network's own folder. */
  folder: string;
  /** The LevelDB folder; its journal lies beside it. */
  database: string;
  /** Folder of the block files. */
  blocks: string;
}

const MARK = 'reindexing';

/** Asks for everything but the block files to be removed; `finishReindex` does it. `pruning`: files behind a gap too. */
export function beginReindex({ folder }: FolderPaths, pruning: boolean): void {
  const fd = openSync(join(folder, MARK), 'w');
  writeSync(fd, pruning ? 'prune' : '');
  fsyncSync(fd);
  closeSync(fd);
}

/** Does what `beginReindex` asked for, now or before the last process died. Answers whether anything was asked. */
export function finishReindex({ folder, database, blocks }: FolderPaths): boolean {
  const mark = join(folder, MARK);
  if (!existsSync(mark)) return false;
  const pruning = readFileSync(mark, 'utf8') === 'prune';
  rmSync(`${database}.journal`, { force: true });
  rmSync(database, { recursive: true, force: true });
  if (existsSync(blocks)) {
    removeUndoFiles(blocks);
    if (pruning) removeUnreachableFiles(blocks);
  }
  rmSync(mark);
  return true;
}

/** Asks for coins, claims and indexes to be dropped; takes effect, with all that is in the store, at once. */
export async function beginChainStateReset(store: RowStore): Promise<void> {
  const state = parseChainState(await store.get(PREFIX.tip));
  store.put(PREFIX.tip, formatChainState({ ...state, tip: null, coinsOnDisk: false, resetting: true }));
  await store.flush();
}

/** Does what `beginChainStateReset` asked for, now or before the last process died. */
export async function finishChainStateReset(store: RowStore): Promise<void> {
  const state = parseChainState(await store.get(PREFIX.tip));
  if (!state.resetting) return;
  const kept = [PREFIX.headerChunk, PREFIX.meta, PREFIX.tip];
  let from = '\x00';
  for (const prefix of [...kept].sort()) {
    await store.dropRange(from, prefix);
    from = String.fromCharCode(prefix.charCodeAt(0) + 1);
  }
  await store.dropRange(from, '\xff');
  store.put(PREFIX.tip, formatChainState({ ...state, resetting: false }));
  await store.flush();
}
