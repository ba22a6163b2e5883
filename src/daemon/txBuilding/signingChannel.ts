/**
 * Finds the channel that signs a claim. If the command names none, an updated claim stays in its channel, or the update is
 * refused; only an explicit command removes a claim from its channel. Source: lbry-sdk lbry/extras/daemon/daemon.py
 * `jsonrpc_stream_update`, which signs with the channel that the wallet knows.
 */
import { hashToHex } from '../../util/bytes.js';
import { DaemonError, failure } from '../base/daemonError.js';
import { TXO_TYPE } from '../ledger/txoQuery.js';
import type { Txo } from '../txo/txo.js';
import { refuseExpiredChannel } from './claimBuilding.js';
import {
  channelSecret,
  idsOf,
  ownChannel,
  txoOf,
  unspent,
  type ChannelChoice,
  type OwnChannel,
} from './ownOutputs.js';
import type { TxBuildingPorts, WalletPort } from './ports.js';
import type { TxBuilder } from './txBuilder.js';

const CHOICES =
  'Name another channel with --channel_id, or take the claim out of its channel with --clear_channel.';

/**
 * Resolves to the channel of the command, or null if the command names none. Throws like `ownChannel`, and if the channel
 * has expired.
 */
export async function signingChannel(
  txBuilder: TxBuilder,
  wallet: WalletPort,
  choice: ChannelChoice,
): Promise<OwnChannel | null> {
  if (choice.channelId === undefined && choice.channelName === undefined) return null;
  const channel = await ownChannel(txBuilder.ports.ledger, wallet, choice);
  await refuseExpiredChannel(txBuilder, channel);
  return channel;
}

/**
 * Resolves to the channel of an updated claim: the one of the command, otherwise the present one, unless the command removes
 * it. Throws like `signingChannel` and `keptChannel`.
 */
export async function updateChannel(
  txBuilder: TxBuilder,
  wallet: WalletPort,
  old: Txo,
  { choice, isRemoved }: { readonly choice: ChannelChoice; readonly isRemoved: boolean },
): Promise<OwnChannel | null> {
  if (Boolean(choice.channelId ?? choice.channelName)) return signingChannel(txBuilder, wallet, choice);
  const channel = isRemoved ? null : await keptChannel(txBuilder.ports, wallet, old);
  if (channel !== null) await refuseExpiredChannel(txBuilder, channel);
  return channel;
}

/**
 * Resolves to null if the claim has no channel. If no account owns the channel, the hub reports its present public key, and
 * the wallet signs if it has the private key for it. Rejects with `PrivateKeyNotFoundError` if it does not have the private
 * key, with `InputValueError` if the channel does not exist any more, and with an error of the class `Exception` if no hub
 * is available.
 */
async function keptChannel(
  { ledger, claims }: Pick<TxBuildingPorts, 'ledger' | 'claims'>,
  wallet: WalletPort,
  old: Txo,
): Promise<OwnChannel | null> {
  const { channelId } = old;
  if (channelId === null) return null;
  const id = hashToHex(channelId);
  const [row] = await unspent(ledger, {
    accountIds: idsOf(wallet.accounts),
    types: [TXO_TYPE.channel],
    claimIds: [id],
  });
  const txo = row === undefined ? await channelOfHub(claims, id) : txoOf(row, wallet);
  const privateKey = channelSecret(txo, wallet);
  if (privateKey === null)
    throw new DaemonError(
      'PrivateKeyNotFoundError',
      `The claim is signed by the channel '${id}', for whose present key this wallet has no private key. ${CHOICES}`,
    );
  return { txo, signing: { claimId: channelId, privateKey } };
}

async function channelOfHub(claims: TxBuildingPorts['claims'], id: string): Promise<Txo> {
  let found: Txo | null;
  try {
    found = await claims.byId(id);
  } catch (error) {
    throw failure(
      `The claim is signed by the channel '${id}', which this wallet does not hold, and its key could not be requested from a hub ` +
        `(${(error as Error).message}). Try again later. ${CHOICES}`,
    );
  }
  if (found?.claim?.kind !== 'channel')
    throw new DaemonError(
      'InputValueError',
      `The claim is signed by the channel '${id}', which no longer exists. ${CHOICES}`,
    );
  return found;
}
