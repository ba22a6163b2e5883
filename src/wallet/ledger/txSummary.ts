/**
 * Reads the data that the ledger needs directly from a serialized transaction. Other data of the transaction is not parsed,
 * because a wallet may have a hundred thousand transactions.
 */
import { NULL_INDEX, SEQUENCE_FINAL } from '../../primitives/transaction.js';
import { claimPrefixLength } from '../../script/claimScript.js';
import { OP } from '../../script/opcodes.js';
import { extractDestination, solveScript } from '../../script/standard.js';
import { ReadError, type Reader } from '../../util/reader.js';
import { destinationKey } from '../destinationKey.js';
import { MINE } from '../keys/isMine.js';
import type { OwnOutput, TxSummary } from './entry.js';
import type { LedgerPort } from './ledgerPort.js';
import type { OtherDestinations } from './otherDestinations.js';

/** Minimum size in bytes of a serialized input: outpoint, empty script, sequence. */
const MIN_INPUT_BYTES = 41;
const OUT_POINT_BYTES = 36;
/** Outpoint of a coinbase input, as a latin1 string. */
const NO_OUT_POINT = '\0'.repeat(32) + String.fromCharCode(NULL_INDEX & 0xff).repeat(4);
/** Length in bytes of a P2PKH script, and the position of the hash in the script. */
const KEY_HASH_SCRIPT_BYTES = 25;
const KEY_HASH_AT = 3;
const KEY_HASH_END = 23;

/** Reads the data of transactions that the ledger of one wallet needs. */
export class TxSummarizer {
  private readonly port: Pick<LedgerPort, 'mine' | 'mineOfKeyHash'>;
  private readonly canonical: (key: string) => string;
  private readonly others: OtherDestinations;
  /** Whether the transaction read last has a claim or support that the wallet cannot spend. */
  private hasForeignStake = false;
  /** Scratch buffer for the `destinationKey` of a P2PKH output. */
  private readonly keyHash = Buffer.from(
    destinationKey({ type: 'pubkeyhash', hash: Buffer.alloc(20) }),
    'latin1',
  );

  /**
   * `canonical`: returns an already stored string that equals a `destinationKey`, so that equal strings share memory.
   * `others`: collects destinations that the wallet cannot spend from.
   */
  constructor(
    port: Pick<LedgerPort, 'mine' | 'mineOfKeyHash'>,
    canonical: (key: string) => string,
    others: OtherDestinations,
  ) {
    this.port = port;
    this.canonical = canonical;
    this.others = others;
  }

  /** Reads the summary of one serialized transaction. Throws `ReadError` like `parseTransaction`. */
  read(reader: Reader): TxSummary {
    reader.skip(4);
    let flags = 0;
    let inputCount = reader.compactSize();
    const hasMarker = inputCount === 0;
    if (hasMarker) {
      flags = reader.u8();
      if (flags !== 0) inputCount = reader.compactSize();
    }
    const inputs = roomFor(reader, inputCount);
    let isFinal = true;
    for (let n = 0; n < inputCount; n++) {
      const at = reader.offset;
      reader.skip(OUT_POINT_BYTES);
      inputs[n] = reader.bytes.toString('latin1', at, at + OUT_POINT_BYTES);
      reader.skip(reader.compactSize());
      if (reader.u32() !== SEQUENCE_FINAL) isFinal = false;
    }
    const outputCount = hasMarker && flags === 0 ? 0 : reader.compactSize();
    const outputs = this.readOutputs(reader, outputCount);
    if ((flags & 1) !== 0) {
      for (let n = 0; n < inputCount; n++)
        for (let items = reader.compactSize(); items > 0; items--) reader.skip(reader.compactSize());
    }
    if ((flags & ~1) !== 0) throw new ReadError('Unknown transaction optional data');
    const lockTime = reader.u32();
    return {
      isCoinbase: inputCount === 1 && inputs[0] === NO_OUT_POINT,
      hasWitness: (flags & 1) !== 0,
      lockTime: isFinal ? 0 : lockTime,
      inputs,
      outputCount,
      hasForeignStake: this.hasForeignStake,
      outputs,
    };
  }

  /** Reads the outputs of a transaction. Returns those that the wallet owns or watches. */
  private readOutputs(reader: Reader, count: number): readonly OwnOutput[] {
    this.hasForeignStake = false;
    let own: OwnOutput[] = [];
    for (let n = 0; n < count; n++) {
      const valueAt = reader.offset;
      reader.skip(8);
      const length = reader.compactSize();
      const at = reader.offset;
      reader.skip(length);
      const { bytes } = reader;
      const found = isKeyHashScript(bytes, at, length)
        ? this.keyHashOutput(bytes, n, valueAt, at)
        : this.otherOutput(bytes, n, valueAt, bytes.subarray(at, at + length));
      if (found === null) continue;
      // Most transactions have one own output. A list of one element is created as such, because a growing array allocates
      // space for sixteen more.
      if (own.length === 0) own = [found];
      else own.push(found);
    }
    return own.length > 1 ? own.slice() : own;
  }

  private keyHashOutput(bytes: Buffer, n: number, valueAt: number, at: number): OwnOutput | null {
    const mine = this.port.mineOfKeyHash(bytes.toString('latin1', at + KEY_HASH_AT, at + KEY_HASH_END));
    if ((mine & MINE.spendable) === 0) this.others.add(bytes.subarray(at + KEY_HASH_AT, at + KEY_HASH_END));
    if (mine === MINE.no) return null;
    bytes.copy(this.keyHash, 1, at + KEY_HASH_AT, at + KEY_HASH_END);
    const to = this.canonical(this.keyHash.toString('latin1'));
    return { n, valueSat: bytes.readBigInt64LE(valueAt), mine, to, isPlain: true };
  }

  private otherOutput(bytes: Buffer, n: number, valueAt: number, script: Buffer): OwnOutput | null {
    const mine = this.port.mine(script);
    const isStake = claimPrefixLength(script) > 0;
    const isSpendable = (mine & MINE.spendable) !== 0;
    if (isStake && !isSpendable) this.hasForeignStake = true;
    const destination = extractDestination(script);
    if (!isSpendable && destination !== null && destination.type !== 'witness_unknown')
      this.others.add(destination.hash);
    if (mine === MINE.no) return null;
    const to = destination === null ? '' : this.canonical(destinationKey(destination));
    const isPlain = to !== '' && !isStake && !isBareKey(script);
    return { n, valueSat: bytes.readBigInt64LE(valueAt), mine, to, isPlain };
  }
}

/** Skips a serialized transaction. Throws `ReadError`. */
export function skipTransaction(reader: Reader): void {
  reader.skip(4);
  let inputCount = reader.compactSize();
  const hasMarker = inputCount === 0;
  const flags = hasMarker ? reader.u8() : 0;
  if (flags !== 0) inputCount = reader.compactSize();
  for (let n = 0; n < inputCount; n++) {
    reader.skip(OUT_POINT_BYTES);
    reader.skip(reader.compactSize());
    reader.skip(4);
  }
  for (let left = hasMarker && flags === 0 ? 0 : reader.compactSize(); left > 0; left--) {
    reader.skip(8);
    reader.skip(reader.compactSize());
  }
  if ((flags & 1) !== 0)
    for (let n = 0; n < inputCount; n++)
      for (let items = reader.compactSize(); items > 0; items--) reader.skip(reader.compactSize());
  reader.skip(4);
}

/**
 * Creates an array with space for exactly `count` strings. Throws `ReadError` if the remaining data is too short for `count`
 * inputs.
 */
function roomFor(reader: Reader, count: number): string[] {
  if (count > reader.remaining / MIN_INPUT_BYTES) throw new ReadError('end of data in inputs');
  return new Array<string>(count);
}

function isKeyHashScript(bytes: Buffer, at: number, length: number): boolean {
  return (
    length === KEY_HASH_SCRIPT_BYTES &&
    bytes[at] === OP.OP_DUP &&
    bytes[at + 1] === OP.OP_HASH160 &&
    bytes[at + 2] === KEY_HASH_END - KEY_HASH_AT &&
    bytes[at + 23] === OP.OP_EQUALVERIFY &&
    bytes[at + 24] === OP.OP_CHECKSIG
  );
}

/** Whether a script is a bare public key script. Scripts of another length cannot be one, so they are not parsed. */
function isBareKey(script: Buffer): boolean {
  return (script.length === 35 || script.length === 67) && solveScript(script).type === 'pubkey';
}
