/**
 * JSON form of outputs and transactions in the daemon's responses. Source: lbry-sdk
 * lbry/extras/daemon/json_response_encoder.py `encode_output`, `encode_transaction`.
 */
import { formatLbc } from '../../metadata/amounts.js';
import { encodeClaim } from '../../metadata/claim.js';
import { encodeSupport } from '../../metadata/support.js';
import { formatTransaction, txid, type Transaction } from '../../primitives/transaction.js';
import { hashToHex } from '../../util/bytes.js';
import { hexOf, type JsonOut } from '../../util/json/jsonWrite.js';
import { hasExpired } from '../base/claimTerm.js';
import type { LedgerParams } from '../base/ledgerParams.js';
import type { Txo } from './txo.js';

/** Data of the chain that is needed to format outputs. */
export interface ShowPort {
  readonly ledger: LedgerParams;
  /** Height of the last known header. */
  readonly height: number;
  /** Unix time of the block at a height; null if unconfirmed. */
  timeSecAt(height: number): number | null;
  /** Whether the answer also contains values as hexadecimal protobuf bytes. */
  readonly withProtobuf: boolean;
}

type Json = Record<string, JsonOut>;

const amountOf = (dewies: bigint): string => formatLbc(dewies);

function noteMembers(txo: Txo): Json {
  const { notes } = txo;
  const members: Json = {};
  if (notes.isSpent !== undefined) members['is_spent'] = notes.isSpent;
  if (notes.isMyOutput !== undefined) members['is_my_output'] = notes.isMyOutput;
  if (notes.isMyInput !== undefined) members['is_my_input'] = notes.isMyInput;
  if (notes.sentSupportsDewies !== undefined) members['sent_supports'] = amountOf(notes.sentSupportsDewies);
  if (notes.sentTipsDewies !== undefined) members['sent_tips'] = amountOf(notes.sentTipsDewies);
  if (notes.receivedTipsDewies !== undefined) members['received_tips'] = amountOf(notes.receivedTipsDewies);
  if (notes.isInternalTransfer !== undefined) members['is_internal_transfer'] = notes.isInternalTransfer;
  return members;
}

/**
 * Members that mark an expired claim or support, which can be spent but has no effect on the chain. lbrynet does not have
 * these members.
 */
function expiryMembers(txo: Txo, { ledger, height }: ShowPort): Json {
  const isStaked = (txo.isClaim || txo.isSupport) && txo.notes.isSpent === false;
  return isStaked && hasExpired(ledger, txo.height, height) ? { is_expired: true } : {};
}

function typeMembers(txo: Txo, port: ShowPort): Json {
  const { purchasedClaimId, purchasedClaim } = txo.notes;
  if (txo.isNewClaim) return { type: 'claim', claim_op: 'create' };
  if (txo.isUpdate) return { type: 'claim', claim_op: 'update' };
  if (txo.isSupport) return { type: 'support' };
  if (txo.isData) return { type: 'data' };
  if (purchasedClaimId === undefined) return { type: 'payment' };
  const members: Json = { type: 'purchase', claim_id: purchasedClaimId };
  if (purchasedClaim) members['claim'] = outputToJson(purchasedClaim, port);
  return members;
}

function claimMembers(txo: Txo, port: ShowPort): Json {
  const { claimName, claimId, notes } = txo;
  if (claimName === null || claimId === null) return {};
  const id = hashToHex(claimId);
  const members: Json = {
    name: claimName,
    normalized_name: txo.normalizedName,
    claim_id: id,
    permanent_url: `lbry://${claimName}#${id}`,
    meta: notes.meta ?? {},
  };
  if (notes.shortUrl !== undefined) members['short_url'] = notes.shortUrl;
  if (notes.canonicalUrl !== undefined) members['canonical_url'] = notes.canonicalUrl;
  if (notes.claims) members['claims'] = notes.claims.map((claim) => claim && outputToJson(claim, port));
  if (notes.repostedClaim) members['reposted_claim'] = outputToJson(notes.repostedClaim, port);
  return members;
}

/** Returns the members that show the value of a claim or support; empty if the value cannot be decoded. */
function valueMembers(txo: Txo, port: ShowPort, withSignature: boolean): Json {
  const { claim, support, notes } = txo;
  const value = txo.value(port.ledger);
  if (value === null) return {};
  const members: Json = { value };
  if (port.withProtobuf) members['protobuf'] = hexOf(claim ? encodeClaim(claim) : encodeSupport(support!));
  if (notes.purchaseReceipt) members['purchase_receipt'] = outputToJson(notes.purchaseReceipt, port);
  if (claim) {
    members['value_type'] = claim.kind;
    if (claim.kind === 'channel') members['has_signing_key'] = notes.hasSigningKey ?? false;
  }
  const { channelId } = txo;
  if (withSignature && channelId !== null) {
    const { channel } = notes;
    members['signing_channel'] = channel ? outputToJson(channel, port) : { channel_id: hashToHex(channelId) };
    members['is_channel_signature_valid'] = channel ? txo.isSignedBy(channel, port.ledger) : false;
  }
  return members;
}

export function outputToJson(txo: Txo, port: ShowPort, withSignature = true): Json {
  const { height } = txo;
  return {
    txid: txo.txidHex,
    nout: txo.nout,
    height,
    amount: amountOf(txo.amountDewies),
    address: txo.address(port.ledger),
    confirmations: height > 0 ? port.height + 1 - height : height,
    timestamp: port.timeSecAt(height),
    ...noteMembers(txo),
    ...expiryMembers(txo, port),
    ...typeMembers(txo, port),
    ...claimMembers(txo, port),
    ...valueMembers(txo, port, withSignature),
  };
}

export interface TransactionJson {
  readonly tx: Transaction;
  readonly height: number;
  /** For each input the output that it spends; null for an unknown output. */
  readonly spent: readonly (Txo | null)[];
  readonly outputs: readonly Txo[];
}

/** Formats a transaction as JSON. Sums include only inputs whose spent outputs are known. */
export function transactionToJson({ tx, height, spent, outputs }: TransactionJson, port: ShowPort): Json {
  const input = spent.reduce((sum, txo) => sum + (txo?.amountDewies ?? 0n), 0n);
  const fee = outputs.reduce((rest, { amountDewies }) => rest - amountDewies, input);
  return {
    txid: hashToHex(txid(tx)),
    height,
    inputs: tx.inputs.map(({ prevout }, n) => {
      const txo = spent[n];
      return txo ? outputToJson(txo, port, false) : { txid: hashToHex(prevout.hash), nout: prevout.index };
    }),
    outputs: outputs.map((txo) => outputToJson(txo, port)),
    total_input: amountOf(input),
    total_output: amountOf(input - fee),
    total_fee: amountOf(fee),
    hex: hexOf(formatTransaction(tx)),
  };
}
