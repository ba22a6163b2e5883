/**
 * Checks that a transaction's inputs exist, are mature, and cover its outputs. No scripts, no claims.
 * Source: lbrycrd consensus/tx_verify.cpp `Consensus::CheckTxInputs`.
 */
import { COINBASE_MATURITY, formatMoney, isMoneyRange } from './limits.js';
import { reject, type ValidationError } from './reject.js';

/** Data of an unspent output. */
export interface SpentCoin {
  readonly value: bigint;
  /** Height of the block that contains the output. */
  readonly height: number;
  readonly isCoinbase: boolean;
}

export type TxInputsVerdict =
  | { readonly error: ValidationError; readonly feeSat: 0n }
  | { readonly error: null; readonly feeSat: bigint };

function failed(error: ValidationError): TxInputsVerdict {
  return { error, feeSat: 0n };
}

/** The verdict on a transaction with an input that has no unspent output. */
export function missingInputs(): ValidationError {
  return reject('bad-txns-inputs-missingorspent', { debug: 'CheckTxInputs: inputs missing/spent' });
}

/** Checks that an output is mature enough to be spent at `spendHeight`; null if it is. */
export function checkMaturity(coin: Omit<SpentCoin, 'value'>, spendHeight: number): ValidationError | null {
  const depth = spendHeight - coin.height;
  if (!coin.isCoinbase || depth >= COINBASE_MATURITY) return null;
  return reject('bad-txns-premature-spend-of-coinbase', {
    debug: `tried to spend coinbase at depth ${depth}`,
  });
}

/**
 * Checks that the sum of the inputs covers the sum of the outputs. The caller has checked that both sums are in the money
 * range.
 */
export function checkFee(valueInSat: bigint, valueOutSat: bigint): TxInputsVerdict {
  if (valueInSat < valueOutSat) {
    const debug = `value in (${formatMoney(valueInSat)}) < value out (${formatMoney(valueOutSat)})`;
    return failed(reject('bad-txns-in-belowout', { debug }));
  }
  const feeSat = valueInSat - valueOutSat;
  if (!isMoneyRange(feeSat)) return failed(reject('bad-txns-fee-outofrange'));
  return { error: null, feeSat };
}

/**
 * Checks a transaction that is not a coinbase and passed `checkTransaction`.
 * `coins[i]` is the coin that input i spends, null when there is none; `spendHeight` is the height of the block that would
 * contain the transaction.
 */
export function checkTxInputs(
  tx: { readonly outputs: readonly { readonly value: bigint }[] },
  coins: readonly (SpentCoin | null)[],
  spendHeight: number,
): TxInputsVerdict {
  if (coins.includes(null)) return failed(missingInputs());
  let valueInSat = 0n;
  for (const coin of coins as readonly SpentCoin[]) {
    const immature = checkMaturity(coin, spendHeight);
    if (immature) return failed(immature);
    valueInSat += coin.value;
    if (!isMoneyRange(coin.value) || !isMoneyRange(valueInSat)) {
      return failed(reject('bad-txns-inputvalues-outofrange'));
    }
  }
  let valueOutSat = 0n;
  for (const output of tx.outputs) valueOutSat += output.value;
  return checkFee(valueInSat, valueOutSat);
}
