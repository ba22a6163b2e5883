/** Functions of `lbcnode/client` that build and parse claims and transactions offline. */
import { describe, expect, it } from 'vitest';
import { hash160, sha256 } from '../../../src/crypto/hash.js';
import { networkPrefixes } from '../../../src/client/claimOutputs.js';
import {
  abandonTransaction,
  addressOfScript,
  buildTransaction,
  claimIdOf,
  claimOperationOf,
  claimOutput,
  coinsOf,
  paymentOutput,
  satoshisOf,
  scriptForAddress,
  signTransaction,
  supportOutput,
  transactionId,
  updateOutput,
  virtualSizeOf,
  type NetworkName,
  type OutputDraft,
} from '../../../src/client/index.js';
import { encodeDestination } from '../../../src/script/address.js';
import { scriptForMultisig } from '../../../src/script/standard.js';
import { encodeSecret } from '../../../src/script/wif.js';
import { signingKeyOf } from '../../../src/signing/signingProvider.js';
import { toHex } from '../../../src/util/bytes.js';

const network: NetworkName = 'regtest';
const KEY = signingKeyOf(sha256(Buffer.from('a')), true);
const WIF = encodeSecret(KEY.privateKey, true, networkPrefixes(network));
const hash = hash160(KEY.publicKey);
const address = encodeDestination({ type: 'pubkeyhash', hash }, networkPrefixes(network));
const segwit = encodeDestination({ type: 'witness_v0_keyhash', hash }, networkPrefixes(network));
const CLAIM_ID = '0123456789abcdef0123456789abcdef01234567';
const TXID = '11'.repeat(32);
const common = { network, address, amountSat: 100n };

describe('outputs', () => {
  it('pay to addresses', () => {
    expect(toHex(scriptForAddress(address, network))).toBe(`76a914${toHex(hash)}88ac`);
    expect(toHex(scriptForAddress(segwit, network))).toBe(`0014${toHex(hash)}`);
    expect(() => scriptForAddress(address, 'main')).toThrow('not a valid address of network main');
    expect(paymentOutput(common)).toEqual({ value: 100n, script: scriptForAddress(address, network) });
  });

  it('create, update and support claims', () => {
    const claim = claimOutput({ ...common, name: 'ñ', value: Buffer.of(1, 2) });
    expect(toHex(claim.script)).toBe(`b502c3b10201026d7576a914${toHex(hash)}88ac`);
    expect(claimOperationOf(claim.script)).toEqual({
      kind: 'claim',
      name: Buffer.from('ñ'),
      claimId: null,
      value: Buffer.of(1, 2),
    });
    const update = updateOutput({ ...common, name: 'n', value: 'v', claimId: CLAIM_ID });
    expect(claimOperationOf(update.script)).toMatchObject({ kind: 'update', claimId: CLAIM_ID });
    const support = supportOutput({ ...common, name: 'n', claimId: CLAIM_ID });
    expect(claimOperationOf(support.script)).toMatchObject({ kind: 'support', value: null });
    const noted = supportOutput({ ...common, name: 'n', claimId: CLAIM_ID, value: 'v' });
    expect(claimOperationOf(noted.script)).toMatchObject({ kind: 'support', value: Buffer.from('v') });
    for (const { script } of [claim, update, support, noted]) {
      expect(addressOfScript(script, network)).toBe(address);
    }
    expect(claimOperationOf(scriptForAddress(address, network))).toBeNull();
    expect(addressOfScript(Buffer.of(0x51), network)).toBeNull();
  });

  it('refuse scripts that no node accepts', () => {
    const name = 'x'.repeat(256);
    expect(() => claimOutput({ ...common, name, value: '' })).toThrow('the name has 256 bytes');
    expect(() => claimOutput({ ...common, name: '', value: Buffer.alloc(8186) })).toThrow(
      'the claim script has',
    );
    expect(claimOutput({ ...common, name: '', value: Buffer.alloc(8185) }).script.length).toBeGreaterThan(
      8184,
    );
    expect(() => paymentOutput({ ...common, amountSat: -1n })).toThrow('an amount out of range');
    expect(() => supportOutput({ ...common, name: '', claimId: '00' })).toThrow(
      'claim id is not 40 hex digits',
    );
  });

  it('parse claim ids and amounts', () => {
    expect(claimIdOf(TXID, 0)).not.toBe(claimIdOf(TXID, 1));
    const id = hash160(Buffer.concat([Buffer.alloc(32, 0x11), Buffer.of(0, 0, 1, 0)]));
    expect(claimIdOf(TXID, 256)).toBe(toHex(Buffer.from(id).reverse()));
    expect(satoshisOf('90071992.54740993')).toBe(9007199254740993n);
    expect(coinsOf(9007199254740993n)).toBe('90071992.54740993');
    expect(() => satoshisOf('0.000000001')).toThrow('not a valid amount');
  });
});

describe('transactions', () => {
  const spent = [
    { txid: TXID, vout: 0, amountSat: 1000n, script: scriptForAddress(segwit, network) },
    {
      txid: TXID,
      vout: 1,
      amountSat: 2000n,
      script: claimOutput({ ...common, name: 'n', value: 'v' }).script,
    },
  ];
  const outputs: OutputDraft[] = [updateOutput({ ...common, name: 'n', value: 'w', claimId: CLAIM_ID })];

  it('are built and signed', () => {
    const hex = buildTransaction({ inputs: spent, outputs });
    expect(signTransaction({ network, hex, spent, privateKeys: [] }).problems.length).toBe(2);
    const signed = signTransaction({ network, hex, spent, privateKeys: [WIF] });
    expect(signed).toMatchObject({ complete: true, problems: [] });
    expect(signTransaction({ network, hex: signed.hex, spent, privateKeys: [] })).toEqual(signed);
    expect(transactionId(signed.hex)).not.toBe(transactionId(hex));
    expect(virtualSizeOf(signed.hex)).toBeLessThan(signed.hex.length / 2);
    const half = signTransaction({ network, hex, spent: spent.slice(1), privateKeys: [WIF] });
    expect(half.problems).toEqual([{ input: 0, problem: 'the spent output is missing in the arguments' }]);
  });

  it('are signed for script hashes with claims', () => {
    const redeemScript = scriptForMultisig(1, [KEY.publicKey]);
    for (const destination of [
      { type: 'scripthash', hash: hash160(redeemScript) },
      { type: 'witness_v0_scripthash', hash: sha256(redeemScript) },
    ] as const) {
      const to = encodeDestination(destination, networkPrefixes(network));
      const { script } = claimOutput({ ...common, address: to, name: 'n', value: 'v' });
      const output = { txid: TXID, vout: 5, amountSat: 7n, script, redeemScript };
      const hex = buildTransaction({ inputs: [output], outputs });
      const request = { network, hex, spent: [output], privateKeys: [WIF], sighashType: 'ALL|ANYONECANPAY' };
      expect(signTransaction(request)).toMatchObject({ complete: true });
    }
  });

  it('abandon claims', () => {
    const output = { txid: TXID, vout: 1, amountSat: 2000n };
    const hex = abandonTransaction({ network, output, address, feeSat: 300n });
    expect(hex).toBe(
      buildTransaction({ inputs: [output], outputs: [paymentOutput({ ...common, amountSat: 1700n })] }),
    );
    expect(() => abandonTransaction({ network, output, address, feeSat: 2000n })).toThrow('leaves nothing');
  });

  it('have sequence numbers that fit', () => {
    const sequenceOf = (more: object): string =>
      buildTransaction({ inputs: [{ txid: TXID, vout: 0 }], outputs: [], ...more }).slice(84, 92);
    expect(sequenceOf({})).toBe('ffffffff');
    expect(sequenceOf({ lockTime: 5 })).toBe('feffffff');
    expect(sequenceOf({ replaceable: true })).toBe('fdffffff');
    expect(() => sequenceOf({ lockTime: -1 })).toThrow(RangeError);
  });

  it('are refused if invalid', () => {
    const request = { network, spent: [], privateKeys: [] };
    expect(() => signTransaction({ ...request, hex: 'zz' })).toThrow('not hex');
    expect(() => signTransaction({ ...request, hex: '00' })).toThrow('not a valid transaction');
    expect(() => signTransaction({ ...request, hex: '', privateKeys: ['x'] })).toThrow(RangeError);
    expect(() => signTransaction({ ...request, hex: '', sighashType: 'x' })).toThrow('hash type');
    expect(() => buildTransaction({ inputs: [{ txid: 'aa', vout: 0 }], outputs: [] })).toThrow(
      'txid is not 64',
    );
  });
});
