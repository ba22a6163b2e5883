/**
 * Outputs that the wallet creates (payments, claims and their updates, supports, purchase receipts) and their fees. Source:
 * lbry-sdk lbry/wallet/transaction.py `Output`.
 */
import { sha256 } from '../../../crypto/hash.js';
import { openEnvelope, sealEnvelope } from '../../../metadata/envelope.js';
import { decodeClaim } from '../../../metadata/claim.js';
import { encodePurchase } from '../../../metadata/purchase.js';
import { OP } from '../../../script/opcodes.js';
import { buildScript } from '../../../script/script.js';
import { concatBytes, type Bytes } from '../../../util/bytes.js';
import { badValue } from '../../base/daemonError.js';
import { signCompact } from '../keys.js';
import { readOutputScript, writeOutputScript } from '../../txo/scriptTemplates.js';

/** Fee in dewies per byte. The wallet does not estimate fees. */
export const FEE_PER_BYTE = 50n;

export interface NewOutput {
  readonly amountDewies: bigint;
  readonly script: Buffer;
}

/** Signing channel. */
export interface SigningChannel {
  /** Claim id: 20 bytes, wire order. */
  readonly claimId: Bytes;
  readonly privateKey: Bytes;
}

/**
 * Outpoint of zeros, for the size estimate before inputs are selected. The size of the signature does not depend on the
 * outpoint.
 */
const ANY_OUTPOINT = Buffer.alloc(36);
const AMOUNT_SIZE = 8;

export function varIntSize(count: number): number {
  return count < 0xfd ? 1 : count <= 0xffff ? 3 : count <= 0xffff_ffff ? 5 : 9;
}

export function outputSize(script: Bytes): number {
  return AMOUNT_SIZE + varIntSize(script.length) + script.length;
}

/** Fee of an output in dewies. The fee of a new claim is at least `feePerNameChar` for each byte of its name. */
export function outputFee(script: Bytes, feePerNameChar: bigint): bigint {
  const { template, values } = readOutputScript(script);
  const nameFee = template.startsWith('claim_name+')
    ? BigInt(values['claim_name']!.length) * feePerNameChar
    : 0n;
  const sizeFee = BigInt(outputSize(script)) * FEE_PER_BYTE;
  return nameFee > sizeFee ? nameFee : sizeFee;
}

export function payKeyHash(amountDewies: bigint, pubkeyHash: Bytes): NewOutput {
  return { amountDewies, script: writeOutputScript('pay_pubkey_hash', { pubkey_hash: pubkeyHash }) };
}

/** Output that pays to a witness program of a key hash (BIP141 P2WPKH). */
export function payWitnessKeyHash(amountDewies: bigint, pubkeyHash: Bytes): NewOutput {
  return { amountDewies, script: buildScript(OP.OP_0, pubkeyHash) };
}

export function payScriptHash(amountDewies: bigint, scriptHash: Bytes): NewOutput {
  return { amountDewies, script: writeOutputScript('pay_script_hash', { script_hash: scriptHash }) };
}

/** Creates the output of a new claim. `value` is the encoded value; a signature in it is removed. */
export function claimOutput(amountDewies: bigint, name: string, value: Bytes, pubkeyHash: Bytes): NewOutput {
  const script = writeOutputScript('claim_name+pay_pubkey_hash', {
    claim_name: Buffer.from(name),
    claim: unsigned(value),
    pubkey_hash: pubkeyHash,
  });
  return { amountDewies, script };
}

/** Output that updates a claim. `claimId` is in wire order. `name` is a text, or bytes if the name is not valid UTF-8. */
export function updateOutput(
  amountDewies: bigint,
  name: string | Bytes,
  claimId: Bytes,
  value: Bytes,
  pubkeyHash: Bytes,
): NewOutput {
  const script = writeOutputScript('update_claim+pay_pubkey_hash', {
    claim_name: typeof name === 'string' ? Buffer.from(name) : name,
    claim_id: claimId,
    claim: unsigned(value),
    pubkey_hash: pubkeyHash,
  });
  return { amountDewies, script };
}

/** Output of a support. `claimId` is in wire order; `data` is the encoded value of a support with a comment, or null. */
export function supportOutput(
  amountDewies: bigint,
  name: string,
  claimId: Bytes,
  data: Bytes | null,
  pubkeyHash: Bytes,
): NewOutput {
  const values = { claim_name: Buffer.from(name), claim_id: claimId, pubkey_hash: pubkeyHash };
  const script =
    data === null
      ? writeOutputScript('support_claim+pay_pubkey_hash', values)
      : writeOutputScript('support_claim+data+pay_pubkey_hash', { ...values, support: data });
  return { amountDewies, script };
}

/** Returns the receipt output that follows the payment of a purchase. */
export function purchaseOutput(claimId: Bytes): NewOutput {
  return { amountDewies: 0n, script: writeOutputScript('return_data', { data: encodePurchase(claimId) }) };
}

function unsigned(value: Bytes): Buffer {
  return sealEnvelope({ channelId: null, signature: null }, decodeClaim(value).message);
}

/** Returns a copy of the output with a changed value of its claim or support. */
function withValue(output: NewOutput, change: (value: Buffer) => Buffer): NewOutput {
  const { template, values } = readOutputScript(output.script);
  const field = 'claim' in values ? 'claim' : 'support';
  const value = values[field];
  if (value === undefined) throw badValue('The output carries no value.');
  return { ...output, script: writeOutputScript(template, { ...values, [field]: change(value) }) };
}

/**
 * Signs the output with a channel key. The signature covers the first outpoint (36 bytes) of the transaction. If the
 * outpoint is not known yet, pass null, which gives a signature of the same size. Source: `Output.sign`.
 */
export function signOutput(
  output: NewOutput,
  channel: SigningChannel,
  firstOutPoint: Bytes | null,
): NewOutput {
  return withValue(output, (value) => {
    const message = openEnvelope(value)?.message ?? value;
    const digest = sha256(concatBytes(firstOutPoint ?? ANY_OUTPOINT, channel.claimId, message));
    const signature = signCompact(digest, channel.privateKey);
    return sealEnvelope({ channelId: channel.claimId, signature }, message);
  });
}

/** Replaces the value of a claim output. Needed for a claim whose key is created after the coins were selected. */
export function replaceValue(output: NewOutput, value: Bytes): NewOutput {
  return withValue(output, () => Buffer.from(value));
}
