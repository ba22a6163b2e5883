/** The scan of all unspent outputs for `scantxoutset`: one at a time, with progress and cancellation. */
import type { ChainReader, CoinRowEntry } from '../../chain/chainReader.js';
import type { CoinScanResult, CoinScanner, ScannedScripts } from '../../interfaces/coinScan.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import { inSlices } from '../../scheduler/slices.js';
import { sortedInSlices } from '../../util/slices.js';

/** Outputs between two checks for cancellation. */
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

  /** Progress of the scan, null when none is running. */
  get progressPercent(): number | null {
    return this.percent;
  }

  /** Reserves the only slot for a scan; false when it is in use. `run` or `release` frees it. */
  reserve(): boolean {
    if (this.percent !== null) return false;
    this.percent = 0;
    this.shouldEnd = false;
    return true;
  }

  release(): void {
    this.percent = null;
  }

  /** Whether a caller requested cancellation. */
  get isEnding(): boolean {
    return this.shouldEnd;
  }

  /** Cancels the scan; false if none is running. */
  end(): boolean {
    if (this.percent === null) return false;
    this.shouldEnd = true;
    return true;
  }

  /** Finds the outputs with one of the scripts. Call `reserve` first. */
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
      // The scan is in the order of txids, which are evenly distributed.
      this.percent = Math.floor((entry.outPoint.readUInt16BE(0) * 100) / 65536 + 0.5);
      since = await yieldIfDue(since);
    }
    return { completed, searched, found: await inSlices(sortedInSlices(found, inOrder)), totalSat };
  }
}
