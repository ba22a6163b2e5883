import { describe, expect, it } from 'vitest';
import { parseTransaction } from '../../../src/primitives/transaction.js';
import { PrecomputedSighash, SIG_VERSION, signatureHash } from '../../../src/script/sighash.js';
import { fromHex, toHex } from '../../../src/util/bytes.js';
import { Reader } from '../../../src/util/reader.js';
import { countPauses } from '../../support/slices.js';

/** Three inputs, two outputs, the second a claim to a witness program, 500,000 as lock time. */
const TX = parseTransaction(
  new Reader(
    fromHex(
      '0200000003' +
        `${'11'.repeat(32)}0000000000feffffff` +
        `${'22'.repeat(32)}07000000015105000000` +
        `${'33'.repeat(32)}0100000000ffffffff` +
        '02' +
        `e8030000000000001976a914${'44'.repeat(20)}88ac` +
        `000052acdfb2241d24b5046e616d650576616c75656d750014${'55'.repeat(20)}` +
        '20a10700',
    ),
  ),
);

const P2PKH = `76a914${'66'.repeat(20)}88ac`;
const { BASE, WITNESS_V0 } = SIG_VERSION;

/** Script code, input, hash type, amount, version, hash in wire order. Recorded from the reference's `SignatureHash`. */
const CASES: [string, number, number, bigint, 0 | 1, string][] = [
  [P2PKH, 0, 1, 0n, BASE, '641928eccde81899d87d94f178354e510678fb2e9dcb67915de162f128625776'],
  [P2PKH, 1, 1, 0n, BASE, 'cd2c44c7c9ebba6d77764c0bc80c70b0603ec70d76cf91491ab1b614ab898d14'],
  [P2PKH, 1, 2, 0n, BASE, '4bc55ba9a92bcf08c0c95dbeb6c6bb68935a69bd310107a75aa5e969a60cba1b'],
  [P2PKH, 1, 3, 0n, BASE, 'fc060b939bfc38adf7f7da52baf03b010ef1145bbdf2106867d21867f812977e'],
  [P2PKH, 2, 3, 0n, BASE, '0100000000000000000000000000000000000000000000000000000000000000'],
  [P2PKH, 1, 0x81, 0n, BASE, '35e5ba56a164bdf465b93dfcfbd05db4de7f0e3a2a552bd90449f5762568ba18'],
  [P2PKH, 1, 0x82, 0n, BASE, '716fcad844009e2ed05ff2ddce625d6272a59e770888d19a3a286c5899ae4d42'],
  [P2PKH, 1, 0x83, 0n, BASE, 'da9bd91763c7486ad5091e1ea560ac97eed5f0ba3b06c6f060b18a350efbdf99'],
  [P2PKH, 1, 0, 0n, BASE, '9ea6d3e78440cd314c597b4657ca51e44224fd7c8cf4c4372533842a2fcf1d69'],
  ['ab51abacab', 1, 1, 0n, BASE, '0fa56276e31bc5ac99e05671781a6da7c3c94ce207c692fb14ff596a6bf36486'],
  ['ab51abacab', 1, 0x83, 0n, BASE, '70869658b88b6afa998daa7e8e168263d98c629f20dc7b7d90a4d74d7f7ec84e'],
  ['ab51054142', 1, 1, 0n, BASE, '6bd0652f19f714de5d8f0fd7c295be92b405086e5188392676ebac2039c22063'],
  ['4d01', 0, 1, 0n, BASE, 'e773bb2a0465314cbf85ab465a997827b5eed00ce6749a27c4ac04ded5dad1c1'],
  ['4e010000', 0, 1, 0n, BASE, 'b162c9acc266d82f84dabf25bbbc4c156403bfbe5a1abcfc47b05ced91c67291'],
  ['4c', 0, 1, 0n, BASE, 'ad8bfb5e639255357ef84da2e1b02115f65eb961f5261848be3a49cc73657851'],
  [P2PKH, 0, 1, 123456789n, WITNESS_V0, '1a90392549017132c90ce5d4447f97429ea13e28bbefdaf1253f819ed8585f93'],
  [P2PKH, 1, 2, 123456789n, WITNESS_V0, '6699f7df33aad2cd7e9d5d07925e14190596dcb7de928b39534a180b76141f9c'],
  [P2PKH, 1, 3, 123456789n, WITNESS_V0, '399969277411b9eb17a826d6cf53b83aba1f45fe6253df58c212e2348344034b'],
  [P2PKH, 2, 3, 123456789n, WITNESS_V0, '0d51592e257185b444eda3038390af8c0ac7069da2ce33a93d3756220f61e91f'],
  [P2PKH, 1, 0x81, 5n, WITNESS_V0, 'c53714aac628a74be566ed4e3ad537d4b133698db40f73a649af7901124aa3ce'],
  [P2PKH, 1, 0x82, 5n, WITNESS_V0, 'a714df33b1cddd13f5ae302a5cb5b3423977a0f3d53f85b390970360b1e417e6'],
  [P2PKH, 1, 0x83, 5n, WITNESS_V0, '9bcead93e7e275ceb3524c5d73fcab64365bc56793f8de57fb6ce008777c4121'],
  ['ab51abacab', 0, 1, 5n, WITNESS_V0, 'e89940e96d583c744d730c0b67109193370a4ff6e6c1cd77fe9baefb6c1fb845'],
  [P2PKH, 0, -2147483647, 0n, BASE, '7a2354f51d3a3630149cfe6aec16a8e228cd10848d8eea4f721512c99b38f361'],
];

describe('signatureHash', () => {
  it('equals the hashes of the reference', () => {
    const shared = new PrecomputedSighash(TX);
    for (const [code, index, type, amount, version, expected] of CASES) {
      const what = `${code} input ${index} type ${type} version ${version}`;
      expect(toHex(signatureHash(fromHex(code), TX, index, type, amount, version)), what).toBe(expected);
      expect(toHex(signatureHash(fromHex(code), TX, index, type, amount, version, shared)), what).toBe(
        expected,
      );
    }
  });

  it('signs the number one for SINGLE without such an output, but not in a witness', () => {
    const one = '01' + '00'.repeat(31);
    expect(toHex(signatureHash(fromHex(P2PKH), TX, 2, 3, 0n, BASE))).toBe(one);
    expect(toHex(signatureHash(fromHex('51'), TX, 2, 0x83, 0n, BASE))).toBe(one);
    expect(toHex(signatureHash(fromHex(P2PKH), TX, 2, 3, 0n, WITNESS_V0))).not.toBe(one);
  });

  it('drops code separators from the original form only', () => {
    const withSeparator = fromHex('51ab52');
    const without = fromHex('5152');
    const hash = (code: Buffer, version: 0 | 1): string => toHex(signatureHash(code, TX, 0, 1, 5n, version));
    expect(hash(withSeparator, BASE)).toBe(hash(without, BASE));
    expect(hash(withSeparator, WITNESS_V0)).not.toBe(hash(without, WITNESS_V0));
    // A byte within a push is not a separator.
    expect(hash(fromHex('01ab'), BASE)).not.toBe(hash(fromHex('01'), BASE));
  });

  it('includes the amount in a witness only', () => {
    const hash = (amount: bigint, version: 0 | 1): string =>
      toHex(signatureHash(fromHex(P2PKH), TX, 0, 1, amount, version));
    expect(hash(1n, BASE)).toBe(hash(2n, BASE));
    expect(hash(1n, WITNESS_V0)).not.toBe(hash(2n, WITNESS_V0));
  });

  it('accepts scripts beyond the one-byte lengths and many inputs', () => {
    const input = TX.inputs[0]!;
    const wide = { ...TX, inputs: Array.from({ length: 300 }, () => input) };
    const code = Buffer.alloc(300, 0x51);
    const shared = new PrecomputedSighash(wide);
    const first = signatureHash(code, wide, 0, 1, 0n, BASE, shared);
    expect(toHex(signatureHash(code, wide, 299, 1, 0n, BASE, shared))).not.toBe(toHex(first));
    // All inputs are equal, so with ANYONECANPAY each of them has the same hash.
    expect(toHex(signatureHash(code, wide, 299, 0x81, 0n, BASE))).toBe(
      toHex(signatureHash(code, wide, 0, 0x81, 0n, BASE)),
    );
  });

  it('is the same with parts that were computed in slices', () => {
    const inputs = Array.from({ length: 3000 }, (_, i) => ({ ...TX.inputs[i % 3]!, sequence: i }));
    const outputs = Array.from({ length: 3000 }, (_, i) => ({ ...TX.outputs[i % 2]!, value: BigInt(i) }));
    const large = { ...TX, inputs, outputs };
    const prepared = new PrecomputedSighash(large);
    const { pauses } = countPauses(prepared.prepareInSlices());
    // 3,000 items are serialized five times, with a yield after every 256 items.
    expect(pauses).toBeGreaterThan(5 * 10);
    for (const version of [BASE, WITNESS_V0]) {
      const hash = (shared: PrecomputedSighash): string =>
        toHex(signatureHash(fromHex(P2PKH), large, 7, 1, 5n, version, shared));
      expect(hash(prepared)).toBe(hash(new PrecomputedSighash(large)));
    }
    expect(countPauses(prepared.prepareInSlices()).pauses).toBe(0);
  });

  it('treats a missing input as a bug', () => {
    expect(() => signatureHash(fromHex('51'), TX, 3, 1, 0n, BASE)).toThrow('does not exist');
  });
});
