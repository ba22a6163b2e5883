/** Signing with given keys, and combining several signers; with coins of the chain and coins that the caller gives. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hash160, sha256 } from '../../../../../src/crypto/hash.js';
import { regtestParams } from '../../../../../src/params/regtest.js';
import {
  emptyInput,
  formatTransaction,
  txid,
  type Transaction,
} from '../../../../../src/primitives/transaction.js';
import { combineRawTransaction } from '../../../../../src/rpc/methods/rawtransactions/combineRawTransaction.js';
import { signRawTransaction } from '../../../../../src/rpc/methods/rawtransactions/signRawTransaction.js';
import { signRawTransactionWithKey } from '../../../../../src/rpc/methods/rawtransactions/signRawTransactionWithKey.js';
import { addressPrefixesOf } from '../../../../../src/script/address.js';
import { buildClaimPrefix } from '../../../../../src/script/claimScript.js';
import { scriptForDestination, scriptForMultisig } from '../../../../../src/script/standard.js';
import { encodeSecret } from '../../../../../src/script/wif.js';
import { signingKeyOf, type SigningKey } from '../../../../../src/signing/signingProvider.js';
import { concatBytes, hashToHex, toHex, type Bytes } from '../../../../../src/util/bytes.js';
import { JsonObject, rawNumber, type JsonValue } from '../../../../../src/util/json/json.js';
import { spend, TestChain, type Answer } from '../../../../support/testChain.js';

const KEYS: SigningKey[] = ['a', 'b', 'c'].map((name) => signingKeyOf(sha256(Buffer.from(name)), true));
const WIFS = KEYS.map((key) => encodeSecret(key.privateKey, true, addressPrefixesOf(regtestParams)));
const [A, B, C] = WIFS as [string, string, string];
const multisig = scriptForMultisig(
  2,
  KEYS.map((key) => key.publicKey),
);
const p2wsh = scriptForDestination({ type: 'witness_v0_scripthash', hash: sha256(multisig) });
const p2pkh = scriptForDestination({ type: 'pubkeyhash', hash: hash160(KEYS[0]!.publicKey) });
const claim = buildClaimPrefix(Buffer.from('name'), Buffer.from('value'));

interface Signed {
  hex: string;
  complete: boolean;
  errors?: { error: string; witness: string[] }[];
}

describe('signing with given keys', () => {
  let chain: TestChain;
  let funding: Transaction;
  beforeAll(async () => {
    chain = await TestChain.open();
    await chain.mine(101);
    const block = await chain.blockAt(1);
    const outputs = [p2pkh, multisig, concatBytes(claim, p2wsh)].map((script) => ({ value: 1000n, script }));
    funding = spend([{ txid: block.parsed.txids.subarray(0, 32), n: 0 }], outputs);
    chain.pending.push(funding);
    await chain.mine(1);
  });
  afterAll(() => chain.close());

  const spending = (...numbers: number[]): string =>
    toHex(
      formatTransaction(
        spend(
          numbers.map((n) => ({ txid: txid(funding), n })),
          [{ value: 1n, script: p2pkh }],
        ),
      ),
    );
  const reported = (script: Bytes, more: readonly (readonly [string, JsonValue])[] = []): JsonObject =>
    new JsonObject([['txid', '22'.repeat(32)], ['vout', 0], ['scriptPubKey', toHex(script)], ...more]);
  const foreign = toHex(
    formatTransaction({
      version: 2,
      inputs: [emptyInput({ hash: Buffer.alloc(32, 0x22), index: 0 })],
      outputs: [],
      lockTime: 0,
    }),
  );
  const sign = (...params: JsonValue[]): Promise<Answer> => chain.call(signRawTransactionWithKey, params);
  async function signed(...params: JsonValue[]): Promise<Signed> {
    const { result, error } = await sign(...params);
    expect(error).toBeUndefined();
    return result as Signed;
  }

  it('signs inputs that spend outputs of the chain', async () => {
    const answer = await signed(spending(0, 1), WIFS);
    expect(answer).toMatchObject({ complete: true });
    expect(answer).not.toHaveProperty('errors');
    expect(await signed(answer.hex, [])).toEqual(answer);
    const missing = (await signed(spending(0), [B])).errors!;
    expect(missing).toEqual([
      {
        txid: hashToHex(txid(funding)),
        vout: 0,
        witness: [],
        scriptSig: '',
        sequence: 0xffffffff,
        error: 'Unable to sign input, invalid stack size (possibly missing key)',
      },
    ]);
    expect((await signed(foreign, WIFS)).errors![0]!.error).toBe('Input not found or already spent');
  });

  it('returns all items of a witness, whatever their number', async () => {
    const items = Array.from({ length: 3000 }, (_, n) => Buffer.of(n & 0xff));
    const hex = toHex(
      formatTransaction({
        version: 2,
        inputs: [{ ...emptyInput({ hash: Buffer.alloc(32, 0x22), index: 0 }), witness: items }],
        outputs: [],
        lockTime: 0,
      }),
    );
    expect((await signed(hex, [A])).errors![0]!.witness).toEqual(items.map(toHex));
  });

  it('combines separate signatures of two signers', async () => {
    const parts = await Promise.all([A, C].map(async (key) => signed(spending(1), [key])));
    expect(parts.map((part) => part.complete)).toEqual([false, false]);
    const combined = await chain.call(combineRawTransaction, [parts.map((part) => part.hex)]);
    expect(await signed(combined.result as string, [])).toMatchObject({ complete: true });
  });

  it('refuses to combine an empty list and invalid transactions', async () => {
    const combine = (txs: JsonValue): Promise<Answer> => chain.call(combineRawTransaction, [txs]);
    const failed = (code: number, message: string): Answer => ({ error: { code, message } });
    expect(await combine([])).toEqual(failed(-22, 'Missing transactions'));
    expect(await combine([spending(0), 'zz'])).toEqual(failed(-22, 'TX decode failed for tx 1'));
    expect(await combine([foreign])).toEqual(failed(-25, 'Input not found or already spent'));
    expect(await combine([spending(0), 5])).toEqual(failed(-1, 'JSON value is not a string as expected'));
  });

  it('signs a claim at a script hash with the given redeem script', async () => {
    const prev = new JsonObject([
      ['txid', hashToHex(txid(funding))],
      ['vout', 2],
      ['scriptPubKey', toHex(concatBytes(claim, p2wsh))],
      ['redeemScript', toHex(multisig)],
      ['amount', rawNumber('0.00001')],
    ]);
    expect(await signed(spending(2), [A, B], [prev])).toMatchObject({ complete: true });
    expect(await signed(spending(2), [A, B])).toMatchObject({ complete: false });
  });

  it('signs for the given outputs, and needs the amount of a witness output', async () => {
    const redeem = ['redeemScript', toHex(multisig)] as const;
    const amount = ['amount', rawNumber('90071992.54740993')] as const;
    expect(await signed(foreign, [A, B], [reported(p2wsh, [redeem, amount])])).toMatchObject({
      complete: true,
    });
    expect(await sign(foreign, [A, B], [reported(p2wsh, [redeem])])).toEqual({
      error: {
        code: -3,
        message: `Missing amount for CTxOut(nValue=21000000000.00000000, scriptPubKey=${toHex(p2wsh).slice(0, 30)})`,
      },
    });
    expect(await signed(foreign, [A], [reported(p2pkh)], 'NONE|ANYONECANPAY')).toMatchObject({
      complete: true,
    });
    expect(await signed(foreign, [A], [reported(p2pkh)], 'SINGLE')).toMatchObject({ complete: false });
    expect(await signed(foreign, [A], [reported(Buffer.of(0x6a))])).toMatchObject({ complete: false });
  });

  it('refuses invalid parameters', async () => {
    const hash = reported(p2pkh).get('scriptPubKey')!;
    const cases: [JsonValue[], number, string][] = [
      [['zz', []], -22, 'TX decode failed'],
      [[null, []], -1, 'JSON value is not a string as expected'],
      [[foreign, ['x']], -5, 'Invalid private key'],
      [[foreign, [5]], -1, 'JSON value is not a string as expected'],
      [[foreign, [], [5]], -22, 'expected object with {"txid\'","vout","scriptPubKey"}'],
      [[foreign, [], [new JsonObject()]], -3, 'Missing scriptPubKey'],
      [
        [foreign, [], [new JsonObject([['scriptPubKey', 5]])]],
        -3,
        'Expected type string for scriptPubKey, got number',
      ],
      [[foreign, [], [new JsonObject([['scriptPubKey', hash]])]], -3, 'Missing txid'],
      [[foreign, [], [reported(p2wsh)]], -3, 'Missing redeemScript'],
      [[foreign, [], [reported(p2pkh, [['amount', -1]])]], -3, 'Amount out of range'],
      [[foreign, [], [], 'all'], -1, 'all is not a valid sighash parameter.'],
      [[foreign, [], 'x'], -3, 'Expected type array, got string'],
    ];
    for (const [params, code, message] of cases) {
      expect(await sign(...params)).toEqual({ error: { code, message } });
    }
    const other = new JsonObject([
      ['txid', hashToHex(txid(funding))],
      ['vout', 1],
      ['scriptPubKey', '51'],
    ]);
    const { error } = await sign(spending(1), [], [other]);
    expect(error).toMatchObject({ code: -22 });
    expect(error!.message).toMatch(/^Previous output scriptPubKey mismatch:\n2 .* OP_CHECKMULTISIG\nvs:\n1$/);
  });

  it('accepts the old method if it is enabled', async () => {
    const context = {
      ...chain.context(),
      isDeprecatedEnabled: (name: string) => name === 'signrawtransaction',
    };
    const old = (...params: JsonValue[]): Promise<Answer> => chain.call(signRawTransaction, params, context);
    expect(await old(spending(0), null, [A])).toEqual(await sign(spending(0), [A]));
    expect(await old(spending(0))).toEqual({ error: { code: -8, message: 'No private keys available.' } });
    // Missing keys are reported before the transaction is parsed.
    const noKeys = { error: { code: -8, message: 'No private keys available.' } };
    expect(await old(null)).toMatchObject(noKeys);
    expect(await old(null, null, null)).toMatchObject(noKeys);
    expect(await old(null, null, [])).toMatchObject({
      error: { code: -1, message: 'JSON value is not a string as expected' },
    });
    expect((await chain.call(signRawTransaction, [spending(0)])).error!.code).toBe(-32);
  });
});
