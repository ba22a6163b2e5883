/** Scan of all unspent outputs for the RPC method `scantxoutset`. */
import type { ChainReader, CoinRowEntry } from '../chain/chainReader.js';
import type { Bytes } from '../util/bytes.js';

export interface CoinScanResult {
  /** Whether the scan reached its end; false if a caller cancelled it. */
  completed: boolean;
  searched: number;
  /** Outputs that the scan found, ordered by txid bytes, then by output index. */
  found: readonly CoinRowEntry[];
  /** Sum of all found outputs in satoshis. */
  totalSat: bigint;
}

/** The scripts whose outputs are looked for. */
export interface ScannedScripts {
  has(script: Bytes): boolean;
}

/** Runs one scan at a time, with progress and cancellation. */
export interface CoinScanner {
  /** Progress of the running scan in percent; null if no scan is running. */
  readonly progressPercent: number | null;
  /** Whether the running scan is being cancelled. */
  readonly isEnding: boolean;
  /**
   * Reserves the scanner for one caller. Returns false if another caller has reserved it. `run` and `release` end the
   * reservation.
   */
  reserve(): boolean;
  release(): void;
  /** Cancels the running scan, which ends soon after. Returns false if no scan is running. */
  end(): boolean;
  /** Scans for outputs that pay to one of the scripts. The caller must have called `reserve` before. */
  run(reader: ChainReader, scripts: ScannedScripts, signal: AbortSignal): Promise<CoinScanResult>;
}
