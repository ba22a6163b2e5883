/**
 * Streams, reposts, and `publish`, which creates or updates a stream. Source: lbry-sdk lbry/extras/daemon/daemon.py
 * `jsonrpc_publish`, `jsonrpc_stream_*`.
 */
import { clone } from '@bufbuild/protobuf';
import { newClaim } from '../../metadata/claimFields.js';
import { ClaimSchema, type Claim } from '../../metadata/messages/claim_pb.js';
import { assertionFailure, DaemonError, failure } from '../base/daemonError.js';
import { CLAIM_TXO_TYPES, TXO_TYPE } from '../ledger/txoQuery.js';
import { withArguments, type ClaimArguments } from './claimArguments.js';
import {
  accountsFor,
  claimIdBytes,
  holdingOf,
  isNameTaken,
  makeClaim,
  newClaimOutput,
  refuseExpired,
  updatedClaimOutput,
  type ClaimOptions,
  type ClaimPlan,
  type Holding,
  withHolding,
  withOwnClaim,
} from './claimBuilding.js';
import { checkStreamName } from './claimNames.js';
import { keyHashOf } from './destinations.js';
import type { MadeTransaction, TxBuilder } from './txBuilder.js';
import { idsOf, unspent, type ChannelChoice } from './ownOutputs.js';
import { signingChannel, updateChannel } from './signingChannel.js';
import type { FileChoice, FileStream, TxLedgerPort, PreparedFile, WalletPort } from './ports.js';
import type { NewOutput } from '../wallet/tx/newOutputs.js';

export interface NewStream {
  readonly name: string;
  readonly bidDewies: bigint;
  readonly allowDuplicateName: boolean;
  readonly fields: ClaimArguments;
  readonly signing: ChannelChoice;
  /** The file to publish; undefined if the command names none. */
  readonly file?: FileChoice | undefined;
}

/**
 * Adds the address that receives the price to the arguments: the address in the command or, if the claim has a price and the
 * command names no address, the address of the claim.
 */
function withFeeAddress(ledger: TxLedgerPort, fields: ClaimArguments, { address }: Holding): ClaimArguments {
  const { fee_address: given, fee_amount: amount, fee_currency: currency } = fields;
  if (typeof given === 'string') {
    keyHashOf(given, ledger.params);
    return fields;
  }
  return amount === undefined && currency === undefined ? fields : { ...fields, fee_address: address };
}

/**
 * Creates a stream. Throws if the name is invalid or used by the wallet, if the signing channel is unavailable, and
 * `InsufficientFundsError`.
 */
export function createStream(
  txBuilder: TxBuilder,
  wallet: WalletPort,
  stream: NewStream,
  options: ClaimOptions,
): Promise<MadeTransaction> {
  return txBuilder.withName(stream.name, () => newStream(txBuilder, wallet, stream, options));
}

/** Like `createStream`, for a caller that has the lock on the name (`withName`). */
function newStream(
  txBuilder: TxBuilder,
  wallet: WalletPort,
  stream: NewStream,
  options: ClaimOptions,
): Promise<MadeTransaction> {
  return create(txBuilder, wallet, stream, options, (holding) => {
    const fields = withFeeAddress(txBuilder.ports.ledger, stream.fields, holding);
    return (prepared) => streamClaim(newClaim('stream'), fields, prepared);
  });
}

/** Creates a repost. Rejects with the errors of `createStream`, and also for an invalid `claimId`. */
export function createRepost(
  txBuilder: TxBuilder,
  wallet: WalletPort,
  repost: NewStream & { readonly claimId: string },
  options: ClaimOptions,
): Promise<MadeTransaction> {
  const claimOf = (): Claim => {
    const claim = withArguments(newClaim('repost'), repost.fields);
    if (claim.type.case === 'repost')
      claim.type.value.claimHash = Uint8Array.from(claimIdBytes(repost.claimId));
    return claim;
  };
  return txBuilder.withName(repost.name, () => create(txBuilder, wallet, repost, options, () => claimOf));
}

/**
 * Creates a claim. `claimFor` checks the arguments that must be valid before the file is read. It returns the function that
 * makes the claim.
 */
async function create(
  txBuilder: TxBuilder,
  wallet: WalletPort,
  { name, bidDewies, allowDuplicateName, signing, fields, file }: NewStream,
  { accountId, claimAddress, fundingAccountIds, preview }: ClaimOptions,
  claimFor: (holding: Holding) => (prepared: PreparedFile | null) => Claim,
): Promise<MadeTransaction> {
  wallet.assertUnlocked();
  const { ledger } = txBuilder.ports;
  checkStreamName(name);
  const account = wallet.account(accountId);
  const funding = wallet.accountsOrAll(fundingAccountIds);
  const channel = await signingChannel(txBuilder, wallet, signing);
  return withHolding(ledger, claimAddress, account, async (holding) => {
    const claimOf = claimFor(holding);
    if (!allowDuplicateName && (await isNameTaken(ledger, [account], name)))
      throw failure(
        `You already have a stream claim published under the name '${name}'. ` +
          'Use --allow-duplicate-name flag to override.',
      );
    const prepared = file ? await txBuilder.ports.publishing().prepare(file, fields, preview) : null;
    const claim = claimOf(prepared);
    const outputOf = (finished: Claim): NewOutput => newClaimOutput(bidDewies, name, finished, holding);
    return publishClaim(txBuilder, { wallet, funding, channel, preview }, { claim, outputOf, prepared });
  });
}

/** Applies the arguments of the command and the data of the file to a stream claim. */
function streamClaim(claim: Claim, fields: ClaimArguments, prepared: PreparedFile | null): Claim {
  if (prepared === null) return withArguments(claim, fields);
  return withArguments(claim, { ...fields, ...prepared.fields }, prepared.contentExtension);
}

interface Publishing {
  readonly claim: Claim;
  readonly outputOf: (claim: Claim) => NewOutput;
  readonly prepared: PreparedFile | null;
}

/** Whether the transaction was certainly not broadcast: the broadcast had not started, or a hub refused the transaction. */
const isCertainlyUnsent = (error: unknown, isSending: boolean): boolean =>
  !isSending || (error instanceof DaemonError && error.name === 'RPCError');

/**
 * Builds and broadcasts the claim. The stream of the file is created after the outputs to spend are reserved, so that no
 * blob is written if funds are missing, and before the claim is signed, because the signature covers the hashes of the
 * stream. If the broadcast fails, the stream is deleted. For an update, the old stream is deleted after the broadcast.
 */
async function publishClaim(
  txBuilder: TxBuilder,
  plan: Omit<ClaimPlan, 'output' | 'finish' | 'beforeSending'>,
  { claim, outputOf, prepared }: Publishing,
): Promise<MadeTransaction> {
  const output = outputOf(claim);
  const { ports } = txBuilder;
  if (plan.preview) return makeClaim(txBuilder, { ...plan, output });
  if (prepared === null) {
    const made = await makeClaim(txBuilder, { ...plan, output });
    if (ports.hasFiles()) await ports.publishing().moved(made.outputs[0]!);
    return made;
  }
  let stream: FileStream | null = null;
  let isSending = false;
  try {
    const made = await makeClaim(txBuilder, {
      ...plan,
      output,
      finish: async () => {
        stream = await prepared.makeStream();
        return outputOf(withSource(claim, stream));
      },
      beforeSending: () => {
        isSending = true;
        return Promise.resolve();
      },
    });
    const replaced = plan.old ? sourceHash(plan.old.claim?.claim) : null;
    await (stream as FileStream | null)?.published(made.outputs[0]!, replaced);
    return made;
  } catch (error) {
    if (isCertainlyUnsent(error, isSending)) await (stream as FileStream | null)?.discard();
    throw error;
  } finally {
    (stream as FileStream | null)?.release();
  }
}

function withSource(claim: Claim, { sdHash, fileHash }: FileStream): Claim {
  const changed = clone(ClaimSchema, claim);
  const source = changed.type.case === 'stream' ? changed.type.value.source : undefined;
  if (source === undefined) throw new Error('a claim with a file has no source');
  source.sdHash = Uint8Array.from(sdHash);
  source.hash = Uint8Array.from(fileHash);
  return changed;
}

/** Returns the descriptor hash in a claim, as hexadecimal digits. */
function sourceHash(claim: Claim | undefined): string | null {
  const hash = claim?.type.case === 'stream' ? claim.type.value.source?.sdHash : undefined;
  return hash === undefined || hash.length === 0 ? null : Buffer.from(hash).toString('hex');
}

export interface StreamChange {
  readonly claimId: string;
  readonly bidDewies: bigint | undefined;
  /** Whether to remove all values except the source, and also the signing channel, before the new values are set. */
  readonly replace: boolean;
  readonly clearChannel: boolean;
  readonly fields: ClaimArguments;
  readonly signing: ChannelChoice;
  /** New file that replaces the file of the stream; undefined keeps the present one. */
  readonly file?: FileChoice | undefined;
}

const badClaim = (message: string): DaemonError => new DaemonError('InputValueError', message);

/**
 * Updates a stream or repost. Throws if the wallet does not have the claim, if the signing channel is unavailable, and
 * `InsufficientFundsError`.
 */
export async function updateStream(
  txBuilder: TxBuilder,
  wallet: WalletPort,
  change: StreamChange,
  { accountId, claimAddress, fundingAccountIds, preview }: ClaimOptions,
): Promise<MadeTransaction> {
  wallet.assertUnlocked();
  const { ledger } = txBuilder.ports;
  const funding = wallet.accountsOrAll(fundingAccountIds);
  const accounts = accountsFor(wallet, accountId);
  const choice = { accounts, claimId: change.claimId, word: 'stream', error: badClaim } as const;
  return withOwnClaim(txBuilder, wallet, choice, async (old) => {
    const kind = old.claim?.kind;
    if (!old.claim || (kind !== 'stream' && kind !== 'repost'))
      throw badClaim(`A claim with id '${change.claimId}' was found but it is not a stream or repost claim.`);
    // The expiry is checked before the channel and the file are searched, because an expired claim cannot be updated.
    await refuseExpired(txBuilder, old);
    const holding = holdingOf(ledger, claimAddress, old);
    const { signing, clearChannel, replace } = change;
    const channelChoice = clearChannel ? {} : signing;
    const channel = await updateChannel(txBuilder, wallet, old, {
      choice: channelChoice,
      isRemoved: clearChannel || replace,
    });
    const fields = withFeeAddress(ledger, change.fields, holding);
    if (change.file && kind === 'repost') throw badClaim('A repost has no file.');
    const prepared = change.file
      ? await txBuilder.ports.publishing().prepare(change.file, change.fields, preview)
      : null;
    const claim = streamClaim(replace ? replacedClaim(old.claim.claim) : old.claim.claim, fields, prepared);
    const bidDewies = change.bidDewies ?? old.amountDewies;
    const outputOf = (finished: Claim): NewOutput => updatedClaimOutput(bidDewies, old, finished, holding);
    return publishClaim(txBuilder, { wallet, funding, old, channel, preview }, { claim, outputOf, prepared });
  });
}

/** Returns what remains of a claim when all its values are replaced: for a stream its source and media type. */
function replacedClaim({ type }: Claim): Claim {
  const claim = newClaim(type.case === 'repost' ? 'repost' : 'stream');
  if (type.case === 'repost' && claim.type.case === 'repost')
    claim.type.value.claimHash = type.value.claimHash;
  if (type.case === 'stream' && claim.type.case === 'stream') {
    const { source, type: media } = type.value;
    if (source) claim.type.value.source = source;
    claim.type.value.type = media;
  }
  return clone(ClaimSchema, claim);
}

export interface Publication {
  readonly name: string;
  /** Amount of the claim in dewies. Required for a new stream. */
  readonly bidDewies: bigint | undefined;
  readonly allowDuplicateName: boolean;
  readonly clearChannel: boolean;
  readonly fields: ClaimArguments;
  readonly signing: ChannelChoice;
  /** New file that replaces the file of the stream; undefined keeps the present one. */
  readonly file?: FileChoice | undefined;
}

/** Creates a stream, or updates the wallet's stream with the name. Throws if the wallet has several streams with the name. */
export async function publish(
  txBuilder: TxBuilder,
  wallet: WalletPort,
  publication: Publication,
  options: ClaimOptions,
): Promise<MadeTransaction> {
  checkStreamName(publication.name);
  return txBuilder.withName(publication.name, () => publishAlone(txBuilder, wallet, publication, options));
}

async function publishAlone(
  txBuilder: TxBuilder,
  wallet: WalletPort,
  publication: Publication,
  options: ClaimOptions,
): Promise<MadeTransaction> {
  const { name, bidDewies } = publication;
  const accountIds = idsOf(accountsFor(wallet, options.accountId));
  const rows = await unspent(txBuilder.ports.ledger, { accountIds, types: CLAIM_TXO_TYPES, names: [name] });
  const [row] = rows;
  if (row === undefined) {
    if (bidDewies === undefined) throw failure("'bid' is a required argument for new publishes.");
    const fields = Object.fromEntries(
      Object.entries(publication.fields).filter(([field]) => !field.startsWith('clear_')),
    );
    return newStream(txBuilder, wallet, { ...publication, bidDewies, fields }, options);
  }
  if (rows.length > 1)
    throw failure(
      `There are ${rows.length} claims for '${name}', ` +
        "please use 'stream update' command to update a specific stream claim.",
    );
  if (row.txoType !== TXO_TYPE.stream || row.claimId === null)
    throw assertionFailure(`Claim at name '${name}' is not a stream claim.`);
  return updateStream(txBuilder, wallet, { ...publication, claimId: row.claimId, replace: true }, options);
}
