import { describe, expect, it } from 'vitest';
import {
  formatOutPoint,
  formatTransaction,
  hasWitness,
  isCoinbase,
  isNullOutPoint,
  parseTransaction,
  transactionWeight,
  txid,
  wtxid,
  type Transaction,
} from '../../../src/primitives/transaction.js';
import { fromHex, hashToHex, toHex } from '../../../src/util/bytes.js';
import { Reader, ReadError } from '../../../src/util/reader.js';

function parse(hex: string, allowWitness = true): Transaction {
  const reader = new Reader(fromHex(hex));
  const tx = parseTransaction(reader, allowWitness);
  expect(reader.remaining).toBe(0);
  return tx;
}

/** The coinbase of Bitcoin's first block. */
const GENESIS_COINBASE =
  '01000000010000000000000000000000000000000000000000000000000000000000000000ffffffff4d04ffff001d0104455468652054696d' +
  '65732030332f4a616e2f32303039204368616e63656c6c6f72206f6e206272696e6b206f66207365636f6e64206261696c6f757420666f7220' +
  '62616e6b73ffffffff0100f2052a01000000434104678afdb0fe5548271967f1a67130b7105cd6a828e03909a67962e0ea1f61deb649f6bc3f' +
  '4cef38c4f35504e51ec112de5c384df7ba0b8d578a4c702b6bf11d5fac00000000';

/** BIP143's example of a native P2WPKH spend. */
const WITNESS_TX =
  '01000000000102fff7f7881a8099afa6940d42d1e7f6362bec38171ea3edf433541db4e4ad969f00000000494830450221008b9d1dc26ba6a9cb' +
  '62127b02742fa9d754cd3bebf337f7a55d114c8e5cdd30be022040529b194ba3f9281a99f2b1c0a19c0489bc22ede944ccf4ecbab4cc618ef3ed' +
  '01eeffffffef51e1b804cc89d182d279655c3aa89e815b1b309fe287d9b2b55d57b90ec68a0100000000ffffffff02202cb206000000001976a9' +
  '148280b37df378db99f66f85c95a783a76ac7a6d5988ac9093510d000000001976a9143bde42dbee7e4dbe6a21b2d50ce2f0167faa815988ac00' +
  '0247304402203609e17b84f6a7d30c80bfa610b5b4542f32a8a0d5447a12fb1366d7f01cc44a0220573a954c4518331561406f90300e8f3358f5' +
  '1928d43c212a8caed02de67eebee0121025476c2e83188368da1ff3e292e7acafcdb3566bb0ad253f62fc70f07aeee635711000000';

describe('transactions', () => {
  it('without witness round-trip and have one id', () => {
    const tx = parse(GENESIS_COINBASE);
    expect(toHex(formatTransaction(tx))).toBe(GENESIS_COINBASE);
    expect(hashToHex(txid(tx))).toBe('4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b');
    expect(toHex(wtxid(tx))).toBe(toHex(txid(tx)));
    expect(isCoinbase(tx)).toBe(true);
    expect(hasWitness(tx)).toBe(false);
    expect(transactionWeight(tx)).toBe(4 * (GENESIS_COINBASE.length / 2));
    expect(tx.outputs[0]!.value).toBe(5_000_000_000n);
  });

  it('with witness round-trip and have two ids', () => {
    const tx = parse(WITNESS_TX);
    expect(toHex(formatTransaction(tx))).toBe(WITNESS_TX);
    expect(hashToHex(txid(tx))).toBe('e8151a2af31c368a35053ddd4bdb285a8595c769a3ad83e0fa02314a602d4609');
    expect(hashToHex(wtxid(tx))).toBe('c36c38370907df2324d9ce9d149d191192f338b37665a82e78e76a12c909b762');
    expect(tx.inputs.map((input) => input.witness.length)).toEqual([0, 2]);
    expect([tx.inputs[0]!.sequence, tx.lockTime]).toEqual([0xffffffee, 17]);
    expect(hasWitness(tx)).toBe(true);
    expect(isCoinbase(tx)).toBe(false);
    const size = WITNESS_TX.length / 2;
    const stripped = formatTransaction(tx, false).length;
    expect(transactionWeight(tx)).toBe(3 * stripped + size);
  });

  it('keep the sign of versions and amounts and the range of the rest', () => {
    const tx: Transaction = {
      version: -2,
      inputs: [
        {
          prevout: { hash: Buffer.alloc(32, 1), index: 0xfffffffe },
          scriptSig: Buffer.alloc(0),
          sequence: 0xffffffff,
          witness: [],
        },
      ],
      outputs: [
        { value: -1n, script: Buffer.alloc(0) },
        { value: 2n ** 63n - 1n, script: Buffer.of(1) },
      ],
      lockTime: 0xffffffff,
    };
    const back = parse(toHex(formatTransaction(tx)));
    expect([back.version, back.lockTime, back.inputs[0]!.prevout.index]).toEqual([
      -2, 0xffffffff, 0xfffffffe,
    ]);
    expect(back.outputs.map((output) => output.value)).toEqual([-1n, 2n ** 63n - 1n]);
  });

  it('of any size are written completely', () => {
    const input = parse(GENESIS_COINBASE).inputs[0]!;
    for (let size = 380; size < 700; size++) {
      const tx: Transaction = {
        version: 1,
        inputs: [input],
        outputs: [{ value: 7n, script: Buffer.alloc(size, 0x51) }],
        lockTime: 9,
      };
      const back = parse(toHex(formatTransaction(tx)));
      expect(back.outputs[0]!.script.length).toBe(size);
      expect(back.lockTime).toBe(9);
    }
  });

  it('are refused if truncated anywhere', () => {
    for (const hex of [GENESIS_COINBASE, WITNESS_TX]) {
      for (let size = 0; size < hex.length / 2; size++) {
        expect(() => parseTransaction(new Reader(fromHex(hex).subarray(0, size))), `${size} bytes`).toThrow(
          ReadError,
        );
      }
    }
  });

  it('are refused with unknown flags or a needless marker', () => {
    const body = WITNESS_TX.slice(12);
    expect(() => parseTransaction(new Reader(fromHex(`010000000002${body}`)))).toThrow(
      'Unknown transaction optional data',
    );
    expect(() => parseTransaction(new Reader(fromHex(`010000000003${body}`)))).toThrow(
      'Unknown transaction optional data',
    );
  });

  it('without inputs are read as a marker if witnesses are allowed', () => {
    const noInputs = '0100000000' + '01' + '0100000000000000' + '00' + '00000000';
    expect(() => parseTransaction(new Reader(fromHex(noInputs)))).toThrow(ReadError);
    const plain = parse(noInputs, false);
    expect([plain.inputs.length, plain.outputs.length]).toEqual([0, 1]);
    const empty = parse('01000000' + '0000' + '00000000');
    expect([empty.inputs.length, empty.outputs.length]).toEqual([0, 0]);
  });

  it('are refused with sizes that are not in the shortest form', () => {
    const hex = GENESIS_COINBASE.replace('01000000010000', '01000000fd01000000');
    expect(() => parseTransaction(new Reader(fromHex(hex)))).toThrow('non-canonical');
  });
});

describe('outpoints', () => {
  it('are null only by hash and number together', () => {
    expect(isNullOutPoint({ hash: Buffer.alloc(32), index: 0xffffffff })).toBe(true);
    expect(isNullOutPoint({ hash: Buffer.alloc(32), index: 0 })).toBe(false);
    expect(isNullOutPoint({ hash: Buffer.alloc(32, 1), index: 0xffffffff })).toBe(false);
  });

  it('have 36 bytes', () => {
    const bytes = formatOutPoint({ hash: Buffer.alloc(32, 0xaa), index: 0x01020304 });
    expect(toHex(bytes)).toBe(`${'aa'.repeat(32)}04030201`);
  });
});
