import { describe, expect, it } from 'vitest';
import { formatLbc, parseLbc } from '../../../src/metadata/amounts.js';
import { formatLanguage, parseLanguage } from '../../../src/metadata/languages.js';
import { formatDegrees, parseLocation, placeName, placesAround } from '../../../src/metadata/locations.js';
import { extensionOf, mediaTypeOfFile, streamKindOf } from '../../../src/metadata/mediaTypes.js';
import { MetadataError } from '../../../src/metadata/metadataError.js';
import { normalizeTag } from '../../../src/metadata/tags.js';
import { parseJson } from '../../../src/util/json/jsonParse.js';

describe('amounts', () => {
  it.each([
    [0n, '0.0'],
    [1n, '0.00000001'],
    [100_000_000n, '1.0'],
    [123_456_789n, '1.23456789'],
    [-150_000_000n, '-1.5'],
    [2_100_000_000_000_000n, '21000000.0'],
  ])('%i is %s', (dewies, text) => {
    expect(formatLbc(dewies)).toBe(text);
    if (dewies >= 0n) expect(parseLbc(text)).toBe(dewies);
  });

  it('accepts digits of any script', () => {
    expect(parseLbc('１２.٣')).toBe(1_230_000_000n);
  });

  it.each(['', '1', '1.', '.1', '-1.0', '1.000000001', '12345678901.0', '1.0 ', '1.0\n\n'])(
    'refuses %j',
    (text) => {
      expect(() => parseLbc(text)).toThrow(MetadataError);
    },
  );
});

describe('tags', () => {
  it.each([
    ['Art', 'art'],
    ["don't", 'dont'],
    ['#music!', 'music'],
    ['a \t\u3000b', 'a b'],
    ['a\tb', 'a\tb'],
    ['\x1fa\x85', 'a'],
    ['\ufeffa', '\ufeffa'],
    ['~!#', ''],
    ['\u0130', 'i\u0307'],
  ])('%j becomes %j', (text, tag) => {
    expect(normalizeTag(text)).toBe(tag);
  });
});

describe('media types', () => {
  it.each([
    ['a.MP4', 'video/mp4', 'video'],
    ['a.tar.gz', 'application/x-ext-gz', 'binary'],
    ['/x.y/a', 'application/octet-stream', 'binary'],
    ['.png', 'application/octet-stream', 'binary'],
    ['a.', 'application/octet-stream', 'binary'],
    ['a.m3u8', 'application/x-mpegurl', 'video'],
    ['a.m3u', 'application/x-mpegurl', 'audio'],
    ['a.constructor', 'application/x-ext-constructor', 'binary'],
  ])('%s is %s', (name, mediaType, kind) => {
    expect(mediaTypeOfFile(name)).toEqual({ mediaType, kind });
  });

  it('prefers the type of the content, except for archives with a name of their own', () => {
    expect(mediaTypeOfFile('a.txt', 'png').mediaType).toBe('image/png');
    expect(mediaTypeOfFile('a', 'png').mediaType).toBe('image/png');
    expect(mediaTypeOfFile('a.cbz', 'zip').mediaType).toBe('application/vnd.comicbook+zip');
    expect(mediaTypeOfFile('a.cbr', 'zip').mediaType).toBe('application/zip');
  });

  it.each([
    ['video/mp4', 'video'],
    ['application/octet-stream', 'binary'],
    ['application/x-mpegurl', 'audio'],
    ['application/postscript', 'image'],
    ['model/stl', 'model'],
    ['toString', 'binary'],
  ])('%s alone is %s', (mediaType, kind) => {
    expect(streamKindOf(mediaType)).toBe(kind);
  });

  it.each([
    ['a.b.C', 'c'],
    ['..a', ''],
    ['a. mp4 ', ' mp4'],
  ])('%j ends in %j', (name, extension) => {
    expect(extensionOf(name)).toBe(extension);
  });
});

describe('languages', () => {
  it.each(['en', 'zh-Hant', 'pt-BR', 'zh-Hans-TW', 'es-419'])('reads and writes %s', (tag) => {
    expect(formatLanguage(parseLanguage(tag))).toBe(tag);
  });

  it('accepts the first letter of countries that begin with an R', () => {
    expect(formatLanguage(parseLanguage('ru-RU'))).toBe('ru-U');
  });

  it.each(['', 'EN', 'en_US', 'fil', 'en-Abcd', 'en-XX', 'zh-Hant-TW-x', 'en-us'])('refuses %j', (tag) => {
    expect(() => parseLanguage(tag)).toThrow(MetadataError);
  });

  it('does not write a number without a name', () => {
    const message = parseLanguage('en');
    message.language = 9999 as typeof message.language;
    expect(() => formatLanguage(message)).toThrow(MetadataError);
  });
});

describe('locations', () => {
  it.each([
    ['US', { country: 236 }],
    [
      'US:NH:Manchester:03101:42.990605:-71.460989',
      { code: '03101', latitude: 429_906_050, longitude: -714_609_890 },
    ],
    ['42.990605:-71.460989', { country: 0, latitude: 429_906_050, longitude: -714_609_890 }],
    ['UA::Kyiv', { state: '', city: 'Kyiv' }],
    ['{"city": "Paris", "latitude": 48.85}', { city: 'Paris', latitude: 488_500_000 }],
    ['-90:180', { latitude: -900_000_000, longitude: 1_800_000_000 }],
    ['', { country: 0, latitude: 0 }],
  ])('reads %s', (text, fields) => {
    expect(parseLocation(text)).toMatchObject(fields);
  });

  it.each([
    ['US:NH:Manchester:03101:1.5:-2', 'US:NH:Manchester:03101@15000000,-20000000'],
    ['UA::Kyiv', 'UA::Kyiv'],
    ['{"state": " a:b@c "}', ':a b c'],
    ['0:1', '@0,10000000'],
    ['::', ''],
  ])('are displayed by their given parts: %s', (text, name) => {
    expect(placeName(parseLocation(text))).toBe(name);
  });

  it('of an unknown country are displayed by its number', () => {
    const unknown = { ...parseLocation('US:x'), country: 9999 };
    expect(placeName(unknown as never)).toBe('9999:x');
  });

  it.each([
    ['US:NH::03101', ['US', 'US:NH', 'US:NH::03101']],
    [':x', [':x']],
    ['US:x@1,2', ['US', 'US:x', 'US:x@1,2', '@1,2']],
    ['@1,2', ['@1,2']],
  ])('are inside others: %s', (name, around) => {
    expect(placesAround(name)).toEqual(around);
  });

  it('reads an object', () => {
    expect(parseLocation(parseJson('{"state": "a", "longitude": "1e-7"}'))).toMatchObject({
      state: 'a',
      longitude: 1,
    });
  });

  it.each([
    'XX',
    '90.1:0',
    '0:-181',
    '{',
    '{"planet": "x"}',
    'US:a:b:c:x:y',
    '{"latitude": null}',
    '{"city": 5}',
  ])('refuses %s', (text) => {
    expect(() => parseLocation(text)).toThrow(MetadataError);
  });

  it('refuses a value that is neither a string nor an object', () => {
    expect(() => parseLocation(5)).toThrow(MetadataError);
  });

  it('writes degrees', () => {
    expect([0, 1, -1_800_000_000].map(formatDegrees)).toEqual([null, '1E-7', '-180']);
  });
});
