import { describe, expect, it } from 'vitest';
import { enforcesBip30 } from '../../../src/consensus/bip30.js';
import { checkTxInputs, type SpentCoin } from '../../../src/consensus/checkTxInputs.js';
import { COIN, MAX_MONEY } from '../../../src/consensus/limits.js';
import { blockScriptFlags } from '../../../src/consensus/scriptFlags.js';
import { legacySigopCount, transactionSigopCost } from '../../../src/consensus/sigopCost.js';
import { mainParams } from '../../../src/params/main.js';
import { regtestParams, regtestWith } from '../../../src/params/regtest.js';
import { testParams } from '../../../src/params/test.js';
import { SCRIPT_VERIFY } from '../../../src/script/flags.js';
import { concatBytes, fromHex } from '../../../src/util/bytes.js';
import { coinbaseWith, outputOf, spending } from './support/transactions.js';

const coin = (value: bigint, changes: Partial<SpentCoin> = {}): SpentCoin => ({
  value,
  height: 10,
  isCoinbase: false,
  ...changes,
});
const paying = (value: bigint) => ({ outputs: [{ value }] });

describe('checkTxInputs', () => {
  it('returns the fee', () => {
    expect(checkTxInputs(paying(3n), [coin(2n), coin(5n)], 11)).toEqual({ error: null, feeSat: 4n });
    expect(checkTxInputs(paying(7n), [coin(7n)], 11)).toEqual({ error: null, feeSat: 0n });
  });

  it('requires all inputs, before other checks', () => {
    expect(checkTxInputs(paying(9n), [coin(MAX_MONEY + 1n), null], 11).error).toMatchObject({
      reason: 'bad-txns-inputs-missingorspent',
      result: 'missing-inputs',
      dosScore: 100,
      debug: 'CheckTxInputs: inputs missing/spent',
    });
  });

  it('requires a depth of a hundred for coinbases', () => {
    const young = coin(5n, { isCoinbase: true, height: 50 });
    expect(checkTxInputs(paying(1n), [young], 149).error).toMatchObject({
      reason: 'bad-txns-premature-spend-of-coinbase',
      dosScore: 0,
      debug: 'tried to spend coinbase at depth 99',
    });
    expect(checkTxInputs(paying(1n), [young], 150).error).toBeNull();
    expect(checkTxInputs(paying(1n), [coin(5n, { height: 149 })], 149).error).toBeNull();
  });

  it('requires amounts in range, one by one and summed', () => {
    expect(checkTxInputs(paying(1n), [coin(MAX_MONEY + 1n)], 11).error?.reason).toBe(
      'bad-txns-inputvalues-outofrange',
    );
    expect(checkTxInputs(paying(1n), [coin(-1n)], 11).error?.reason).toBe('bad-txns-inputvalues-outofrange');
    const half = coin(MAX_MONEY / 2n + 1n);
    expect(checkTxInputs(paying(1n), [half, half], 11).error?.reason).toBe('bad-txns-inputvalues-outofrange');
  });

  it('requires outputs not above the inputs', () => {
    expect(checkTxInputs(paying(COIN), [coin(COIN / 2n)], 11).error).toMatchObject({
      reason: 'bad-txns-in-belowout',
      dosScore: 100,
      debug: 'value in (0.50) < value out (1.00)',
    });
  });
});

describe('enforcesBip30', () => {
  const other = new Uint8Array(32);

  it('is off on main between block 2 and 1,983,701', () => {
    const { bip34Hash } = mainParams;
    expect(enforcesBip30(0, null, mainParams)).toBe(false);
    expect(enforcesBip30(1, null, mainParams)).toBe(true);
    expect(enforcesBip30(2, bip34Hash, mainParams)).toBe(false);
    expect(enforcesBip30(1_983_701, bip34Hash, mainParams)).toBe(false);
    expect(enforcesBip30(1_983_702, bip34Hash, mainParams)).toBe(true);
    expect(enforcesBip30(2, other, mainParams)).toBe(true);
  });

  it('is always on on regtest, and on test off only after a block that does not exist', () => {
    expect(enforcesBip30(5000, other, regtestParams)).toBe(true);
    expect(enforcesBip30(30_000, other, testParams)).toBe(true);
  });
});

describe('blockScriptFlags', () => {
  const base = { height: 0, blockHash: null, csvActive: false, segwitActive: false };
  const { P2SH, WITNESS, DERSIG, CHECKLOCKTIMEVERIFY, CHECKSEQUENCEVERIFY, NULLDUMMY } = SCRIPT_VERIFY;

  it('has P2SH and WITNESS from genesis', () => {
    for (const params of [mainParams, testParams, regtestParams]) {
      expect(blockScriptFlags({ ...base, blockHash: params.genesisHash }, params)).toBe(P2SH | WITNESS);
    }
  });

  it.each([
    [mainParams, 199_999, 0],
    [mainParams, 200_000, DERSIG | CHECKLOCKTIMEVERIFY],
    [testParams, 1_199_999, 0],
    [testParams, 1_200_000, DERSIG | CHECKLOCKTIMEVERIFY],
    [regtestParams, 1250, 0],
    [regtestParams, 1251, DERSIG],
    [regtestParams, 1350, DERSIG],
    [regtestParams, 1351, DERSIG | CHECKLOCKTIMEVERIFY],
  ])('$name at %i', (params, height, more) => {
    expect(blockScriptFlags({ ...base, height }, params)).toBe(P2SH | WITNESS | more);
  });

  it('follows the deployments', () => {
    expect(blockScriptFlags({ ...base, csvActive: true }, mainParams)).toBe(
      P2SH | WITNESS | CHECKSEQUENCEVERIFY,
    );
    expect(blockScriptFlags({ ...base, segwitActive: true }, mainParams)).toBe(P2SH | WITNESS | NULLDUMMY);
    const without = regtestWith({ vbParams: ['segwit:0:0'] });
    expect(blockScriptFlags(base, without)).toBe(P2SH);
  });

  it('has neither for the excepted block', () => {
    expect(blockScriptFlags({ ...base, blockHash: mainParams.bip16Exception }, mainParams)).toBe(0);
  });
});

describe('transactionSigopCost', () => {
  const keyHash = new Uint8Array(20);
  const p2wpkh = concatBytes(fromHex('0014'), keyHash);
  const p2sh = concatBytes(fromHex('a914'), keyHash, fromHex('87'));
  const claim = fromHex('b5016101626d75');
  const flags = SCRIPT_VERIFY.P2SH | SCRIPT_VERIFY.WITNESS;
  const redeem = fromHex('52ae');

  function spendOf(scriptSig: Uint8Array, witness: Uint8Array[] = []) {
    const tx = spending(1);
    tx.outputs = [outputOf(1n, fromHex('acacae'))];
    Object.assign(tx.inputs[0]!, { scriptSig, witness });
    return tx;
  }

  it('counts its own scripts fourfold, with or without a claim before them', () => {
    expect(legacySigopCount(spendOf(fromHex('ac')))).toBe(23);
    expect(transactionSigopCost(coinbaseWith(fromHex('acac')), () => p2sh, flags)).toBe(8);
    const claiming = spendOf(new Uint8Array(0));
    claiming.outputs[0]!.script = concatBytes(claim, fromHex('ac'));
    expect(transactionSigopCost(claiming, () => p2wpkh, 0)).toBe(4);
  });

  it('counts redeem scripts fourfold and witness scripts once, without claim prefixes of spent outputs', () => {
    const own = 22 * 4;
    for (const prefix of [new Uint8Array(0), claim]) {
      const spent = (script: Uint8Array) => () => concatBytes(prefix, script);
      expect(transactionSigopCost(spendOf(fromHex('0252ae')), spent(p2sh), flags)).toBe(own + 2 * 4);
      expect(transactionSigopCost(spendOf(fromHex('0252ae')), spent(p2sh), 0)).toBe(own);
      expect(transactionSigopCost(spendOf(new Uint8Array(0), [keyHash]), spent(p2wpkh), flags)).toBe(own + 1);
      expect(
        transactionSigopCost(spendOf(new Uint8Array(0), [keyHash]), spent(p2wpkh), SCRIPT_VERIFY.P2SH),
      ).toBe(own);
      const p2wsh = concatBytes(fromHex('0020'), new Uint8Array(32));
      expect(transactionSigopCost(spendOf(new Uint8Array(0), [redeem]), spent(p2wsh), flags)).toBe(own + 2);
      const nested = spendOf(concatBytes(Uint8Array.of(p2wpkh.length), p2wpkh), [keyHash]);
      expect(transactionSigopCost(nested, spent(p2sh), flags)).toBe(own + 1);
    }
  });
});
