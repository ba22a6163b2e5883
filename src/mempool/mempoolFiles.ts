/**
 * The mempool's files. `mempool.dat` has the whole mempool, written at shutdown and on request. `mempool-returned.dat` has
 * the transactions returned by reorgs. It is written before the new tip can be used, since after a crash no peer would send
 * them again. When the file is read, fees are not checked, because a reorg also returns transactions without fee checks.
 */
import { rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { txid, type Transaction } from '../primitives/transaction.js';
import { toLatin1 } from '../util/bytes.js';
import type { Logger } from '../util/logging.js';
import { systemErrorCode } from '../util/text/environmentError.js';
import { ReadError } from '../util/reader.js';
import { quarantine } from '../util/quarantine.js';
import type { AcceptOptions, AcceptVerdict } from './acceptance.js';
import { readDump, writeDump, type DumpedTransaction } from './dumpFormat.js';
import type { MempoolOptions } from './mempoolOptions.js';
import type { PoolEntry } from './poolEntry.js';
import type { TxPool } from './txPool.js';
import type { Unbroadcast } from './unbroadcast.js';

/**
 * Maximum size in bytes of a dump that is read before RPC calls are served. A larger dump is read while calls are served.
 * Arbitrary: about a second.
 */
const QUICK_DUMP_BYTES = 2 << 20;

export interface MempoolFilesDeps {
  readonly accept: (tx: Transaction, options: AcceptOptions) => Promise<AcceptVerdict>;
  readonly nowSec: () => number;
  readonly log: Logger;
  /** Shows a warning to the operator and writes it to the log. Without this function the warning is only logged. */
  readonly warn?: ((message: string) => void) | undefined;
}

export class MempoolFiles {
  private readonly options: MempoolOptions;
  private readonly pool: TxPool;
  private readonly unbroadcast: Unbroadcast;
  private readonly deps: MempoolFilesDeps;
  private readonly returnedPath: string;
  /** Keys of the transactions that reorgs have returned to the mempool since the last complete dump. */
  private readonly returned = new Set<string>();
  /** Whether the file of the last run has been read. Until then it must not be overwritten. */
  private returnedAreRead = false;
  private writing: Promise<void> = Promise.resolve();
  /** Whether the files of the last run have been read. */
  isLoaded = false;

  constructor(options: MempoolOptions, pool: TxPool, unbroadcast: Unbroadcast, deps: MempoolFilesDeps) {
    this.options = options;
    this.pool = pool;
    this.unbroadcast = unbroadcast;
    this.deps = deps;
    this.returnedPath = join(dirname(options.dumpPath), 'mempool-returned.dat');
  }

  /**
   * Reads the files. Resolves when all files are read, or when only a long one remains; `finished` resolves when that file
   * is read too.
   */
  async load(signal: AbortSignal): Promise<{ finished: Promise<void> }> {
    if (!this.options.persist) {
      this.isLoaded = true;
      return { finished: Promise.resolve() };
    }
    await this.read(this.returnedPath, { bypassLimits: true }, signal);
    if (!signal.aborted) {
      this.returnedAreRead = true;
      await this.writeReturned();
    }
    const dumpBytes = await stat(this.options.dumpPath).then(
      ({ size }) => size,
      () => 0,
    );
    const finished = this.read(this.options.dumpPath, {}, signal).then(() => {
      this.isLoaded = !signal.aborted;
    });
    if (dumpBytes <= QUICK_DUMP_BYTES) await finished;
    return { finished };
  }

  private async read(path: string, accept: AcceptOptions, signal: AbortSignal): Promise<void> {
    const { pool, deps, options } = this;
    const counts = { succeeded: 0, failed: 0, expired: 0, present: 0 };
    const isReturned = accept.bypassLimits === true;
    try {
      const found = await readDump(
        path,
        {
          transaction: async (tx, timeSec, feeDeltaSat) => {
            const key = toLatin1(txid(tx));
            if (feeDeltaSat !== 0n) pool.prioritise(key, feeDeltaSat);
            if (timeSec + options.expirySec <= deps.nowSec()) return void counts.expired++;
            const { accepted } = await deps.accept(tx, { ...accept, acceptTimeSec: timeSec });
            if (accepted) counts.succeeded++;
            else if (pool.has(key)) counts.present++;
            else counts.failed++;
            if (isReturned && pool.has(key)) this.returned.add(key);
          },
          delta: (key, feeDeltaSat) => pool.prioritise(key, feeDeltaSat),
          unbroadcast: (key) => {
            if (pool.has(key)) this.unbroadcast.add(key);
          },
        },
        signal,
      );
      if (!found) {
        if (!isReturned) deps.log.debug('mempool', `${path} does not exist`);
        return;
      }
    } catch (error) {
      if (!(error instanceof ReadError) && systemErrorCode(error) === null) throw error;
      deps.log.info(
        `Failed to deserialize mempool data on disk: ${(error as Error).message}. Continuing anyway.`,
      );
      const notice = quarantine(
        path,
        error,
        'Transactions that were in the mempool when it was written may be lost.',
      );
      if (deps.warn) deps.warn(notice);
      else deps.log.warn(notice);
      return;
    }
    const { succeeded, failed, expired, present } = counts;
    deps.log.info(
      `Imported mempool transactions from disk: ${succeeded} succeeded, ${failed} failed, ${expired} expired, ${present} already there`,
    );
  }

  /** Writes the whole mempool. Rejects when the disk fails. */
  save(): Promise<void> {
    return this.inTurn(async () => {
      const entries = this.pool.inMiningOrder();
      const deltas = [...this.pool.feeDeltas()].filter(([key]) => !this.pool.has(key)).sort(byKey);
      await writeDump(this.options.dumpPath, entries.map(dumped), deltas, this.unbroadcast.keys());
      this.returned.clear();
      await rm(this.returnedPath, { force: true });
    });
  }

  /** Saves transactions that a reorg returned, so that they survive a crash. */
  async keepReturned(entries: readonly PoolEntry[]): Promise<void> {
    if (!this.options.persist || entries.length === 0) return;
    for (const { key } of entries) this.returned.add(key);
    if (this.returnedAreRead) await this.writeReturned();
  }

  private writeReturned(): Promise<void> {
    return this.inTurn(async () => {
      const kept: PoolEntry[] = [];
      for (const key of this.returned) {
        const entry = this.pool.get(key);
        if (entry) kept.push(entry);
        else this.returned.delete(key);
      }
      // Sorting by the number of ancestors puts each transaction after those that it spends.
      kept.sort((a, b) => a.ancestorCount - b.ancestorCount);
      if (kept.length === 0) await rm(this.returnedPath, { force: true });
      else await writeDump(this.returnedPath, kept.map(dumped), [], []);
    });
  }

  private inTurn(task: () => Promise<void>): Promise<void> {
    const result = this.writing.then(task);
    this.writing = result.catch(() => undefined);
    return result;
  }
}

function dumped({ bytes, timeSec, feeDeltaSat }: PoolEntry): DumpedTransaction {
  return { bytes, timeSec, feeDeltaSat };
}

function byKey([a]: readonly [string, bigint], [b]: readonly [string, bigint]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
