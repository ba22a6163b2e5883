/**
 * Collections: lists of claims. Source: lbry-sdk lbry/extras/daemon/daemon.py `jsonrpc_collection_create`,
 * `jsonrpc_collection_update`.
 */
import { newClaim } from '../../metadata/claimFields.js';
import { failure } from '../base/daemonError.js';
import { TXO_TYPE } from '../ledger/txoQuery.js';
import { withArguments, type ClaimArguments } from './claimArguments.js';
import {
  accountsFor,
  holdingOf,
  isNameTaken,
  makeClaim,
  newClaimOutput,
  refuseExpired,
  updatedClaimOutput,
  type ClaimOptions,
  type Holding,
  withHolding,
  withOwnClaim,
} from './claimBuilding.js';
import { checkCollectionName } from './claimNames.js';
import type { MadeTransaction, TxBuilder } from './txBuilder.js';
import type { ChannelChoice } from './ownOutputs.js';
import { signingChannel, updateChannel } from './signingChannel.js';
import type { WalletPort } from './ports.js';

export interface NewCollection {
  readonly name: string;
  readonly bidDewies: bigint;
  readonly allowDuplicateName: boolean;
  /** Arguments for the claim's fields, including the list `claims`. */
  readonly fields: ClaimArguments;
  readonly signing: ChannelChoice;
}

/**
 * Creates a collection. Throws if the name is invalid or used by the wallet, if the signing channel is unavailable, and
 * `InsufficientFundsError`.
 */
export async function createCollection(
  txBuilder: TxBuilder,
  wallet: WalletPort,
  { name, bidDewies, allowDuplicateName, fields, signing }: NewCollection,
  { accountId, claimAddress, fundingAccountIds, preview }: ClaimOptions,
): Promise<MadeTransaction> {
  wallet.assertUnlocked();
  const { ledger } = txBuilder.ports;
  const account = wallet.account(accountId);
  const funding = wallet.accountsOrAll(fundingAccountIds);
  checkCollectionName(name);
  const channel = await signingChannel(txBuilder, wallet, signing);
  const makeAt = async (holding: Holding): Promise<MadeTransaction> => {
    if (!allowDuplicateName && (await isNameTaken(ledger, wallet.accounts, name, [TXO_TYPE.collection])))
      throw failure(
        `You already have a collection under the name '${name}'. Use --allow-duplicate-name flag to override.`,
      );
    const claim = withArguments(newClaim('collection'), fields);
    const output = newClaimOutput(bidDewies, name, claim, holding);
    return makeClaim(txBuilder, { wallet, funding, output, channel, preview });
  };
  return txBuilder.withName(name, () => withHolding(ledger, claimAddress, account, makeAt));
}

export interface CollectionChange {
  readonly claimId: string;
  readonly bidDewies: bigint | undefined;
  /** Whether all values are removed before the new ones are set, including the list of claims and the signing channel. */
  readonly replace: boolean;
  readonly clearChannel: boolean;
  readonly fields: ClaimArguments;
  readonly signing: ChannelChoice;
}

/**
 * Updates a collection. Throws if the wallet does not have the collection, if the signing channel is unavailable, and
 * `InsufficientFundsError`.
 */
export async function updateCollection(
  txBuilder: TxBuilder,
  wallet: WalletPort,
  change: CollectionChange,
  { accountId, claimAddress, fundingAccountIds, preview }: ClaimOptions,
): Promise<MadeTransaction> {
  wallet.assertUnlocked();
  const { ledger } = txBuilder.ports;
  const funding = wallet.accountsOrAll(fundingAccountIds);
  const accounts = accountsFor(wallet, accountId);
  const choice = { accounts, claimId: change.claimId, word: 'collection', error: failure } as const;
  return withOwnClaim(txBuilder, wallet, choice, async (old) => {
    if (old.claim?.kind !== 'collection')
      throw failure(`A claim with id '${change.claimId}' was found but it is not a collection.`);
    // The expiry is checked before the channel is searched, because an expired claim cannot be updated.
    await refuseExpired(txBuilder, old);
    const holding = holdingOf(ledger, claimAddress, old);
    const { signing, clearChannel, replace } = change;
    const channel = await updateChannel(txBuilder, wallet, old, {
      choice: signing,
      isRemoved: clearChannel || replace,
    });
    const claim = withArguments(replace ? newClaim('collection') : old.claim.claim, change.fields);
    const output = updatedClaimOutput(change.bidDewies ?? old.amountDewies, old, claim, holding);
    return makeClaim(txBuilder, { wallet, funding, output, old, channel, preview });
  });
}
