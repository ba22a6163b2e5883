/** Scan of all unspent outputs for `scantxoutset`. Only one scan runs at a time; it reports progress and can be cancelled. */
import type { ChainReader, CoinRowEntry } from '../../chain/chainReader.js';
import type { CoinScanResult, CoinScanner, ScannedScripts } from '../../interfaces/coinScan.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import { inSlices } from '../../scheduler/slices.js';
import { sortedInSlices } from '../../util/slices.js';

/** Number of outputs between two checks for cancellation. */
const CHECK_INTERVAL = 8192;

function inOrder(a: CoinRowEntry, b: CoinRowEntry): number {
  return (
    Buffer.compare(a.outPoint.subarray(0, 32), b.outPoint.subarray(0, 32)) ||
    a.outPoint.readUInt32LE(32) - b.outPoint.readUInt32LE(32)
  );
}

export class CoinScan implements CoinScanner {
  private percent: number | null = null;
  private shouldEnd = false;

  /** Progress of the scan in percent; null if none is running. */
  get progressPercent(): number | null {
    return this.percent;
  }

  /** Reserves the only slot for scans. Returns false if a scan is running. `run` and `release` free the slot. */
  reserve(): boolean {
    if (this.percent !== null) return false;
    this.percent = 0;
    this.shouldEnd = false;
    return true;
  }

  release(): void {
    this.percent = null;
  }

  /** Whether a caller has requested the cancellation of the scan. */
  get isEnding(): boolean {
    return this.shouldEnd;
  }

  /** Requests the cancellation of the scan. Returns false if none is running. */
  end(): boolean {
    if (this.percent === null) return false;
    this.shouldEnd = true;
    return true;
  }

  /** Finds all unspent outputs that pay to one of the scripts. The caller must call `reserve` before. */
  async run(reader: ChainReader, scripts: ScannedScripts, signal: AbortSignal): Promise<CoinScanResult> {
    const found: CoinRowEntry[] = [];
    let completed = true;
    let searched = 0;
    let totalSat = 0n;
    const { coins } = await reader.allCoins();
    let since = performance.now();
    for await (const entry of coins) {
      searched++;
      if (searched % CHECK_INTERVAL === 0 && (this.shouldEnd || signal.aborted)) {
        completed = false;
        break;
      }
      if (scripts.has(entry.coin.script)) {
        found.push(entry);
        totalSat += entry.coin.amount;
      }
      // The scan reads coins in the order of txids. Txids are evenly distributed, so their first bytes show the progress.
      this.percent = Math.floor((entry.outPoint.readUInt16BE(0) * 100) / 65536 + 0.5);
      since = await yieldIfDue(since);
    }
    return { completed, searched, found: await inSlices(sortedInSlices(found, inOrder)), totalSat };
  }
}
