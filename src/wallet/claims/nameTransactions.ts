/**
 * Lists the claims and supports that a wallet created. Source: lbrycrd wallet/rpcwallet.cpp `ListNameClaims`.
 */
import { claimIdOf, decodeClaimScript, type ClaimKind } from '../../script/claimScript.js';
import { fromLatin1, type Bytes } from '../../util/bytes.js';
import type { Slices } from '../../util/slices.js';
import { MINE_ALL } from '../keys/isMine.js';
import { outputKey, type Entry } from '../ledger/entry.js';
import type { Ledger } from '../ledger/ledger.js';

/** An output of a transaction that spends coins of the wallet. The output creates, updates or supports a claim. */
export interface NameTransaction {
  readonly entry: Entry;
  readonly n: number;
  readonly kind: ClaimKind;
  readonly name: Bytes;
  /** Id of the created, updated or supported claim (20 bytes). */
  readonly claimId: Bytes;
  readonly value: Bytes | null;
  readonly valueSat: bigint;
  readonly feeSat: bigint;
  readonly script: Bytes;
  /** Whether a transaction of the wallet spends the output. */
  readonly isSpent: boolean;
}

export interface NameTransactionFilter {
  readonly supports: boolean;
  readonly spent: boolean;
  readonly minDepth: number;
}

/**
 * All claims and supports that the wallet paid for, the oldest first. Claims received from others are omitted. Decodes all
 * transactions that contain a claim or support. Without `spent`, only transactions with an unspent claim or support are
 * decoded.
 */
export function* nameTransactions(ledger: Ledger, filter: NameTransactionFilter): Slices<NameTransaction[]> {
  const found: NameTransaction[] = [];
  let looked = 0;
  for (const entry of ledger.withStakes(filter.spent)) {
    if (++looked % 1024 === 0) yield;
    if (ledger.depth(entry) < filter.minDepth) continue;
    const debitSat = ledger.debit(entry, MINE_ALL);
    if (debitSat === 0n) continue;
    found.push(...ofTransaction(ledger, entry, debitSat, filter));
    yield;
  }
  return found;
}

function ofTransaction(
  ledger: Ledger,
  entry: Entry,
  debitSat: bigint,
  filter: NameTransactionFilter,
): NameTransaction[] {
  const { outputs } = ledger.transaction(entry);
  const feeSat = outputs.reduce((left, { value }) => left - value, debitSat);
  return outputs.flatMap(({ value: valueSat, script }, n) => {
    const claim = decodeClaimScript(script);
    if (claim === null || (claim.kind === 'support' && !filter.supports)) return [];
    const isSpent = ledger.isSpent(outputKey(entry.key, n));
    if (isSpent && !filter.spent) return [];
    const { kind, name, value = null, claimId = claimIdOf(fromLatin1(entry.key), n) } = claim;
    return [{ entry, n, kind, name, claimId, value, valueSat, feeSat, script, isSpent }];
  });
}
