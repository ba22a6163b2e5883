/**
 * The serialization of partially signed transactions (BIP174, version 0 as in Core 0.17): one map of keys and values for the
 * whole PSBT, one for each input, and one for each output. Source: Core 0.17 script/sign.h, `Serialize` and `Unserialize`.
 */
import { COMPRESSED_KEY_SIZE, UNCOMPRESSED_KEY_SIZE } from '../crypto/ecdsaEncoding.js';
import type { Transaction, TxInput, TxOutput } from '../primitives/transaction.js';
import {
  formatTransactionInSlices,
  parseTransactionInSlices,
  txidInSlices,
} from '../primitives/transactionSlices.js';
import { EMPTY_BYTES, equalBytes, fromLatin1, toLatin1, type Bytes } from '../util/bytes.js';
import { Reader, ReadError } from '../util/reader.js';
import { atOnce, type Slices } from '../util/slices.js';
import { Writer } from '../util/writer.js';
import { ecdsaBackend } from '../crypto/ecdsa.js';
import {
  emptyPsbtInput,
  emptyPsbtOutput,
  isInputFinal,
  isPsbtSane,
  MAX_MAP_FIELDS,
  NO_ENTRIES,
  ownMap,
  type KeyPath,
  type Psbt,
  type PsbtInput,
  type PsbtOutput,
  type UnknownFields,
} from './psbt.js';
import { keyIdOf, sortedEntriesInSlices } from './signatureData.js';

/** First bytes of a PSBT: `psbt` and the byte ff. */
const MAGIC = Buffer.from('70736274ff', 'hex');
const SEPARATOR = 0;

const GLOBAL_UNSIGNED_TX = 0;

const INPUT = {
  NON_WITNESS_UTXO: 0,
  WITNESS_UTXO: 1,
  PARTIAL_SIGNATURE: 2,
  SIGHASH_TYPE: 3,
  REDEEM_SCRIPT: 4,
  WITNESS_SCRIPT: 5,
  BIP32_DERIVATION: 6,
  FINAL_SCRIPT_SIG: 7,
  FINAL_SCRIPT_WITNESS: 8,
} as const;

const OUTPUT = { REDEEM_SCRIPT: 0, WITNESS_SCRIPT: 1, BIP32_DERIVATION: 2 } as const;

/** Number of list items that are processed between two yields to the event loop. */
const ITEMS_AT_ONCE = 256;

/** Amount by which the reference marks an output as null. */
const NO_VALUE = -1n;

/** Error: the bytes are not a valid PSBT. The message is that of the reference. */
export class PsbtError extends Error {
  override readonly name = 'PsbtError';
}

export const TOO_MANY_FIELDS = 'too many fields in one map';

/** Thrown if bytes follow the end of a complete PSBT. */
export class PsbtExtraDataError extends PsbtError {
  constructor() {
    super('extra data after PSBT');
  }
}

/** Reads a length and then calls `read`, which must consume exactly that number of bytes. Source: `UnserializeFromVector`. */
function* sized<T>(reader: Reader, read: () => Slices<T>): Slices<T> {
  const size = reader.compactSize();
  const start = reader.offset;
  const value = yield* read();
  if (reader.offset - start !== size) throw new PsbtError('Size of value was not the stated size');
  return value;
}

/** Checks a field that may occur only once in a map. Rejects a duplicate field, and a key that is longer than its type byte. */
function single(isPresent: boolean, key: Bytes, shortName: string, longName = shortName): void {
  if (isPresent) throw new PsbtError(`Duplicate Key, ${shortName} already provided`);
  if (key.length !== 1) throw new PsbtError(`${longName} key is more than one byte type`);
}

function keyedPublicKey(key: Bytes, what: string): Bytes {
  const publicKey = key.subarray(1);
  if (publicKey.length !== COMPRESSED_KEY_SIZE && publicKey.length !== UNCOMPRESSED_KEY_SIZE) {
    throw new PsbtError(`Size of key was not the expected size for the type ${what}`);
  }
  if (!ecdsaBackend().isFullyValidPublicKey(publicKey)) throw new PsbtError('Invalid pubkey');
  return publicKey;
}

function* readKeyPath(reader: Reader, key: Bytes, part: Pick<PsbtOutput, 'keyPaths'>): Slices<void> {
  const publicKey = toLatin1(keyedPublicKey(key, 'BIP32 keypath'));
  if (part.keyPaths.has(publicKey)) {
    throw new PsbtError('Duplicate Key, pubkey derivation path already provided');
  }
  const size = reader.compactSize();
  const path: number[] = [];
  for (let read = 0; read < size; read += 4) {
    path.push(reader.u32());
    if (path.length % ITEMS_AT_ONCE === 0) yield;
  }
  ownMap(part, 'keyPaths').set(publicKey, path);
}

function readUnknown(reader: Reader, key: Bytes, part: { unknown: UnknownFields }): void {
  const name = toLatin1(key);
  if (part.unknown.has(name)) throw new PsbtError('Duplicate Key, key for unknown value already provided');
  if (part.unknown.size === MAX_MAP_FIELDS) throw new PsbtError(TOO_MANY_FIELDS);
  ownMap(part, 'unknown').set(name, reader.varBytes());
}

/** Reads the fields of one map up to the separator. */
function* readMap(
  reader: Reader,
  name: string,
  readField: (key: Bytes) => Slices<void> | void,
): Slices<void> {
  while (reader.remaining > 0) {
    const key = reader.varBytes();
    yield;
    if (key.length === 0) return;
    const reading = readField(key);
    if (reading) yield* reading;
  }
  throw new PsbtError(`Separator is missing at the end of ${name}`);
}

function* readOutputValue(reader: Reader): Slices<TxOutput | null> {
  yield;
  const value = reader.i64();
  const script = reader.varBytes();
  return value === NO_VALUE ? null : { value, script };
}

function* readInt(reader: Reader): Slices<number> {
  yield;
  return reader.i32();
}

function readPartialSignature(reader: Reader, key: Bytes, input: PsbtInput): void {
  const publicKey = keyedPublicKey(key, 'partial signature pubkey');
  const keyId = keyIdOf(publicKey);
  if (input.partialSignatures.has(keyId)) {
    throw new PsbtError('Duplicate Key, input partial signature for pubkey already provided');
  }
  ownMap(input, 'partialSignatures').set(keyId, { publicKey, signature: reader.varBytes() });
}

function* readWitness(reader: Reader): Slices<Bytes[]> {
  const count = reader.compactSize();
  const items: Bytes[] = [];
  for (let i = 0; i < count; i++) {
    items.push(reader.varBytes());
    if (items.length % ITEMS_AT_ONCE === 0) yield;
  }
  return items;
}

function* readInputField(reader: Reader, input: PsbtInput, key: Bytes): Slices<void> {
  switch (key[0]) {
    case INPUT.NON_WITNESS_UTXO:
      single(input.nonWitnessUtxo !== null, key, 'input non-witness utxo', 'Non-witness utxo');
      input.nonWitnessUtxo = yield* sized(reader, () => parseTransactionInSlices(reader));
      return;
    case INPUT.WITNESS_UTXO:
      single(input.witnessUtxo !== null, key, 'input witness utxo', 'Witness utxo');
      input.witnessUtxo = yield* sized(reader, () => readOutputValue(reader));
      return;
    case INPUT.PARTIAL_SIGNATURE:
      return readPartialSignature(reader, key, input);
    case INPUT.SIGHASH_TYPE:
      single(input.sighashType > 0, key, 'input sighash type', 'Sighash type');
      input.sighashType = yield* sized(reader, () => readInt(reader));
      return;
    case INPUT.REDEEM_SCRIPT:
      single(input.redeemScript.length > 0, key, 'input redeemScript', 'Input redeemScript');
      input.redeemScript = reader.varBytes();
      return;
    case INPUT.WITNESS_SCRIPT:
      single(input.witnessScript.length > 0, key, 'input witnessScript', 'Input witnessScript');
      input.witnessScript = reader.varBytes();
      return;
    case INPUT.BIP32_DERIVATION:
      return yield* readKeyPath(reader, key, input);
    case INPUT.FINAL_SCRIPT_SIG:
      single(input.finalScriptSig.length > 0, key, 'input final scriptSig', 'Final scriptSig');
      input.finalScriptSig = reader.varBytes();
      return;
    case INPUT.FINAL_SCRIPT_WITNESS:
      single(input.finalScriptWitness.length > 0, key, 'input final scriptWitness', 'Final scriptWitness');
      input.finalScriptWitness = yield* sized(reader, () => readWitness(reader));
      return;
    default:
      return readUnknown(reader, key, input);
  }
}

function* readOutputField(reader: Reader, output: PsbtOutput, key: Bytes): Slices<void> {
  switch (key[0]) {
    case OUTPUT.REDEEM_SCRIPT:
      single(output.redeemScript.length > 0, key, 'output redeemScript', 'Output redeemScript');
      output.redeemScript = reader.varBytes();
      return;
    case OUTPUT.WITNESS_SCRIPT:
      single(output.witnessScript.length > 0, key, 'output witnessScript', 'Output witnessScript');
      output.witnessScript = reader.varBytes();
      return;
    case OUTPUT.BIP32_DERIVATION:
      return yield* readKeyPath(reader, key, output);
    default:
      return readUnknown(reader, key, output);
  }
}

function* readUnsignedTx(reader: Reader): Slices<Transaction> {
  const tx = yield* sized(reader, () => parseTransactionInSlices(reader, false));
  if (tx.inputs.some(({ scriptSig }) => scriptSig.length > 0)) {
    throw new PsbtError('Unsigned tx does not have empty scriptSigs and scriptWitnesses.');
  }
  return tx;
}

function* readGlobals(reader: Reader): Slices<Pick<Psbt, 'tx' | 'unknown'>> {
  let tx: Transaction | null = null;
  const globals: { unknown: UnknownFields } = { unknown: NO_ENTRIES };
  yield* readMap(reader, 'the global map', function* (key): Slices<void> {
    if (key[0] !== GLOBAL_UNSIGNED_TX) return readUnknown(reader, key, globals);
    single(tx !== null, key, 'unsigned tx', 'Global unsigned tx');
    tx = yield* readUnsignedTx(reader);
  });
  if (tx === null) throw new PsbtError('No unsigned transcation was provided');
  return { tx, unknown: globals.unknown };
}

function* readInputs(reader: Reader, tx: Transaction): Slices<PsbtInput[]> {
  const inputs: PsbtInput[] = [];
  while (reader.remaining > 0 && inputs.length < tx.inputs.length) {
    const input = emptyPsbtInput();
    yield* readMap(reader, 'an input map', (key) => readInputField(reader, input, key));
    const { prevout } = tx.inputs[inputs.length]!;
    const { nonWitnessUtxo: spent } = input;
    if (spent !== null && !equalBytes(yield* txidInSlices(spent), prevout.hash)) {
      throw new PsbtError('Non-witness UTXO does not match outpoint hash');
    }
    inputs.push(input);
  }
  if (inputs.length !== tx.inputs.length) {
    throw new PsbtError('Inputs provided does not match the number of inputs in transaction.');
  }
  return inputs;
}

function* readOutputs(reader: Reader, tx: Transaction): Slices<PsbtOutput[]> {
  const outputs: PsbtOutput[] = [];
  while (reader.remaining > 0 && outputs.length < tx.outputs.length) {
    const output = emptyPsbtOutput();
    yield* readMap(reader, 'an output map', (key) => readOutputField(reader, output, key));
    outputs.push(output);
  }
  if (outputs.length !== tx.outputs.length) {
    throw new PsbtError('Outputs provided does not match the number of outputs in transaction.');
  }
  return outputs;
}

function* readPsbt(reader: Reader): Slices<Psbt> {
  if (!equalBytes(reader.view(MAGIC.length), MAGIC)) throw new PsbtError('Invalid PSBT magic bytes');
  const { tx, unknown } = yield* readGlobals(reader);
  const inputs = yield* readInputs(reader, tx);
  const psbt: Psbt = { tx, unknown, inputs, outputs: yield* readOutputs(reader, tx) };
  if (!isPsbtSane(psbt)) throw new PsbtError('PSBT is not sane.');
  if (reader.remaining > 0) throw new PsbtExtraDataError();
  return psbt;
}

/** Parses a whole PSBT. The result contains views of `bytes`, which must not change. Throws `PsbtError`. */
export function parsePsbt(bytes: Bytes): Psbt {
  return atOnce(parsePsbtInSlices(bytes));
}

/** Variant of the function whose name lacks `InSlices`. Yields between slices of the work. */
export function* parsePsbtInSlices(bytes: Bytes): Slices<Psbt> {
  try {
    return yield* readPsbt(new Reader(bytes));
  } catch (error) {
    if (!(error instanceof ReadError)) throw error;
    const isShort = error.message.startsWith('end of data');
    throw new PsbtError(isShort ? 'CDataStream::read(): end of data' : error.message);
  }
}

class MapWriter {
  readonly writer = new Writer(1024);

  field(type: number, key: Bytes, value: Bytes): void {
    this.writer
      .compactSize(1 + key.length)
      .u8(type)
      .raw(key)
      .varBytes(value);
  }

  /** Writes a field unless its value is empty. */
  optional(type: number, value: Bytes): void {
    if (value.length > 0) this.field(type, Buffer.alloc(0), value);
  }

  *keyPaths(type: number, keyPaths: ReadonlyMap<string, KeyPath>): Slices<void> {
    for (const [publicKey, path] of yield* sortedEntriesInSlices(keyPaths)) {
      const value = new Writer(path.length * 4);
      for (const number of path) value.u32(number);
      yield;
      this.field(type, fromLatin1(publicKey), value.finish());
    }
  }

  *end(unknown: UnknownFields): Slices<void> {
    for (const [key, value] of yield* sortedEntriesInSlices(unknown)) {
      this.writer.varBytes(fromLatin1(key)).varBytes(value);
      yield;
    }
    this.writer.u8(SEPARATOR);
  }
}

/**
 * QUIRK: the spent transaction is read with its witness and written without the witness, as in the reference. Its txid does
 * not change. Test: test/vectors/psbt.test.ts.
 */
function* writeUtxo(map: MapWriter, { nonWitnessUtxo, witnessUtxo }: PsbtInput): Slices<void> {
  if (nonWitnessUtxo !== null) {
    map.optional(INPUT.NON_WITNESS_UTXO, yield* formatTransactionInSlices(nonWitnessUtxo, false));
  } else if (witnessUtxo !== null && witnessUtxo.value !== NO_VALUE) {
    const { value, script } = witnessUtxo;
    map.optional(INPUT.WITNESS_UTXO, new Writer().i64(value).varBytes(script).finish());
  }
}

/** Writes the fields that are needed for signing. A final input has none of these fields. */
function* writeSigningData(map: MapWriter, input: PsbtInput): Slices<void> {
  for (const [, { publicKey, signature }] of yield* sortedEntriesInSlices(input.partialSignatures)) {
    map.field(INPUT.PARTIAL_SIGNATURE, publicKey, signature);
    yield;
  }
  if (input.sighashType > 0) {
    map.optional(INPUT.SIGHASH_TYPE, new Writer(4).i32(input.sighashType).finish());
  }
  map.optional(INPUT.REDEEM_SCRIPT, input.redeemScript);
  map.optional(INPUT.WITNESS_SCRIPT, input.witnessScript);
  yield* map.keyPaths(INPUT.BIP32_DERIVATION, input.keyPaths);
}

function* writeInput(map: MapWriter, input: PsbtInput): Slices<void> {
  yield* writeUtxo(map, input);
  if (!isInputFinal(input)) yield* writeSigningData(map, input);
  map.optional(INPUT.FINAL_SCRIPT_SIG, input.finalScriptSig);
  if (input.finalScriptWitness.length > 0) {
    const stack = new Writer().compactSize(input.finalScriptWitness.length);
    for (const [n, item] of input.finalScriptWitness.entries()) {
      stack.varBytes(item);
      if (n % ITEMS_AT_ONCE === 0) yield;
    }
    map.optional(INPUT.FINAL_SCRIPT_WITNESS, stack.finish());
  }
  yield* map.end(input.unknown);
}

function* writeOutput(map: MapWriter, output: PsbtOutput): Slices<void> {
  map.optional(OUTPUT.REDEEM_SCRIPT, output.redeemScript);
  map.optional(OUTPUT.WITNESS_SCRIPT, output.witnessScript);
  yield* map.keyPaths(OUTPUT.BIP32_DERIVATION, output.keyPaths);
  yield* map.end(output.unknown);
}

/** Serializes a PSBT. */
export function formatPsbt(psbt: Psbt): Buffer {
  return atOnce(formatPsbtInSlices(psbt));
}

/** Variant of the function whose name lacks `InSlices`. Yields between slices of the work. */
export function* formatPsbtInSlices(psbt: Psbt): Slices<Buffer> {
  const map = new MapWriter();
  map.writer.raw(MAGIC);
  map.optional(GLOBAL_UNSIGNED_TX, yield* formatTransactionInSlices(psbt.tx, false));
  yield* map.end(psbt.unknown);
  for (const input of psbt.inputs) {
    yield* writeInput(map, input);
    yield;
  }
  for (const output of psbt.outputs) {
    yield* writeOutput(map, output);
    yield;
  }
  return map.writer.finish();
}

/**
 * Serializes a PSBT that contains only a transaction, whose scriptSigs and witnesses are omitted. The result equals
 * `formatPsbt(createPsbt(tx))`, but needs far less memory, because no maps are created.
 */
export function* formatBarePsbtInSlices(tx: Transaction): Slices<Buffer> {
  const inputs: TxInput[] = [];
  for (const { prevout, sequence } of tx.inputs) {
    inputs.push({ prevout, sequence, scriptSig: EMPTY_BYTES, witness: [] });
    if (inputs.length % ITEMS_AT_ONCE === 0) yield;
  }
  const bare = yield* formatTransactionInSlices({ ...tx, inputs }, false);
  const map = new MapWriter();
  map.writer.raw(MAGIC);
  map.optional(GLOBAL_UNSIGNED_TX, bare);
  // Ends the global map of the PSBT, and writes an empty map for each input and output.
  map.writer.raw(Buffer.alloc(1 + inputs.length + tx.outputs.length));
  return map.writer.finish();
}
