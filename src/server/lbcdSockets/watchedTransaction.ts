/**
 * A transaction of the mempool or of a block, for matching against watched items. Each derived value is computed once, when
 * it is first needed.
 */
import {
  TX_FIRST_INPUT,
  TX_FIRST_OUTPUT,
  TX_INPUT_COUNT,
  TX_OUTPUT_COUNT,
  TX_STRIDE,
} from '../../primitives/blockLayout.js';
import {
  outputAmountAt,
  outputScriptAt,
  parseTxView,
  prevoutAt,
  txBytes,
  txidAt,
  type ParsedBlock,
} from '../../primitives/blockView.js';
import { toHex, toLatin1 } from '../../util/bytes.js';
import { payeesOf, unlockedKey, type Payees } from './watchKeys.js';

export class WatchedTransaction {
  private readonly bytes: Buffer;
  private readonly parsed: ParsedBlock;
  /** Number of the transaction in the parsed block. */
  readonly index: number;
  private made: { hex?: string; spent?: string[]; payees?: Payees[] } = {};

  constructor(bytes: Buffer, parsed: ParsedBlock, index: number) {
    this.bytes = bytes;
    this.parsed = parsed;
    this.index = index;
  }

  /** Creates an object for a transaction that is not part of a block. */
  static alone(bytes: Buffer): WatchedTransaction {
    return new WatchedTransaction(bytes, parseTxView(bytes), 0);
  }

  /** Creates an object for each transaction of a block, in order. */
  static *ofBlock({ raw, parsed }: { raw: Buffer; parsed: ParsedBlock }): Generator<WatchedTransaction> {
    for (let tx = 0; tx < parsed.txCount; tx++) yield new WatchedTransaction(raw, parsed, tx);
  }

  /** The serialized transaction in hex, including its witness. */
  get hex(): string {
    return (this.made.hex ??= toHex(txBytes(this.bytes, this.parsed, this.index)));
  }

  /** Transaction id in wire order, as latin1. */
  get txid(): string {
    return toLatin1(txidAt(this.parsed, this.index));
  }

  get outputCount(): number {
    return this.field(TX_OUTPUT_COUNT);
  }

  /** Keys of the outputs that the transaction spends: txid and output number as latin1, 36 characters. */
  get spent(): readonly string[] {
    return (this.made.spent ??= this.inputs((input) => toLatin1(prevoutAt(this.bytes, this.parsed, input))));
  }

  /** Watch key of the script that each input reveals; null for an input that reveals none. */
  unlocked(): (string | null)[] {
    return this.inputs((input) => unlockedKey(this.bytes, this.parsed, input));
  }

  /** The destinations that each output pays to. */
  get payees(): readonly Payees[] {
    const first = this.field(TX_FIRST_OUTPUT);
    return (this.made.payees ??= Array.from({ length: this.outputCount }, (_, n) =>
      payeesOf(outputScriptAt(this.bytes, this.parsed, first + n)),
    ));
  }

  get totalSat(): bigint {
    const first = this.field(TX_FIRST_OUTPUT);
    let sum = 0n;
    for (let n = 0; n < this.outputCount; n++) sum += outputAmountAt(this.bytes, this.parsed, first + n);
    return sum;
  }

  private inputs<T>(read: (input: number) => T): T[] {
    const first = this.field(TX_FIRST_INPUT);
    return Array.from({ length: this.field(TX_INPUT_COUNT) }, (_, n) => read(first + n));
  }

  private field(field: number): number {
    return this.parsed.txs[this.index * TX_STRIDE + field]!;
  }
}

/** Key of an output, in the format of `spent`. */
export function outPointKey(txid: string, n: number): string {
  const number = Buffer.alloc(4);
  number.writeUInt32LE(n);
  return txid + number.toString('latin1');
}
