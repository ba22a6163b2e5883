/**
 * Queries of a wallet's own outputs: claims, supports, and channels for signing. Source: lbry-sdk lbry/wallet/database.py
 * `get_claims`, lbry/extras/daemon/daemon.py `get_channel_or_error`.
 */
import { channelPublicKey } from '../../metadata/channelSignature.js';
import { badValue, DaemonError } from '../base/daemonError.js';
import { SPENDABLE_TXO_TYPES, TXO_TYPE, type TxoFilter, type TxoRow } from '../ledger/txoQuery.js';
import { Txo } from '../txo/txo.js';
import type { SigningChannel } from '../wallet/tx/newOutputs.js';
import type { GivenOutput } from './txBuilder.js';
import type { AccountPort, TxLedgerPort, WalletPort } from './ports.js';
import type { Bytes } from '../../util/bytes.js';

export const idsOf = (accounts: readonly AccountPort[]): string[] => accounts.map(({ id }) => id);

/** Public key (33 bytes) in a channel's claim; null if the output is not a channel or has no key. */
export function publicKeyOf(txo: Txo): Bytes | null {
  const type = txo.claim?.claim.type;
  return type?.case === 'channel' ? channelPublicKey(type.value.publicKey) : null;
}

/** Private key of a channel, from any account of the wallet; null if the wallet does not have the key. */
export function channelSecret(txo: Txo, wallet: WalletPort): Bytes | null {
  const publicKey = publicKeyOf(txo);
  if (publicKey === null) return null;
  for (const { channelKeys } of wallet.accounts) {
    const secret = channelKeys.keyFor(publicKey);
    if (secret !== null) return secret;
  }
  return null;
}

/** Converts a row to an output. For a channel, adds a note on whether the wallet has its private key. */
export function txoOf(row: TxoRow, wallet: WalletPort): Txo {
  const txo = new Txo(row);
  if (row.txoType === TXO_TYPE.channel) txo.notes.hasSigningKey = channelSecret(txo, wallet) !== null;
  return txo;
}

/** Converts a row to an output that a transaction spends. */
export function givenOf(row: TxoRow, wallet: WalletPort): GivenOutput {
  const isCoin = SPENDABLE_TXO_TYPES.some((type) => type === row.txoType);
  return { txo: txoOf(row, wallet), isCoin };
}

/** Unspent outputs of the accounts that match the filter and are not reserved. */
export function unspent(ledger: TxLedgerPort, filter: TxoFilter): Promise<TxoRow[]> {
  return ledger.database.txos({ ...filter, isSpent: false, isMyOutput: true });
}

/**
 * Selects a channel: by its claim id or, without one, by its name. Only the named accounts are searched; without names all
 * accounts are searched.
 */
export interface ChannelChoice {
  readonly channelId?: string | undefined;
  readonly channelName?: string | undefined;
  readonly channelAccountIds?: readonly string[] | undefined;
}

/** A channel of the wallet with its private key for signing. */
export interface OwnChannel {
  readonly txo: Txo;
  readonly signing: SigningChannel;
}

/**
 * Finds a channel of the wallet. Rejects with `ValueError` if not exactly one channel matches, and with
 * `PrivateKeyNotFoundError` if the wallet lacks the key of the channel. If the wallet is also locked, rejects with
 * `AssertionError` instead.
 */
export async function ownChannel(
  ledger: TxLedgerPort,
  wallet: WalletPort,
  choice: ChannelChoice,
): Promise<OwnChannel> {
  const { channelId = '', channelName = '', channelAccountIds } = choice;
  const [key, value] = channelId !== '' ? ['id', channelId] : ['name', channelName];
  if (value === '')
    throw badValue("Couldn't find channel because a channel_id or channel_name was not provided.");
  const accountIds = idsOf(wallet.accountsOrAll(channelAccountIds));
  const rows = await unspent(ledger, {
    accountIds,
    types: [TXO_TYPE.channel],
    ...(key === 'id' ? { claimIds: [value] } : { names: [value] }),
  });
  const [row] = rows;
  if (row === undefined) throw badValue(`Couldn't find channel with channel_${key} '${value}'.`);
  if (rows.length > 1)
    throw badValue(
      `Multiple channels found with channel_${key} '${value}', pass a channel_id to narrow it down.`,
    );
  const txo = txoOf(row, wallet);
  const secret = channelSecret(txo, wallet);
  const { claimId } = txo;
  // A locked wallet has only imported keys. After it is unlocked it may derive the missing key from its seed.
  if (secret === null) wallet.assertUnlocked();
  if (secret === null || claimId === null) throw noSigningKey(key, value);
  return { txo, signing: { claimId, privateKey: secret } };
}

function noSigningKey(key: string, value: string): DaemonError {
  return new DaemonError('PrivateKeyNotFoundError', `Couldn't find private key for ${key} '${value}'.`);
}
