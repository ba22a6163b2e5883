/**
 * A line now and then while blocks are read from files: height, date, transactions a second, cache, what remains. For the
 * log, and for whoever asks meanwhile.
 */
import { NO_HEADER } from '../store/headerTable.js';
import type { Logger } from '../util/logging.js';
import type { Chain } from './chain.js';

const PROGRESS_MS = 5000;

export interface ProgressOptions {
  /** What is being done, with a capital letter. */
  what: string;
  log: Logger;
  /** A few words about the caches. */
  describeCache: () => string;
  /** Told of every line, and that it begins. */
  showStatus?: (line: string) => void;
}

export class ImportProgress {
  private readonly chain: Chain;
  private readonly options: ProgressOptions;
  private readonly began = performance.now();
  private lastMs = performance.now();
  private lastTxCount: number;
  /** How much was done when it began, in whatever `report` counts. */
  private first: number | null = null;

  constructor(chain: Chain, options: ProgressOptions) {
    this.chain = chain;
    this.options = options;
    this.lastTxCount = this.txCount();
    options.showStatus?.(`${options.what}...`);
  }

  private txCount(): number {
    return this.chain.tip === NO_HEADER ? 0 : this.chain.index.headers.chainTxCount(this.chain.tip);
  }

  /** So much is done, of so much in all. Writes a line when the last one is long enough ago. */
  report(done: number, total: number): void {
    this.first ??= done;
    const now = performance.now();
    const { chain, options } = this;
    if (now - this.lastMs < PROGRESS_MS || chain.tip === NO_HEADER) return;
    const txCount = this.txCount();
    const perSec = Math.round((txCount - this.lastTxCount) / ((now - this.lastMs) / 1000));
    const date = new Date(chain.index.headers.timeSec(chain.tip) * 1000).toISOString().slice(0, 16);
    const remainingSec = ((now - this.began) / 1000 / (done - this.first)) * (total - done);
    const remaining = done > this.first ? `, about ${formatDuration(remainingSec)} left` : '';
    const percent = ((100 * done) / total).toFixed(1);
    const line = `${options.what}: height ${chain.height}, ${date}, ${percent} %, ${perSec} transactions/s, ${options.describeCache()}${remaining}`;
    options.log.info(line);
    options.showStatus?.(line);
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
