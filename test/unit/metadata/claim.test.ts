import { describe, expect, it } from 'vitest';
import { decodeClaim, encodeClaim } from '../../../src/metadata/claim.js';
import { claimToJson, purchaseToJson, supportToJson } from '../../../src/metadata/claimJson.js';
import { MetadataError } from '../../../src/metadata/metadataError.js';
import { decodePurchase, encodePurchase } from '../../../src/metadata/purchase.js';
import { decodeSupport, encodeSupport } from '../../../src/metadata/support.js';
import { mainParams } from '../../../src/params/main.js';
import { addressPrefixesOf } from '../../../src/script/address.js';

const CHANNEL_ID = Buffer.alloc(20, 0xaa);
const SIGNATURE = Buffer.alloc(64, 0xbb);
/** A repost of a claim, with a title. */
const MESSAGE = Buffer.from(`22160a14${'11'.repeat(20)}42026869`, 'hex');
/** The generator of the curve. */
const KEY = '0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798';
const UNCOMPRESSED_KEY = `04${KEY.slice(2)}483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8`;
const signed = (message: Buffer): Buffer => Buffer.concat([Buffer.of(1), CHANNEL_ID, SIGNATURE, message]);
const decodeHex = (hex: string) => decodeClaim(Buffer.from(hex.replaceAll(' ', ''), 'hex'));

describe('current values', () => {
  it('are read without a signature', () => {
    const { kind, channelId, signature, claim, message, version } = decodeClaim(Buffer.from([0, ...MESSAGE]));
    expect([kind, channelId, signature, version]).toEqual(['repost', null, null, 2]);
    expect(claim.title).toBe('hi');
    expect(claim.type.value).toMatchObject({ claimHash: Buffer.alloc(20, 0x11) });
    expect(message).toEqual(MESSAGE);
  });

  it('are read with a signature, and written', () => {
    const decoded = decodeClaim(signed(MESSAGE));
    expect(decoded).toMatchObject({
      kind: 'repost',
      channelId: CHANNEL_ID,
      signature: SIGNATURE,
      message: MESSAGE,
    });
    expect(encodeClaim(decoded)).toEqual(signed(MESSAGE));
  });

  it('are written in the canonical form that signatures cover', () => {
    const decoded = decodeHex('00 420161 0a00 420162');
    expect(encodeClaim(decoded).toString('hex')).toBe('000a00420162');
    expect(Buffer.from(decoded.message).toString('hex')).toBe('0a00420162');
  });

  it('may lack a type, and have no JSON then', () => {
    for (const hex of ['00', '0102', '00420568656c6c6f']) {
      const decoded = decodeHex(hex);
      expect(decoded.kind).toBeNull();
      expect(() => claimToJson(decoded)).toThrow(MetadataError);
    }
  });

  it.each(['', '000a', '000a05', '004201ff', '02', '7f', '7b', '7b7d'])('are refused: %j', (hex) => {
    expect(() => decodeHex(hex)).toThrow(MetadataError);
  });
});

describe('JSON', () => {
  it('has the fields of the type after the common ones, in the order of their numbers', () => {
    const value = '00 0a18 1201 61 2801 3208 0803 12010018e807 0a07 1801 2203 612f62 420174';
    expect(JSON.stringify(claimToJson(decodeHex(value)))).toBe(
      '{"title":"t","source":{"size":"1","media_type":"a/b"},"author":"a","release_time":"1",' +
        '"fee":{"currency":"USD","address":"1","amount":"1E+1"},"stream_type":"binary"}',
    );
  });

  it('has hashes in hex, but a torrent in base64 beside a descriptor', () => {
    expect(claimToJson(decodeHex('00 0a08 0a06 0a01ff 3a01ee'))).toEqual({
      source: { hash: 'ff', bt_infohash: 'ee' },
    });
    expect(claimToJson(decodeHex('00 0a08 0a06 3201ff 3a01ee'))).toEqual({
      source: { sd_hash: 'ff', bt_infohash: '7g==' },
    });
  });

  it('has languages as tags and coordinates as strings', () => {
    expect(claimToJson(decodeHex('00 1a00 6202 0801 6200 6a07 08ec01 2802 3001'))).toEqual({
      languages: ['en', ''],
      locations: [{ country: 'US', latitude: '1E-7', longitude: '-1E-7' }],
    });
  });

  it('has an amount without a currency as None', () => {
    expect(claimToJson(decodeHex('00 0a04 3202 1805'))).toEqual({ fee: { amount: 'None' } });
  });

  it.each([
    ['a language without a name', '00 1a00 6203 08ff01'],
    ['a region without a name', '00 1a00 6203 18ff7f'],
    ['a currency without a name', '00 0a06 3204 0809 1805'],
    ['a channel without a key', '00 1200'],
    ['a key that is not a DER structure', '00 1204 0a02 3000'],
    ['an address of 2,000 bytes', `00 0ad80f 32d50f 12d00f ${'00'.repeat(2000)} 0801`],
  ])('is refused for %s', (_what, hex) => {
    const decoded = decodeHex(hex);
    expect(decoded.kind).not.toBeNull();
    expect(() => claimToJson(decoded)).toThrow(MetadataError);
  });

  it('keeps numbers without a name as the reference does', () => {
    expect(claimToJson(decodeHex('00 1a02 0807'))).toEqual({ list_type: 7 });
    expect(claimToJson(decodeHex('00 0a04 3202 0809'))).toEqual({ fee: { currency: 9 } });
  });

  it('has the key of a channel compressed, and its address if the network is known', () => {
    const info = `3056301006072a8648ce3d020106052b8104000a034200${UNCOMPRESSED_KEY}`;
    const decoded = decodeHex(`00 125c 0a58 ${info} 2a00`);
    expect(claimToJson(decoded)).toEqual({ public_key: KEY, featured: [] });
    const prefixes = addressPrefixesOf(mainParams);
    expect(claimToJson(decoded, prefixes)).toMatchObject({
      public_key_id: 'bPQYFPE6iQFEfA3MJSRR3WYrczLjWVjiWG',
    });
  });

  it('has ids of claims as printed', () => {
    expect(claimToJson(decodeHex('00 2204 0a02 0102'))).toEqual({ claim_id: '0201' });
    expect(claimToJson(decodeHex('00 1a0a 0802 1204 0a02 0102 1200'))).toEqual({
      list_type: 'DERIVATION',
      claims: ['0201', ''],
    });
  });
});

describe('values of 2017', () => {
  const within = (tag: string, ...parts: string[]): string => {
    const content = parts.join('').replaceAll(' ', '');
    return tag + (content.length / 2).toString(16).padStart(2, '0') + content;
  };
  const fee = within('42', '0801 1001', within('1a', '55'.repeat(25)), '250000003f');
  const metadata = within('12', '0803 1001 1a0174 220164 2a0161 32016c 3801', fee);
  const source = within('1a', '0801 1001 1a01ff 2203612f62');
  const open = `08011001${within('1a', '0801', metadata, source)}`;
  const signature = within('2a', '0801 1003 1a01aa 22020102');

  it('are converted to streams', () => {
    const decoded = decodeHex(open);
    expect(decoded).toMatchObject({ kind: 'stream', version: 1, channelId: null, signature: null });
    expect(claimToJson(decoded)).toMatchObject({
      title: 't',
      description: 'd',
      thumbnail: {},
      tags: ['mature'],
      languages: ['en'],
      source: { media_type: 'a/b', sd_hash: 'ff' },
      fee: { currency: 'LBC', amount: '0.5' },
    });
    expect(decodeClaim(encodeClaim(decoded))).toMatchObject({ kind: 'stream', version: 2 });
  });

  it('are signed without the field of the signature', () => {
    const decoded = decodeHex(open + signature);
    expect(decoded).toMatchObject({ signature: Buffer.of(0xaa), channelId: Buffer.of(2, 1) });
    expect(Buffer.from(decoded.message).toString('hex')).toBe(open);
  });

  it('are converted to channels', () => {
    const decoded = decodeHex(`0801 1002 2227 0801 1003 2221 ${KEY}`);
    expect(decoded.kind).toBe('channel');
    expect(claimToJson(decoded)).toEqual({ public_key: KEY });
  });

  it.each([
    ['a text that is not UTF-8', '0801 1001 1a07 1205 1a01ff 3801'],
    ['an unknown currency', '0801 1001 1a06 1204 4202 1009'],
    ['an amount that is not a number', '0801 1001 1a0b 1209 4207 1001 250000c07f'],
    ['an amount below zero', '0801 1001 1a0b 1209 4207 1001 25000080bf'],
    ['a signature of an incomplete value', `1001 ${signature}`],
  ])('are refused for %s', (_what, hex) => {
    expect(() => decodeHex(hex)).toThrow(MetadataError);
  });
});

describe('values of 2016', () => {
  const decodeJson = (json: unknown) => decodeClaim(Buffer.from(JSON.stringify(json)));
  const sources = { lbry_sd_hash: '00ff' };

  it('are converted to streams', () => {
    const decoded = decodeJson({
      ver: '0.0.3',
      sources,
      title: 't',
      author: 'a',
      license: 'l',
      language: 'English',
      nsfw: 1,
      'content-type': 'video/mp4',
      thumbnail: 'https://example.com',
      fee: { LBC: { amount: 0.29, address: '2' } },
    });
    expect(decoded).toMatchObject({ kind: 'stream', version: 0, channelId: null, signature: null });
    expect(claimToJson(decoded)).toEqual({
      title: 't',
      thumbnail: { url: 'https://example.com' },
      tags: ['mature'],
      languages: ['en'],
      source: { media_type: 'video/mp4', sd_hash: '00ff' },
      author: 'a',
      license: 'l',
      fee: { currency: 'LBC', address: '2', amount: '0.28999999' },
      stream_type: 'video',
    });
  });

  it('accept a media type in any case, and the known languages', () => {
    expect(claimToJson(decodeJson({ sources, language: 'klingon', fee: 5 }))).toEqual({
      languages: [''],
      source: { media_type: 'application/octet-stream', sd_hash: '00ff' },
      stream_type: 'binary',
    });
    expect(claimToJson(decodeJson({ sources, language: 'zh-Hant-XX' }))).toMatchObject({
      languages: ['zh-Hant'],
    });
  });

  it('round prices in dollars up to cents', () => {
    const fee = { USD: { amount: '0.101', address: '2' } };
    expect(claimToJson(decodeJson({ sources, fee }))).toMatchObject({
      fee: { currency: 'USD', amount: '0.11' },
    });
  });

  it.each([
    { title: 't' },
    { sources: 5 },
    { sources: { lbry_sd_hash: 'xyz' } },
    { sources: { lbry_sd_hash: 5 } },
    { sources, title: null },
    { sources, language: 5 },
    { sources, fee: {} },
    { sources, fee: { EUR: { amount: 1, address: '2' } } },
    { sources, fee: { constructor: { amount: 1, address: '2' } } },
    { sources, fee: { LBC: { amount: 'x', address: '2' } } },
    { sources, fee: { LBC: { amount: 1, address: '0' } } },
    { sources, fee: { LBC: { amount: '1e999999999', address: '2' } } },
  ] as object[])('are refused as %j', (json) => {
    expect(() => decodeJson(json)).toThrow(MetadataError);
  });

  it('are refused if they are not UTF-8', () => {
    expect(() => decodeClaim(Buffer.from('{"title":"\xff"}', 'latin1'))).toThrow(MetadataError);
  });
});

describe('supports', () => {
  it('have a comment', () => {
    const message = Buffer.from('0a01611203616263', 'hex');
    const decoded = decodeSupport(signed(message));
    expect(supportToJson(decoded.support)).toEqual({ emoji: 'a', comment: 'abc' });
    expect(encodeSupport(decoded)).toEqual(signed(message));
  });

  it.each(['', '02', '7b7d', '000a05'])('are refused with %j', (hex) => {
    expect(() => decodeSupport(Buffer.from(hex, 'hex'))).toThrow(MetadataError);
  });
});

describe('purchases', () => {
  it('contain the id of a claim', () => {
    const data = encodePurchase(CHANNEL_ID);
    expect(data.toString('hex')).toBe(`500a14${'aa'.repeat(20)}`);
    expect(decodePurchase(data).claimHash).toEqual(CHANNEL_ID);
    expect(purchaseToJson(decodePurchase(Buffer.from('500a01ff', 'hex')))).toEqual({ claimHash: '/w==' });
  });

  it.each(['', '51', '500a05'])('are refused with %j', (hex) => {
    expect(() => decodePurchase(Buffer.from(hex, 'hex'))).toThrow(MetadataError);
  });
});
