/**
 * Data structure of a partially signed transaction (PSBT): the information that all parties have about one transaction that
 * is being signed (BIP174). `psbtCodec.ts` has the serialization, `psbtRoles.ts` the operations. Source: Core 0.17
 * script/sign.h `PartiallySignedTransaction`, `PSBTInput`, `PSBTOutput`.
 */
import type { Transaction, TxOutput } from '../primitives/transaction.js';
import { EMPTY_BYTES, type Bytes } from '../util/bytes.js';
import type { KeySignature } from './signatureData.js';

/**
 * Derivation path of a key: the fingerprint of the master key (its four bytes as a little-endian number), then the child
 * numbers.
 */
export type KeyPath = readonly number[];

/** Fields with unknown types, by key (latin1). They are written unchanged. */
export type UnknownFields = ReadonlyMap<string, Bytes>;

/**
 * PSBT data of one input. An absent script is empty. Maps may be shared between inputs, so they must be modified through
 * `ownMap`.
 */
export interface PsbtInput {
  /** The whole transaction that contains the spent output. */
  nonWitnessUtxo: Transaction | null;
  /** The spent output alone. Sufficient for witness signatures, because they cover its amount. */
  witnessUtxo: TxOutput | null;
  /** Signatures by key id (`keyIdOf`). */
  partialSignatures: ReadonlyMap<string, KeySignature>;
  /** Hash type as a signed 32-bit number; 0 or less if the field is missing. */
  sighashType: number;
  redeemScript: Bytes;
  witnessScript: Bytes;
  /** Derivation paths by public key (latin1). */
  keyPaths: ReadonlyMap<string, KeyPath>;
  finalScriptSig: Bytes;
  finalScriptWitness: readonly Bytes[];
  unknown: UnknownFields;
}

export interface PsbtOutput {
  redeemScript: Bytes;
  witnessScript: Bytes;
  keyPaths: ReadonlyMap<string, KeyPath>;
  unknown: UnknownFields;
}

export interface Psbt {
  /** The transaction without scriptSigs and witnesses. */
  tx: Transaction;
  unknown: UnknownFields;
  /** `inputs` has one entry for each input of `tx`, `outputs` one for each output. */
  inputs: PsbtInput[];
  outputs: PsbtOutput[];
}

/**
 * Maximum number of fields in one map. The reference has no limit. The limit is needed because this implementation rebuilds
 * a growing map as a whole. No useful PSBT reaches it.
 */
export const MAX_MAP_FIELDS = 500_000;

/** Shared empty map. Most inputs and outputs have no entries, and a PSBT may have a million of them. */
export const NO_ENTRIES: ReadonlyMap<string, never> = new Map<string, never>();
const NO_ITEMS: readonly Bytes[] = [];

/**
 * Returns a map of an input, an output or the PSBT that the caller may modify. A map that other objects use too is copied
 * first.
 */
export function ownMap<K extends string, P extends Record<K, ReadonlyMap<string, unknown>>>(
  part: P,
  name: K,
): Map<string, EntryOf<P[K]>> {
  if ((part[name] as unknown) === NO_ENTRIES)
    (part as Record<K, ReadonlyMap<string, unknown>>)[name] = new Map();
  return part[name] as unknown as Map<string, EntryOf<P[K]>>;
}

/** Type of the entries of a map. */
export type EntryOf<M> = M extends ReadonlyMap<string, infer V> ? V : never;

export function emptyPsbtInput(): PsbtInput {
  return {
    nonWitnessUtxo: null,
    witnessUtxo: null,
    partialSignatures: NO_ENTRIES,
    sighashType: 0,
    redeemScript: EMPTY_BYTES,
    witnessScript: EMPTY_BYTES,
    keyPaths: NO_ENTRIES,
    finalScriptSig: EMPTY_BYTES,
    finalScriptWitness: NO_ITEMS,
    unknown: NO_ENTRIES,
  };
}

export function emptyPsbtOutput(): PsbtOutput {
  return { redeemScript: EMPTY_BYTES, witnessScript: EMPTY_BYTES, keyPaths: NO_ENTRIES, unknown: NO_ENTRIES };
}

/** Whether the input is final (completely signed). Source: `PSBTInputSigned`. */
export function isInputFinal(input: PsbtInput): boolean {
  return input.finalScriptSig.length > 0 || input.finalScriptWitness.length > 0;
}

/**
 * Whether the input contains the spent output in at most one form. With witness data it must be `witnessUtxo`, which has the
 * amount. Source: `IsSane`.
 */
export function isInputSane(input: PsbtInput): boolean {
  if (input.witnessUtxo !== null) return input.nonWitnessUtxo === null;
  return input.witnessScript.length === 0 && input.finalScriptWitness.length === 0;
}

export function isPsbtSane(psbt: Psbt): boolean {
  return psbt.inputs.every(isInputSane);
}
