/**
 * Partially signed transactions as data: the information of the parties about one transaction that is being signed (BIP174).
 * `psbtCodec.ts` has the serialization, `psbtRoles.ts` the operations. Source: Core 0.17 script/sign.h
 * `PartiallySignedTransaction`, `PSBTInput`, `PSBTOutput`.
 */
import type { Transaction, TxOutput } from '../primitives/transaction.js';
import { EMPTY_BYTES, type Bytes } from '../util/bytes.js';
import type { KeySignature } from './signatureData.js';

/** Fingerprint of the master key (as a little-endian number of its four bytes), then the child numbers. */
export type KeyPath = readonly number[];

/** Unknown keys and values, by key, one character per byte. They are preserved. */
export type UnknownFields = ReadonlyMap<string, Bytes>;

/** Scripts are empty if there are none. Maps are modified through `ownMap`. */
export interface PsbtInput {
  /** The whole spent transaction. */
  nonWitnessUtxo: Transaction | null;
  /** The spent output alone, for signatures that cover its amount. */
  witnessUtxo: TxOutput | null;
  /** Signatures by key id (`keyIdOf`). */
  partialSignatures: ReadonlyMap<string, KeySignature>;
  /** Signed 32-bit; 0 and below: not given. */
  sighashType: number;
  redeemScript: Bytes;
  witnessScript: Bytes;
  /** Key paths by public key (latin1). */
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
  /** Transaction without scriptSigs and witnesses. */
  tx: Transaction;
  unknown: UnknownFields;
  /** One entry for each input; likewise the outputs. */
  inputs: PsbtInput[];
  outputs: PsbtOutput[];
}

/**
 * Maximum number of fields in one map. The reference has no limit; here a growing map is rebuilt as a whole, and no
 * meaningful PSBT comes close.
 */
export const MAX_MAP_FIELDS = 500_000;

/** Shared empty map for parts without entries: most of them, and there may be a million inputs or outputs. */
export const NO_ENTRIES: ReadonlyMap<string, never> = new Map<string, never>();
const NO_ITEMS: readonly Bytes[] = [];

/** Returns a map of a part, or of the whole PSBT, for modification; it is no longer shared. */
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

/** Whether the input is complete. Source: `PSBTInputSigned`. */
export function isInputFinal(input: PsbtInput): boolean {
  return input.finalScriptSig.length > 0 || input.finalScriptWitness.length > 0;
}

/**
 * Whether there is at most one form of the spent output; with witness data it must be the one with the amount. Source:
 * `IsSane`.
 */
export function isInputSane(input: PsbtInput): boolean {
  if (input.witnessUtxo !== null) return input.nonWitnessUtxo === null;
  return input.witnessScript.length === 0 && input.finalScriptWitness.length === 0;
}

export function isPsbtSane(psbt: Psbt): boolean {
  return psbt.inputs.every(isInputSane);
}
