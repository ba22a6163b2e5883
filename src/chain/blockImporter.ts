/**
 * Imports blocks from files of Core's format into the chain (`-loadblock`, `bootstrap.dat`): accepts ahead while the chain
 * connects, holds back children of unknown parents, and reports readable progress. Source: `LoadExternalBlockFile`.
 */
import { statSync } from 'node:fs';
import { NO_HEADER, STATUS } from '../store/headerTable.js';
import { hashToHex } from '../util/bytes.js';
import { breathe } from '../util/breathe.js';
import type { Logger } from '../util/logging.js';
import { ReadError } from '../util/reader.js';
import type { Chain } from './chain.js';
import { readBlockRecords } from './importFile.js';
import { loadBlock, type LoadedBlock } from './loadedBlock.js';

/** Blocks accepted before the chain must have caught up; bounds what waits in memory. */
const AHEAD_BYTES = 24 << 20;
/** Children of unknown parents kept in memory, in bytes; more are dropped with a warning. */
const ORPHAN_BYTES = 64 << 20;
const PROGRESS_MS = 5000;

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
  /** A line of its own about the caches, for the progress report. */
  describeCache: () => string;
}

/** Reads one file to its end. Throws when it cannot be opened. */
export async function importBlockFile(
  chain: Chain,
  path: string,
  options: ImportOptions,
): Promise<ImportResult> {
  const { log, signal } = options;
  const { headers } = chain.index;
  const totalBytes = statSync(path).size;
  log.debug('reindex', `Reading ${path}, ${totalBytes} bytes`);
  const result: ImportResult = { stored: 0, read: 0 };
  const orphans = new Map<string, LoadedBlock[]>();
  let orphanBytes = 0;
  let aheadBytes = 0;
  let activation: Promise<void> | null = null;
  let failure: unknown = null;
  const progress = new Progress(chain, totalBytes, options);
  let since = performance.now();

  /** Starts the chain unless it runs; waits for it only when too much was accepted ahead. */
  const connect = async (): Promise<void> => {
    if (activation !== null && aheadBytes < AHEAD_BYTES) return;
    await activation;
    if (failure !== null) throw failure;
    aheadBytes = 0;
    activation = chain
      .activateBestChain()
      .catch((error: unknown) => {
        failure = error;
      })
      .finally(() => {
        activation = null;
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
      log.warn(`skipped what is no block at ${record.offset} of ${path}: ${error.message}`);
      record.advance = 1;
      continue;
    }
    const ready = [block];
    for (let next = ready.pop(); next; next = ready.pop()) {
      const known = headers.find(next.hash);
      if (known === NO_HEADER || !headers.hasStatus(known, STATUS.haveData)) {
        const { isNew, error } = chain.acceptBlock(next, true);
        if (error?.reason === 'prev-blk-not-found') {
          if (orphanBytes + next.raw.length > ORPHAN_BYTES) continue;
          orphanBytes += next.raw.length;
          const parent = hashToHex(next.header.prevHash);
          log.debug('reindex', `Out of order block ${hashToHex(next.hash)}, parent ${parent} not known`);
          orphans.set(parent, [...(orphans.get(parent) ?? []), { ...next, raw: Buffer.from(next.raw) }]);
          continue;
        }
        if (error) log.warn(`block ${hashToHex(next.hash)} of ${path} is refused: ${error.reason}`);
        if (isNew) {
          result.stored++;
          aheadBytes += next.raw.length;
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
    progress.report(record.end);
    since = await breathe(since);
  }
  await activation;
  if (failure === null) await chain.activateBestChain();
  else throw failure;
  return result;
}

/** A line now and then: height, date, transactions a second, cache, what remains. */
class Progress {
  private readonly chain: Chain;
  private readonly totalBytes: number;
  private readonly options: ImportOptions;
  private readonly began = performance.now();
  private lastMs = performance.now();
  private lastTxCount: number;

  constructor(chain: Chain, totalBytes: number, options: ImportOptions) {
    this.chain = chain;
    this.totalBytes = totalBytes;
    this.options = options;
    this.lastTxCount = this.txCount();
  }

  private txCount(): number {
    return this.chain.tip === NO_HEADER ? 0 : this.chain.index.headers.chainTxCount(this.chain.tip);
  }

  report(doneBytes: number): void {
    const now = performance.now();
    if (now - this.lastMs < PROGRESS_MS) return;
    const { headers } = this.chain.index;
    const txCount = this.txCount();
    const perSec = Math.round((txCount - this.lastTxCount) / ((now - this.lastMs) / 1000));
    const date = new Date(headers.timeSec(this.chain.tip) * 1000).toISOString().slice(0, 16);
    const remainingSec = ((now - this.began) / 1000 / doneBytes) * (this.totalBytes - doneBytes);
    const percent = ((100 * doneBytes) / this.totalBytes).toFixed(1);
    this.options.log.info(
      `Importing: height ${this.chain.height}, ${date}, ${percent} %, ${perSec} transactions/s, ${this.options.describeCache()}, about ${formatDuration(remainingSec)} left`,
    );
    this.lastMs = now;
    this.lastTxCount = txCount;
  }
}

function formatDuration(seconds: number): string {
  const rounded = Math.round(seconds);
  if (rounded < 120) return `${rounded} s`;
  if (rounded < 7200) return `${Math.round(rounded / 60)} min`;
  return `${(rounded / 3600).toFixed(1)} h`;
}
