/**
 * Operations of the BIP174 roles: creator, updater and signer, combiner, finalizer, extractor. Source: Core 0.17
 * script/sign.cpp `SignPSBTInput`, `PSBTInput::Merge`, `FillSignatureData`, `FromSignatureData`.
 */
import { txid, type Transaction, type TxInput, type TxOutput } from '../primitives/transaction.js';
import { PrecomputedSighash, SIGHASH } from '../script/sighash.js';
import { EMPTY_BYTES, equalBytes, fromLatin1 } from '../util/bytes.js';
import { yieldIfDue } from '../scheduler/yield.js';
import { inSlices } from '../scheduler/slices.js';
import { atOnce, type Slices } from '../util/slices.js';
import { produceSignature } from './produceSignature.js';
import {
  emptyPsbtInput,
  emptyPsbtOutput,
  isInputFinal,
  isInputSane,
  MAX_MAP_FIELDS,
  NO_ENTRIES,
  ownMap,
  type EntryOf,
  type Psbt,
  type PsbtInput,
  type PsbtOutput,
} from './psbt.js';
import { PsbtError, TOO_MANY_FIELDS } from './psbtCodec.js';
import { InputSigner } from './signatureCreator.js';
import { emptySignatureData, insertAll, keyIdOf, type SignatureData } from './signatureData.js';
import { NO_KEYS, type SigningProvider } from './signingProvider.js';

/** Creator: creates a PSBT without data for a transaction. scriptSigs and witnesses are removed. */
export function createPsbt(tx: Transaction): Psbt {
  const inputs = tx.inputs.map((input) => ({ ...input, scriptSig: EMPTY_BYTES, witness: [] }));
  return {
    tx: { ...tx, inputs },
    unknown: NO_ENTRIES,
    inputs: tx.inputs.map(emptyPsbtInput),
    outputs: tx.outputs.map(emptyPsbtOutput),
  };
}

/** Whether two PSBTs have the same transaction. */
export function isSameTransaction(a: Psbt, b: Psbt): boolean {
  return equalBytes(txid(a.tx), txid(b.tx));
}

/** Number of map entries that are processed between two yields to the event loop. */
const ENTRIES_AT_ONCE = 1024;

/** Inserts the entries of another map that the map `field` of `part` lacks, in slices. */
function* insertInSlices<K extends string, P extends Record<K, ReadonlyMap<string, unknown>>>(
  part: P,
  name: K,
  from: ReadonlyMap<string, EntryOf<P[K]>>,
): Slices<void> {
  if (from.size === 0) return;
  const into = ownMap(part, name);
  let seen = 0;
  for (const [key, value] of from) {
    if (!into.has(key)) into.set(key, value);
    if (into.size > MAX_MAP_FIELDS) throw new PsbtError(TOO_MANY_FIELDS);
    if (++seen % ENTRIES_AT_ONCE === 0) yield;
  }
}

type Scripts = Pick<PsbtOutput, 'redeemScript' | 'witnessScript'>;

function fillScripts(into: Scripts, from: Scripts): void {
  if (into.redeemScript.length === 0) into.redeemScript = from.redeemScript;
  if (into.witnessScript.length === 0) into.witnessScript = from.witnessScript;
}

function* mergeInput(into: PsbtInput, from: PsbtInput): Slices<void> {
  into.nonWitnessUtxo ??= from.nonWitnessUtxo;
  if (into.witnessUtxo === null && from.witnessUtxo !== null) {
    into.witnessUtxo = from.witnessUtxo;
    into.nonWitnessUtxo = null;
  }
  yield* insertInSlices(into, 'partialSignatures', from.partialSignatures);
  yield* insertInSlices(into, 'keyPaths', from.keyPaths);
  yield* insertInSlices(into, 'unknown', from.unknown);
  fillScripts(into, from);
  if (into.finalScriptSig.length === 0) into.finalScriptSig = from.finalScriptSig;
  if (into.finalScriptWitness.length === 0) into.finalScriptWitness = from.finalScriptWitness;
}

function* mergeOutput(into: PsbtOutput, from: PsbtOutput): Slices<void> {
  yield* insertInSlices(into, 'keyPaths', from.keyPaths);
  yield* insertInSlices(into, 'unknown', from.unknown);
  fillScripts(into, from);
}

/**
 * Combiner: adds the data of `from` to `into`. Both must have the same transaction (`isSameTransaction`). Existing data of
 * `into` is kept. The result may be inconsistent (`isPsbtSane`). Throws `PsbtError` if a map would become too large.
 */
export function combinePsbt(into: Psbt, from: Psbt): void {
  atOnce(combinePsbtInSlices(into, from));
}

/** Variant of the function whose name lacks `InSlices`. Yields between slices of the work. */
export function* combinePsbtInSlices(into: Psbt, from: Psbt): Slices<void> {
  for (const [i, input] of into.inputs.entries()) {
    yield* mergeInput(input, from.inputs[i]!);
    yield;
  }
  for (const [i, output] of into.outputs.entries()) {
    yield* mergeOutput(output, from.outputs[i]!);
    yield;
  }
  yield* insertInSlices(into, 'unknown', from.unknown);
}

function fillFromKeyPaths(data: SignatureData, { keyPaths }: Pick<PsbtOutput, 'keyPaths'>): void {
  for (const key of keyPaths.keys()) {
    const publicKey = fromLatin1(key);
    const keyId = keyIdOf(publicKey);
    if (!data.publicKeys.has(keyId)) data.publicKeys.set(keyId, publicKey);
  }
}

function dataOfInput(input: PsbtInput): SignatureData {
  const data = emptySignatureData();
  insertAll(data.signatures, input.partialSignatures);
  data.redeemScript = input.redeemScript;
  data.witnessScript = input.witnessScript;
  fillFromKeyPaths(data, input);
  return data;
}

function storeInput(input: PsbtInput, data: SignatureData): void {
  if (!data.complete) {
    if (data.signatures.size > 0) insertAll(ownMap(input, 'partialSignatures'), data.signatures);
    fillScripts(input, data);
    return;
  }
  input.partialSignatures = NO_ENTRIES;
  input.keyPaths = NO_ENTRIES;
  input.redeemScript = EMPTY_BYTES;
  input.witnessScript = EMPTY_BYTES;
  if (data.scriptSig.length > 0) input.finalScriptSig = data.scriptSig;
  if (data.scriptWitness.length > 0) input.finalScriptWitness = data.scriptWitness;
}

/** The output that an input spends; null if the PSBT does not contain it, or if the input's data is inconsistent. */
export function spentOutput(psbt: Psbt, index: number): TxOutput | null {
  const { nonWitnessUtxo, witnessUtxo } = psbt.inputs[index]!;
  if (nonWitnessUtxo === null) return witnessUtxo;
  const { prevout } = psbt.tx.inputs[index]!;
  if (!equalBytes(txid(nonWitnessUtxo), prevout.hash)) return null;
  return nonWitnessUtxo.outputs[prevout.index] ?? null;
}

export interface SignedInput {
  /** Whether the input is final (completely signed) after signing. */
  readonly complete: boolean;
  /** Data that was found while signing, including public keys. Empty if the input could not be processed. */
  readonly data: SignatureData;
}

/**
 * Updater and signer of one input: adds scripts, signs with the provider's keys, and finalizes the input if it is complete.
 * If the spent output is known but not its transaction, the amount cannot be verified. In this case only a witness signature
 * is created, because a witness signature covers the amount. The inputs of one PSBT may share a `PrecomputedSighash`.
 */
export function signPsbtInput(
  psbt: Psbt,
  index: number,
  provider: SigningProvider,
  hashType: number = SIGHASH.ALL,
  shared: PrecomputedSighash = new PrecomputedSighash(psbt.tx),
): SignedInput {
  const input = psbt.inputs[index]!;
  if (isInputFinal(input)) return { complete: true, data: emptySignatureData() };
  const data = dataOfInput(input);
  const spent = isInputSane(input) ? spentOutput(psbt, index) : null;
  if (spent === null) return { complete: false, data };
  const needsWitness = input.nonWitnessUtxo === null;
  const signer = new InputSigner(psbt.tx, index, spent.value, hashType, shared);
  const complete = produceSignature(provider, signer, spent.script, data);
  if (needsWitness && !data.witness) return { complete: false, data };
  storeInput(input, data);
  if (data.witness) {
    input.witnessUtxo = spent;
    input.nonWitnessUtxo = null;
  }
  return { complete, data };
}

/** Updater of one output: adds the scripts that the provider has for the output, so that signers can recognize change. */
export function updatePsbtOutput(psbt: Psbt, index: number, provider: SigningProvider): SignatureData {
  const output = psbt.outputs[index]!;
  const { value, script } = psbt.tx.outputs[index]!;
  const data = emptySignatureData();
  data.redeemScript = output.redeemScript;
  data.witnessScript = output.witnessScript;
  fillFromKeyPaths(data, output);
  if (psbt.tx.inputs.length > 0) produceSignature(provider, new InputSigner(psbt.tx, 0, value), script, data);
  fillScripts(output, data);
  return data;
}

/**
 * Finalizer: finalizes inputs that have all their signatures. Returns true if every input is final. Yields to the event loop
 * during the work.
 */
export async function finalizePsbt(psbt: Psbt): Promise<boolean> {
  const shared = new PrecomputedSighash(psbt.tx);
  await inSlices(shared.prepareInSlices());
  let complete = true;
  let since = performance.now();
  for (const index of psbt.inputs.keys()) {
    if (!signPsbtInput(psbt, index, NO_KEYS, SIGHASH.ALL, shared).complete) complete = false;
    since = await yieldIfDue(since);
  }
  return complete;
}

/** Extractor: returns the transaction, with scriptSig and witness of each final input. */
export function extractTransaction(psbt: Psbt): Transaction {
  return atOnce(extractTransactionInSlices(psbt));
}

/** Variant of the function whose name lacks `InSlices`. Yields between slices of the work. */
export function* extractTransactionInSlices(psbt: Psbt): Slices<Transaction> {
  const inputs: TxInput[] = [];
  for (const { prevout, sequence } of psbt.tx.inputs) {
    const { finalScriptSig, finalScriptWitness } = psbt.inputs[inputs.length]!;
    inputs.push({ prevout, sequence, scriptSig: finalScriptSig, witness: [...finalScriptWitness] });
    if (inputs.length % ENTRIES_AT_ONCE === 0) yield;
  }
  return { ...psbt.tx, inputs };
}
