/**
 * Log lines about long tasks of the ledger: the sync of block headers and of the histories of the wallet's addresses. Short
 * tasks are not logged. Source of the content: lbry-sdk lbry/wallet/ledger.py `on_header`, `subscribe_addresses`.
 */
import type { Logger } from '../../util/logging.js';
import type { DaemonLedger, LedgerSyncState } from '../ledger/ledger.js';

/** Interval in ms of progress lines in the log, and delay before the first line. Arbitrary. */
const PACE_MS = 5_000;

const percentOf = (share: number): string => `${Math.floor(share * 100)} %`;

/** Decides when a log line about one kind of long work is written. */
class Pace {
  readonly #nowMs: () => number;
  #dueMs: number | null = null;
  #isLogged = false;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Must be called during the work. Returns whether it is time for a log line. */
  isDue(): boolean {
    const now = this.#nowMs();
    this.#dueMs ??= now + PACE_MS;
    if (now < this.#dueMs) return false;
    this.#dueMs = now + PACE_MS;
    this.#isLogged = true;
    return true;
  }

  /** Called at the end of the task. Returns whether the end must be logged, because an earlier line about the task was logged. */
  ends(): boolean {
    const wasLogged = this.#isLogged;
    this.#dueMs = null;
    this.#isLogged = false;
    return wasLogged;
  }
}

export function logProgress(
  ledger: Pick<DaemonLedger, 'on' | 'syncState'>,
  log: Pick<Logger, 'info'>,
  nowMs: () => number = () => performance.now(),
): void {
  const headers = new Pace(nowMs);
  const histories = new Pace(nowMs);
  ledger.on('headers', (height) => {
    const { targetHeight } = ledger.syncState;
    if (targetHeight !== null && height < targetHeight) {
      if (headers.isDue())
        log.info(`Block headers: ${height} of ${targetHeight}, ${percentOf(height / targetHeight)}`);
    } else if (headers.ends()) log.info(`Block headers are complete, up to height ${height}`);
  });
  const shown = ({ addresses, addressesLeft, fetched }: LedgerSyncState): string =>
    `${addresses - addressesLeft} of ${addresses} addresses, ${fetched} transactions fetched`;
  ledger.on('histories', () => {
    const state = ledger.syncState;
    if (histories.isDue())
      log.info(`Histories of the wallet: ${percentOf(state.historyShare)}, ${shown(state)}`);
  });
  ledger.on('synced', () => {
    if (histories.ends()) log.info(`The histories of the wallet are complete: ${shown(ledger.syncState)}`);
  });
}
