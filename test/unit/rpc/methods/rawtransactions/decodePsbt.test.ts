/** `decodepsbt`: every field that a PSBT can hold, in the reference's order. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { emptyInput, txid, type Transaction } from '../../../../../src/primitives/transaction.js';
import { decodePsbt } from '../../../../../src/rpc/methods/rawtransactions/decodePsbt.js';
import { buildClaimPrefix } from '../../../../../src/script/claimScript.js';
import { ownMap, type Psbt } from '../../../../../src/signing/psbt.js';
import { formatPsbt } from '../../../../../src/signing/psbtCodec.js';
import { createPsbt } from '../../../../../src/signing/psbtRoles.js';
import { keyIdOf } from '../../../../../src/signing/signatureData.js';
import { concatBytes, fromHex, toLatin1 } from '../../../../../src/util/bytes.js';
import { ADDRESS, ADDRESS_SCRIPT, TestChain, type Answer } from '../../../../support/testChain.js';

const KEY_HEX = '0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798';
const KEY = fromHex(KEY_HEX);
const FUNDING: Transaction = {
  version: 1,
  inputs: [emptyInput({ hash: Buffer.alloc(32, 1), index: 0 })],
  outputs: [{ value: 90_071_992_547_409_93n, script: ADDRESS_SCRIPT }],
  lockTime: 0,
};

function sample(): Psbt {
  return createPsbt({
    version: 2,
    inputs: [
      emptyInput({ hash: txid(FUNDING), index: 0 }),
      emptyInput({ hash: Buffer.alloc(32, 2), index: 1 }),
    ],
    outputs: [{ value: 1n, script: ADDRESS_SCRIPT }],
    lockTime: 0,
  });
}

describe('decodepsbt', () => {
  let chain: TestChain;
  beforeAll(async () => {
    chain = await TestChain.open();
  });
  afterAll(() => chain.close());
  const decode = (psbt: Psbt): Promise<Answer> =>
    chain.call(decodePsbt, [formatPsbt(psbt).toString('base64')]);

  it('returns every field', async () => {
    const psbt = sample();
    const [first, second] = psbt.inputs as [Psbt['inputs'][0], Psbt['inputs'][0]];
    first.nonWitnessUtxo = FUNDING;
    ownMap(first, 'partialSignatures').set(keyIdOf(KEY), { publicKey: KEY, signature: Buffer.of(1, 2) });
    first.sighashType = 0x81;
    first.redeemScript = Buffer.of(0x51);
    ownMap(first, 'keyPaths').set(toLatin1(KEY), [0x04030201, 0x80000000, 7]);
    const claim = buildClaimPrefix(Buffer.from('name'), Buffer.from('value'));
    second.witnessUtxo = { value: 5n, script: concatBytes(claim, ADDRESS_SCRIPT) };
    second.witnessScript = Buffer.of(0x52);
    ownMap(second, 'unknown').set(toLatin1(Buffer.of(0x10)), Buffer.of(1));
    ownMap(second, 'unknown').set(toLatin1(Buffer.of(0x09)), Buffer.of());
    psbt.outputs[0]!.redeemScript = Buffer.of(0x53);
    ownMap(psbt, 'unknown').set(toLatin1(Buffer.of(0xfe)), Buffer.of(0xaa));
    const { result } = await decode(psbt);
    expect(result).toMatchObject({
      unknown: { fe: 'aa' },
      inputs: [
        {
          non_witness_utxo: { vout: [{ value: 90071992.54740993 }] },
          partial_signatures: { [KEY_HEX]: '0102' },
          sighash: 'ALL|ANYONECANPAY',
          redeem_script: { asm: '1', hex: '51', type: 'nonstandard' },
          bip32_derivs: [{ pubkey: KEY_HEX, master_fingerprint: '01020304', path: "m/0'/7" }],
        },
        {
          witness_utxo: {
            amount: 5e-8,
            scriptPubKey: { isclaim: true, issupport: false, subtype: 'pubkeyhash', address: ADDRESS },
          },
          witness_script: { asm: '2' },
          unknown: { '09': '', '10': '01' },
        },
      ],
      outputs: [{ redeem_script: { asm: '3' } }],
      fee: 90071992.54740997,
    });
  });

  it('returns final inputs, and no fee while a spent output is missing', async () => {
    const psbt = sample();
    psbt.inputs[0]!.nonWitnessUtxo = FUNDING;
    psbt.inputs[0]!.finalScriptSig = Buffer.of(0x51);
    ownMap(psbt.inputs[0]!, 'partialSignatures').set(keyIdOf(KEY), {
      publicKey: KEY,
      signature: Buffer.of(1),
    });
    const { result } = await decode(psbt);
    expect(result).toMatchObject({ inputs: [{ final_scriptSig: { asm: '1', hex: '51' } }, {}] });
    expect(result).not.toHaveProperty('fee');
    expect(result).not.toHaveProperty('inputs[0].partial_signatures');
    psbt.inputs[1]!.witnessUtxo = { value: 1n, script: ADDRESS_SCRIPT };
    psbt.inputs[1]!.finalScriptWitness = [Buffer.of(), Buffer.of(1)];
    expect((await decode(psbt)).result).toMatchObject({
      inputs: [{}, { final_scriptwitness: ['', '01'] }],
      fee: 90071992.54740993,
    });
  });

  it('fails for a key without a path as the reference does, and not for an unknown output', async () => {
    const psbt = sample();
    ownMap(psbt.outputs[0]!, 'keyPaths').set(toLatin1(KEY), []);
    expect(await decode(psbt)).toMatchObject({ error: { code: -1 } });
    const other = sample();
    other.tx.inputs[0]!.prevout = { hash: txid(FUNDING), index: 9 };
    other.tx.inputs.pop();
    other.inputs.pop();
    other.inputs[0]!.nonWitnessUtxo = FUNDING;
    expect((await decode(other)).result).not.toHaveProperty('fee');
  });
});
