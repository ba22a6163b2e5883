/** `createmultisig`, `signmessagewithprivkey` and `verifymessage`. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMultisig } from '../../../../../src/rpc/methods/util/createMultisig.js';
import { signMessageWithPrivKey } from '../../../../../src/rpc/methods/util/signMessageWithPrivKey.js';
import { verifyMessage } from '../../../../../src/rpc/methods/util/verifyMessage.js';
import type { JsonValue } from '../../../../../src/util/json/json.js';
import { ADDRESS, TestChain, type Answer } from '../../../../support/testChain.js';

const KEY = '0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798';
const OTHER = '02c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5';
const LONG =
  '0479be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8';
/** The private key 1, and the address of its public key `KEY`. */
const WIF = 'cMahea7zqjxrtgAbB7LSGbcQUr1uX1ojuat9jZodMN87JcbXMTcA';
const KEY_ADDRESS = 'mrCDrCybB6J1vRfbwM5hemdJz73FwDBC8r';

describe('methods with keys', () => {
  let chain: TestChain;
  beforeAll(async () => {
    chain = await TestChain.open();
  });
  afterAll(() => chain.close());
  const multisig = (...params: JsonValue[]): Promise<Answer> => chain.call(createMultisig, params);
  const failed = (code: number, message: string): Answer => ({ error: { code, message } });

  it('create addresses of several keys', async () => {
    const redeemScript = `5121${KEY}21${OTHER}52ae`;
    const addresses = new Set<string>();
    for (const type of [undefined, 'legacy', 'p2sh-segwit', 'bech32']) {
      const { result } = await multisig(1, [KEY, OTHER], ...(type === undefined ? [] : [type]));
      expect(result).toMatchObject({ redeemScript });
      addresses.add((result as { address: string }).address);
    }
    expect(addresses.size).toBe(3);
    // A witness cannot contain an uncompressed key.
    expect((await multisig(1, [LONG], 'bech32')).result).toEqual((await multisig(1, [LONG])).result);
  });

  it('refuse invalid keys and numbers', async () => {
    const invalid = `Invalid public key: zz\nNote that from v0.16, createmultisig no longer accepts addresses. Users must use addmultisigaddress to create multisig addresses with addresses known to the wallet.`;
    expect(await multisig(1, ['zz'])).toEqual(failed(-5, invalid));
    expect(await multisig(1, ['zz'], 5)).toEqual(failed(-5, invalid));
    const off = `02${'ff'.repeat(32)}`;
    expect(await multisig(1, [off])).toEqual(failed(-5, `Invalid public key: ${off}`));
    expect(await multisig(0, [])).toEqual(
      failed(-8, 'a multisignature address must require at least one key to redeem'),
    );
    expect(await multisig(2, [KEY])).toEqual(
      failed(-8, 'not enough keys supplied (got 1 keys, but need at least 2 to redeem)'),
    );
    expect(
      await multisig(
        1,
        Array.from({ length: 17 }, () => KEY),
      ),
    ).toEqual(
      failed(-8, 'Number of keys involved in the multisignature address creation > 16\nReduce the number'),
    );
    expect(await multisig(1, [KEY], 'foo')).toEqual(failed(-5, "Unknown address type 'foo'"));
    expect(await multisig(1, [KEY], 5)).toEqual(failed(-1, 'JSON value is not a string as expected'));
  });

  it('sign and verify messages', async () => {
    const verify = (...params: string[]): Promise<Answer> => chain.call(verifyMessage, params);
    const { result } = await chain.call(signMessageWithPrivKey, [WIF, 'my message']);
    const signature = result as string;
    expect(await verify(KEY_ADDRESS, signature, 'my message')).toEqual({ result: true });
    expect(await verify(KEY_ADDRESS, signature, 'other')).toEqual({ result: false });
    expect(await verify(ADDRESS, signature, 'my message')).toEqual({ result: false });
    expect(await verify(KEY_ADDRESS, '', 'my message')).toEqual({ result: false });
    expect(await verify('foo', signature, '')).toEqual(failed(-3, 'Invalid address'));
    expect(await verify('2N2hprXZBLaHMseLgR7zdBWg14FNCxM6UzZ', signature, '')).toEqual(
      failed(-3, 'Address does not refer to key'),
    );
    expect(await verify(KEY_ADDRESS, 'x', '')).toEqual(failed(-5, 'Malformed base64 encoding'));
    expect(await chain.call(signMessageWithPrivKey, ['x', ''])).toEqual(failed(-5, 'Invalid private key'));
  });
});
