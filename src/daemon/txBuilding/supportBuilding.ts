/**
 * Supports of claims: creating them, either as own supports or as tips, optionally with a comment and signed by a channel;
 * and abandoning them. Source: lbry-sdk lbry/extras/daemon/daemon.py `jsonrpc_support_create`, `jsonrpc_support_abandon`.
 */
import { create } from '@bufbuild/protobuf';
import { SupportSchema } from '../../metadata/messages/claim_pb.js';
import { encodeSupport } from '../../metadata/support.js';
import { failure } from '../base/daemonError.js';
import { TXO_TYPE } from '../ledger/txoQuery.js';
import type { Txo } from '../txo/txo.js';
import { supportOutput, type NewOutput } from '../wallet/tx/newOutputs.js';
import {
  accountsFor,
  chosenOutputs,
  makeClaim,
  type ClaimOptions,
  type Holding,
  type OutputChoice,
  withHolding,
} from './claimBuilding.js';
import type { MadeTransaction, TxBuilder } from './txBuilder.js';
import { txoOf, type ChannelChoice } from './ownOutputs.js';
import { signingChannel } from './signingChannel.js';
import type { WalletPort } from './ports.js';

export interface NewSupport {
  readonly claimId: string;
  readonly amountDewies: bigint;
  /** Whether the support is paid to the owner of the claim. */
  readonly isTip: boolean;
  readonly comment: string | undefined;
  readonly signing: ChannelChoice;
}

/**
 * Creates a support. Throws if a hub does not find the claim, if the signing channel is unavailable, and
 * `InsufficientFundsError`.
 */
export async function createSupport(
  txBuilder: TxBuilder,
  wallet: WalletPort,
  { claimId, amountDewies, isTip, comment, signing }: NewSupport,
  { accountId, fundingAccountIds, preview }: ClaimOptions,
): Promise<MadeTransaction> {
  wallet.assertUnlocked();
  const { ledger, claims } = txBuilder.ports;
  const funding = wallet.accountsOrAll(fundingAccountIds);
  const channel = await signingChannel(txBuilder, wallet, signing);
  const claim = await claims.byId(claimId);
  const { claimName: name, claimId: id } = claim ?? {};
  if (!claim || !name || !id) throw failure(`Could not find claim with claim_id '${claimId}'.`);
  const hasData = channel !== null || comment !== undefined;
  const support = create(SupportSchema, { comment: comment ?? '' });
  const data = hasData ? encodeSupport({ channelId: null, signature: null, support }) : null;
  const make = ({ keyHash }: Pick<Holding, 'keyHash'>): Promise<MadeTransaction> => {
    const output = supportOutput(amountDewies, name, id, data, keyHash);
    return makeClaim(txBuilder, { wallet, funding, output, channel, preview });
  };
  if (isTip) return make({ keyHash: tippedKeyHash(claim) });
  return withHolding(ledger, undefined, wallet.account(accountId), make);
}

function tippedKeyHash(claim: Txo): Buffer {
  const keyHash = claim.read?.values['pubkey_hash'];
  if (keyHash === undefined) throw failure('The claim is held by a script, which cannot be tipped.');
  return keyHash;
}

export interface AbandonedSupports extends OutputChoice {
  /** Amount in dewies that stays locked in a new support of the claim. */
  readonly keepDewies: bigint;
}

/**
 * Spends the supports and pays their amounts as change. Rejects if no support is found. Also rejects with
 * `InsufficientFundsError`.
 */
export async function abandonSupports(
  txBuilder: TxBuilder,
  wallet: WalletPort,
  choice: AbandonedSupports,
  { accountId, preview }: ClaimOptions,
): Promise<MadeTransaction> {
  wallet.assertUnlocked();
  const { ledger } = txBuilder.ports;
  const change = wallet.account(accountId || undefined);
  const accounts = accountsFor(wallet, accountId);
  const find = async (): Promise<Txo[]> =>
    (await chosenOutputs(ledger, accounts, [TXO_TYPE.support], choice)).map((row) => txoOf(row, wallet));
  return txBuilder.held.with(find, (supports) => {
    const [first] = supports;
    if (!first) throw failure('No supports found for the specified claim_id or txid:nout');
    return txBuilder.make(
      {
        wallet,
        given: supports.map((txo) => ({ txo, isCoin: false })),
        outputs: choice.keepDewies > 0n ? [keptSupport(choice.keepDewies, first)] : [],
        funding: accounts,
        change,
      },
      { preview },
    );
  });
}

function keptSupport(amountDewies: bigint, { claimName, claimId, read }: Txo): NewOutput {
  const keyHash = read?.values['pubkey_hash'];
  if (claimName === null || claimId === null || keyHash === undefined)
    throw failure('The support is held by a script, which the wallet cannot spend.');
  return supportOutput(amountDewies, claimName, claimId, null, keyHash);
}
