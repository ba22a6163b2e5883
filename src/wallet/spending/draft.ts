/**
 * Determines coins, change and fee of a transaction. The fee depends on the size, the size on the coins, and the coins on
 * the amount including the fee. So coins, change and fee are computed repeatedly until they match. Source: the loop of
 * lbrycrd wallet/wallet.cpp `CreateTransaction`.
 */
import { feeAtRate } from '../../mempool/feeRate.js';
import { dustThreshold } from '../../mempool/policy.js';
import type { TxOutput } from '../../primitives/transaction.js';
import { MIN_FINAL_CHANGE_SAT } from '../../signing/coinSelection/knapsack.js';
import type { Chance } from '../../signing/coinSelection/random.js';
import type { ExactPayment } from '../../signing/coinSelection/selectCoins.js';
import type { Bytes } from '../../util/bytes.js';
import type { Wallet } from '../wallet.js';
import { coinControl, type CoinControl } from './coinControl.js';
import type { CoinChoice, ChosenCoin } from './chooseCoins.js';
import { claimNameFee, discardRate, minimumFee, minimumRate, type WalletRate } from './feeRates.js';
import {
  NESTED_INPUT_SIZE,
  outputSize,
  virtualInputSize,
  virtualTxSize,
  type InputSize,
} from './inputSizes.js';
import { SpendError } from './spendError.js';
import { spendStateOf } from './spendState.js';

export interface Recipient {
  readonly script: Bytes;
  readonly valueSat: bigint;
  /** Whether the fee is subtracted from this output. All outputs with this flag pay equal parts of the fee. */
  readonly subtractsFee?: boolean;
}

export interface Draft {
  readonly coins: readonly ChosenCoin[];
  readonly outputs: TxOutput[];
  readonly feeSat: bigint;
  /** Position of the change among the outputs; −1 without change. */
  readonly changePosition: number;
  readonly sizeBytes: number;
}

/** Size in bytes of version, lock time, input and output counts, and witness overhead. */
const OVERHEAD_BYTES = 11;
/** Maximum number of bytes by which the field with the output count grows when an output is added. */
const COUNT_ROOM_BYTES = 2;
/** Confirmation target in blocks for the long-term fee rate: a week. */
const LONG_TERM_TARGET = 1008;

export interface DraftTask {
  readonly wallet: Wallet;
  readonly recipients: readonly Recipient[];
  readonly control: CoinControl;
  readonly choice: CoinChoice;
  readonly changeScript: Bytes;
  /** Requested position of the change; −1 for a random position. */
  readonly changePosition: number;
  readonly chance: Chance;
}

export class Drafting {
  private readonly task: DraftTask;
  private readonly rate: WalletRate;
  private readonly discardRatePerKb: bigint;
  private readonly changeBytes: number;
  private readonly sharers: number;
  private readonly totalSat: bigint;
  private feeSat = 0n;
  private coins: readonly ChosenCoin[] = [];

  constructor(task: DraftTask) {
    const { wallet, control, recipients, changeScript } = task;
    this.task = task;
    this.rate = minimumRate(wallet, control);
    this.discardRatePerKb = discardRate(wallet);
    this.changeBytes = outputSize({ script: changeScript });
    this.sharers = recipients.filter(({ subtractsFee }) => subtractsFee === true).length;
    this.totalSat = recipients.reduce((sum, { valueSat }) => sum + valueSat, 0n);
  }

  private fail(message: string): SpendError {
    return new SpendError(message, undefined, this.feeSat);
  }

  /** Computes the draft. Throws `SpendError` if the payment is not possible. */
  run(): Draft {
    const { wallet, choice } = this.task;
    const { node } = wallet;
    const paysOnTop = this.sharers === 0;
    let seeksExact = paysOnTop && !choice.hasPreset;
    let choosesCoins = true;
    for (;;) {
      const targetSat = this.totalSat + (paysOnTop ? this.feeSat : 0n);
      const outputs = this.payments();
      let isExact = false;
      if (choosesCoins) {
        isExact = seeksExact && targetSat > 0n;
        const coins = choice.choose(targetSat, isExact ? this.exactPayment(outputs) : null);
        if (coins === null) {
          if (!isExact) throw this.fail(choice.whyNone(targetSat));
          seeksExact = false;
          continue;
        }
        this.coins = coins;
      }
      const changeSat = this.coins.reduce((sum, { valueSat }) => sum + valueSat, 0n) - targetSat;
      const changePosition = this.addChange(outputs, changeSat, isExact);
      const sizeBytes = this.signedSize(outputs);
      let neededSat = minimumFee(wallet, sizeBytes, this.rate);
      if (this.rate.isUnknown) {
        throw this.fail(
          'Fee estimation failed. Fallbackfee is disabled. Wait a few blocks or enable -fallbackfee.',
        );
      }
      const namesSat = claimNameFee(outputs);
      if (namesSat > neededSat) neededSat = namesSat;
      if (neededSat < feeAtRate(node.fees.relayMinRatePerKb, sizeBytes))
        throw this.fail('Transaction too large for fee policy');

      const change = outputs[changePosition];
      if (this.feeSat >= neededSat) {
        if (change === undefined && paysOnTop && choosesCoins && this.makesChange(sizeBytes, namesSat)) {
          choosesCoins = false;
          continue;
        }
        if (change !== undefined && paysOnTop) {
          change.value += this.feeSat - neededSat;
          this.feeSat = neededSat;
        }
        return { coins: this.coins, outputs, feeSat: this.feeSat, changePosition, sizeBytes };
      }
      if (!choosesCoins) throw this.fail('Transaction fee and change calculation failed');
      if (change !== undefined && paysOnTop) {
        const missingSat = neededSat - this.feeSat;
        if (change.value >= MIN_FINAL_CHANGE_SAT + missingSat) {
          change.value -= missingSat;
          this.feeSat = neededSat;
          return { coins: this.coins, outputs, feeSat: this.feeSat, changePosition, sizeBytes };
        }
      }
      // If the fee is subtracted from the payments, the amount to spend does not depend on the fee. So the selected coins
      // stay the same.
      if (!paysOnTop) choosesCoins = false;
      this.feeSat = neededSat;
      seeksExact = false;
    }
  }

  private payments(): TxOutput[] {
    const { wallet, recipients } = this.task;
    const count = BigInt(this.sharers);
    let isFirst = true;
    return recipients.map(({ script, valueSat, subtractsFee }) => {
      const output = { value: valueSat, script };
      if (subtractsFee === true) {
        output.value -= this.feeSat / count;
        // The first output that pays the fee also pays the remainder of the division.
        if (isFirst) output.value -= this.feeSat % count;
        isFirst = false;
      }
      if (output.value < dustThreshold(output, wallet.node.fees.dustRatePerKb)) {
        if (subtractsFee !== true || this.feeSat === 0n) throw this.fail('Transaction amount too small');
        throw this.fail(
          output.value < 0n
            ? 'The transaction amount is too small to pay the fee'
            : 'The transaction amount is too small to send after the fee has been deducted',
        );
      }
      return output;
    });
  }

  private exactPayment(outputs: readonly TxOutput[]): ExactPayment {
    const { wallet, changeScript } = this.task;
    const { ratePerKb } = this.rate;
    const longTerm = minimumRate(wallet, coinControl(wallet, { confirmTarget: LONG_TERM_TARGET }));
    const change = spendStateOf(wallet).sizes.of(changeScript);
    const changeInputBytes = change === null ? NESTED_INPUT_SIZE : virtualInputSize(change);
    const otherBytes = outputs.reduce((sum, output) => sum + outputSize(output), OVERHEAD_BYTES);
    return {
      feeFor: feesAtRate(ratePerKb),
      longTermFeeFor: feesAtRate(longTerm.ratePerKb),
      costOfChangeSat:
        feeAtRate(this.discardRatePerKb, changeInputBytes) + feeAtRate(ratePerKb, this.changeBytes),
      baseFeeSat: feeAtRate(ratePerKb, otherBytes),
    };
  }

  /**
   * Inserts a change output at its position. Change below the discard limit is added to the fee instead. Returns the
   * position of the change output, or −1 if none was inserted.
   */
  private addChange(outputs: TxOutput[], changeSat: bigint, isExact: boolean): number {
    if (changeSat <= 0n) return -1;
    const { changeScript: script, changePosition, chance } = this.task;
    const change = { value: changeSat, script };
    if (isExact || changeSat < dustThreshold(change, this.discardRatePerKb)) {
      this.feeSat += changeSat;
      return -1;
    }
    if (changePosition > outputs.length) throw this.fail('Change index out of range');
    const position = changePosition < 0 ? chance.below(outputs.length + 1) : changePosition;
    outputs.splice(position, 0, change);
    return position;
  }

  /**
   * Whether the surplus of the fee is enough for a change output. If so, the fee is reduced to that of a transaction with
   * change.
   */
  private makesChange(sizeBytes: number, namesSat: bigint): boolean {
    const { wallet, changeScript: script } = this.task;
    const withChange = minimumFee(wallet, sizeBytes + this.changeBytes + COUNT_ROOM_BYTES, this.rate);
    const neededSat = withChange > namesSat ? withChange : namesSat;
    const leastSat = dustThreshold({ value: 0n, script }, this.discardRatePerKb);
    if (this.feeSat < neededSat + leastSat) return false;
    this.feeSat = neededSat;
    return true;
  }

  private signedSize(outputs: readonly TxOutput[]): number {
    const { wallet, control } = this.task;
    const { sizes } = spendStateOf(wallet);
    const inputs: InputSize[] = this.coins.map(({ script }) => {
      const size = sizes.of(script, control.allowsWatchOnly);
      if (size === null) throw this.fail('Signing transaction failed');
      return size;
    });
    return virtualTxSize(inputs, outputs);
  }
}

/**
 * Returns a function that computes the fee for a size. The fee is cached for each size, because there are many coins but few
 * sizes.
 */
function feesAtRate(ratePerKb: bigint): (sizeBytes: number) => bigint {
  const fees = new Map<number, bigint>();
  return (sizeBytes) => {
    let fee = fees.get(sizeBytes);
    if (fee === undefined) fees.set(sizeBytes, (fee = feeAtRate(ratePerKb, sizeBytes)));
    return fee;
  };
}
