import { describe, expect, it } from 'vitest';
import { formatDer } from '../../../src/crypto/ecdsaEncoding.js';
import { SCRIPT_VERIFY } from '../../../src/script/flags.js';
import { SCRIPT_ERROR } from '../../../src/script/scriptError.js';
import {
  checkPublicKeyEncoding,
  checkSignatureEncoding,
  isStrictDer,
} from '../../../src/script/signatureEncoding.js';
import { SIG_VERSION } from '../../../src/script/sighash.js';
import { fromHex } from '../../../src/util/bytes.js';

const { DERSIG, LOW_S, STRICTENC, WITNESS_PUBKEYTYPE } = SCRIPT_VERIFY;

describe('isStrictDer', () => {
  it('accepts the smallest and the largest signature', () => {
    expect(isStrictDer(fromHex('300602010102010101'))).toBe(true);
    const large = Buffer.concat([formatDer(Buffer.alloc(64, 0xff)), Buffer.of(1)]);
    expect(large.length).toBe(73);
    expect(isStrictDer(large)).toBe(true);
  });

  it('refuses each deviation', () => {
    for (const [what, hex] of [
      ['too short', '3005020101020101'],
      ['wrong tag', '310602010102010101'],
      ['length too small', '300502010102010101'],
      ['length too large', '300702010102010101'],
      ['R no integer', '300603010102010101'],
      ['S no integer', '300602010103010101'],
      ['empty R', '300602000202010101'],
      ['empty S', '300602020101020001'],
      ['negative R', '300602018102010101'],
      ['negative S', '300602010102018101'],
      ['padded R', '30070202000102010101'],
      ['padded S', '30070201010202000101'],
      ['R beyond the end', '300602100102010101'],
      ['S beyond the end', '300602010102020101'],
      ['trailing byte', '30060201010201010001'],
    ] as const) {
      expect(isStrictDer(fromHex(hex)), what).toBe(false);
    }
    expect(isStrictDer(fromHex('3008020200800202008001'))).toBe(true);
  });
});

describe('checkSignatureEncoding', () => {
  const low = fromHex('300602010102010101');
  const half = '7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0';
  const withS = (s: string, type: number): Buffer =>
    Buffer.concat([formatDer(Buffer.from(`${'00'.repeat(31)}01${s}`, 'hex')), Buffer.of(type)]);

  it('accepts the empty signature', () => {
    expect(checkSignatureEncoding(Buffer.alloc(0), DERSIG | LOW_S | STRICTENC)).toBe(SCRIPT_ERROR.OK);
  });

  it('applies the flags in their order', () => {
    const garbage = Buffer.of(1, 2, 3);
    expect(checkSignatureEncoding(garbage, 0)).toBe(SCRIPT_ERROR.OK);
    for (const flag of [DERSIG, LOW_S, STRICTENC]) {
      expect(checkSignatureEncoding(garbage, flag)).toBe(SCRIPT_ERROR.SIG_DER);
      expect(checkSignatureEncoding(low, flag)).toBe(SCRIPT_ERROR.OK);
    }
    const high = withS(`${half.slice(0, -1)}1`, 9);
    expect(checkSignatureEncoding(withS(half, 1), LOW_S)).toBe(SCRIPT_ERROR.OK);
    expect(checkSignatureEncoding(high, DERSIG)).toBe(SCRIPT_ERROR.OK);
    expect(checkSignatureEncoding(high, LOW_S | STRICTENC)).toBe(SCRIPT_ERROR.SIG_HIGH_S);
    expect(checkSignatureEncoding(high, STRICTENC)).toBe(SCRIPT_ERROR.SIG_HASHTYPE);
  });

  it('accepts six hash types', () => {
    const defined = [];
    for (let type = 0; type < 256; type++) {
      if (checkSignatureEncoding(withS(half, type), STRICTENC) === SCRIPT_ERROR.OK) defined.push(type);
    }
    expect(defined).toEqual([1, 2, 3, 0x81, 0x82, 0x83]);
  });
});

describe('checkPublicKeyEncoding', () => {
  const key = (head: number, size: number): Buffer => {
    const bytes = Buffer.alloc(size, 1);
    if (size > 0) bytes[0] = head;
    return bytes;
  };

  it('accepts compressed and uncompressed keys with STRICTENC, anything without', () => {
    for (const good of [key(2, 33), key(3, 33), key(4, 65)]) {
      expect(checkPublicKeyEncoding(good, STRICTENC, SIG_VERSION.BASE)).toBe(SCRIPT_ERROR.OK);
    }
    for (const bad of [
      key(0, 0),
      key(2, 32),
      key(2, 34),
      key(4, 33),
      key(4, 64),
      key(6, 65),
      key(7, 65),
      key(5, 33),
      key(2, 65),
    ]) {
      expect(checkPublicKeyEncoding(bad, STRICTENC, SIG_VERSION.BASE)).toBe(SCRIPT_ERROR.PUBKEYTYPE);
      expect(checkPublicKeyEncoding(bad, 0, SIG_VERSION.BASE)).toBe(SCRIPT_ERROR.OK);
    }
  });

  it('accepts only compressed keys in a witness on request', () => {
    expect(checkPublicKeyEncoding(key(4, 65), WITNESS_PUBKEYTYPE, SIG_VERSION.WITNESS_V0)).toBe(
      SCRIPT_ERROR.WITNESS_PUBKEYTYPE,
    );
    expect(checkPublicKeyEncoding(key(3, 33), WITNESS_PUBKEYTYPE, SIG_VERSION.WITNESS_V0)).toBe(
      SCRIPT_ERROR.OK,
    );
    expect(checkPublicKeyEncoding(key(4, 65), WITNESS_PUBKEYTYPE, SIG_VERSION.BASE)).toBe(SCRIPT_ERROR.OK);
  });
});
