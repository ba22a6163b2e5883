/** Making transactions from parameters: as hex, as PSBT, from hex to PSBT. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { combinePsbt } from '../../../../../src/rpc/methods/rawtransactions/combinePsbt.js';
import { convertToPsbt } from '../../../../../src/rpc/methods/rawtransactions/convertToPsbt.js';
import { createPsbt } from '../../../../../src/rpc/methods/rawtransactions/createPsbt.js';
import { createRawTransaction } from '../../../../../src/rpc/methods/rawtransactions/createRawTransaction.js';
import { decodePsbt } from '../../../../../src/rpc/methods/rawtransactions/decodePsbt.js';
import { decodeRawTransaction } from '../../../../../src/rpc/methods/rawtransactions/decodeRawTransaction.js';
import { finalizePsbt } from '../../../../../src/rpc/methods/rawtransactions/finalizePsbt.js';
import type { RpcMethod } from '../../../../../src/rpc/declare/method.js';
import { regtestParams } from '../../../../../src/params/regtest.js';
import { addressPrefixesOf, encodeDestination } from '../../../../../src/script/address.js';
import { parseJson } from '../../../../../src/util/json/jsonParse.js';
import type { JsonValue } from '../../../../../src/util/json/json.js';
import { ADDRESS, TestChain, type Answer } from '../../../../support/testChain.js';

const prefixes = addressPrefixesOf(regtestParams);
const ID = '11'.repeat(32);
const INPUT = `{"txid":"${ID}","vout":3}`;

describe('creating a transaction', () => {
  let chain: TestChain;
  beforeAll(async () => {
    chain = await TestChain.open();
  });
  afterAll(() => chain.close());

  /** Calls with parameters as JSON text, so that numbers keep their digits. */
  const call = (method: RpcMethod, params: string): Promise<Answer> =>
    chain.call(method, parseJson(params) as JsonValue[]);
  const create = (params: string): Promise<Answer> => call(createRawTransaction, params);
  async function made(params: string): Promise<{
    locktime: number;
    vin: { sequence: number }[];
    vout: { value: number; scriptPubKey: { hex: string } }[];
  }> {
    const { result, error } = await create(params);
    expect(error).toBeUndefined();
    return (await call(decodeRawTransaction, JSON.stringify([result]))).result as never;
  }

  it('accepts outputs with addresses and data, as a list or an object', async () => {
    const list = await create(`[[${INPUT}],[{"${ADDRESS}":0.5},{"data":"0102"}]]`);
    expect(list.result).toBe(
      `0200000001${ID}0300000000ffffffff0280f0fa02000000001976a914${'00'.repeat(20)}88ac` +
        `0000000000000000046a02010200000000`,
    );
    expect(await create(`[[${INPUT}],{"${ADDRESS}":"0.5","data":"0102"}]`)).toEqual(list);
    expect((await create('[[],[]]')).result).toBe('02000000000000000000');
  });

  it('creates thousands of outputs in time proportional to their number', async () => {
    const addresses = Array.from({ length: 20_000 }, (_, n) => {
      const hash = Buffer.alloc(20);
      hash.writeUInt32BE(n);
      return encodeDestination({ type: 'pubkeyhash', hash }, prefixes);
    });
    // A search through all outputs for each output would take 400 million comparisons.
    const expected = addresses.map((_, n) => n.toString(16).padStart(8, '0')).join();
    for (const outputs of [
      `[${addresses.map((address) => `{"${address}":1}`).join()}]`,
      `{${addresses.map((address) => `"${address}":1`).join()}}`,
    ]) {
      const { result } = await create(`[[],${outputs}]`);
      const hashes = [...String(result).matchAll(/1976a914([0-9a-f]{8})0{32}88ac/g)].map((match) => match[1]);
      expect(hashes.join() === expected).toBe(true);
      expect(await create(`[[],${outputs.replace(addresses[1]!, addresses[0]!)}]`)).toEqual({
        error: { code: -8, message: `Invalid parameter, duplicated address: ${addresses[0]!}` },
      });
    }
    expect(await create('[[],[{"data":"00"},{"data":"zz"}]]')).toEqual({
      error: { code: -8, message: 'Invalid parameter, duplicate key: data' },
    });
    expect(await create('[[],[{"data":"00","x":1}]]')).toEqual({
      error: { code: -8, message: 'Invalid parameter, key-value pair must contain exactly one key' },
    });
  });

  it('does not round amounts', async () => {
    const { result } = await create(`[[],{"${ADDRESS}":90071992.54740993}]`);
    expect(result).toContain('0100000000002000');
    expect((await create(`[[],{"${ADDRESS}":9999999999.99999999}]`)).result).toContain('ffff63a7b3b6e00d');
  });

  it('sets sequence numbers', async () => {
    const sequences = async (rest: string, input = INPUT): Promise<number[]> =>
      (await made(`[[${input}],[]${rest}]`)).vin.map((one) => one.sequence);
    expect(await sequences('')).toEqual([0xffffffff]);
    expect(await sequences(',7')).toEqual([0xfffffffe]);
    expect(await sequences(',0,true')).toEqual([0xfffffffd]);
    expect(await sequences(',null,null', `{"txid":"${ID}","vout":0,"sequence":5}`)).toEqual([5]);
    expect((await made(`[[${INPUT}],[],4294967295]`)).locktime).toBe(4294967295);
  });

  it.each([
    ['[null,[]]', -8, 'Invalid parameter, arguments 1 and 2 must be non-null'],
    ['[[],null]', -8, 'Invalid parameter, arguments 1 and 2 must be non-null'],
    ['["x",[]]', -3, 'Expected type array, got string'],
    ['[[],5]', -1, 'JSON value is not an array as expected'],
    ['[[],[],"1"]', -3, 'Expected type number, got string'],
    ['[[],[],-1]', -8, 'Invalid parameter, locktime out of range'],
    ['[[],[],4294967296]', -8, 'Invalid parameter, locktime out of range'],
    ['[[],5,1.5]', -1, 'JSON value is not an array as expected'],
    ['[[],[],0,1]', -3, 'Expected type bool, got number'],
    ['[[5],[]]', -1, 'JSON value is not an object as expected'],
    ['[[{}],[]]', -8, "txid must be hexadecimal string (not '')"],
    ['[[{"txid":"aa"}],[]]', -8, 'txid must be of length 64 (not 2)'],
    [`[[{"txid":"${ID}"}],[]]`, -8, 'Invalid parameter, missing vout key'],
    [`[[{"txid":"${ID}","vout":-1}],[]]`, -8, 'Invalid parameter, vout must be positive'],
    [`[[{"txid":"${ID}","vout":4294967295}],[]]`, -1, 'JSON integer out of range'],
    [
      `[[{"txid":"${ID}","vout":0,"sequence":-1}],[]]`,
      -8,
      'Invalid parameter, sequence number is out of range',
    ],
    [
      `[[{"txid":"${ID}","vout":0,"sequence":5}],[],0,false]`,
      -8,
      'Invalid parameter combination: Sequence number(s) contradict replaceable option',
    ],
    ['[[],[5]]', -8, 'Invalid parameter, key-value pair not an object as expected'],
    ['[[],[{}]]', -8, 'Invalid parameter, key-value pair must contain exactly one key'],
    ['[[],[{"foo":1}]]', -5, 'Invalid LBRY address: foo'],
    [`[[],{"${ADDRESS}":1,"${ADDRESS}":2}]`, -8, `Invalid parameter, duplicated address: ${ADDRESS}`],
    ['[[],[{"data":"00"},{"data":"01"}]]', -8, 'Invalid parameter, duplicate key: data'],
    ['[[],{"data":"0"}]', -8, "Data must be hexadecimal string (not '0')"],
    ['[[],{"data":true}]', -8, "Data must be hexadecimal string (not '1')"],
    [`[[],{"${ADDRESS}":-1}]`, -3, 'Amount out of range'],
    [`[[],{"${ADDRESS}":0.000000001}]`, -3, 'Invalid amount'],
    [`[[],{"${ADDRESS}":null}]`, -3, 'Amount is not a number or string'],
  ])('refuses %s', async (params, code, message) => {
    expect(await create(params)).toEqual({ error: { code, message } });
    expect(await call(createPsbt, params)).toEqual({ error: { code, message } });
  });

  it('creates PSBTs from parameters and from hex', async () => {
    const params = `[[${INPUT}],[{"data":"0102"}]]`;
    const hex = (await create(params)).result as string;
    const psbt = (await call(createPsbt, params)).result as string;
    expect(await call(convertToPsbt, `["${hex}"]`)).toEqual({ result: psbt });
    const decoded = (await call(decodePsbt, `["${psbt}"]`)).result;
    expect(decoded).toMatchObject({ tx: { vin: [{ vout: 3 }] }, unknown: {}, inputs: [{}], outputs: [{}] });
    expect(decoded).not.toHaveProperty('fee');
    expect(await call(finalizePsbt, `["${psbt}"]`)).toEqual({ result: { psbt, complete: false } });
    expect(await call(combinePsbt, `[["${psbt}","${psbt}"]]`)).toEqual({ result: psbt });
    // A transaction without inputs is complete without signatures.
    const none = (await call(createPsbt, '[[],[]]')).result as string;
    expect(await call(finalizePsbt, `["${none}"]`)).toEqual({
      result: { hex: '02000000000000000000', complete: true },
    });
    expect(await call(finalizePsbt, `["${none}",false]`)).toEqual({ result: { psbt: none, complete: true } });
  });

  it('removes signatures if the caller permits it', async () => {
    const signed = `0200000001${ID}03000000025152ffffffff0000000000`;
    const unsigned = `0200000001${ID}0300000000ffffffff0000000000`;
    const failed = { error: { code: -22, message: 'Inputs must not have scriptSigs and scriptWitnesses' } };
    expect(await call(convertToPsbt, `["${signed}"]`)).toEqual(failed);
    expect(await call(convertToPsbt, `["${signed}",true]`)).toEqual(
      await call(convertToPsbt, `["${unsigned}"]`),
    );
    const undecoded = { error: { code: -22, message: 'TX decode failed' } };
    const witness = `020000000001${signed.slice(8, -8)}0101aa00000000`;
    expect(await call(convertToPsbt, `["${witness}",true]`)).toHaveProperty('result');
    expect(await call(convertToPsbt, `["${witness}",true,false]`)).toEqual(undecoded);
    expect(await call(convertToPsbt, `["${witness}"]`)).toEqual(undecoded);
    expect(await call(convertToPsbt, '["zz"]')).toEqual(undecoded);
  });

  it('refuses invalid PSBTs, and PSBTs of different transactions', async () => {
    const failed = (what: string): Answer => ({ error: { code: -22, message: `TX decode failed ${what}` } });
    expect(await call(decodePsbt, '["cHNidP8="]')).toEqual(
      failed('Separator is missing at the end of the global map: iostream error'),
    );
    expect(await call(finalizePsbt, '["****"]')).toEqual(
      failed('CDataStream::read(): end of data: iostream error'),
    );
    const [one, two] = await Promise.all(
      ['[[],[]]', '[[],[],1]'].map(async (params) => (await call(createPsbt, params)).result as string),
    );
    const longer = Buffer.concat([Buffer.from(one!, 'base64'), Buffer.of(0)]).toString('base64');
    expect(await call(decodePsbt, `["${longer}"]`)).toEqual(failed('extra data after PSBT'));
    expect(await call(combinePsbt, `[["${one}","${two}"]]`)).toEqual({
      error: { code: -8, message: 'PSBTs do not refer to the same transactions.' },
    });
    expect(await call(combinePsbt, '[[]]')).toEqual({
      error: { code: -8, message: "Parameter 'txs' cannot be empty" },
    });
  });
});
