/**
 * Common steps of creating claims: funding, holding address, signing channel, and the claim that an update spends. Source:
 * lbry-sdk lbry/extras/daemon/daemon.py `jsonrpc_channel_create` and its siblings, lbry/wallet/transaction.py
 * `claim_create`, `claim_update`.
 */
import { encodeClaim } from '../../metadata/claim.js';
import type { Claim } from '../../metadata/messages/claim_pb.js';
import { encodeDestination } from '../../script/address.js';
import { hashFromHex, hashToHex, isHex, type Bytes } from '../../util/bytes.js';
import { expiresAt, hasExpired } from '../base/claimTerm.js';
import { failure, type DaemonError } from '../base/daemonError.js';
import type { LedgerParams } from '../base/ledgerParams.js';
import { CLAIM_TXO_TYPES, type TxoRow } from '../ledger/txoQuery.js';
import type { Txo, TxoNotes } from '../txo/txo.js';
import { firstOutPoint, replaceOutput, type TxDraft } from '../wallet/tx/draft.js';
import { claimOutput, signOutput, updateOutput, type NewOutput } from '../wallet/tx/newOutputs.js';
import { keyHashOf } from './destinations.js';
import type { MadeTransaction, TxBuilder, SendOptions } from './txBuilder.js';
import { idsOf, txoOf, unspent, type OwnChannel } from './ownOutputs.js';
import type { AccountPort, TxLedgerPort, WalletPort } from './ports.js';

/** Options for a claim to be created: the accounts and addresses. */
export interface ClaimOptions extends SendOptions {
  /**
   * Account that holds a new claim; the default is the wallet's default account. For an update: the only account searched
   * for the claim; the default is all accounts.
   */
  readonly accountId?: string | undefined;
  readonly claimAddress?: string | undefined;
  readonly fundingAccountIds?: readonly string[] | undefined;
}

/** Address that owns a claim, with the hash of the address's key. */
export interface Holding {
  readonly address: string;
  readonly keyHash: Bytes;
}

/**
 * Calls a function that builds and sends a transaction to the given address. If `address` is undefined, an unused address of
 * the account is reserved during the call. Throws if the address does not pay to a key.
 */
export async function withHolding<Result>(
  { params }: TxLedgerPort,
  address: string | undefined,
  account: AccountPort,
  run: (holding: Holding) => Promise<Result>,
): Promise<Result> {
  if (address !== undefined) return run({ address, keyHash: keyHashOf(address, params) });
  const fresh = await account.takeReceivingAddress();
  try {
    return await run({ address: fresh, keyHash: keyHashOf(fresh, params) });
  } finally {
    account.freeAddress(fresh);
  }
}

/** The requested address, or the address of the updated claim if none is requested. */
export function holdingOf({ params }: TxLedgerPort, address: string | undefined, old: Txo): Holding {
  if (address !== undefined) return { address, keyHash: keyHashOf(address, params) };
  const keyHash = old.read?.values['pubkey_hash'];
  if (keyHash === undefined) throw failure('The claim is held by a script, which the wallet cannot spend.');
  return { address: addressOf(keyHash, params), keyHash };
}

function addressOf(keyHash: Bytes, { addressPrefixes }: LedgerParams): string {
  return encodeDestination({ type: 'pubkeyhash', hash: keyHash }, addressPrefixes);
}

/** Description of a claim to be created. */
export interface ClaimPlan extends SendOptions {
  readonly wallet: WalletPort;
  readonly funding: readonly AccountPort[];
  /** Unsigned output. */
  readonly output: NewOutput;
  /** Output of the claim that an update spends; undefined for a new claim. */
  readonly old?: Txo;
  readonly channel: OwnChannel | null;
  readonly notes?: TxoNotes;
  /** Changes the new output after coins are selected and before it is signed. Must not change the size of the output. */
  readonly finish?: (output: NewOutput) => NewOutput | Promise<NewOutput>;
  readonly beforeSending?: () => Promise<void>;
}

/** Encodes the value of a claim without a signature. */
export const unsignedValue = (claim: Claim): Buffer =>
  encodeClaim({ channelId: null, signature: null, claim });

export function newClaimOutput(
  amountDewies: bigint,
  name: string,
  claim: Claim,
  { keyHash }: Holding,
): NewOutput {
  return claimOutput(amountDewies, name, unsignedValue(claim), keyHash);
}

/** Output that updates a claim. The name is copied byte by byte, even if it is not valid UTF-8. */
export function updatedClaimOutput(
  amountDewies: bigint,
  old: Txo,
  claim: Claim,
  { keyHash }: Holding,
): NewOutput {
  const name = old.read?.values['claim_name'] ?? Buffer.alloc(0);
  return updateOutput(amountDewies, name, old.claimId!, unsignedValue(claim), keyHash);
}

/**
 * Whether a claim has expired, and the words that the errors about it have in common. On a test chain with other expiry
 * rules, a claim that the hub still finds counts as active.
 */
async function expiryOf(
  { ports: { ledger, claims } }: TxBuilder,
  txo: Txo,
): Promise<{ readonly id: string; readonly text: string; readonly refund: string } | null> {
  if (!hasExpired(ledger.params, txo.height, ledger.height)) return null;
  const id = hashToHex(txo.claimId ?? Buffer.alloc(0));
  if ((await claims.byId(id).catch(() => null)) !== null) return null;
  return {
    id,
    text: `'${id}' expired at height ${expiresAt(ledger.params, txo.height)}`,
    refund: `Get its amount back with txo_spend --type=${txo.claim?.kind ?? 'stream'} --claim_id=${id}`,
  };
}

/** Throws if the claim has expired, because an update of it would be valid but without effect. */
export async function refuseExpired(txBuilder: TxBuilder, old: Txo): Promise<void> {
  const expiry = await expiryOf(txBuilder, old);
  if (expiry === null) return;
  throw failure(
    `The claim ${expiry.text}: an update would be paid for and have no effect. ${expiry.refund}, and claim the name again.`,
  );
}

/** Throws if the channel has expired, because hubs and nodes find no channel for its signature. */
export async function refuseExpiredChannel(txBuilder: TxBuilder, { txo }: OwnChannel): Promise<void> {
  const expiry = await expiryOf(txBuilder, txo);
  if (expiry === null) return;
  throw failure(
    `The channel ${expiry.text}, so it cannot sign claims or supports. Name another channel, or create one with channel_create. ` +
      `${expiry.refund}.`,
  );
}

/**
 * Builds and sends a claim. The fee includes the size of the signature. The claim is signed when the first input is known,
 * because the signature covers it. The change is paid to the first funding account. Throws if the updated claim has expired.
 */
export async function makeClaim(txBuilder: TxBuilder, plan: ClaimPlan): Promise<MadeTransaction> {
  const { wallet, funding, output, old, channel, notes, finish, beforeSending, preview } = plan;
  if (old) await refuseExpired(txBuilder, old);
  const finishDraft = async (draft: TxDraft): Promise<TxDraft> => {
    const finished = await finish?.(draft.outputs[0]!);
    const changed = finished ? replaceOutput(draft, 0, () => finished) : draft;
    if (channel === null) return changed;
    return replaceOutput(changed, 0, (own) => signOutput(own, channel.signing, firstOutPoint(draft)));
  };
  return txBuilder.make(
    {
      wallet,
      given: old ? [{ txo: old, isCoin: false }] : [],
      outputs: [channel ? signOutput(output, channel.signing, null) : output],
      funding,
      change: funding[0]!,
      finish: finishDraft,
      notes: channel ? { ...notes, channel: channel.txo } : { ...notes },
      ...(beforeSending ? { beforeSending } : {}),
    },
    { preview },
  );
}

/** Returns all accounts of the wallet or, with `accountId`, only that account. */
export function accountsFor(wallet: WalletPort, accountId: string | undefined): readonly AccountPort[] {
  return accountId ? [wallet.account(accountId)] : wallet.accounts;
}

/** Whether the accounts own a claim of one of the types with exactly this name. */
export async function isNameTaken(
  ledger: TxLedgerPort,
  accounts: readonly AccountPort[],
  name: string,
  types: readonly number[] = CLAIM_TXO_TYPES,
): Promise<boolean> {
  const filter = { accountIds: idsOf(accounts), types, names: [name], isSpent: false, isMyOutput: true };
  return (await ledger.database.txos(filter, { limit: 1 })).length > 0;
}

/**
 * Finds the claim with this id that the accounts own and an update can spend. Null if the accounts own no
 * such claim, or more than one.
 */
async function ownClaim(
  ledger: TxLedgerPort,
  wallet: WalletPort,
  accounts: readonly AccountPort[],
  claimId: string,
): Promise<Txo | null> {
  const rows = await unspent(ledger, {
    accountIds: idsOf(accounts),
    types: CLAIM_TXO_TYPES,
    claimIds: [claimId],
  });
  return rows.length === 1 ? txoOf(rows[0]!, wallet) : null;
}

/** Claim to update. `word` is its kind in the message of `error`, which is thrown if the accounts do not own the claim. */
export interface OwnClaimChoice {
  readonly accounts: readonly AccountPort[];
  readonly claimId: string;
  readonly word: 'channel' | 'collection' | 'stream';
  error(message: string): DaemonError;
}

/** Runs `use` with an own claim, as soon as no other caller has locked the claim (see `HeldOutputs`). */
export async function withOwnClaim<Result>(
  txBuilder: TxBuilder,
  wallet: WalletPort,
  { accounts, claimId, word, error }: OwnClaimChoice,
  use: (claim: Txo) => Promise<Result>,
): Promise<Result> {
  const find = async (): Promise<readonly [Txo]> => {
    const claim = await ownClaim(txBuilder.ports.ledger, wallet, accounts, claimId);
    if (claim === null)
      throw error(`Can't find the ${word} '${claimId}' in account(s) ${quotedIds(accounts)}.`);
    return [claim];
  };
  return txBuilder.held.with(find, ([claim]) => use(claim));
}

const quotedIds = (accounts: readonly AccountPort[]): string =>
  accounts.map(({ id }) => `'${id}'`).join(', ');

/** Choice of outputs by claim id, or by txid and index. */
export interface OutputChoice {
  readonly claimId?: string | undefined;
  readonly txid?: string | undefined;
  readonly nout?: number | undefined;
}

/** Unspent outputs of the given types that match the choice. Throws if the choice has no condition. */
export async function chosenOutputs(
  ledger: TxLedgerPort,
  accounts: readonly AccountPort[],
  types: readonly number[],
  { claimId, txid, nout }: OutputChoice,
): Promise<TxoRow[]> {
  const filter = { accountIds: idsOf(accounts), types };
  if (txid !== undefined && nout !== undefined) {
    if (!/^[0-9a-fA-F]{64}$/.test(txid)) return [];
    return unspent(ledger, { ...filter, txids: [hashFromHex(txid.toLowerCase())], nout });
  }
  if (claimId === undefined) throw failure('Must specify claim_id, or txid and nout');
  return unspent(ledger, { ...filter, claimIds: [claimId] });
}

/** Converts a claim id from its printed form to wire order. Throws if it is invalid. */
export function claimIdBytes(claimId: string): Buffer {
  if (claimId.length !== 40 || !isHex(claimId))
    throw failure('Invalid claim id. It is expected to be a 40 characters long hexadecimal string.');
  return hashFromHex(claimId);
}

/**
 * Spends claims and pays their amounts as change. If the amounts do not cover the fee, all searched accounts pay (with
 * `fundingIsAll`), or only the account that gets the change. Source: `jsonrpc_channel_abandon`, `jsonrpc_stream_abandon`.
 */
export async function abandonClaims(
  txBuilder: TxBuilder,
  wallet: WalletPort,
  choice: OutputChoice,
  { accountId, preview, fundingIsAll }: ClaimOptions & { readonly fundingIsAll: boolean },
): Promise<MadeTransaction> {
  wallet.assertUnlocked();
  const { ledger } = txBuilder.ports;
  const change = wallet.account(accountId || undefined);
  const accounts = accountsFor(wallet, accountId);
  const find = async (): Promise<Txo[]> =>
    (await chosenOutputs(ledger, accounts, CLAIM_TXO_TYPES, choice)).map((row) => txoOf(row, wallet));
  return txBuilder.held.with(find, (claims) => {
    if (claims.length === 0) throw failure('No claim found for the specified claim_id or txid:nout');
    return txBuilder.make(
      {
        wallet,
        given: claims.map((txo) => ({ txo, isCoin: false })),
        outputs: [],
        funding: fundingIsAll ? accounts : [change],
        change,
      },
      { preview },
    );
  });
}
