/**
 * Imports blocks from files of Core's format into the chain (`-loadblock`, `bootstrap.dat`): accepts ahead while the chain
 * connects, holds back children of unknown parents, and reports readable progress. Source: `LoadExternalBlockFile`.
 */
import { NO_HEADER, STATUS } from '../../store/files/headerTable.js';
import { hashToHex } from '../../util/bytes.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import type { Logger } from '../../util/logging.js';
import { ReadError } from '../../util/reader.js';
import type { Chain } from '../chain.js';
import { readBlockRecords } from './importFile.js';
import { loadBlock, type LoadedBlock } from '../blocks/loadedBlock.js';
import type { FileProgress } from '../progress.js';

/** Blocks accepted before the chain must have caught up; bounds what waits in memory. */
const AHEAD_BYTES = 8 << 20;
/** Children of unknown parents kept in memory, in bytes; more are dropped with a warning. */
const ORPHAN_BYTES = 64 << 20;

export interface ImportResult {
  /** Blocks that were new and stored. */
  stored: number;
  /** Records that were read. */
  read: number;
}

export interface ImportOptions {
  magic: Buffer;
  log: Logger;
  signal?: AbortSignal;
  progress: FileProgress;
}

/** Reads one file to its end. Throws when it cannot be opened. */
export async function importBlockFile(
  chain: Chain,
  path: string,
  options: ImportOptions,
): Promise<ImportResult> {
  const { log, signal, progress } = options;
  const { headers } = chain.index;
  log.debug('reindex', `Reading ${path}`);
  const result: ImportResult = { stored: 0, read: 0 };
  const orphans = new Map<string, LoadedBlock[]>();
  let orphanBytes = 0;
  let aheadBytes = 0;
  let connecting: Promise<void> | null = null;
  let failure: unknown = null;
  let since = performance.now();
  /** Starts the chain unless it runs; waits for it only when too much was accepted ahead. */
  const connect = async (): Promise<void> => {
    if (connecting !== null && aheadBytes < AHEAD_BYTES) return;
    await connecting;
    if (failure !== null) throw failure;
    aheadBytes = 0;
    connecting = chain
      .activateBestChain()
      .catch((error: unknown) => {
        failure = error;
      })
      .finally(() => {
        connecting = null;
      });
  };

  for await (const record of readBlockRecords(path, options.magic)) {
    if (signal?.aborted) break;
    result.read++;
    let block: LoadedBlock;
    try {
      block = loadBlock(record.bytes);
      record.advance = 8 + block.consumedBytes;
    } catch (error) {
      if (!(error instanceof ReadError)) throw error;
      log.warn(`skipped bytes that are not a block at ${record.offset} of ${path}: ${error.message}`);
      record.advance = 1;
      continue;
    }
    const ready = [block];
    for (let next = ready.pop(); next; next = ready.pop()) {
      const known = headers.find(next.hash);
      if (known === NO_HEADER || !headers.hasStatus(known, STATUS.haveData)) {
        const { isNew, error } = chain.acceptBlock(next, true);
        if (error?.reason === 'prev-blk-not-found') {
          const parent = hashToHex(next.header.prevHash);
          if (orphanBytes + next.raw.length > ORPHAN_BYTES) {
            log.warn(
              `block ${hashToHex(next.hash)} of ${path} is passed over: its parent ${parent} is far behind it`,
            );
            continue;
          }
          orphanBytes += next.raw.length;
          log.debug('reindex', `Out of order block ${hashToHex(next.hash)}, parent ${parent} not known`);
          orphans.set(parent, [...(orphans.get(parent) ?? []), { ...next, raw: Buffer.from(next.raw) }]);
          continue;
        }
        if (error) log.warn(`block ${hashToHex(next.hash)} of ${path} is refused: ${error.reason}`);
        if (isNew) {
          result.stored++;
          aheadBytes += next.raw.length;
          progress.stored(next.raw.length);
        }
      }
      const children = orphans.get(hashToHex(next.hash));
      if (!children) continue;
      orphans.delete(hashToHex(next.hash));
      for (const child of children) {
        orphanBytes -= child.raw.length;
        log.debug(
          'reindex',
          () => `Processing out of order child ${hashToHex(child.hash)} of ${hashToHex(next.hash)}`,
        );
        ready.push(child);
      }
    }
    await connect();
    progress.read(record.end);
    since = await yieldIfDue(since);
  }
  for (const waiting of orphans.values())
    for (const { hash, header } of waiting)
      log.warn(
        `block ${hashToHex(hash)} of ${path} is passed over: its parent ${hashToHex(header.prevHash)} is not there`,
      );
  await connecting;
  if (failure === null) await chain.activateBestChain();
  else throw failure;
  return result;
}
