/**
 * Finds the claim or support in a transaction of the wallet. Source: lbrycrd wallet/rpcwallet.cpp `updateclaim`,
 * `abandonclaim`, `abandonsupport`.
 */
import { claimIdOf, decodeClaimScript } from '../../script/claimScript.js';
import { assert } from '../../util/assert.js';
import { fromLatin1, type Bytes } from '../../util/bytes.js';
import { MINE } from '../keys/isMine.js';
import { outputKey, type Entry } from '../ledger/entry.js';
import type { Ledger } from '../ledger/ledger.js';

export type StakeKind = 'claim' | 'support';

/** Error message if a transaction does not contain a claim or support of the wallet. */
export const noStakeMessage = (kind: StakeKind): string =>
  `Error: The given transaction contains no ${kind} scripts owned by this wallet`;

/** An output of the wallet that is a claim or a support. */
export interface OwnStake {
  /** See `outputKey`. */
  readonly key: string;
  readonly valueSat: bigint;
  readonly name: Bytes;
  /** Id of the claim, or of the claim that a support supports (20 bytes). */
  readonly claimId: Bytes;
  /** Whether a transaction of the wallet already spends the output. */
  readonly isSpent: boolean;
}

/**
 * The first unspent output of the transaction that is a claim or support, as `kind` requires. If all such outputs are spent,
 * the first of them. Null if there are none. The reference always uses the first output, even if it is spent, and then
 * creates transactions that are never mined.
 */
export function ownStake(ledger: Ledger, entry: Entry, kind: StakeKind): OwnStake | null {
  const wanted = entry.outputs.filter(({ mine }) => (mine & MINE[kind]) !== 0);
  const first = wanted.find(({ n }) => !ledger.isSpent(outputKey(entry.key, n))) ?? wanted[0];
  if (first === undefined) return null;
  const { n, valueSat } = first;
  const script = decodeClaimScript(ledger.transaction(entry).outputs[n]!.script);
  assert(script !== null, 'an output that holds a claim has no claim script');
  const key = outputKey(entry.key, n);
  return {
    key,
    valueSat,
    name: script.name,
    claimId: script.claimId ?? claimIdOf(fromLatin1(entry.key), n),
    isSpent: ledger.isSpent(key),
  };
}
