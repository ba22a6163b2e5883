/** The walk over all unspent outputs behind `scantxoutset`. */
import type { ChainReader, CoinRowEntry } from '../chain/chainReader.js';
import type { Bytes } from '../util/bytes.js';

export interface CoinScanResult {
  /** False when the scan was cancelled. */
  completed: boolean;
  searched: number;
  /** Ordered by txid bytes, then by number. */
  found: readonly CoinRowEntry[];
  /** Sum of all found outputs in satoshis. */
  totalSat: bigint;
}

/** The scripts whose outputs are looked for. */
export interface ScannedScripts {
  has(script: Bytes): boolean;
}

/** One walk at a time, with progress and a way to end it early. */
export interface CoinScanner {
  /** How far the walk is, null when none is under way. */
  readonly progressPercent: number | null;
  /** Whether a caller asked for the end. */
  readonly isEnding: boolean;
  /** Takes the one place for a walk; false when it is taken. `run` or `release` gives it back. */
  reserve(): boolean;
  release(): void;
  /** Stops the walk soon; false if none is running. */
  end(): boolean;
  /** Finds the outputs with one of the scripts. Needs `reserve` before. */
  run(reader: ChainReader, scripts: ScannedScripts, signal: AbortSignal): Promise<CoinScanResult>;
}
