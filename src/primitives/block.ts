/** Blocks as plain objects. Code that must be fast uses the offset table of `blockView.ts`. */
import { Reader } from '../util/reader.js';
import { Writer } from '../util/writer.js';
import type { Bytes } from '../util/bytes.js';
import { parseHeader, writeHeader, type BlockHeader } from './header.js';
import { parseTransaction, writeTransaction, type Transaction } from './transaction.js';

export interface Block {
  header: BlockHeader;
  transactions: Transaction[];
}

/** Parses a whole block. Trailing bytes are not an error; the caller must check `reader.remaining`. */
export function parseBlock(reader: Reader): Block {
  const header = parseHeader(reader);
  const count = reader.compactSize();
  const transactions: Transaction[] = [];
  for (let i = 0; i < count; i++) transactions.push(parseTransaction(reader));
  return { header, transactions };
}

export function parseBlockBytes(bytes: Bytes): Block {
  return parseBlock(new Reader(bytes));
}

export function formatBlock(block: Block, withWitness = true): Buffer {
  const writer = new Writer(1 << 16);
  writeHeader(writer, block.header);
  writer.compactSize(block.transactions.length);
  for (const tx of block.transactions) writeTransaction(writer, tx, withWitness);
  return writer.finish();
}
