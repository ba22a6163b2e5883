/** Scan of all unspent outputs for the RPC method `scantxoutset`. */
import type { ChainReader, CoinRowEntry } from '../chain/chainReader.js';
import type { Bytes } from '../util/bytes.js';

export interface CoinScanResult {
  /** Whether the scan reached its end; false if it was cancelled. */
  completed: boolean;
  searched: number;
  /** Found outputs, ordered by txid bytes, then by output index. */
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
  /** Progress of the running scan in percent; null if none is running. */
  readonly progressPercent: number | null;
  /** Whether the running scan is being cancelled. */
  readonly isEnding: boolean;
  /** Reserves the scanner. Returns false if it is in use. `run` and `release` end the reservation. */
  reserve(): boolean;
  release(): void;
  /** Cancels the running scan, which ends soon. Returns false if none is running. */
  end(): boolean;
  /** Scans for outputs that pay to one of the scripts. `reserve` must have been called before. */
  run(reader: ChainReader, scripts: ScannedScripts, signal: AbortSignal): Promise<CoinScanResult>;
}
