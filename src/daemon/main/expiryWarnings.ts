/**
 * Log warnings about claims of the wallets that are about to expire or have expired. An update before the expiry renews a
 * claim. lbrynet has no such warnings.
 */
import type { Logger } from '../../util/logging.js';
import { expiresAt, lastExpired, warnedBlocks } from '../base/claimTerm.js';
import type { DaemonLedger } from '../ledger/ledger.js';
import { CLAIM_TXO_TYPES, type TxoRow } from '../ledger/txoQuery.js';

/** Maximum number of claims in one log line. */
const NAMED = 10;

type WatchedLedger = Pick<DaemonLedger, 'params' | 'height' | 'on'> & {
  readonly database: Pick<DaemonLedger['database'], 'txos'>;
};

interface WatchedWallet {
  readonly id: string;
  readonly accountIds: readonly string[];
}

const named = (rows: readonly TxoRow[]): string => {
  const shown = rows.slice(0, NAMED).map(({ claimName, claimId }) => `${claimName} (${claimId})`);
  const rest = rows.length - shown.length;
  return `${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
};

/**
 * Checks the claims when the histories are complete and the tip has changed. Each claim is reported at most once per run
 * before its expiry and once after it.
 */
export function warnOfExpiry(
  ledger: WatchedLedger,
  wallets: () => readonly WatchedWallet[],
  log: Pick<Logger, 'warn'>,
): void {
  const warned = new Set<string>();
  let lookedAt = -1;
  const look = async (): Promise<void> => {
    const { height, params } = ledger;
    if (height === lookedAt) return;
    lookedAt = height;
    const soon = height + warnedBlocks(params, height);
    const last = lastExpired(params, soon);
    if (last < 1) return;
    for (const { id, accountIds } of wallets()) {
      const rows = await ledger.database.txos(
        { accountIds, types: CLAIM_TXO_TYPES, isSpent: false, minHeight: 1, maxHeight: last },
        { order: 'height' },
      );
      const fresh = (all: readonly TxoRow[], kind: string): TxoRow[] =>
        all.filter(({ claimId }) => !warned.has(`${kind} ${claimId}`) && warned.add(`${kind} ${claimId}`));
      const expired = fresh(
        rows.filter((row) => expiresAt(params, row.height) <= height),
        'expired',
      );
      const expiring = fresh(
        rows.filter((row) => expiresAt(params, row.height) > height),
        'expiring',
      );
      if (expiring.length > 0)
        log.warn(
          expiring.length === 1
            ? `A claim of the wallet ${id} expires in at most ${soon - height} blocks, at height ${expiresAt(params, expiring[0]!.height)}. ` +
                `An update renews a claim: ${named(expiring)}`
            : `${expiring.length} claims of the wallet ${id} expire in at most ${soon - height} blocks, the first at height ` +
                `${Math.min(...expiring.map((row) => expiresAt(params, row.height)))}. An update renews a claim: ${named(expiring)}`,
        );
      if (expired.length > 0)
        log.warn(
          expired.length === 1
            ? `A claim of the wallet ${id} has expired and has no effect: ${named(expired)}. Its amount can be spent ` +
                '(txo_spend), and its name can be claimed again.'
            : `${expired.length} claims of the wallet ${id} have expired and have no effect: ${named(expired)}. Their amounts can ` +
                'be spent (txo_spend), and their names can be claimed again.',
        );
    }
  };
  ledger.on(
    'synced',
    () => void look().catch((error: unknown) => log.warn(`Claims cannot be checked: ${String(error)}`)),
  );
}
