/**
 * Keeping a transaction that was made, and sending it: on disk first, so that no coin is spent without the wallet's
 * know. Source: lbrycrd wallet/wallet.cpp `CommitTransaction`, wallet/rpcwallet.cpp `SendMoney`.
 */
import { txid as txidOf } from '../../primitives/transaction.js';
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
  /** Reason why the mempool did not take it, in the reference's words; null when it did, or was not asked. */
  readonly refusal: string | null;
}

/**
 * Notes the transaction in the wallet and sends it (`-walletbroadcast`). One that the mempool refuses is kept all the same:
 * its coins are spent until it is abandoned. Throws `SpendError`, and gives it up, when something else spent a coin meanwhile.
 */
export async function commitTransaction(
  wallet: Wallet,
  created: CreatedTransaction,
  own: OwnTransaction,
): Promise<Bytes> {
  return (await commitAndSend(wallet, created, own)).txid;
}

/** The same, telling what the mempool said. `replaces`: it takes the place of a transaction that waits (BIP125). */
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
  const isSpent = (key: string): boolean =>
    ledger.spendersOf(key).some((other) => isCounted(other) && !isReplaced(other, replaces));
  if (coins.some(({ key }) => isSpent(key))) {
    giveUpTransaction(wallet, created);
    throw new SpendError('Error: A coin was spent by another transaction meanwhile. Please try again.');
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
  // Whether it is in the mempool is known then.
  await wallet.events.caughtUp();
  if (refusal !== null) {
    node.log.info(
      `${wallet.logName} CommitTransaction(): Transaction cannot be broadcast immediately, ${refusal}`,
    );
  }
  return { txid, refusal };
}

const isCounted = ({ state }: Entry): boolean => state === 'confirmed' || state === 'unconfirmed';

/** What is replaced now, or was by what is replaced now. */
const isReplaced = (entry: Entry, replaces: Entry | null): boolean =>
  entry === replaces || (replaces !== null && entry.row.notes.has(REPLACED_BY));

/** Makes a transaction and sends it, in one turn. Throws `SpendError`. */
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
