/**
 * Pays with the coins of one account, the largest coins first, as lbcwallet does. A payment that the mempool rejects is
 * abandoned. Source: lbcwallet rpc/legacyrpc/methods.go `sendPairs`, wallet/createtx.go `txToOutputs`.
 */
import { scriptForDestination } from '../../script/standard.js';
import { destinationForKey } from '../../signing/outputType.js';
import { encodeDestination } from '../../script/address.js';
import type { Bytes } from '../../util/bytes.js';
import { commitAndSend } from '../spending/commitTransaction.js';
import {
  coinControl,
  createTransaction,
  type CreatedTransaction,
  type Recipient,
} from '../spending/createTransaction.js';
import { SpendError } from '../spending/spendError.js';
import { inSpendTurn } from '../spending/spendState.js';
import type { Wallet } from '../wallet.js';
import { DEFAULT_ACCOUNT, LbcdAccounts } from './accounts.js';
import { lbcdCoins } from './coins.js';

/** Source: `DefaultRelayFeePerKb`. */
const FEE_RATE_PER_KB = 1000n;
const LACKS = 'Insufficient funds';

/** Error: the payment is not possible. The message is that of lbcwallet. */
export class PaymentError extends Error {
  override readonly name = 'PaymentError';
}

/**
 * Creates and sends a transaction. Resolves to its txid in wire order. Rejects with `PaymentError`. The wallet must be
 * unlocked.
 */
export function sendFromAccount(
  wallet: Wallet,
  recipients: readonly Recipient[],
  account: number,
  minDepth: number,
): Promise<Bytes> {
  return inSpendTurn(wallet, async () => {
    const created = await create(wallet, recipients, account, minDepth);
    const { txid, refusal } = await commitAndSend(wallet, created, {});
    if (refusal === null) return txid;
    await wallet.change((batch) => {
      const entry = wallet.ledger.find(txid);
      if (entry !== undefined) wallet.ledger.abandon(batch, entry);
    });
    throw new PaymentError(refusal);
  });
}

async function create(
  wallet: Wallet,
  recipients: readonly Recipient[],
  account: number,
  minDepth: number,
): Promise<CreatedTransaction> {
  const changeScript = await accountChange(wallet, account);
  const coins = accountCoins(wallet, account, minDepth);
  const wantedSat = recipients.reduce((sum, { valueSat }) => sum + valueSat, 0n);
  const selected = new Set<string>();
  let sumSat = 0n;
  for (const { key, valueSat } of coins) {
    selected.add(key);
    sumSat += valueSat;
    if (sumSat < wantedSat) continue;
    const control = coinControl(wallet, { selected, changeScript, feeRatePerKb: FEE_RATE_PER_KB });
    try {
      return await createTransaction(wallet, recipients, control);
    } catch (error) {
      if (!(error instanceof SpendError)) throw error;
      if (error.message === 'Transaction amount too small')
        throw new PaymentError('transaction output is dust');
      // The coins were not sufficient for the fee. The next attempt uses one more coin.
      if (error.message !== LACKS) throw new PaymentError(error.message);
    }
  }
  throw new PaymentError('insufficient funds available to construct transaction');
}

/** Spendable coins of an account, sorted from the largest. */
function accountCoins(
  wallet: Wallet,
  account: number,
  minDepth: number,
): { readonly key: string; readonly valueSat: bigint }[] {
  const accounts = new LbcdAccounts(wallet);
  return [...lbcdCoins(wallet.ledger)]
    .filter(
      ({ key, output, depth, isStake, isMature }) =>
        !isStake && isMature && depth >= minDepth && !wallet.lockedOutputs.has(key) && isOf(output.to),
    )
    .map(({ key, output: { valueSat } }) => ({ key, valueSat }))
    .sort((a, b) => (a.valueSat === b.valueSat ? 0 : a.valueSat > b.valueSat ? -1 : 1));

  function isOf(to: string): boolean {
    return accounts.ofDestination(to) === account;
  }
}

/** Output script for change: an address of the same account, or any new address for the first account. */
async function accountChange(wallet: Wallet, account: number): Promise<Bytes | null> {
  if (account === DEFAULT_ACCOUNT) return null;
  const publicKey = await wallet.keys.take(true);
  if (publicKey === null) throw new PaymentError('Keypool ran out, please call keypoolrefill first');
  const destination = destinationForKey(publicKey, wallet.options.changeType ?? wallet.options.addressType);
  const address = encodeDestination(destination, wallet.prefixes);
  await wallet.change((batch) => new LbcdAccounts(wallet).assign(batch, address, account));
  return scriptForDestination(destination);
}
