/**
 * Replaces a transaction with one that pays a higher fee. The change pays the increase (BIP125). Source: lbrycrd
 * wallet/feebumper.cpp.
 */
import { formatMoney } from '../../consensus/limits.js';
import { transactionWeight, WITNESS_SCALE_FACTOR, type Transaction } from '../../primitives/transaction.js';
import { feeAtRate, feeRateOf } from '../../mempool/feeRate.js';
import { dustThreshold } from '../../mempool/policy.js';
import { signalsReplacement } from '../../mempool/replacement.js';
import { fromLatin1, hashToHex, toLatin1, type Bytes } from '../../util/bytes.js';
import { MINE } from '../keys/isMine.js';
import { outputKey, type Entry } from '../ledger/entry.js';
import { isChange } from '../listing/amounts.js';
import { REPLACED_BY, REPLACES } from '../ledger/txRecord.js';
import type { Wallet } from '../wallet.js';
import { knownOutput, type ChosenCoin } from './chooseCoins.js';
import type { CoinControl } from './coinControl.js';
import { commitAndSend } from './commitTransaction.js';
import { SEQUENCE_LOCKS } from './createTransaction.js';
import { discardRate, minimumFee, minimumRate, requiredRate } from './feeRates.js';
import { virtualTxSize, type InputSize } from './inputSizes.js';
import { signInputs } from './signInputs.js';
import { SPEND_ERROR, SpendError } from './spendError.js';
import { inSpendTurn, spendStateOf } from './spendState.js';

/**
 * Minimum increase of the fee rate (satoshis per 1,000 virtual bytes), even if the network requires less. Source:
 * `WALLET_INCREMENTAL_RELAY_FEE`.
 */
const INCREMENTAL_RATE_PER_KB = 5000n;

export interface Bumped {
  readonly txid: Bytes;
  readonly oldFeeSat: bigint;
  readonly feeSat: bigint;
  readonly errors: readonly string[];
}

const invalid = (message: string): SpendError => new SpendError(message, SPEND_ERROR.invalidParameter);

/** Reason why the transaction cannot be replaced; null if it can. Source: `PreconditionChecks`. */
function obstacle(wallet: Wallet, entry: Entry, tx: Transaction): SpendError | null {
  const { ledger, node } = wallet;
  if (ledger.childrenOf(entry).length > 0) return invalid('Transaction has descendants in the wallet');
  const relatives = node.mempool.relatives(fromLatin1(entry.key));
  if (relatives !== null && relatives.descendants > 1)
    return invalid('Transaction has descendants in the mempool');
  if (ledger.depth(entry) !== 0)
    return new SpendError('Transaction has been mined, or is conflicted with a mined transaction');
  if (!signalsReplacement(tx)) return new SpendError('Transaction is not BIP 125 replaceable');
  const other = entry.row.notes.get(REPLACED_BY);
  if (other !== undefined) {
    return new SpendError(
      `Cannot bump transaction ${nameOf(entry)} which was already bumped by transaction ${other}`,
    );
  }
  const isOurs = entry.inputs.every((input) => ((ledger.output(input)?.mine ?? 0) & MINE.spendable) !== 0);
  return isOurs ? null : new SpendError("Transaction contains inputs that don't belong to this wallet");
}

const nameOf = ({ key }: Entry): string => hashToHex(fromLatin1(key));

function changeIndex(wallet: Wallet, { outputs }: Entry): number {
  const [found, ...others] = outputs.filter((output) => isChange(wallet, output));
  if (others.length > 0) throw new SpendError('Transaction has multiple change outputs');
  if (found === undefined) throw new SpendError('Transaction does not have a change output');
  return found.n;
}

/** Fee of the replacement. If `totalFeeSat` is 0, the fee is computed from the fee rates. */
function newFee(
  wallet: Wallet,
  control: CoinControl,
  totalFeeSat: bigint,
  oldRatePerKb: bigint,
  sizeBytes: number,
): bigint {
  const { fees } = wallet.node;
  const incremental = fees.incrementalRatePerKb;
  if (totalFeeSat > 0n) {
    const oldSat = feeAtRate(oldRatePerKb, sizeBytes);
    const stepSat = feeAtRate(incremental, sizeBytes);
    if (totalFeeSat < oldSat + stepSat) {
      throw invalid(
        `Insufficient totalFee, must be at least ${formatMoney(oldSat + stepSat)} (oldFee ${formatMoney(oldSat)} + incrementalFee ${formatMoney(stepSat)})`,
      );
    }
    const requiredSat = feeAtRate(requiredRate(wallet), sizeBytes);
    if (totalFeeSat < requiredSat) {
      throw invalid(`Insufficient totalFee (cannot be less than required fee ${formatMoney(requiredSat)})`);
    }
    return totalFeeSat;
  }
  const feeSat = minimumFee(wallet, sizeBytes, minimumRate(wallet, control));
  const step = incremental > INCREMENTAL_RATE_PER_KB ? incremental : INCREMENTAL_RATE_PER_KB;
  // 1 is added, because the old rate may have been rounded down.
  const leastRate = oldRatePerKb + 1n + step;
  return feeRateOf(feeSat, sizeBytes) < leastRate ? feeAtRate(leastRate, sizeBytes) : feeSat;
}

function checkFee({ node, options }: Wallet, feeSat: bigint, ratePerKb: bigint, sizeBytes: number): void {
  if (feeSat > options.maxTxFeeSat) {
    throw new SpendError(
      `Specified or calculated fee ${formatMoney(feeSat)} is too high (cannot be higher than maxTxFee ${formatMoney(options.maxTxFeeSat)})`,
    );
  }
  const least = node.fees.mempoolMinRatePerKb;
  if (ratePerKb < least) {
    throw new SpendError(
      `New fee rate (${formatMoney(ratePerKb)}) is lower than the minimum fee rate (${formatMoney(least)}) to get into the mempool -- the totalFee value should be at least ${formatMoney(feeAtRate(least, sizeBytes))} or the settxfee value should be at least ${formatMoney(least)} to add transaction`,
    );
  }
}

interface Replacement {
  readonly tx: Transaction;
  readonly coins: readonly ChosenCoin[];
  readonly oldFeeSat: bigint;
  readonly feeSat: bigint;
}

/** Source: `feebumper::CreateTransaction`. */
function draftReplacement(
  wallet: Wallet,
  entry: Entry,
  old: Transaction,
  control: CoinControl,
  totalFeeSat: bigint,
): Replacement {
  const changeAt = changeIndex(wallet, entry);
  const { sizes } = spendStateOf(wallet);
  const coins: ChosenCoin[] = [];
  const inputs: InputSize[] = [];
  for (const { prevout } of old.inputs) {
    const coin = knownOutput(wallet, outputKey(toLatin1(prevout.hash), prevout.index));
    const size = coin === null ? null : sizes.of(coin.script);
    if (coin === null || size === null) {
      throw new SpendError(
        'Transaction contains inputs that cannot be signed',
        SPEND_ERROR.invalidAddressOrKey,
      );
    }
    coins.push(coin);
    inputs.push(size);
  }
  const sizeBytes = virtualTxSize(inputs, old.outputs);
  const paidSat = old.outputs.reduce((sum, { value }) => sum + value, 0n);
  const oldFeeSat = coins.reduce((sum, { valueSat }) => sum + valueSat, 0n) - paidSat;
  const oldRate = feeRateOf(oldFeeSat, Math.ceil(transactionWeight(old) / WITNESS_SCALE_FACTOR));
  let feeSat = newFee(wallet, control, totalFeeSat, oldRate, sizeBytes);
  checkFee(wallet, feeSat, feeRateOf(feeSat, sizeBytes), sizeBytes);
  const change = { ...old.outputs[changeAt]! };
  change.value -= feeSat - oldFeeSat;
  if (change.value < 0n) throw new SpendError('Change output is too small to bump the fee');
  const outputs = [...old.outputs];
  if (change.value <= dustThreshold(change, discardRate(wallet))) {
    wallet.node.log.info(`${wallet.logName} Bumping fee and discarding dust output`);
    feeSat += change.value;
    outputs.splice(changeAt, 1);
  } else outputs[changeAt] = change;
  const staysReplaceable = control.signalsReplacement ?? wallet.options.signalsReplacement;
  const signed = old.inputs.map((input) => ({
    ...input,
    sequence: staysReplaceable ? input.sequence : Math.max(input.sequence, SEQUENCE_LOCKS),
  }));
  return { tx: { ...old, inputs: signed, outputs }, coins, oldFeeSat, feeSat };
}

/** Replaces a transaction of the wallet. If `totalFeeSat` is 0, the fee is computed from the fee rates. Throws `SpendError`. */
export function bumpFee(
  wallet: Wallet,
  txid: Bytes,
  control: CoinControl,
  totalFeeSat: bigint,
): Promise<Bumped> {
  return inSpendTurn(wallet, async () => {
    const { ledger, keyring } = wallet;
    const entry = ledger.find(txid);
    if (entry === undefined)
      throw new SpendError('Invalid or non-wallet transaction id', SPEND_ERROR.invalidAddressOrKey);
    const old = ledger.transaction(entry);
    const problem = obstacle(wallet, entry, old);
    if (problem !== null) throw problem;
    const { tx, coins, oldFeeSat, feeSat } = draftReplacement(wallet, entry, old, control, totalFeeSat);
    if (!(await signInputs(keyring, tx, coins))) throw new SpendError("Can't sign transaction.");
    // Signing may have yielded to other work, so the conditions are checked a second time.
    const newProblem = obstacle(wallet, entry, old);
    if (newProblem !== null) throw newProblem;
    const { notes, orderForm, fromAccount } = entry.row;
    const own = { notes: new Map([...notes, [REPLACES, nameOf(entry)]]), orderForm, fromAccount };
    const created = { tx, feeSat, changePosition: -1, coins, changeKey: null };
    const committed = await commitAndSend(wallet, created, own, entry);
    const errors =
      committed.refusal === null ? [] : [`Error: The transaction was rejected: ${committed.refusal}`];
    return { txid: committed.txid, oldFeeSat, feeSat, errors };
  });
}
