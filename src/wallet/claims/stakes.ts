/**
 * Creates, updates, supports and abandons claims with the coins of a wallet. The caller selects the supported claim; the
 * claim trie is not searched for it. Source: lbrycrd wallet/rpcwallet.cpp `claimname`, `updateclaim`, `abandonclaim`,
 * `supportclaim`, `abandonsupport`.
 */
import { MAX_CLAIM_NAME_SIZE, MAX_CLAIM_SCRIPT_SIZE } from '../../consensus/limits.js';
import { encodeDestination } from '../../script/address.js';
import { buildClaimPrefix, buildSupportPrefix, buildUpdatePrefix } from '../../script/claimScript.js';
import { scriptForDestination, type Destination } from '../../script/standard.js';
import { destinationForKey } from '../../signing/outputType.js';
import type { Bytes } from '../../util/bytes.js';
import { learnRelatedScripts } from '../keys/newAddress.js';
import type { Entry } from '../ledger/entry.js';
import { coinControl, type CoinControl, type Recipient } from '../spending/createTransaction.js';
import { sendMoney } from '../spending/sendMoney.js';
import { SPEND_ERROR, SpendError } from '../spending/spendError.js';
import { WalletBatch } from '../store/records.js';
import type { Wallet } from '../wallet.js';
import { noStakeMessage, ownStake, type OwnStake, type StakeKind } from './ownStake.js';

export interface SentStake {
  /** Wire order. */
  readonly txid: Bytes;
  /** Address that receives the claim or support. */
  readonly address: string;
}

/** Creates a claim of a name. Throws `SpendError`. */
export async function claimName(
  wallet: Wallet,
  name: Bytes,
  value: Bytes,
  valueSat: bigint,
): Promise<SentStake> {
  const prefix = buildClaimPrefix(name, value);
  refuseSizes(name, prefix);
  return stake(wallet, prefix, valueSat, await newDestination(wallet), {});
}

/** Updates the value and the amount of a claim. The new output pays to a new address of the wallet. Throws `SpendError`. */
export async function updateClaim(
  wallet: Wallet,
  entry: Entry,
  value: Bytes,
  valueSat: bigint,
): Promise<SentStake> {
  const { key, name, claimId } = requireStake(wallet, entry, 'claim');
  refuseExpired(wallet, entry);
  const prefix = buildUpdatePrefix(name, claimId, value);
  refuseSizes(name, prefix);
  return stake(wallet, prefix, valueSat, await newDestination(wallet), {
    selected: new Set([key]),
    allowsOtherInputs: true,
  });
}

export interface SupportRequest {
  /** Name that is written to the support script. */
  readonly name: Bytes;
  readonly claimId: Bytes;
  /** Metadata of the support; null for none. */
  readonly value: Bytes | null;
  readonly valueSat: bigint;
  /** Destination that receives the support; null for a new address of the wallet. */
  readonly destination: Destination | null;
}

/** Creates a support of a claim. Throws `SpendError`. */
export async function supportClaim(wallet: Wallet, request: SupportRequest): Promise<SentStake> {
  const { name, claimId, value, valueSat, destination } = request;
  const prefix = buildSupportPrefix(name, claimId, value ?? undefined);
  refuseSizes(name, prefix);
  return stake(wallet, prefix, valueSat, destination ?? (await newDestination(wallet)), {});
}

/**
 * Abandons a claim or support. Its amount, minus the fee, is sent to an output script. Throws `SpendError`. Resolves with
 * the txid.
 */
export async function abandonStake(
  wallet: Wallet,
  entry: Entry,
  kind: StakeKind,
  script: Bytes,
): Promise<Bytes> {
  const { key, valueSat } = requireStake(wallet, entry, kind);
  return sendMoney(
    wallet,
    { script, valueSat, subtractsFee: true },
    coinControl(wallet, { changeType: wallet.options.changeType, selected: new Set([key]) }),
  );
}

async function stake(
  wallet: Wallet,
  prefix: Bytes,
  valueSat: bigint,
  destination: Destination,
  said: Partial<CoinControl>,
): Promise<SentStake> {
  const recipient: Recipient = {
    script: Buffer.concat([prefix, scriptForDestination(destination)]),
    valueSat,
  };
  const control = coinControl(wallet, { changeType: wallet.options.changeType, ...said });
  const txid = await sendMoney(wallet, recipient, control);
  return { txid, address: encodeDestination(destination, wallet.prefixes) };
}

/**
 * Rejects names and values whose size is invalid in a block. The reference creates transactions with invalid sizes, and the
 * coins are lost.
 */
function refuseSizes(name: Bytes, prefix: Bytes): void {
  if (name.length > MAX_CLAIM_NAME_SIZE) {
    const message = `name must be at most ${MAX_CLAIM_NAME_SIZE} bytes (not ${name.length})`;
    throw new SpendError(message, SPEND_ERROR.invalidParameter);
  }
  if (prefix.length > MAX_CLAIM_SCRIPT_SIZE) {
    const message = `name and value must be at most ${MAX_CLAIM_SCRIPT_SIZE} bytes in the script (not ${prefix.length})`;
    throw new SpendError(message, SPEND_ERROR.invalidParameter);
  }
}

/**
 * Rejects an expired claim. The claim has left the trie, so the trie would ignore an update of it, although the transaction
 * is valid. The reference creates the update.
 */
function refuseExpired({ node, followedHeight }: Wallet, { state, height }: Entry): void {
  if (state !== 'confirmed') return;
  const expired = node.claims.expirationHeight(height);
  if (expired > followedHeight) return;
  throw new SpendError(
    `Error: The claim expired at height ${expired}, so that an update would cost a fee and have no ` +
      'effect. Recover its amount with abandonclaim and claim the name again with claimname',
  );
}

/** Returns the claim or support of a transaction. Throws if it is already spent; the reference would try to spend it again. */
function requireStake(wallet: Wallet, entry: Entry, kind: StakeKind): OwnStake {
  const found = ownStake(wallet.ledger, entry, kind);
  if (found === null) {
    throw new SpendError(noStakeMessage(kind), SPEND_ERROR.misc);
  }
  if (found.isSpent) throw new SpendError(`Error: The ${kind} of the given transaction is already spent`);
  return found;
}

/** Creates a new address of the wallet. The address is not added to the address book. */
async function newDestination(wallet: Wallet): Promise<Destination> {
  const batch = new WalletBatch();
  const reserved = wallet.keys.reserve(batch, false);
  if (reserved === null) {
    const message = 'Error: Keypool ran out, please call keypoolrefill first';
    throw new SpendError(message, SPEND_ERROR.keypoolRanOut);
  }
  const { publicKey } = reserved.key;
  const { addressType } = wallet.options;
  wallet.keypool.keep(batch, reserved);
  learnRelatedScripts(wallet, batch, publicKey, addressType);
  await wallet.write(batch);
  return destinationForKey(publicKey, addressType);
}
