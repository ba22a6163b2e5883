import { describe, expect, it } from 'vitest';
import { merkleRoot } from '../../../src/crypto/merkle.js';
import { formatBlock, parseBlockBytes, type Block } from '../../../src/primitives/block.js';
import {
  formatHeader,
  headerHash,
  HEADER_SIZE_BYTES,
  parseHeaderBytes,
  powHash,
  type BlockHeader,
} from '../../../src/primitives/header.js';
import { txid, type Transaction } from '../../../src/primitives/transaction.js';
import { hashFromHex, hashToHex, toHex } from '../../../src/util/bytes.js';
import { ReadError } from '../../../src/util/reader.js';

const CLAIM_ROOT = Buffer.alloc(32);
CLAIM_ROOT[0] = 1;

/** The headers of the networks' first blocks. */
const GENESIS: BlockHeader = {
  version: 1,
  prevHash: Buffer.alloc(32),
  merkleRoot: hashFromHex('b8211c82c3d15bcd78bba57005b86fed515149a53a425eb592c07af99fe559cc'),
  claimRoot: CLAIM_ROOT,
  timeSec: 1446058291,
  bits: 0x1f00ffff,
  nonce: 1287,
};
const REGTEST_GENESIS: BlockHeader = { ...GENESIS, bits: 0x207fffff, nonce: 1 };

describe('headers', () => {
  it('have the known ids', () => {
    expect(hashToHex(headerHash(formatHeader(GENESIS)))).toBe(
      '9c89283ba0f3227f6c03b70216b9f665f0118d5e0fa729cedf4fb34d6a34f463',
    );
    expect(hashToHex(headerHash(formatHeader(REGTEST_GENESIS)))).toBe(
      '6e3fcf1299d4ec5d79c3a4c91d624a4acf9e2e173d95a1a0504f677669687556',
    );
  });

  it('have 112 bytes, in order, and round-trip', () => {
    const header = {
      ...GENESIS,
      version: -3,
      timeSec: 0xffffffff,
      nonce: 0xfffffffe,
      prevHash: Buffer.alloc(32, 5),
    };
    const bytes = formatHeader(header);
    expect(bytes.length).toBe(HEADER_SIZE_BYTES);
    expect(parseHeaderBytes(bytes)).toEqual(header);
    expect(toHex(bytes.subarray(68, 100))).toBe(toHex(CLAIM_ROOT));
    expect(() => parseHeaderBytes(bytes.subarray(0, 111))).toThrow(ReadError);
  });

  it('use another hash than the id for proof of work', () => {
    // The target of bits 0x1f00ffff is 0000ffff followed by zeros. Another nonce does not meet it.
    const work = hashToHex(powHash(formatHeader(GENESIS)));
    expect(work.startsWith('0000')).toBe(true);
    expect(work <= `0000ffff${'0'.repeat(56)}`).toBe(true);
    expect(hashToHex(powHash(formatHeader({ ...GENESIS, nonce: 1286 }))) > `0000ffff${'0'.repeat(56)}`).toBe(
      true,
    );
  });

  it('hash only their own bytes of a block', () => {
    const bytes = Buffer.concat([formatHeader(GENESIS), Buffer.alloc(50, 1)]);
    expect(hashToHex(headerHash(bytes))).toBe(
      '9c89283ba0f3227f6c03b70216b9f665f0118d5e0fa729cedf4fb34d6a34f463',
    );
    expect(toHex(powHash(bytes))).toBe(toHex(powHash(bytes.subarray(0, HEADER_SIZE_BYTES))));
  });
});

describe('blocks', () => {
  const tx = (lockTime: number, witness: Buffer[]): Transaction => ({
    version: 1,
    inputs: [
      { prevout: { hash: Buffer.alloc(32, 9), index: 1 }, scriptSig: Buffer.of(0x51), sequence: 3, witness },
    ],
    outputs: [{ value: 5n, script: Buffer.of(0x51) }],
    lockTime,
  });
  const transactions = [tx(1, []), tx(2, [Buffer.of(7), Buffer.alloc(0)]), tx(3, [])];
  const block: Block = {
    header: { ...GENESIS, merkleRoot: merkleRoot(transactions.map(txid)).root },
    transactions,
  };

  it('round-trip with and without witness', () => {
    const bytes = formatBlock(block);
    expect(toHex(formatBlock(parseBlockBytes(bytes)))).toBe(toHex(bytes));
    const stripped = formatBlock(block, false);
    expect(stripped.length).toBeLessThan(bytes.length);
    const back = parseBlockBytes(stripped);
    expect(back.transactions.map((t) => t.inputs[0]!.witness.length)).toEqual([0, 0, 0]);
    expect(toHex(merkleRoot(back.transactions.map(txid)).root)).toBe(toHex(block.header.merkleRoot));
  });

  it('are refused if truncated', () => {
    const bytes = formatBlock(block);
    for (const size of [0, 111, 112, 113, 150, bytes.length - 1]) {
      expect(() => parseBlockBytes(bytes.subarray(0, size)), `${size} bytes`).toThrow(ReadError);
    }
  });
});
