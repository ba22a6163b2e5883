import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeRawTransaction } from '../../../../../src/rpc/methods/rawtransactions/decodeRawTransaction.js';
import { decodeScript } from '../../../../../src/rpc/methods/rawtransactions/decodeScript.js';
import { validateAddress } from '../../../../../src/rpc/methods/util/validateAddress.js';
import { ADDRESS, TestChain } from '../../../../support/testChain.js';

const KEY = '0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798';
const LONG_KEY =
  '0479be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8';
const TWENTY = '00'.repeat(20);

/** One input with an empty script, one output of 1 satoshi to OP_1; with a witness of one byte where it has any. */
const INPUT = `01${'22'.repeat(32)}0100000000ffffffff`;
const OUTPUT = '0101000000000000000151';
const PLAIN = `02000000${INPUT}${OUTPUT}00000000`;
const WITNESS = `020000000001${INPUT}${OUTPUT}010133` + '00000000';

describe('decoding transactions and scripts', () => {
  let chain: TestChain;
  beforeAll(async () => {
    chain = await TestChain.open();
  });
  afterAll(() => chain.close());

  it('decodes a transaction with and without witness', async () => {
    const plain = (await chain.call(decodeRawTransaction, [PLAIN])).result as Record<string, unknown>;
    const witness = (await chain.call(decodeRawTransaction, [WITNESS])).result as Record<string, unknown>;
    expect(plain).toMatchObject({
      size: 61,
      vsize: 61,
      weight: 244,
      vin: [{ txid: '22'.repeat(32), vout: 1, scriptSig: { asm: '', hex: '' }, sequence: 0xffffffff }],
      vout: [{ value: 1e-8, n: 0, scriptPubKey: { asm: '1', hex: '51', type: 'nonstandard' } }],
    });
    expect(plain['hash']).toBe(plain['txid']);
    expect(witness).toMatchObject({
      txid: plain['txid'],
      size: 66,
      vsize: 63,
      weight: 249,
      vin: [{ txinwitness: ['33'] }],
    });
    expect(witness['hash']).not.toBe(plain['txid']);
  });

  it('decodes the requested form', async () => {
    const failed = { error: { code: -22, message: 'TX decode failed' } };
    expect(await chain.call(decodeRawTransaction, [PLAIN, false])).toHaveProperty('result');
    expect(await chain.call(decodeRawTransaction, [WITNESS, true])).toHaveProperty('result');
    expect(await chain.call(decodeRawTransaction, [WITNESS, false])).toEqual(failed);
    // A transaction without inputs and outputs. Parsed as a witness transaction it would be truncated.
    expect(await chain.call(decodeRawTransaction, ['01000000000000000000'])).toHaveProperty('result');
    for (const text of ['', '00', 'zz', 'beef', `${PLAIN}00`]) {
      expect(await chain.call(decodeRawTransaction, [text])).toEqual(failed);
    }
    expect(await chain.call(decodeRawTransaction, [5])).toEqual({
      error: { code: -3, message: 'Expected type string, got number' },
    });
    expect(await chain.call(decodeRawTransaction, [PLAIN, null])).toEqual({
      error: { code: -3, message: 'Expected type bool, got null' },
    });
  });

  it('shows the P2SH and witness forms of a script', async () => {
    expect((await chain.call(decodeScript, [`76a914${TWENTY}88ac`])).result).toEqual({
      asm: `OP_DUP OP_HASH160 ${TWENTY} OP_EQUALVERIFY OP_CHECKSIG`,
      reqSigs: 1,
      type: 'pubkeyhash',
      addresses: [ADDRESS],
      p2sh: '2NGFrZmcc9pRLpL1veuDercvpTQHhicwg5r',
      segwit: {
        asm: `0 ${TWENTY}`,
        hex: `0014${TWENTY}`,
        reqSigs: 1,
        type: 'witness_v0_keyhash',
        addresses: ['rlbc1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqhd88c9'],
        'p2sh-segwit': '2N2hprXZBLaHMseLgR7zdBWg14FNCxM6UzZ',
      },
    });
  });

  it('shows no P2SH form of P2SH, and no witness form of an uncompressed key', async () => {
    const keys = async (script: string): Promise<string[]> =>
      Object.keys((await chain.call(decodeScript, [script])).result as object).filter((key) =>
        /p2sh|segwit/.test(key),
      );
    expect(await keys(`a914${TWENTY}87`)).toEqual([]);
    expect(await keys(`0014${TWENTY}`)).toEqual(['p2sh']);
    expect(await keys('6a')).toEqual(['p2sh']);
    expect(await keys('')).toEqual(['p2sh', 'segwit']);
    expect(await keys(`21${KEY}ac`)).toEqual(['p2sh', 'segwit']);
    expect(await keys(`41${LONG_KEY}ac`)).toEqual(['p2sh']);
    expect(await keys(`5121${KEY}51ae`)).toEqual(['p2sh', 'segwit']);
    expect(await keys(`5121${KEY}41${LONG_KEY}52ae`)).toEqual(['p2sh']);
    expect(await keys(`b501610162` + `6d75` + `76a914${TWENTY}88ac`)).toEqual(['p2sh', 'segwit']);
  });

  it('refuses scripts that are not hex', async () => {
    expect(await chain.call(decodeScript, ['zz'])).toEqual({
      error: { code: -8, message: "argument must be hexadecimal string (not 'zz')" },
    });
  });

  it('distinguishes addresses of this network from others', async () => {
    const cases: [string, object][] = [
      ['foo', { isvalid: false }],
      ['', { isvalid: false }],
      ['bW5PZEvEBNPQRVhwpYXSjabFgbSw1oaHyR', { isvalid: false }],
      [
        ADDRESS,
        {
          isvalid: true,
          address: ADDRESS,
          scriptPubKey: `76a914${TWENTY}88ac`,
          isscript: false,
          iswitness: false,
        },
      ],
      ['2N2hprXZBLaHMseLgR7zdBWg14FNCxM6UzZ', { isvalid: true, isscript: true, iswitness: false }],
      [
        'RLBC1QQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQHD88C9',
        {
          isvalid: true,
          address: 'rlbc1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqhd88c9',
          isscript: false,
          iswitness: true,
          witness_version: 0,
          witness_program: TWENTY,
        },
      ],
    ];
    for (const [address, expected] of cases) {
      expect((await chain.call(validateAddress, [address])).result).toMatchObject(expected);
    }
  });
});
