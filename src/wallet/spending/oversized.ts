/**
 * Rejects payments that together exceed the size of a standard transaction. A draft is computed without yields, and there
 * may be very many payments. So the errors of the payments are found in advance, in slices, in the same order as in a draft.
 * Difference from the reference: if the coins also do not suffice for the fee, only the excessive size is reported.
 */
import { WITNESS_SCALE_FACTOR } from '../../consensus/limits.js';
import { dustThreshold, MAX_STANDARD_TX_WEIGHT } from '../../mempool/policy.js';
import type { Chance } from '../../signing/coinSelection/random.js';
import type { Slices } from '../../util/slices.js';
import type { Wallet } from '../wallet.js';
import { availableCoins, SPENDABLE } from './availableCoins.js';
import { CoinChoice } from './chooseCoins.js';
import type { CoinControl } from './coinControl.js';
import type { Recipient } from './draft.js';
import { outputSize } from './inputSizes.js';
import { SpendError } from './spendError.js';

export const TOO_LARGE = 'Transaction too large';

/** Number of recipients that are processed between two yields to the event loop. */
const RECIPIENTS_AT_ONCE = 256;

/** Throws `SpendError` if the recipients do not fit into one transaction. */
export function* refuseOversized(
  wallet: Wallet,
  recipients: readonly Recipient[],
  control: CoinControl,
  chance: Chance,
): Slices<void> {
  let bytes = 0;
  for (let n = 0; n < recipients.length; n++) {
    bytes += outputSize(recipients[n]!);
    if (n % RECIPIENTS_AT_ONCE === RECIPIENTS_AT_ONCE - 1) yield;
  }
  if (bytes * WITNESS_SCALE_FACTOR <= MAX_STANDARD_TX_WEIGHT) return;
  const { dustRatePerKb } = wallet.node.fees;
  let totalSat = 0n;
  for (let n = 0; n < recipients.length; n++) {
    const { script, valueSat } = recipients[n]!;
    if (valueSat < dustThreshold({ value: valueSat, script }, dustRatePerKb))
      throw new SpendError('Transaction amount too small');
    totalSat += valueSat;
    if (n % RECIPIENTS_AT_ONCE === RECIPIENTS_AT_ONCE - 1) yield;
  }
  const available = availableCoins(wallet, { ...SPENDABLE, control });
  const choice = new CoinChoice(wallet, control, available, chance);
  const coins = choice.choose(totalSat, null);
  throw new SpendError(coins === null ? choice.whyNone(totalSat) : TOO_LARGE);
}
