/** Formats PSBTs for `decodepsbt`. Source: lbrycrd rpc/rawtransaction.cpp `decodepsbt`, core_write.cpp `ScriptToUniv`. */
import { encodeDestination } from '../../../script/address.js';
import { formatAsmInSlices, sighashName } from '../../../script/asm.js';
import { extractDestination } from '../../../script/standard.js';
import type { KeyPath, Psbt, PsbtInput, PsbtOutput, UnknownFields } from '../../../signing/psbt.js';
import { spentOutput } from '../../../signing/psbtRoles.js';
import { sortedEntriesInSlices } from '../../../signing/signatureData.js';
import { fromLatin1, toHex, type Bytes } from '../../../util/bytes.js';
import { coins } from '../../../util/json/json.js';
import { jsonArray, jsonObject, type JsonMember, type JsonOut } from '../../../util/json/jsonWrite.js';
import type { Slices } from '../../../util/slices.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { SCRIPT_TYPE_FIELDS, scriptAnswerInSlices, type ScriptContext } from '../../format/script.js';
import {
  lazily,
  shownTransactionInSlices,
  transactionAnswer,
  TRANSACTION_SCHEMA,
} from '../../format/transaction.js';
import { t, type SchemaFields } from '../../../schema/schema.js';

const PSBT_SCRIPT_FIELDS: SchemaFields = {
  asm: t.str('the script in assembly notation'),
  hex: t.hex('the script in hex'),
  ...SCRIPT_TYPE_FIELDS,
};

const SCRIPT = t.object(PSBT_SCRIPT_FIELDS);
const UNKNOWN = t.map('key', t.hex('the value of the field'), 'fields of unknown type');
const KEY_PATHS = t.array(
  t.object({
    pubkey: t.hex('the public key'),
    master_fingerprint: t.hex('the fingerprint of the master key'),
    path: t.str('the derivation path'),
  }),
  'the derivation paths of public keys',
);

const INPUT_SCHEMA = t.object({
  witness_utxo: t.optional(
    t.object({
      amount: t.coins('the amount of the output'),
      scriptPubKey: t.object({
        ...PSBT_SCRIPT_FIELDS,
        address: t.optional(t.str('the address'), 'if there is one'),
      }),
    }),
    'if the spent output of a witness input is present',
  ),
  non_witness_utxo: t.optional(TRANSACTION_SCHEMA, 'if the spent transaction is present'),
  partial_signatures: t.optional(t.map('pubkey', t.hex('the signature for that key')), 'when there are any'),
  sighash: t.optional(t.str('the sighash type to be used'), 'if it is present'),
  redeem_script: t.optional(SCRIPT, 'if it is known'),
  witness_script: t.optional(SCRIPT, 'if it is known'),
  bip32_derivs: t.optional(KEY_PATHS, 'when there are any'),
  final_scriptSig: t.optional(
    t.object({ asm: t.str('the script in assembly notation'), hex: t.hex('the script in hex') }),
    'if it is present',
  ),
  final_scriptwitness: t.optional(t.array(t.hex('a witness item')), 'if it is present'),
  unknown: t.optional(UNKNOWN, 'when there are any'),
});

const OUTPUT_SCHEMA = t.object({
  redeem_script: t.optional(SCRIPT, 'if it is known'),
  witness_script: t.optional(SCRIPT, 'if it is known'),
  bip32_derivs: t.optional(KEY_PATHS, 'when there are any'),
  unknown: t.optional(UNKNOWN, 'when there are any'),
});

export const PSBT_SCHEMA = t.object({
  tx: TRANSACTION_SCHEMA,
  unknown: UNKNOWN,
  inputs: t.array(INPUT_SCHEMA, 'the data of each input'),
  outputs: t.array(OUTPUT_SCHEMA, 'the data of each output'),
  fee: t.optional(t.coins('the fee'), 'if all spent outputs are present'),
});

function* mapped<T, R>(items: readonly T[], make: (item: T) => R): Generator<R> {
  for (const item of items) yield make(item);
}

/** Formats a script in a PSBT. Members that the result omits are undefined. */
function* psbtScript(script: Bytes, context: ScriptContext): Slices<Record<string, JsonOut | undefined>> {
  const { asm, isclaim, issupport, subtype, type } = yield* scriptAnswerInSlices(script, context, true);
  return { asm, hex: toHex(script), isclaim, issupport, subtype, type };
}

function* optionalScript(script: Bytes, context: ScriptContext): Slices<JsonOut | undefined> {
  return script.length === 0 ? undefined : ((yield* psbtScript(script, context)) as JsonOut);
}

function* unknownAnswer(unknown: UnknownFields): Slices<JsonOut> {
  return jsonObject(unknownMembers(yield* sortedEntriesInSlices(unknown)));
}

function* unknownMembers(fields: readonly (readonly [string, Bytes])[]): Generator<JsonMember> {
  for (const [key, value] of fields) yield [toHex(fromLatin1(key)), toHex(value)];
}

/**
 * Throws if a key path has no fingerprint. Must run before the response begins, since a started response cannot become an
 * error.
 */
function* checkPaths({ keyPaths }: Pick<PsbtOutput, 'keyPaths'>): Slices<void> {
  for (const path of keyPaths.values()) {
    yield;
    if (path.length > 0) continue;
    const message = 'vector::_M_range_check: __n (which is 0) >= this->size() (which is 0)';
    throw rpcError(RPC_ERROR.MISC_ERROR, message);
  }
}

function pathAnswer([publicKey, path]: [string, KeyPath]): JsonOut {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(path[0]!);
  const steps = path.slice(1).map((child) => (child >= 0x80000000 ? `/${child - 0x80000000}'` : `/${child}`));
  return {
    pubkey: toHex(fromLatin1(publicKey)),
    master_fingerprint: toHex(bytes),
    path: `m${steps.join('')}`,
  };
}

/** Returns the fields that inputs and outputs share, in the reference's order. */
function* sharedAnswer(
  { redeemScript, witnessScript, keyPaths }: Pick<PsbtOutput, 'redeemScript' | 'witnessScript' | 'keyPaths'>,
  context: ScriptContext,
): Slices<Record<string, JsonOut | undefined>> {
  const paths = yield* sortedEntriesInSlices(keyPaths);
  return {
    redeem_script: yield* optionalScript(redeemScript, context),
    witness_script: yield* optionalScript(witnessScript, context),
    bip32_derivs: paths.length === 0 ? undefined : jsonArray(mapped(paths, pathAnswer)),
  };
}

function* utxoAnswer(
  { witnessUtxo, nonWitnessUtxo }: PsbtInput,
  context: ScriptContext,
): Slices<Record<string, JsonOut | undefined>> {
  if (witnessUtxo !== null) {
    const { value, script } = witnessUtxo;
    const destination = extractDestination(script);
    const address = destination === null ? undefined : encodeDestination(destination, context.prefixes);
    const scriptPubKey = { ...(yield* psbtScript(script, context)), address };
    return { witness_utxo: { amount: coins(value), scriptPubKey } };
  }
  if (nonWitnessUtxo === null) return {};
  return { non_witness_utxo: transactionAnswer(yield* shownTransactionInSlices(nonWitnessUtxo), context) };
}

function* inputAnswer(input: PsbtInput, context: ScriptContext): Slices<JsonOut> {
  const { partialSignatures, sighashType, finalScriptSig, finalScriptWitness, unknown } = input;
  const signatures = yield* sortedEntriesInSlices(partialSignatures);
  const members = mapped(signatures, ([, { publicKey, signature }]): JsonMember => [
    toHex(publicKey),
    toHex(signature),
  ]);
  return {
    ...(yield* utxoAnswer(input, context)),
    partial_signatures: signatures.length > 0 ? jsonObject(members) : undefined,
    sighash: sighashType > 0 ? sighashName(sighashType & 0xff) : undefined,
    ...(yield* sharedAnswer(input, context)),
    final_scriptSig:
      finalScriptSig.length > 0
        ? { asm: yield* formatAsmInSlices(finalScriptSig, true), hex: toHex(finalScriptSig) }
        : undefined,
    final_scriptwitness:
      finalScriptWitness.length > 0 ? jsonArray(mapped(finalScriptWitness, toHex)) : undefined,
    unknown: unknown.size > 0 ? yield* unknownAnswer(unknown) : undefined,
  };
}

function* outputAnswer(output: PsbtOutput, context: ScriptContext): Slices<JsonOut> {
  return {
    ...(yield* sharedAnswer(output, context)),
    unknown: output.unknown.size > 0 ? yield* unknownAnswer(output.unknown) : undefined,
  };
}

/** Returns the fee; undefined unless the PSBT includes all spent outputs. Sums wrap around like 64-bit integers. */
function* feeOf(psbt: Psbt): Slices<bigint | undefined> {
  let fee = 0n;
  for (const index of psbt.inputs.keys()) {
    const spent = psbt.inputs[index]!.witnessUtxo ?? spentOutput(psbt, index);
    if (spent === null) return undefined;
    fee += spent.value;
    yield;
  }
  for (const { value } of psbt.tx.outputs) fee -= value;
  return BigInt.asIntN(64, fee);
}

/** Formats a PSBT. Its inputs and outputs are formatted while the response is written. */
export function* psbtAnswer(psbt: Psbt, context: ScriptContext): Slices<JsonOut> {
  const fee = yield* feeOf(psbt);
  for (const part of [...psbt.inputs, ...psbt.outputs]) {
    yield* checkPaths(part);
    yield;
  }
  return {
    tx: transactionAnswer(yield* shownTransactionInSlices(psbt.tx), context),
    unknown: yield* unknownAnswer(psbt.unknown),
    inputs: jsonArray(lazily(psbt.inputs, (input) => inputAnswer(input, context))),
    outputs: jsonArray(lazily(psbt.outputs, (output) => outputAnswer(output, context))),
    fee: fee === undefined ? undefined : coins(fee),
  };
}
