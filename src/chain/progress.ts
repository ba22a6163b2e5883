/**
 * Data of the events `progress` and `backgroundProgress`, which report the progress of long tasks on the chain. Speed and
 * remaining time are computed by the code that shows the progress.
 */
import { NO_HEADER } from '../store/files/headerTable.js';
import type { Chain } from './chain.js';
import type { Progress } from './chainEvents.js';

export type { Progress } from './chainEvents.js';

/** Reports the progress of one activity to the chain's listeners; `end` reports its end. */
export class ProgressTeller {
  private readonly chain: Chain;
  private readonly activity: string;

  constructor(chain: Chain, activity: string) {
    this.chain = chain;
    this.activity = activity;
  }

  /** Reports the finished part and the total of the task. */
  report(done: number, total: number): void {
    const { chain, activity } = this;
    chain.events.emit('progress', { activity, done, total, ...tipFigures(chain) });
  }

  end(): void {
    this.chain.events.emit('progress', null);
  }
}

/** Number of reports about one file. More reports would not change what is displayed. Arbitrary. */
const REPORTS_A_FILE = 10_000;

/** Progress of importing a file that is read ahead of the chain. The bytes of a block count once the block is connected. */
export class FileProgress {
  private readonly teller: ProgressTeller;
  private readonly totalBytes: number;
  private readonly unfollow: () => void;
  private readBytes = 0;
  private waitingBytes = 0;
  /** Part of the file at which the next report is due, in bytes. */
  private nextReport = 0;

  constructor(chain: Chain, activity: string, totalBytes: number) {
    this.teller = new ProgressTeller(chain, activity);
    this.totalBytes = totalBytes;
    this.unfollow = chain.events.on('blockConnected', ({ raw }) => {
      this.waitingBytes = Math.max(0, this.waitingBytes - raw.length);
      this.report();
    });
  }

  /** Records that a block of `bytes` bytes was stored and waits to be connected. */
  stored(bytes: number): void {
    this.waitingBytes += bytes;
  }

  /** Records that the file was read up to the offset `end`. */
  read(end: number): void {
    this.readBytes = end;
    this.report();
  }

  end(): void {
    this.unfollow();
    this.teller.end();
  }

  private report(): void {
    const done = Math.max(0, this.readBytes - this.waitingBytes);
    if (done < this.nextReport && done < this.totalBytes) return;
    this.nextReport = done + this.totalBytes / REPORTS_A_FILE;
    this.teller.report(done, this.totalBytes);
  }
}

/** Progress of the header download, measured by the time of the last header, since blocks appear at an even rate. */
export function headerProgress(
  activity: string,
  last: { readonly height: number; readonly timeSec: number },
  network: { readonly nowSec: number; readonly targetSpacingSec: number },
): Progress {
  const missing = Math.max(0, network.nowSec - last.timeSec) / network.targetSpacingSec;
  return { activity, done: last.height, total: last.height + missing, ...last, txCount: 0 };
}

/** Progress of processing the blocks of the active chain again, measured by transactions; `last` is the last block processed. */
export function replayProgress(activity: string, chain: Chain, last: number): Progress {
  const figures = blockFigures(chain, last);
  return { activity, done: figures.txCount, total: tipFigures(chain).txCount, ...figures };
}

type BlockFigures = Pick<Progress, 'height' | 'timeSec' | 'txCount'>;

/** Returns the data of the tip for a progress report. */
export function tipFigures(chain: Chain): BlockFigures {
  return blockFigures(chain, chain.tip);
}

function blockFigures({ index: { headers } }: Chain, id: number): BlockFigures {
  if (id === NO_HEADER) return { height: -1, timeSec: 0, txCount: 0 };
  return { height: headers.height(id), timeSec: headers.timeSec(id), txCount: headers.chainTxCount(id) };
}
