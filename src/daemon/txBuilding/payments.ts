/**
 * Payments: to addresses, between accounts, out of time locks, and of selected outputs into change. Source: lbry-sdk
 * lbry/extras/daemon/daemon.py `jsonrpc_wallet_send`, `jsonrpc_account_deposit`, `jsonrpc_txo_spend`, lbry/wallet/account.py
 * `fund`.
 */
import { hash160 } from '../../crypto/hash.js';
import { formatOutPoint } from '../../primitives/transaction.js';
import { decodeBase58Check } from '../../script/base58.js';
import { ecdsaBackend } from '../../crypto/ecdsa.js';
import { equalBytes, fromHex, hashFromHex, isHex } from '../../util/bytes.js';
import { badValue, failure } from '../base/daemonError.js';
import { SPENDABLE_TXO_TYPES, type TxoFilter } from '../ledger/txoQuery.js';
import { readTimeLock } from '../txo/scriptTemplates.js';
import { Txo } from '../txo/txo.js';
import { payKeyHash, payWitnessKeyHash } from '../wallet/tx/newOutputs.js';
import { accountsFor } from './claimBuilding.js';
import { payTo } from './destinations.js';
import type { GivenOutput, MadeTransaction, TxBuilder, SendOptions } from './txBuilder.js';
import { givenOf, unspent } from './ownOutputs.js';
import type { WalletPort } from './ports.js';

/**
 * Maximum number of outputs of a payment. A standard transaction has at most 100,000 bytes, and each output uses 34. Source:
 * lbrycrd policy.h `MAX_STANDARD_TX_WEIGHT`.
 */
const MAX_OUTPUTS = 2900;
/** Maximum number of inputs of a standard transaction. An input uses 148 bytes. */
const MAX_INPUTS = 670;

export interface Payment {
  readonly amountDewies: bigint;
  /** Addresses that receive the payment. Each receives the full amount. */
  readonly addresses: readonly string[];
  readonly changeAccountId?: string | undefined;
  readonly fundingAccountIds?: readonly string[] | undefined;
}

/**
 * Sends a payment. Throws if an address is invalid, `InsufficientFundsError`, and `AssertionError` while the wallet is
 * locked.
 */
export async function sendPayment(
  txBuilder: TxBuilder,
  wallet: WalletPort,
  { amountDewies, addresses, changeAccountId, fundingAccountIds }: Payment,
  options: SendOptions,
): Promise<MadeTransaction> {
  wallet.assertUnlocked();
  const change = wallet.account(changeAccountId);
  const funding = wallet.accountsOrAll(fundingAccountIds);
  if (addresses.length === 0) throw badValue('At least one address is required.');
  if (addresses.length > MAX_OUTPUTS) throw badValue(`At most ${MAX_OUTPUTS} addresses can be paid at once.`);
  const outputs = addresses.map((address) => payTo(amountDewies, address, txBuilder.ports.ledger.params));
  return txBuilder.make({ wallet, outputs, funding, change }, options);
}

export interface Transfer {
  readonly toAccount?: string | undefined;
  readonly fromAccount?: string | undefined;
  readonly amountDewies: bigint;
  /** Whether to send all unspent outputs instead of an amount. */
  readonly everything: boolean;
  /** Number of equal outputs into which the amount is split. */
  readonly outputs: number;
}

/** Pays from one account of the wallet to another. Throws `ValueError`, `InsufficientFundsError`. */
export async function fundAccount(
  txBuilder: TxBuilder,
  wallet: WalletPort,
  transfer: Transfer,
  options: SendOptions,
): Promise<MadeTransaction> {
  wallet.assertUnlocked();
  const to = wallet.account(transfer.toAccount);
  const from = wallet.account(transfer.fromAccount);
  const { outputs: count, amountDewies } = transfer;
  if (count < 1 || count > MAX_OUTPUTS)
    throw badValue(`--outputs must be an integer from 1 to ${MAX_OUTPUTS}.`);
  if (transfer.everything && count > 1)
    throw badValue('Using --everything along with --outputs is not supported.');
  if (transfer.everything) {
    const filter = { accountIds: [from.id], types: SPENDABLE_TXO_TYPES };
    const given = (await unspent(txBuilder.ports.ledger, filter)).map((row) => givenOf(row, wallet));
    return txBuilder.make({ wallet, given, outputs: [], funding: [from], change: to }, options);
  }
  if (amountDewies <= 0n) throw badValue('An amount is required.');
  const part = amountDewies / BigInt(count);
  if (part === 0n) throw badValue(`The amount is too small to be split into ${count} outputs.`);
  const keyHash = await to.nextChangeKeyHash();
  try {
    const output = to.paysToWitness ? payWitnessKeyHash(part, keyHash) : payKeyHash(part, keyHash);
    const outputs = Array.from({ length: count }, () => output);
    return await txBuilder.make({ wallet, outputs, funding: [from], change: from }, options);
  } finally {
    to.freeChangeKeyHash(keyHash);
  }
}

export interface Deposit {
  readonly txid: string;
  readonly nout: number;
  /** Hex. */
  readonly redeemScript: string;
  /** Private key in wallet import format, marked as the key of a compressed public key. */
  readonly privateKey: string;
  readonly toAccount?: string | undefined;
}

const PRIVATE_KEY_SIZE = 32;

/**
 * Decodes a private key in wallet import format to its 32 bytes, without the network byte and the marker of a compressed
 * key. Throws `ValueError`.
 */
function secretOf(privateKey: string): Buffer {
  const secret = decodeBase58Check(privateKey)?.subarray(1, -1);
  if (secret?.length === PRIVATE_KEY_SIZE) return secret;
  throw badValue('The private key is not in wallet import format.');
}

/** Spends a time-locked output into an account. Throws if the output, the script or the key do not match. */
export async function depositTimeLock(
  txBuilder: TxBuilder,
  wallet: WalletPort,
  { txid, nout, redeemScript, privateKey, toAccount }: Deposit,
  options: SendOptions,
): Promise<MadeTransaction> {
  wallet.assertUnlocked();
  const account = wallet.account(toAccount);
  if (!isHex(redeemScript)) throw badValue('The redeem script is not hex.');
  const script = fromHex(redeemScript);
  const { pubkeyHash } = readTimeLock(script);
  const secret = secretOf(privateKey);
  if (!equalBytes(hash160(ecdsaBackend().publicKeyOf(secret, true)), pubkeyHash))
    throw badValue('The private key does not match the redeem script.');
  const txo = await outputAt(txBuilder, txid, nout);
  const scriptHash = txo.read?.template === 'pay_script_hash' ? txo.read.values['script_hash'] : undefined;
  if (!scriptHash || !equalBytes(scriptHash, hash160(script)))
    throw badValue(`The output ${txid}:${nout} does not pay to the redeem script.`);
  const given: GivenOutput = { txo, isCoin: false, redeemScript: script };
  return txBuilder.held.with(
    () => Promise.resolve([txo]),
    () =>
      txBuilder.make(
        {
          wallet,
          given: [given],
          outputs: [],
          funding: [account],
          change: account,
          extraKey: { pubkeyHash, privateKey: secret },
        },
        options,
      ),
  );
}

async function outputAt({ ports: { ledger } }: TxBuilder, txid: string, nout: number): Promise<Txo> {
  if (!/^[0-9a-f]{64}$/i.test(txid)) throw badValue(`'${txid}' is not a transaction id.`);
  const hash = hashFromHex(txid.toLowerCase());
  const found = await ledger.transaction(hash);
  if (found === null) throw failure('transaction not found');
  const output = found.tx.outputs[nout];
  const first = found.tx.inputs[0];
  if (!output || !first) throw badValue(`The transaction ${txid} has no output ${nout}.`);
  return new Txo({
    txid: hash,
    nout,
    height: found.height,
    amountDewies: output.value,
    script: output.script,
    firstOutPoint: formatOutPoint(first.prevout),
  });
}

export interface Sweep {
  readonly accountId?: string | undefined;
  /** Selects the outputs to spend. The code always adds the conditions that they are unspent and belong to the accounts. */
  readonly filter: TxoFilter;
  /** Maximum number of inputs of each transaction. */
  readonly batchSize: number;
}

/**
 * Spends outputs and pays their amounts as change, with one transaction per batch, starting at the end of the list. All
 * transactions are built before the first is sent. After a failure the coins of unsent transactions are released. Throws
 * `InsufficientFundsError`.
 */
export async function spendOutputs(
  txBuilder: TxBuilder,
  wallet: WalletPort,
  { accountId, filter, batchSize }: Sweep,
  { preview }: SendOptions,
): Promise<MadeTransaction[]> {
  wallet.assertUnlocked();
  if (batchSize < 1 || batchSize > MAX_INPUTS)
    throw badValue(`--batch_size must be an integer from 1 to ${MAX_INPUTS}.`);
  const accounts = accountsFor(wallet, accountId);
  const accountIds = accounts.map(({ id }) => id);
  const coins = new Set<Txo>();
  const find = async (): Promise<Txo[]> =>
    (await unspent(txBuilder.ports.ledger, { ...filter, accountIds })).map((row) => {
      const { txo, isCoin } = givenOf(row, wallet);
      if (isCoin) coins.add(txo);
      return txo;
    });
  return txBuilder.held.with(find, async (found) => {
    const rest = found.toReversed().map((txo) => ({ txo, isCoin: coins.has(txo) }));
    const made: MadeTransaction[] = [];
    let sent = 0;
    try {
      for (let at = 0; at < rest.length; at += batchSize) {
        const given = rest.slice(at, at + batchSize);
        made.push(
          await txBuilder.build({
            wallet,
            given,
            outputs: [],
            funding: accounts,
            change: accounts[0]!,
            waitsForChange: false,
          }),
        );
      }
      if (!preview) for (; sent < made.length; sent++) await txBuilder.send(made[sent]!);
    } finally {
      for (const unsent of made.slice(sent)) await txBuilder.release(unsent);
    }
    return made;
  });
}
