/**
 * Shows the progress of long work: reading files, connecting stored blocks, the initial download, large flushes, and
 * otherwise filling indexes in the background. Decides how often progress is reported. `progressText.ts` formats the texts,
 * `console.ts` writes them.
 */
import { headerProgress, tipFigures, type Progress } from '../../chain/progress.js';
import type { ChainReader } from '../../chain/chainReader.js';
import type { NetworkParams } from '../../params/network.js';
import { verificationProgress } from '../../rpc/methods/blockchain/getBlockchainInfo.js';
import type { StatusLine } from './console.js';
import { ProgressPace } from './progressPace.js';
import { progressLine, progressStatus, type ProgressFigures } from './progressText.js';

/** Milliseconds between two progress lines in the log. */
const LOG_MS = 10_000;
/** Milliseconds between two updates of the status line. */
const SHOW_MS = 200;
/** Minimum duration in ms of an activity before its progress is reported. */
const PATIENCE_MS = 500;
/** Minimum size in bytes of a flush that is reported, because a smaller flush ends before a user can read the report. */
const LARGE_FLUSH_BYTES = 16 << 20;

export interface ProgressOutput {
  /** Shows a status line; null removes it because no long work is in progress. */
  show(status: StatusLine | null): void;
  /** Writes a progress line to the log. */
  log(line: string): void;
  /** Passes the progress line to RPC clients that wait for the node. */
  tell(line: string): void;
}

export interface ProgressDeps {
  readonly params: Pick<NetworkParams, 'chainTxData' | 'targetSpacingSec'>;
  readonly nowSec: () => number;
  /** Returns the size in bytes of the cached data that is not on disk yet. */
  readonly cacheBytes: () => number;
}

/** Tracks the current activity and its speed. A new activity replaces the previous one. */
class Track {
  current: { progress: Progress; pace: ProgressPace; beganMs: number; loggedMs: number } | null = null;

  /** Adds a progress report. Returns whether the activity has lasted long enough to be shown. */
  add(progress: Progress, now: number): boolean {
    if (this.current?.progress.activity !== progress.activity)
      this.current = { progress, pace: new ProgressPace(), beganMs: now, loggedMs: now };
    this.current.progress = progress;
    this.current.pace.add(now, progress);
    return this.figures !== null;
  }

  /** Figures to show for the current activity; null until the activity has lasted `PATIENCE_MS`. */
  get figures(): ProgressFigures | null {
    if (this.current === null || performance.now() - this.current.beganMs < PATIENCE_MS) return null;
    const { progress, pace } = this.current;
    return { progress, txPerSec: progress.txCount === 0 ? null : pace.txPerSec, leftSec: pace.leftSec };
  }

  /** Whether a log line is due. If so, the next log interval starts. */
  takeLog(now: number): boolean {
    if (this.current === null || now - this.current.loggedMs < LOG_MS) return false;
    this.current.loggedMs = now;
    return true;
  }
}

export class ProgressMonitor {
  private readonly output: ProgressOutput;
  private readonly deps: ProgressDeps;
  private readonly main = new Track();
  private readonly background = new Track();
  private shownMs = -Infinity;

  constructor(output: ProgressOutput, deps: ProgressDeps) {
    this.output = output;
    this.deps = deps;
  }

  follow(reader: ChainReader): void {
    const { chain } = reader;
    const { headers } = chain.index;
    chain.events.on('progress', (progress) => (progress === null ? this.end() : this.update(progress)));
    chain.events.on('backgroundProgress', (progress) =>
      progress === null ? this.endBackground() : this.updateBackground(progress),
    );
    chain.events.on('writing', (writing) => this.showWriting(writing?.bytes ?? null));
    chain.events.on('headerTip', ({ id }) => {
      if (chain.importing || !chain.isInitialDownload() || this.main.current?.progress.activity === BLOCKS)
        return;
      const last = { height: headers.height(id), timeSec: headers.timeSec(id) };
      const { targetSpacingSec } = this.deps.params;
      this.update(headerProgress(HEADERS, last, { nowSec: this.deps.nowSec(), targetSpacingSec }));
    });
    chain.events.on('blockConnected', ({ id }) => {
      if (chain.importing || !chain.isInitialDownload()) return;
      const figures = tipFigures(chain);
      this.update({ activity: BLOCKS, ...this.shareOf(reader, id, figures.txCount), ...figures });
    });
    chain.events.on('tipChanged', ({ id, initialDownload }) => {
      // Nothing is left to download: the initial download has ended, or the tip is the best known header.
      const isThere = !initialDownload || id === chain.index.bestHeader;
      if (isThere && !chain.importing) this.end();
    });
  }

  /**
   * Progress as a share of the estimated number of transactions of the network, or as a share of the headers if no estimate
   * is available.
   */
  private shareOf(reader: ChainReader, tip: number, txCount: number): { done: number; total: number } {
    const { chainTxData } = this.deps.params;
    if (chainTxData.txPerSec > 0)
      return { done: txCount, total: txCount / verificationProgress(reader, tip, chainTxData) };
    const { headers, chain } = reader;
    return { done: headers.height(tip), total: headers.height(chain.index.bestHeader) };
  }

  private update(progress: Progress): void {
    const now = performance.now();
    if (!this.main.add(progress, now) || !this.takeShow(now)) return;
    const line = this.line(this.main);
    this.show();
    this.output.tell(line);
    if (this.main.takeLog(now)) this.output.log(line);
  }

  private updateBackground(progress: Progress): void {
    const now = performance.now();
    if (!this.background.add(progress, now)) return;
    if (this.main.current === null && this.takeShow(now)) this.show();
    if (this.background.takeLog(now)) this.output.log(this.line(this.background));
  }

  private end(): void {
    if (this.main.current === null) return;
    this.main.current = null;
    this.show();
  }

  private endBackground(): void {
    this.background.current = null;
    if (this.main.current === null) this.show();
  }

  private showWriting(bytes: number | null): void {
    if (bytes !== null && bytes >= LARGE_FLUSH_BYTES)
      this.output.show(() => `Writing ${Math.round(bytes / (1 << 20))} MiB to disk`);
    else if (this.main.current === null) this.show();
    // Sets the interval as elapsed, so that the next report of a continuing activity is shown immediately.
    this.shownMs = -Infinity;
  }

  /** Whether the status line may be updated. If so, the next display interval starts. */
  private takeShow(now: number): boolean {
    if (now - this.shownMs < SHOW_MS) return false;
    this.shownMs = now;
    return true;
  }

  private show(): void {
    const figures = this.main.figures ?? this.background.figures;
    this.output.show(figures === null ? null : (columns) => progressStatus(figures, columns));
  }

  private line(track: Track): string {
    return progressLine(track.figures!, `cache ${(this.deps.cacheBytes() / (1 << 20)).toFixed(0)} MiB`);
  }
}

const HEADERS = 'Syncing headers';
const BLOCKS = 'Syncing blocks';
