import { describe, expect, it } from 'vitest';
import { regtestParams } from '../../../../src/params/regtest.js';
import { parseDescriptor } from '../../../../src/rpc/descriptor/descriptor.js';
import { addressPrefixes } from '../../../../src/rpc/format/addresses.js';
import { toHex } from '../../../../src/util/bytes.js';

const PREFIXES = addressPrefixes(regtestParams);
const KEY = '0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798';
const LONG_KEY =
  '0479be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8';
const KEY_HASH = '751e76e8199196d454941c45d1b3a323f1433bd6';
const TPUB =
  'tpubD6NzVbkrYhZ4WaWSyoBvQwbpLkojyoTZPRsgXELWz3Popb3qkjcJyJUGLnL4qHHoQvao8ESaAstxYSnhyswJ76uZPStJRJCTKvosUCJZL5B';
const TPRV =
  'tprv8ZgxMBicQKsPd7Uf69XL1XwhmjHopUGep8GuEiJDZmbQz6o58LninorQAfcKZWARbtRtfnLcJ5MQ2AtHcQJCCRUcMRvmDUjyEmNUWwx8UbK';

const scripts = (text: string, position = 0): string[] | null | undefined => {
  const descriptor = parseDescriptor(text, PREFIXES);
  if (descriptor === null) return undefined;
  return descriptor.scriptsAt(position)?.map(toHex) ?? null;
};

describe('output descriptors', () => {
  it('give the scripts that pay to a key', () => {
    expect(scripts(`pk(${KEY})`)).toEqual([`21${KEY}ac`]);
    expect(scripts(`pkh(${KEY})`)).toEqual([`76a914${KEY_HASH}88ac`]);
    expect(scripts(`wpkh(${KEY})`)).toEqual([`0014${KEY_HASH}`]);
    expect(scripts(`sh(wpkh(${KEY}))`)).toEqual(['a914bcfeb728b584253d5f3f70bcb780e9ef218a68f487']);
    expect(scripts(`combo(${KEY})`)).toEqual([
      `21${KEY}ac`,
      `76a914${KEY_HASH}88ac`,
      `0014${KEY_HASH}`,
      'a914bcfeb728b584253d5f3f70bcb780e9ef218a68f487',
    ]);
    expect(scripts(`combo(${LONG_KEY})`)).toHaveLength(2);
    expect(scripts(`multi(1,${KEY})`)).toEqual([`5121${KEY}51ae`]);
    expect(scripts('raw(6a)')).toEqual(['6a']);
    expect(scripts('addr(mfWxJ45yp2SFn7UciZyNpvDKrzbhyfKrY8)')).toEqual([`76a914${'00'.repeat(20)}88ac`]);
  });

  it('use the public keys of private keys', () => {
    expect(scripts('pk(cMahea7zqjxrtgAbB7LSGbcQUr1uX1ojuat9jZodMN87JcbXMTcA)')).toEqual([`21${KEY}ac`]);
  });

  it('derive keys along a path, and over a range', () => {
    const fixed = parseDescriptor(`pkh(${TPUB}/1/2)`, PREFIXES)!;
    const range = parseDescriptor(`pkh(${TPUB}/1/*)`, PREFIXES)!;
    expect([fixed.isRange, range.isRange]).toEqual([false, true]);
    expect(range.scriptsAt(2)!.map(toHex)).toEqual(fixed.scriptsAt(0)!.map(toHex));
    expect(range.scriptsAt(3)!.map(toHex)).not.toEqual(fixed.scriptsAt(0)!.map(toHex));
  });

  it('derive hardened keys only from a private key', () => {
    for (const path of ["/1'/*", '/1h/*', "/*'", '/*h']) {
      expect(scripts(`pkh(${TPUB}${path})`)).toBeNull();
      expect(scripts(`pkh(${TPRV}${path})`)).toHaveLength(1);
    }
    expect(scripts(`pkh(${TPRV}/*h)`, 5)).toEqual(scripts(`pkh(${TPRV}/5')`));
    expect(scripts(`multi(1,${KEY},${TPUB}/*')`)).toBeNull();
  });

  it('accept uncompressed keys only outside of witness programs', () => {
    expect(scripts(`sh(pk(${LONG_KEY}))`)).toHaveLength(1);
    for (const text of [`wpkh(${LONG_KEY})`, `wsh(pkh(${LONG_KEY}))`, `sh(wpkh(${LONG_KEY}))`]) {
      expect(scripts(text)).toBeUndefined();
    }
  });

  it('limit the keys of a multisig by the enclosing function', () => {
    const keys = (count: number): string => Array.from({ length: count }, () => KEY).join();
    expect(scripts(`multi(3,${keys(3)})`)).toHaveLength(1);
    expect(scripts(`sh(multi(1,${keys(15)}))`)).toHaveLength(1);
    expect(scripts(`wsh(multi(1,${keys(16)}))`)).toHaveLength(1);
    for (const text of [
      `multi(1,${keys(4)})`,
      `sh(multi(1,${keys(16)}))`,
      `wsh(multi(1,${keys(17)}))`,
      `multi(0,${KEY})`,
      `multi(2,${KEY})`,
      `multi(1)`,
      `multi(,${KEY})`,
      `multi(1${KEY})`,
    ]) {
      expect(scripts(text), text).toBeUndefined();
    }
  });

  it('are refused at the first key above the limit, and at a path deeper than the limit', () => {
    // Parsing the rest of these texts would take seconds.
    const many = `${KEY},`.repeat(200_000);
    for (const text of [
      `multi(1,${many}${KEY})`,
      `sh(multi(1,${many}${KEY}))`,
      `wsh(multi(1,${many}${KEY}))`,
    ]) {
      expect(scripts(text)).toBeUndefined();
    }
    const path = (length: number): string => `pk(${TPUB}${'/0'.repeat(length)})`;
    expect(scripts(path(255))).toHaveLength(1);
    expect(scripts(`pk(${TPUB}${'/0'.repeat(255)}/*)`)).toHaveLength(1);
    expect(scripts(path(257))).toBeUndefined();
    expect(scripts(path(2_000_000))).toBeUndefined();
  });

  it('are refused if they are malformed', () => {
    for (const text of [
      '',
      'foo(1)',
      'raw()',
      'raw(zz)',
      'addr(x)',
      'pk()',
      `pk(${KEY}`,
      `pk(${KEY}))`,
      ` pk(${KEY})`,
      `pk(${KEY.slice(2)})`,
      `sh(sh(pk(${KEY})))`,
      `wsh(wsh(pk(${KEY})))`,
      `wsh(wpkh(${KEY}))`,
      `sh(combo(${KEY}))`,
      `sh(addr(mfWxJ45yp2SFn7UciZyNpvDKrzbhyfKrY8))`,
      `pkh(${KEY}/1)`,
      `pkh(${TPUB}/x)`,
      `pkh(${TPUB}/-1)`,
      `pkh(${TPUB}/2147483648)`,
      `pkh(${TPUB}/*/*)`,
      `pkh(${TPUB.replace('tpub', 'xpub')})`,
    ]) {
      expect(scripts(text), text).toBeUndefined();
    }
  });
});
