import { describe, expect, it } from 'vitest';
import { parseConstraints } from '../../../../src/search/query/constraints.js';
import { refuseUnknownNames, unknownNames } from '../../../../src/search/query/constraintNames.js';
import { givenConstraints } from '../../../../src/search/query/givenConstraints.js';
import type { JsonObject } from '../../../../src/util/json/json.js';
import { parseJson } from '../../../../src/util/json/jsonParse.js';
import { SearchError } from '../../../../src/search/query/searchError.js';

const parse = parseConstraints;
const id = 'ab'.repeat(20);

function failure(constraints: Record<string, unknown>): string {
  try {
    parse(constraints);
  } catch (error) {
    if (error instanceof SearchError && error.kind === 'bad-request' && error.code === 1)
      return error.message;
    throw error;
  }
  throw new Error('no failure');
}

describe('JSON', () => {
  it('is parsed with whole numbers unchanged, the last value of a repeated name, and nothing from objects', () => {
    const text = `{"height":1,"height":[">5",1e3,12345678901234567890,1e400,-7],"${'k'.repeat(65)}":1,"amount":{"a":{}},"name":null}`;
    expect(givenConstraints(parseJson(text) as JsonObject)).toEqual({
      height: ['>5', 1000, 12345678901234567890n, Infinity, -7],
      amount: {},
      name: null,
    });
  });
});

describe('lists', () => {
  it('have at most 2,048 members', () => {
    const most = Array.from({ length: 2048 }, (_, i) => i.toString(16).padStart(40, '0'));
    expect(parse({ channel_ids: most }).conditions).toEqual([
      { kind: 'ids', column: 'channel_id', values: most },
    ]);
    expect(failure({ not_channel_ids: [...most, id] })).toBe(
      'not_channel_ids cant have more than 2048 items.',
    );
    expect(failure({ 'claim.claim_id__in': [...most, id] })).toBe(
      'claim_id__in cant have more than 2048 items.',
    );
    expect(failure({ unknown_key: [...most, id] })).toBe('unknown_key cant have more than 2048 items.');
  });

  it('that are empty, and null, are ignored', () => {
    expect(
      parse({ any_tags: [], channel_ids: [null, ''], height: null, name: undefined }).conditions,
    ).toEqual([]);
  });
});

describe('names in hex', () => {
  const names = (namehex: unknown) => parse({ namehex });
  it('select the stored form of the name: normalized text, or bytes as Latin-1', () => {
    const texts = (...values: string[]) => [{ kind: 'texts', column: 'normalized_name', values }];
    expect(names('41c3a9').conditions).toEqual(texts('ae\u0301'));
    expect(names(['61FF', '00', '61ff']).conditions).toEqual(texts('a\u00ff', '\ufffd'));
    expect(names('').conditions).toEqual(texts(''));
    expect(parse({ namehex__in: ['61', '62'] }).conditions).toEqual(texts('a', 'b'));
    expect(unknownNames(['namehex', 'namehex__in'])).toEqual([]);
  });
  it('that are too long for a name find nothing', () => {
    expect(names('61'.repeat(2000)).findsNothing).toBe(true);
  });
});

describe('invalid values', () => {
  it.each([
    [{ namehex: 'abc' }, 'namehex: "abc" is not hex.'],
    [{ namehex: 5 }, 'namehex: 5 is not a string.'],
    [{ height: 'abc' }, 'height: "abc" is not a number.'],
    [{ height: '>' }, 'height: "" is not a number.'],
    [{ censor_type: {} }, 'censor_type: {} is not a number.'],
    [{ height: ['>1', '2'] }, 'height: bounds and single values cannot be mixed.'],
    [{ amount: {} }, 'amount: {} is not a number.'],
    [{ fee_amount: '>1e' }, 'fee_amount: "1e" is not a number.'],
    [{ fee_amount: '.' }, 'fee_amount: "." is not a number.'],
    [{ amount: 'Infinity' }, 'amount: "Infinity" is not a number.'],
    [{ amount: Number.NaN }, 'amount: NaN is not a number.'],
    [{ height: 'x'.repeat(300) }, `height: "${'x'.repeat(199)}… is not a number.`],
    [{ claim_type: 'film' }, 'claim_type: there is no type "film".'],
    [{ reposted_claim_type: 7 }, 'reposted_claim_type: there is no type "7".'],
    [{ reposted_claim_type: true }, 'reposted_claim_type: true is not a string.'],
    [{ order_by: 'beauty' }, 'order_by: there is no field "beauty".'],
    [{ order_by: '-name' }, 'order_by: there is no field "-name".'],
    [{ order_by: ['^description'] }, 'order_by: claims cannot be ordered by "description".'],
    [{ order_by: 7 }, 'order_by takes names of fields.'],
    [{ limit: -1 }, 'limit: -1 is not a whole number from 0 on.'],
    [{ offset: 1.5 }, 'offset: 1.5 is not a whole number from 0 on.'],
    [{ amount_order: 0 }, 'amount_order: 0 is not a whole number from 1 on.'],
    [{ has_source: 'maybe' }, 'has_source: "maybe" is neither true nor false.'],
    [{ any_tags: [7] }, 'any_tags: 7 is not a string.'],
    [{ text: 7 }, 'text: the value is not a string.'],
    [{ text: 'word '.repeat(257) }, 'text cant have more than 256 words.'],
    [{ text: 'w'.repeat(65_537) }, 'text cant have more than 65536 characters.'],
    [{ text: '*word' }, 'Leading wildcards are not allowed in text queries'],
    [{ text: '?' }, 'Leading wildcards are not allowed in text queries'],
    [
      { release_time: ['<5', `<${' '.repeat(100)}`] },
      'invalid release_time parameter: release_time string too long: 101 characters',
    ],
    [{ release_time: '<now' }, 'invalid release_time parameter: release_time must contain digits'],
    [{ release_time: '' }, 'invalid release_time parameter: release_time must contain digits'],
    [
      { release_time: `>${'1'.repeat(21)}` },
      'invalid release_time parameter: release_time contains too many digits: 21',
    ],
    [{ content_aspect_ratio: '<=wide' }, 'content_aspect_ratio: "wide" is not a number.'],
    [{ exclude_shorts_duration_lte: 'long' }, 'exclude_shorts_duration_lte: "long" is not a number.'],
    [{ exclude_shorts: 'some' }, 'exclude_shorts: "some" is neither true nor false.'],
    [{ has_no_source: 2 }, 'has_no_source: 2 is neither true nor false.'],
  ])('%j is reported', (constraints, message) => {
    expect(failure(constraints)).toBe(message);
  });

  it('that are larger than the numbers of JavaScript are reported, as the hub passes them on', () => {
    const large = 10n ** 20n;
    expect(failure({ has_source: large })).toBe(`has_source: ${large} is neither true nor false.`);
    expect(failure({ limit: large })).toBe(`limit: ${large} is not a whole number from 0 on.`);
    expect(failure({ any_tags: [large] })).toBe(`any_tags: ${large} is not a string.`);
    expect(failure({ amount: { more: large } })).toBe(`amount: {"more":"${large}"} is not a number.`);
  });

  it('of ids find nothing', () => {
    expect(parse({ claim_id: 'xyz' }).findsNothing).toBe(true);
    expect(parse({ claim_ids: ['1234'] }).findsNothing).toBe(true);
    expect(parse({ title: 'x'.repeat(257) }).findsNothing).toBe(true);
    expect(parse({ name: 'x'.repeat(257) }).findsNothing).toBe(true);
    expect(parse({ name: 'x'.repeat(600) }).findsNothing).toBe(true);
  });
});

describe('values', () => {
  it('select a prefix of an id up to 39 digits, and an id with 40', () => {
    expect(parse({ claim_id: id.slice(0, 39) }).conditions).toEqual([
      { kind: 'idPrefix', column: 'claim_id', digits: id.slice(0, 39) },
    ]);
    expect(parse({ claim_id: id }).conditions).toEqual([{ kind: 'ids', column: 'claim_id', values: [id] }]);
  });

  it('convert fees to thousandths, exactly', () => {
    expect(parse({ fee_amount: ['>0.5', '<=12.3456'] }).conditions).toEqual([
      {
        kind: 'range',
        column: 'fee_amount',
        bounds: [
          { op: '>', value: '0500' },
          { op: '<=', value: '12345.6' },
        ],
      },
    ]);
  });

  it.each([
    [1e-7, '0.0000001'],
    ['1e-7', '0.0000001'],
    ['+1E+3', '1000'],
    ['.5', '0.5'],
    ['-5.', '-5'],
    ['-0.00', '0'],
    ['12.50e1', '125'],
    ['00012.34e-3', '0.01234'],
    [1e21, '1000000000000000000000'],
    [Infinity, `1${'0'.repeat(40)}`],
    ['-1e999999999999999999', `-1${'0'.repeat(40)}`],
    ['1e-999999999999999999', `0.${'0'.repeat(40)}1`],
    [`0.${'0'.repeat(60)}7`, `0.${'0'.repeat(40)}1`],
    [`1.${'2'.repeat(41)}`, `1.${'2'.repeat(40)}1`],
    ['0'.repeat(900), '0'],
  ])('parse the number %s', (given, decimal) => {
    expect(parse({ trending_score: given }).conditions).toEqual([
      { kind: 'numbers', column: 'trending_score', values: [decimal] },
    ]);
    if (typeof given === 'number') return;
    expect(parse({ trending_score: `>${given}` }).conditions).toMatchObject([
      { bounds: [{ op: '>', value: decimal }] },
    ]);
  });

  it('accept types by name and by number', () => {
    const numbers = (column: string, ...values: string[]) => [{ kind: 'numbers', column, values }];
    expect(parse({ reposted_claim_type: 1 }).conditions).toEqual(numbers('reposted_claim_type', '1'));
    expect(parse({ reposted_claim_type: ['stream', '2'] }).conditions).toEqual(
      numbers('reposted_claim_type', '1', '2'),
    );
    expect(parse({ claim_type: [3, 'repost'] }).conditions).toEqual(numbers('claim_type', '3'));
  });

  it('match tags and languages as published', () => {
    expect(parse({ tags: ["Dad's", 'x'], languages: 'en' }).conditions).toEqual([
      { kind: 'labels', how: 'any', labels: ["tDad's", 'tx'] },
      { kind: 'labels', how: 'any', labels: ['len'] },
    ]);
  });

  it('accept locations as text and as JSON, in upper or lower case', () => {
    expect(
      parse({ any_locations: ['US:nh', '{"country": "FR", "city": "Paris"}'], all_locations: '1.5:-2' })
        .conditions,
    ).toEqual([
      { kind: 'labels', how: 'any', labels: ['pus:nh', 'pfr::paris'] },
      { kind: 'labels', how: 'all', labels: ['p@15000000,-20000000'] },
    ]);
    expect(parse({ not_locations: ['DE'] }).conditions).toEqual([
      { kind: 'labels', how: 'none', labels: ['pde'] },
    ]);
    expect(parse({ any_locations: '', not_locations: [''] }).conditions).toEqual([]);
    expect(() => parse({ any_locations: ['Nowhere'] })).toThrow(/^any_locations: .*Nowhere/);
    expect(() => parse({ not_locations: ['::'] })).toThrow('not_locations: "::" names no place.');
    expect(() => parse({ all_locations: ['91:0'] })).toThrow(/^all_locations: Latitude/);
  });

  it('use the strictest of several bounds', () => {
    const boundsOf = (height: string[]) => parse({ height }).conditions[0];
    expect(boundsOf(['>=1', '<9', '>1', '<=9', '>0.99', '<9.5'])).toMatchObject({
      bounds: [
        { op: '<', value: '9' },
        { op: '>', value: '1' },
      ],
    });
    expect(boundsOf(['>-2', '>-1.5', '>=-1.50'])).toMatchObject({ bounds: [{ op: '>', value: '-1.5' }] });
    expect(boundsOf(['>1e-999', '>0', '>=1e-7'])).toMatchObject({
      bounds: [{ op: '>=', value: '0.0000001' }],
    });
    expect(boundsOf(['<=-0.5', '<-0.25'])).toMatchObject({ bounds: [{ op: '<=', value: '-0.5' }] });
  });

  it('round release times to steps of 360 s, whole numbers too', () => {
    expect(parse({ release_time: '<1600000000' }).conditions).toMatchObject([
      { bounds: [{ op: '<', value: '1600000200' }] },
    ]);
    expect(parse({ release_time: 1600000000 }).conditions).toMatchObject([{ values: ['1600000000'] }]);
  });

  it('accept old names of trending, and ignore missing values', () => {
    expect(parse({ order_by: ['trending_group', 'trending_mixed'] }).order).toEqual([
      { column: 'trending_score', ascending: false, nullable: true },
    ]);
    expect(parse({ is_controlling: false, unknown: 7, wallet_id: 'x' }).conditions).toEqual([]);
    expect(parse({ amount_order: 3 })).toMatchObject({ only: 3, order: [{ column: 'effective_amount' }] });
  });
});

describe('content', () => {
  it('is selected by its size, with or without claims that have none', () => {
    const bounds = [{ op: '<=', value: '0.95' }];
    expect(parse({ content_aspect_ratio: '<=0.95' }).conditions).toEqual([
      { kind: 'range', column: 'content_aspect_ratio', bounds },
    ]);
    for (const key of ['content_aspect_ratio_or_missing', 'content_aspect_ratio__or_missing'])
      expect(parse({ [key]: '<=0.95' }).conditions).toEqual([
        { kind: 'range', column: 'content_aspect_ratio', bounds, orMissing: true },
      ]);
  });

  it('is selected without shorts, with the limits of the client or the reference', () => {
    const shorts = (aspectRatio: string, durationSec: string) => [
      { kind: 'notShorts', aspectRatio, durationSec },
    ];
    expect(parse({ exclude_shorts: true }).conditions).toEqual(shorts('0.95', '180'));
    expect(
      parse({
        exclude_shorts: true,
        exclude_shorts_aspect_ratio_lte: 1.2,
        exclude_shorts_duration_lte: '60',
      }).conditions,
    ).toEqual(shorts('1.2', '60'));
    expect(parse({ exclude_shorts: false, exclude_shorts_duration_lte: 60 }).conditions).toEqual([]);
  });

  it('without a source is the complement of content with one', () => {
    for (const value of [true, false])
      expect(parse({ has_no_source: value }).conditions).toEqual(parse({ has_source: !value }).conditions);
  });
});

describe('unknown constraints', () => {
  it('are distinguished from known ones', () => {
    const known = {
      'claim.height': 1,
      claim_id__in: [],
      content_width_or_missing: '>1',
      exclude_shorts_duration_lte: 1,
      no_totals: true,
      has_no_source: true,
    };
    const unknown = { heigth: 1, toString: 1, ['k'.repeat(65)]: 1 };
    expect(unknownNames(Object.keys(known))).toEqual([]);
    expect(unknownNames(Object.keys({ ...known, ...unknown }))).toEqual(Object.keys(unknown));
    expect(() => refuseUnknownNames(['limit', 'heigth'])).toThrow('The constraint "heigth" does not exist.');
  });
});
