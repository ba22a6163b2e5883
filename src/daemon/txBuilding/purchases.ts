/**
 * Purchases of claims: the first output pays the seller, the second is a receipt. Source: lbry-sdk
 * lbry/extras/daemon/daemon.py `jsonrpc_purchase_create`, lbry/wallet/manager.py `create_purchase_transaction`.
 */
import { formatLbc } from '../../metadata/amounts.js';
import { feeCurrencies, formatFeeAddress, formatFeeAmount } from '../../metadata/fee.js';
import type { Fee } from '../../metadata/messages/claim_pb.js';
import { hashToHex } from '../../util/bytes.js';
import { DaemonError, failure } from '../base/daemonError.js';
import type { Txo } from '../txo/txo.js';
import { purchaseOutput } from '../wallet/tx/newOutputs.js';
import { payTo } from './destinations.js';
import type { MadeTransaction, TxBuilder, Plan, SendOptions } from './txBuilder.js';
import { idsOf } from './ownOutputs.js';
import type { AccountPort, ExchangePort, KeyFeeLimit, TxBuildingPorts, WalletPort } from './ports.js';

export interface Purchase {
  readonly claimId?: string | undefined;
  /** URL of the claim to buy. Used if no claim id is given. */
  readonly url?: string | undefined;
  readonly fundingAccountIds?: readonly string[] | undefined;
  readonly allowDuplicatePurchase: boolean;
  readonly overrideMaxKeyFee: boolean;
}

async function claimToBuy({ ports: { claims } }: TxBuilder, { claimId, url }: Purchase): Promise<Txo> {
  if (claimId) {
    const claim = await claims.byId(claimId);
    if (claim === null) throw failure(`Could not find claim with claim_id '${claimId}'.`);
    return claim;
  }
  if (!url) throw failure('Missing argument claim_id or url.');
  const claim = await claims.at(url);
  if (claim === null) throw failure(`Could not find claim with url '${url}'.`);
  return claim;
}

/** Price in a stream's claim; undefined if the claim has no price or its amount is zero. */
export const priceIn = (txo: Txo): Fee | undefined => {
  const fee = feeIn(txo);
  return fee && fee.amount > 0n ? fee : undefined;
};

const feeIn = ({ claim }: Txo): Fee | undefined =>
  claim?.claim.type.case === 'stream' ? claim.claim.type.value.fee : undefined;

/**
 * Maximum price in dewies (setting `max_key_fee`). If the limit's currency has no exchange rate, every purchase is refused,
 * because the price cannot be compared.
 */
function limitOf({ currency, amount }: KeyFeeLimit, exchange: ExchangePort, price: bigint): bigint {
  try {
    // Error messages contain the amount as lbry-sdk writes it: 50 for the setting 50.0.
    return exchange.toDewies(currency, amount.replace(/\.0$/, ''));
  } catch (error) {
    if (!(error instanceof DaemonError)) throw error;
    throw new DaemonError(
      error.name,
      `${error.message}, so the price of ${formatLbc(price)} LBC cannot be compared with the setting 'max_key_fee'. ` +
        "Set 'exchange_rates', or 'max_key_fee' in LBC, or override it.",
    );
  }
}

/**
 * Computes the price in dewies. Throws `KeyFeeAboveMaxAllowedError` if the price exceeds the limit, and
 * `CurrencyConversionError` if it cannot be converted.
 */
function priceOf(
  fee: Fee,
  { exchange, settings: { maxKeyFee } }: TxBuildingPorts,
  overridesLimit: boolean,
): bigint {
  const currency = feeCurrencies.nameOf(fee.currency);
  const amount = formatFeeAmount(fee);
  const dewies = exchange.toDewies(currency, amount);
  if (overridesLimit || maxKeyFee === null) return dewies;
  const most = limitOf(maxKeyFee, exchange, dewies);
  if (most === 0n || dewies <= most) return dewies;
  const shown = (lbc: bigint, name: string, text: string): string =>
    `${formatLbc(lbc)} LBC${name === 'LBC' ? '' : ` (${text} ${name})`}`;
  throw new DaemonError(
    'KeyFeeAboveMaxAllowedError',
    `Purchase price of ${shown(dewies, currency, amount)} exceeds maximum configured price of ` +
      `${shown(most, maxKeyFee.currency, maxKeyFee.amount)}.`,
  );
}

/** Whether one of the accounts has bought the claim. */
export async function isBought(
  { ports: { ledger } }: TxBuilder,
  accounts: readonly AccountPort[],
  claimId: string,
): Promise<boolean> {
  const filter = { accountIds: idsOf(accounts), isPurchase: true, purchasedClaimIds: [claimId] };
  return (await ledger.database.transactionCount(filter)) > 0;
}

/** Buys a claim. Throws if the claim is not found, has no price, is already bought, or costs more than the limit. */
export async function buyClaim(
  txBuilder: TxBuilder,
  wallet: WalletPort,
  purchase: Purchase,
  options: SendOptions,
): Promise<MadeTransaction> {
  wallet.assertUnlocked();
  const funding = wallet.accountsOrAll(purchase.fundingAccountIds);
  const claim = await claimToBuy(txBuilder, purchase);
  const id = hashToHex(claim.claimId!);
  return txBuilder.withPurchase(id, async () => {
    if (!purchase.allowDuplicatePurchase && (await isBought(txBuilder, funding, id)))
      throw new DaemonError('AlreadyPurchasedError', `You already have a purchase for claim_id '${id}'. Use`);
    return txBuilder.make(
      purchasePlan(txBuilder, wallet, claim, { funding, overridesLimit: purchase.overrideMaxKeyFee }),
      options,
    );
  });
}

/** Outputs of a purchase: the payment and its receipt. Throws if the claim has no price or costs more than the limit. */
function purchasePlan(
  { ports }: TxBuilder,
  wallet: WalletPort,
  claim: Txo,
  { funding, overridesLimit }: { funding: readonly AccountPort[]; overridesLimit: boolean },
): Plan {
  const { params } = ports.ledger;
  const claimId = claim.claimId!;
  const id = hashToHex(claimId);
  const fee = feeIn(claim);
  if (!fee) throw failure(`Claim '${id}' does not have a purchase price.`);
  const dewies = priceOf(fee, ports, overridesLimit);
  const seller = fee.address.length > 0 ? formatFeeAddress(fee.address) : claim.address(params);
  if (seller === null) throw failure(`Claim '${id}' does not contain an address for the payment.`);
  return {
    wallet,
    outputs: [payTo(dewies, seller, params), purchaseOutput(claimId)],
    funding,
    change: funding[0]!,
  };
}

/**
 * Builds and signs a purchase from all accounts of the wallet without sending it. The caller must then send or release the
 * transaction. Source: lbry-sdk lbry/wallet/manager.py `create_purchase_transaction`.
 */
export function buildPurchase(
  txBuilder: TxBuilder,
  wallet: WalletPort,
  claim: Txo,
): Promise<MadeTransaction> {
  wallet.assertUnlocked();
  return txBuilder.build(
    purchasePlan(txBuilder, wallet, claim, { funding: wallet.accounts, overridesLimit: false }),
  );
}
