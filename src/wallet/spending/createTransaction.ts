/**
 * Creates payments: selects coins, adds change, signs. `commitTransaction.ts` stores and sends them.
 * Source: lbrycrd wallet/wallet.cpp `CreateTransaction`.
 */
import { WITNESS_SCALE_FACTOR } from '../../consensus/limits.js';
import { transactionWeight } from '../../consensus/txSize.js';
import { MAX_STANDARD_TX_WEIGHT } from '../../mempool/policy.js';
import { emptyInput, SEQUENCE_FINAL, type Transaction } from '../../primitives/transaction.js';
import { FastChance, shuffle, type Chance } from '../../signing/coinSelection/random.js';
import { fromLatin1, toLatin1, type Bytes } from '../../util/bytes.js';
import { inSlices } from '../../scheduler/slices.js';
import type { ReservedKey } from '../keys/keypool.js';
import { outputNumber, txKeyOf } from '../ledger/entry.js';
import { WalletBatch } from '../store/records.js';
import type { Wallet } from '../wallet.js';
import { availableCoins, SPENDABLE } from './availableCoins.js';
import { reserveChange } from './changeOutput.js';
import { CoinChoice, type ChosenCoin } from './chooseCoins.js';
import type { CoinControl } from './coinControl.js';
import { Drafting, type Draft, type Recipient } from './draft.js';
import { refuseOversized, TOO_LARGE } from './oversized.js';
import { signInputs } from './signInputs.js';
import { LONG_CHAIN, SpendError } from './spendError.js';
import { spendStateOf } from './spendState.js';

export type { Recipient } from './draft.js';
export { coinControl, type CoinControl } from './coinControl.js';
export { SpendError } from './spendError.js';

export interface CreateOptions {
  /** Default true. */
  readonly sign?: boolean;
  /** Position of the change among the outputs; random if absent. */
  readonly changePosition?: number;
  /** Source of random numbers; the operating system's if absent. */
  readonly chance?: Chance;
}

/** A created transaction that is not stored or sent yet. It must be committed, or given up with `giveUpTransaction`. */
export interface CreatedTransaction {
  readonly tx: Transaction;
  readonly feeSat: bigint;
  /** Position of the change among the outputs; −1 without change. */
  readonly changePosition: number;
  /** The outputs that the inputs spend, in the order of the inputs. */
  readonly coins: readonly ChosenCoin[];
  /** Pool key that the change output uses; null if the transaction uses none. */
  readonly changeKey: ReservedKey | null;
}

/** A created transaction with its expected size after signing, in virtual bytes. */
interface DraftedTransaction extends CreatedTransaction {
  readonly sizeBytes: number;
}

/**
 * `SEQUENCE_LOCKS`: the highest sequence number that enables lock times. `SEQUENCE_REPLACEABLE`: the highest one that also
 * signals replaceability (BIP125).
 */
export const SEQUENCE_LOCKS = SEQUENCE_FINAL - 1;
const SEQUENCE_REPLACEABLE = SEQUENCE_FINAL - 2;
const TX_VERSION = 2;
/** Maximum number of bytes by which a signed input may be shorter than estimated. A generous upper bound. */
const SHORTER_INPUT_BYTES = 8;

/**
 * Creates a transaction that pays the recipients. Throws `SpendError`. Must be run within `inSpendTurn` together with the
 * commit, so that no other caller selects the same coins. The wallet must be unlocked to sign.
 */
export async function createTransaction(
  wallet: Wallet,
  recipients: readonly Recipient[],
  control: CoinControl,
  options: CreateOptions = {},
): Promise<CreatedTransaction> {
  const { sign = true, changePosition = -1, chance = new FastChance() } = options;
  checkRecipients(recipients);
  await inSlices(spendStateOf(wallet).scripts.learn());
  await inSlices(refuseOversized(wallet, recipients, control, chance));
  const batch = new WalletBatch();
  const task = { wallet, recipients, control, changePosition, chance };
  let created: DraftedTransaction;
  try {
    created = draftTransaction(task, batch);
  } finally {
    // New pool keys must be written to the file before a transaction uses one of them.
    await wallet.write(batch, { sync: false });
  }
  const { tx, coins } = created;
  if (isTooLarge(created)) {
    giveUpTransaction(wallet, created);
    throw new SpendError(TOO_LARGE, undefined, created.feeSat);
  }
  if (sign && !(await signInputs(wallet.keyring, tx, coins))) {
    giveUpTransaction(wallet, created);
    throw new SpendError('Signing transaction failed');
  }
  const problem = standingProblem(wallet, tx);
  if (problem !== null) {
    giveUpTransaction(wallet, created);
    throw new SpendError(problem, undefined, created.feeSat);
  }
  return created;
}

/** Puts the reserved change key of a transaction that will not be committed back into the key pool. */
export function giveUpTransaction(wallet: Wallet, { changeKey }: CreatedTransaction): void {
  if (changeKey !== null) wallet.keypool.giveBack(changeKey);
}

/**
 * Whether a drafted transaction is too large even with the shortest possible signatures. Such a transaction need not be
 * signed.
 */
function isTooLarge({ sizeBytes, tx }: DraftedTransaction): boolean {
  return (sizeBytes - SHORTER_INPUT_BYTES * tx.inputs.length) * WITNESS_SCALE_FACTOR > MAX_STANDARD_TX_WEIGHT;
}

function checkRecipients(recipients: readonly Recipient[]): void {
  if (recipients.some(({ valueSat }) => valueSat < 0n))
    throw new SpendError('Transaction amounts must not be negative');
  if (recipients.length === 0) throw new SpendError('Transaction must have at least one recipient');
}

interface CreateTask {
  readonly wallet: Wallet;
  readonly recipients: readonly Recipient[];
  readonly control: CoinControl;
  readonly changePosition: number;
  readonly chance: Chance;
}

/** Drafts a transaction from the current state of the wallet, synchronously. */
function draftTransaction(task: CreateTask, batch: WalletBatch): DraftedTransaction {
  const { wallet, recipients, control, chance } = task;
  const lockTime = chooseLockTime(wallet.node.chain.height, chance);
  const available = availableCoins(wallet, { ...SPENDABLE, control });
  const change = reserveChange(
    wallet,
    batch,
    control,
    recipients.map(({ script }) => script),
  );
  let draft: Draft;
  try {
    const choice = new CoinChoice(wallet, control, available, chance);
    draft = new Drafting({ ...task, choice, changeScript: change.script }).run();
  } catch (error) {
    if (change.key !== null) wallet.keypool.giveBack(change.key);
    throw error;
  }
  const { outputs, feeSat, changePosition, sizeBytes } = draft;
  wallet.node.log.info(
    `${wallet.logName} Fee Calculation: Fee:${feeSat} Bytes:${sizeBytes} Inputs:${draft.coins.length}`,
  );
  const needsKey = changePosition >= 0;
  if (!needsKey && change.key !== null) wallet.keypool.giveBack(change.key);
  const coins = shuffle([...draft.coins], chance);
  const replaceable = control.signalsReplacement ?? wallet.options.signalsReplacement;
  const sequence = replaceable ? SEQUENCE_REPLACEABLE : SEQUENCE_LOCKS;
  const inputs = coins.map(({ key }) => ({ ...emptyInput(outPointOf(key)), sequence }));
  const tx = { version: TX_VERSION, inputs, outputs, lockTime };
  return { tx, feeSat, changePosition, coins, sizeBytes, changeKey: needsKey ? change.key : null };
}

function outPointOf(key: string): { hash: Bytes; index: number } {
  return { hash: fromLatin1(txKeyOf(key)), index: outputNumber(key) };
}

/**
 * A lock time at the current height discourages reorgs for fees (fee sniping). Sometimes a slightly lower height is used, so
 * that transactions that are sent with a delay do not stand out.
 */
function chooseLockTime(height: number, chance: Chance): number {
  const lockTime = Math.max(0, height);
  return chance.below(10) === 0 ? Math.max(0, lockTime - chance.below(100)) : lockTime;
}

/** Reason why peers would not relay the transaction, because of its size or of the unconfirmed ancestors; null if they would. */
function standingProblem({ options, node: { mempool } }: Wallet, tx: Transaction): string | null {
  if (transactionWeight(tx) > MAX_STANDARD_TX_WEIGHT) return TOO_LARGE;
  if (!options.rejectsLongChains) return null;
  const { limits } = mempool;
  const ancestors = new Map<string, Bytes>();
  for (const { prevout } of tx.inputs) {
    if (!mempool.has(prevout.hash)) continue;
    for (const txid of [prevout.hash, ...mempool.ancestors(prevout.hash)])
      ancestors.set(toLatin1(txid), txid);
  }
  const isLong =
    ancestors.size + 1 > limits.ancestors ||
    [...ancestors.values()].some(
      (txid) => (mempool.relatives(txid)?.descendants ?? 0) + 1 > limits.descendants,
    );
  return isLong ? LONG_CHAIN : null;
}
