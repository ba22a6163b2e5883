/** Log lines for a block's effects on claims (`-debug=claims`). Source: the `BCLog::CLAIMS` lines of lbrycrd's claimtrie.cpp. */
import type { ClaimEvent } from '../../store/claims/claimStore.js';
import { hashToHex, type Bytes } from '../../util/bytes.js';
import type { Logger } from '../../util/logging.js';

/** Writes one log line for each event, in order. `events` is called only if the log category is enabled. */
export function logConnectedClaims(
  log: Logger,
  height: number,
  claims: { readonly events: readonly ClaimEvent[] },
): void {
  if (!log.willLog('claims')) return;
  for (const event of claims.events)
    log.debug('claims', `claims: height=${height} ${event.type}: ${describe(event)}`);
}

/** Logs that the block at this height was disconnected, which reverts the claim events of the block. */
export function logDisconnectedClaims(log: Logger, height: number, hash: Bytes): void {
  log.debug('claims', () => `claims: height=${height} disconnected: block=${hashToHex(hash)}`);
}

function describe(event: ClaimEvent): string {
  const { name, rawName, claimId, formerClaimId, txid, n, amount, spentBy } = event;
  const kind = event.isSupport === true && event.type !== 'support' ? 'support' : undefined;
  const fields = {
    name: quoted(rawName ?? name),
    of: kind,
    claimId: hexOf(claimId),
    formerClaimId: hexOf(formerClaimId),
    outpoint: txid && `${hashToHex(txid)}:${n}`,
    amount,
    validAtHeight: event.validAtHeight,
    active: event.isActive,
    spentBy: hexOf(spentBy),
  };
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([field, value]) => `${field}=${value}`)
    .join(', ');
}

function hexOf(hash: Bytes | undefined): string | undefined {
  return hash && hashToHex(hash);
}

/** Quotes a name for the log, because a name may contain any bytes, including line breaks. */
function quoted(name: Bytes): string {
  return JSON.stringify(Buffer.from(name).toString());
}
