/**
 * Channels: creation, updates, signing of data, and export and import of keys. A private key is on disk before the claim
 * with its public key is broadcast. Source: lbry-sdk lbry/extras/daemon/daemon.py `jsonrpc_channel_*`;
 * lbry/wallet/account.py `Account.generate_channel_private_key`.
 */
import { clone } from '@bufbuild/protobuf';
import { newClaim } from '../../metadata/claimFields.js';
import { ClaimSchema, type Claim } from '../../metadata/messages/claim_pb.js';
import type { Bytes } from '../../util/bytes.js';
import { failure } from '../base/daemonError.js';
import { TXO_TYPE } from '../ledger/txoQuery.js';
import { replaceValue, type NewOutput } from '../wallet/tx/newOutputs.js';
import { withArguments, type ClaimArguments } from './claimArguments.js';
import {
  accountsFor,
  holdingOf,
  isNameTaken,
  makeClaim,
  newClaimOutput,
  unsignedValue,
  updatedClaimOutput,
  type ClaimOptions,
  type Holding,
  withHolding,
  withOwnClaim,
} from './claimBuilding.js';
import { checkChannelName } from './claimNames.js';
import type { MadeTransaction, TxBuilder } from './txBuilder.js';
import { channelSecret } from './ownOutputs.js';
import type { AccountPort, WalletPort } from './ports.js';

export interface NewChannel {
  readonly name: string;
  readonly bidDewies: bigint;
  readonly allowDuplicateName: boolean;
  readonly fields: ClaimArguments;
}

/** Adds the public key of the account's next channel key to a claim. */
async function withNewKey(claim: Claim, account: AccountPort): Promise<Claim> {
  const { publicKey } = await account.channelKeys.next();
  return withKey(claim, publicKey);
}

function withKey(claim: Claim, publicKey: Bytes): Claim {
  const changed = clone(ClaimSchema, claim);
  if (changed.type.case === 'channel') changed.type.value.publicKey = Uint8Array.from(publicKey);
  return changed;
}

/**
 * Replaces the value of a claim output. QUIRK: as in lbry-sdk, the fee is computed before the claim contains the key, so
 * that transactions are equal.
 */
const setValue =
  (claim: Claim) =>
  (output: NewOutput): NewOutput =>
    replaceValue(output, unsignedValue(claim));

/**
 * Creates a channel. Throws if the name is invalid or the wallet has a channel with the name, `InsufficientFundsError`, and
 * `AssertionError` while the wallet is locked.
 */
export async function createChannel(
  txBuilder: TxBuilder,
  wallet: WalletPort,
  { name, bidDewies, allowDuplicateName, fields }: NewChannel,
  { accountId, claimAddress, fundingAccountIds, preview }: ClaimOptions,
): Promise<MadeTransaction> {
  wallet.assertUnlocked();
  const { ledger } = txBuilder.ports;
  const account = wallet.account(accountId);
  const funding = wallet.accountsOrAll(fundingAccountIds);
  checkChannelName(name);
  const makeAt = async (holding: Holding): Promise<MadeTransaction> => {
    if (!allowDuplicateName && (await isNameTaken(ledger, wallet.accounts, name, [TXO_TYPE.channel])))
      throw failure(
        `You already have a channel under the name '${name}'. Use --allow-duplicate-name flag to override.`,
      );
    const claim = withArguments(newClaim('channel'), fields);
    const keyAccount = funding[0] ?? account;
    return txBuilder.withNewChannelKey(keyAccount, async () => {
      const finished = await withNewKey(claim, keyAccount);
      return makeClaim(txBuilder, {
        wallet,
        funding,
        output: newClaimOutput(bidDewies, name, claim, holding),
        channel: null,
        notes: { hasSigningKey: true },
        finish: setValue(finished),
        beforeSending: () => wallet.save(),
        preview,
      });
    });
  };
  return txBuilder.withName(name, () => withHolding(ledger, claimAddress, account, makeAt));
}

export interface ChannelChange {
  readonly claimId: string;
  readonly bidDewies: bigint | undefined;
  /** Whether to remove all values except the key before the new values are set. */
  readonly replace: boolean;
  readonly newSigningKey: boolean;
  readonly fields: ClaimArguments;
}

/**
 * Updates a channel. Throws if the wallet does not have the channel, `InsufficientFundsError`, and `AssertionError` while
 * the wallet is locked.
 */
export async function updateChannel(
  txBuilder: TxBuilder,
  wallet: WalletPort,
  change: ChannelChange,
  { accountId, claimAddress, fundingAccountIds, preview }: ClaimOptions,
): Promise<MadeTransaction> {
  wallet.assertUnlocked();
  const { ledger } = txBuilder.ports;
  const funding = wallet.accountsOrAll(fundingAccountIds);
  const accounts = accountsFor(wallet, accountId);
  const choice = { accounts, claimId: change.claimId, word: 'channel', error: failure } as const;
  return withOwnClaim(txBuilder, wallet, choice, async (old) => {
    const type = old.claim?.claim.type;
    if (!old.claim || type?.case !== 'channel')
      throw failure(`A claim with id '${change.claimId}' was found but it is not a channel.`);
    const holding = holdingOf(ledger, claimAddress, old);
    const start = change.replace ? withKey(newClaim('channel'), type.value.publicKey) : old.claim.claim;
    const claim = withArguments(start, change.fields);
    const make = (finished: Claim): Promise<MadeTransaction> =>
      makeClaim(txBuilder, {
        wallet,
        funding,
        output: updatedClaimOutput(change.bidDewies ?? old.amountDewies, old, claim, holding),
        old,
        channel: null,
        notes: { hasSigningKey: change.newSigningKey || channelSecret(old, wallet) !== null },
        finish: setValue(finished),
        beforeSending: () => wallet.save(),
        preview,
      });
    const [keyAccount] = funding;
    if (!change.newSigningKey || !keyAccount) return make(claim);
    return txBuilder.withNewChannelKey(keyAccount, async () => make(await withNewKey(claim, keyAccount)));
  });
}
