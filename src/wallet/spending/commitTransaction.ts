/**
 * Stores and sends a created transaction. The transaction is written to disk before it is sent, so that the wallet never
 * misses a spend. Source: lbrycrd wallet/wallet.cpp `CommitTransaction`, wallet/rpcwallet.cpp `SendMoney`.
 */
import { txid as txidOf } from '../../primitives/transaction.js';
import { formatMoney } from '../../consensus/limits.js';
import { hashToHex, type Bytes } from '../../util/bytes.js';
import type { Entry } from '../ledger/entry.js';
import type { OwnTransaction } from '../ledger/ledgerPort.js';
import { REPLACED_BY } from '../ledger/txRecord.js';
import type { Wallet } from '../wallet.js';
import type { CoinControl } from './coinControl.js';
import {
  createTransaction,
  giveUpTransaction,
  type CreatedTransaction,
  type CreateOptions,
  type Recipient,
} from './createTransaction.js';
import { SpendError } from './spendError.js';
import { inSpendTurn } from './spendState.js';

export interface Committed {
  /** Wire order. */
  readonly txid: Bytes;
  /**
   * Reason why the mempool rejected the transaction, as the text of the reference. Null if the mempool accepted it, or if it
   * was not submitted.
   */
  readonly refusal: string | null;
}

/**
 * Stores the transaction in the wallet and sends it (`-walletbroadcast`). A transaction that the mempool rejects stays
 * stored, and its coins count as spent until it is abandoned. If one of its coins was spent after the creation, or the fee
 * exceeds `-maxtxfee`, throws `SpendError` and discards the transaction (`giveUpTransaction`).
 */
export async function commitTransaction(
  wallet: Wallet,
  created: CreatedTransaction,
  own: OwnTransaction,
): Promise<Bytes> {
  return (await commitAndSend(wallet, created, own)).txid;
}

/**
 * Like `commitTransaction`, but also returns the result of the mempool. `replaces`: the unconfirmed transaction that the new
 * transaction replaces (BIP125).
 */
export function commitAndSend(
  wallet: Wallet,
  created: CreatedTransaction,
  own: OwnTransaction,
  replaces: Entry | null = null,
): Promise<Committed> {
  return wallet.announcements.hold(() => commitAndSubmit(wallet, created, own, replaces));
}

async function commitAndSubmit(
  wallet: Wallet,
  created: CreatedTransaction,
  own: OwnTransaction,
  replaces: Entry | null,
): Promise<Committed> {
  const { tx, coins, changeKey } = created;
  const { ledger, keypool, node, options } = wallet;
  const txid = txidOf(tx);
  if (options.broadcasts && created.feeSat > options.maxTxFeeSat) {
    giveUpTransaction(wallet, created);
    throw new SpendError(highFee(created.feeSat, options.maxTxFeeSat), undefined, created.feeSat);
  }
  const isSpent = (key: string): boolean =>
    ledger.spendersOf(key).some((other) => isCounted(other) && !isReplaced(other, replaces));
  if (coins.some(({ key }) => isSpent(key))) {
    giveUpTransaction(wallet, created);
    throw new SpendError('Error: A selected coin was spent by another transaction. Please try again.');
  }
  await wallet.change((batch) => {
    if (changeKey !== null) keypool.keep(batch, changeKey);
    const entry = ledger.add(batch, tx, null, own);
    if (entry !== null) wallet.announce(entry, true);
    if (replaces !== null) {
      ledger.note(batch, replaces, new Map([[REPLACED_BY, hashToHex(txid)]]));
      wallet.announce(replaces, false);
    }
  });
  node.log.info(`${wallet.logName} CommitTransaction: ${hashToHex(txid)}`);
  if (!options.broadcasts) return { txid, refusal: null };
  const refusal = await node.mempool.submit(tx, options.maxTxFeeSat);
  // After this wait the wallet knows whether the mempool contains the transaction.
  await wallet.events.caughtUp();
  if (refusal !== null) {
    node.log.info(
      `${wallet.logName} CommitTransaction(): Transaction cannot be broadcast immediately, ${refusal}`,
    );
  }
  return { txid, refusal };
}

/** Message of the error for a fee that the mempool refuses. Only the fee of a name can be that high. */
const highFee = (feeSat: bigint, maxSat: bigint): string =>
  `Error: The fee of ${formatMoney(feeSat)} LBC is higher than the maximum of ${formatMoney(maxSat)} LBC (-maxtxfee). ` +
  'A claim pays at least 0.002 LBC for each byte of its name. Nothing was sent. Restart with a higher -maxtxfee, or use a shorter name.';

const isCounted = ({ state }: Entry): boolean => state === 'confirmed' || state === 'unconfirmed';

/** Whether an entry is the replaced transaction, or an earlier version that it had replaced. */
const isReplaced = (entry: Entry, replaces: Entry | null): boolean =>
  entry === replaces || (replaces !== null && entry.row.notes.has(REPLACED_BY));

/** Creates and sends a transaction while no other payment of the wallet runs. Throws `SpendError`. */
export function sendTransaction(
  wallet: Wallet,
  recipients: readonly Recipient[],
  control: CoinControl,
  own: OwnTransaction = {},
  options: CreateOptions = {},
): Promise<Bytes> {
  return inSpendTurn(wallet, async () => {
    const created = await createTransaction(wallet, recipients, control, options);
    return commitTransaction(wallet, created, own);
  });
}
