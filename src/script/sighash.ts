/**
 * Computes the hash that a signature signs: the original form, and the form of BIP143 for witness scripts. Data that is
 * equal for all inputs of a transaction is cached (`PrecomputedSighash`). `signatureOps.ts` removes signatures from the
 * script code. Source: Core interpreter.cpp `SignatureHash`.
 */
import { sha256d } from '../crypto/hash.js';
import type { Transaction, TxInput, TxOutput } from '../primitives/transaction.js';
import { sha256dInSlices } from '../primitives/transactionSlices.js';
import { assert } from '../util/assert.js';
import type { Bytes } from '../util/bytes.js';
import { atOnce, type Slices } from '../util/slices.js';
import { Writer } from '../util/writer.js';
import { OP } from './opcodes.js';
import { nextOp, opDataStart } from './script.js';

export const SIGHASH = { ALL: 1, NONE: 2, SINGLE: 3, ANYONECANPAY: 0x80 } as const;

/** Rule set of the interpreter, which also decides the form of the signature hash: original, or witness version 0. */
export const SIG_VERSION = { BASE: 0, WITNESS_V0: 1 } as const;
export type SigVersion = (typeof SIG_VERSION)[keyof typeof SIG_VERSION];

/** Mask of the hash type bits that select the signed outputs. */
const OUTPUT_MASK = 0x1f;
const ZERO_HASH: Buffer = Buffer.alloc(32);

/** Size in bytes of a serialized input with an empty script: outpoint, length, sequence. */
const BLANK_INPUT_SIZE = 41;
const OUTPOINT_SIZE = 36;

function writeOutput(writer: Writer, output: TxOutput): void {
  writer.i64(output.value).varBytes(output.script);
}

function hashOfOutput(output: TxOutput): Buffer {
  const writer = new Writer(output.script.length + 16);
  writeOutput(writer, output);
  return sha256d(writer.finish());
}

/**
 * Number of inputs or outputs that are serialized between two yields to the event loop. Arbitrary: takes some tens of
 * microseconds.
 */
const ITEMS_A_STEP = 256;

function* formatEach<T>(
  writer: Writer,
  items: readonly T[],
  write: (writer: Writer, item: T) => unknown,
): Slices<Writer> {
  for (let i = 0; i < items.length; i++) {
    if (i % ITEMS_A_STEP === ITEMS_A_STEP - 1) yield;
    write(writer, items[i]!);
  }
  return writer;
}

function writePrevout(writer: Writer, { prevout }: TxInput): void {
  writer.raw(prevout.hash).u32(prevout.index);
}

function* formatPrevouts({ inputs }: Transaction): Slices<Buffer> {
  return (yield* formatEach(new Writer(inputs.length * OUTPOINT_SIZE), inputs, writePrevout)).finish();
}

function* formatSequences({ inputs }: Transaction): Slices<Buffer> {
  const write = (writer: Writer, { sequence }: TxInput): unknown => writer.u32(sequence);
  return (yield* formatEach(new Writer(inputs.length * 4), inputs, write)).finish();
}

function* formatOutputs({ outputs }: Transaction): Slices<Buffer> {
  return (yield* formatEach(new Writer(512), outputs, writeOutput)).finish();
}

function* formatBlank({ version, inputs, outputs, lockTime }: Transaction): Slices<Buffer> {
  const writer = new Writer(256 + inputs.length * BLANK_INPUT_SIZE);
  writer.i32(version).compactSize(inputs.length);
  yield* formatEach(writer, inputs, (to, input) => {
    writePrevout(to, input);
    to.u8(0).u32(input.sequence);
  });
  writer.compactSize(outputs.length);
  yield* formatEach(writer, outputs, writeOutput);
  return writer.u32(lockTime).finish();
}

/**
 * Data that all signature hashes of a transaction have in common. Each part is computed when it is first needed. The
 * transaction must not change during the lifetime of this object, except for its scriptSigs and witnesses.
 */
export class PrecomputedSighash {
  private readonly tx: Transaction;
  private prevouts: Buffer | undefined;
  private sequences: Buffer | undefined;
  private outputs: Buffer | undefined;
  private keptBlankForm: Buffer | undefined;

  constructor(tx: Transaction) {
    this.tx = tx;
  }

  get hashPrevouts(): Buffer {
    return (this.prevouts ??= sha256d(atOnce(formatPrevouts(this.tx))));
  }

  get hashSequences(): Buffer {
    return (this.sequences ??= sha256d(atOnce(formatSequences(this.tx))));
  }

  get hashOutputs(): Buffer {
    return (this.outputs ??= sha256d(atOnce(formatOutputs(this.tx))));
  }

  /**
   * The serialized transaction with empty scriptSigs. To compute a hash of type SIGHASH_ALL, the script code is inserted at
   * one position.
   */
  get blankForm(): Buffer {
    return (this.keptBlankForm ??= atOnce(formatBlank(this.tx)));
  }

  /**
   * Computes the data that is equal for all inputs, and yields to the event loop in between. For a transaction that may be
   * larger than any block.
   */
  *prepareInSlices(): Slices<void> {
    this.prevouts ??= yield* sha256dInSlices(yield* formatPrevouts(this.tx));
    this.sequences ??= yield* sha256dInSlices(yield* formatSequences(this.tx));
    this.outputs ??= yield* sha256dInSlices(yield* formatOutputs(this.tx));
    this.keptBlankForm ??= yield* formatBlank(this.tx);
  }
}

/** Returns the offset at which parsing of a push that exceeds the script stops: after its opcode, or after its length bytes. */
function brokenPushEnd(script: Bytes, at: number): number {
  const dataStart = opDataStart(script[at]!, at);
  return dataStart > script.length ? at + 1 : dataStart;
}

/**
 * Serializes the script code for hashing: its length, and its bytes without OP_CODESEPARATOR. QUIRK: bytes after a push that
 * exceeds the script are not hashed, although the length includes them; such a script fails in any case. Test:
 * test/unit/script/sighash.test.ts.
 */
function formatScriptCode(script: Bytes): Buffer {
  const pieces: Bytes[] = [];
  let start = 0;
  let separators = 0;
  let end = script.length;
  for (let at = 0; at < script.length;) {
    const next = nextOp(script, at);
    if (next < 0) {
      end = brokenPushEnd(script, at);
      break;
    }
    if (script[at] === OP.OP_CODESEPARATOR) {
      pieces.push(script.subarray(start, at));
      start = next;
      separators += 1;
    }
    at = next;
  }
  const writer = new Writer(script.length + 9).compactSize(script.length - separators);
  for (const piece of pieces) writer.raw(piece);
  return writer.raw(script.subarray(start, end)).finish();
}

function compactSizeLength(value: number): number {
  if (value < 253) return 1;
  if (value <= 0xffff) return 3;
  return value <= 0xffffffff ? 5 : 9;
}

/**
 * Computes the hash for SIGHASH_ALL, by far the most frequent type, from the cached form without scripts, into which the
 * script code is inserted.
 */
function baseHashOfAll(
  scriptCode: Bytes,
  tx: Transaction,
  inputIndex: number,
  hashType: number,
  shared: PrecomputedSighash,
): Buffer {
  const blank = shared.blankForm;
  const code = formatScriptCode(scriptCode);
  const at = 4 + compactSizeLength(tx.inputs.length) + inputIndex * BLANK_INPUT_SIZE + OUTPOINT_SIZE;
  const message = Buffer.allocUnsafe(blank.length - 1 + code.length + 4);
  blank.copy(message, 0, 0, at);
  code.copy(message, at);
  blank.copy(message, at + code.length, at + 1);
  message.writeInt32LE(hashType, message.length - 4);
  return sha256d(message);
}

/**
 * Computes the signature hash for types other than ALL. NONE and SINGLE do not sign all outputs, nor the sequence numbers of
 * other inputs; ANYONECANPAY does not sign other inputs.
 */
function baseHash(scriptCode: Bytes, tx: Transaction, inputIndex: number, hashType: number): Buffer {
  const anyoneCanPay = (hashType & SIGHASH.ANYONECANPAY) !== 0;
  const none = (hashType & OUTPUT_MASK) === SIGHASH.NONE;
  const single = (hashType & OUTPUT_MASK) === SIGHASH.SINGLE;
  const writer = new Writer(512);
  writer.i32(tx.version).compactSize(anyoneCanPay ? 1 : tx.inputs.length);
  for (let i = 0; i < tx.inputs.length; i++) {
    if (anyoneCanPay && i !== inputIndex) continue;
    const { prevout, sequence } = tx.inputs[i]!;
    writer.raw(prevout.hash).u32(prevout.index);
    if (i === inputIndex) writer.raw(formatScriptCode(scriptCode)).u32(sequence);
    else writer.u8(0).u32(none || single ? 0 : sequence);
  }
  const outputCount = none ? 0 : single ? inputIndex + 1 : tx.outputs.length;
  writer.compactSize(outputCount);
  for (let i = 0; i < outputCount; i++) {
    if (single && i !== inputIndex) writer.i64(-1n).u8(0);
    else writeOutput(writer, tx.outputs[i]!);
  }
  return sha256d(writer.u32(tx.lockTime).i32(hashType).finish());
}

/** BIP143. */
function witnessHash(
  scriptCode: Bytes,
  tx: Transaction,
  inputIndex: number,
  hashType: number,
  amount: bigint,
  shared: PrecomputedSighash,
): Buffer {
  const anyoneCanPay = (hashType & SIGHASH.ANYONECANPAY) !== 0;
  const outputType = hashType & OUTPUT_MASK;
  const all = outputType !== SIGHASH.SINGLE && outputType !== SIGHASH.NONE;
  let outputs = ZERO_HASH;
  if (all) outputs = shared.hashOutputs;
  else if (outputType === SIGHASH.SINGLE && inputIndex < tx.outputs.length) {
    outputs = hashOfOutput(tx.outputs[inputIndex]!);
  }
  const { prevout, sequence } = tx.inputs[inputIndex]!;
  const message = new Writer(165 + scriptCode.length)
    .i32(tx.version)
    .raw(anyoneCanPay ? ZERO_HASH : shared.hashPrevouts)
    .raw(!anyoneCanPay && all ? shared.hashSequences : ZERO_HASH)
    .raw(prevout.hash)
    .u32(prevout.index)
    .varBytes(scriptCode)
    .i64(amount)
    .u32(sequence)
    .raw(outputs)
    .u32(tx.lockTime)
    .i32(hashType)
    .finish();
  return sha256d(message);
}

/**
 * Returns the 32-byte hash that the signature of an input signs. `scriptCode` is the script after the last executed
 * OP_CODESEPARATOR. `amount` is the amount of the spent output; only signatures of witness scripts cover it. `hashType` is a
 * signed 32-bit number.
 */
export function signatureHash(
  scriptCode: Bytes,
  tx: Transaction,
  inputIndex: number,
  hashType: number,
  amount: bigint,
  version: SigVersion,
  shared: PrecomputedSighash = new PrecomputedSighash(tx),
): Buffer {
  assert(inputIndex >= 0 && inputIndex < tx.inputs.length, 'signature hash of an input that does not exist');
  if (version === SIG_VERSION.WITNESS_V0) {
    return witnessHash(scriptCode, tx, inputIndex, hashType, amount, shared);
  }
  const outputType = hashType & OUTPUT_MASK;
  if (outputType === SIGHASH.SINGLE && inputIndex >= tx.outputs.length) {
    // QUIRK: for SINGLE, if no output has the number of the input, the number 1 is signed, regardless of the transaction.
    // Old transactions depend on this rule. Test: test/unit/script/sighash.test.ts.
    const one = Buffer.alloc(32);
    one[0] = 1;
    return one;
  }
  const plain = outputType !== SIGHASH.SINGLE && outputType !== SIGHASH.NONE;
  return plain && (hashType & SIGHASH.ANYONECANPAY) === 0
    ? baseHashOfAll(scriptCode, tx, inputIndex, hashType, shared)
    : baseHash(scriptCode, tx, inputIndex, hashType);
}
