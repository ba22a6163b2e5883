/** Parameters read by their declarations. */
import { describe, expect, it } from 'vitest';
import { declareMethod } from '../../../../src/daemon/api/declaration.js';
import { checkParams, readParams, type CallParams } from '../../../../src/daemon/api/paramReading.js';
import { t } from '../../../../src/schema/schema.js';
import type { JsonObject } from '../../../../src/util/json/json.js';
import { type JsonValue } from '../../../../src/util/json/json.js';
import { parseJson } from '../../../../src/util/json/jsonParse.js';

const method = declareMethod({
  name: 'method',
  group: null,
  summary: '',
  usage: [],
  params: [
    { name: 'name', type: 'str', description: '', required: true },
    { name: 'count', type: 'int', description: '', default: 7 },
    { name: 'flag', type: 'bool', description: '', default: false },
    { name: 'amount', type: 'lbc', description: '' },
    { name: 'bid', type: 'positiveLbc', description: '' },
    { name: 'ids', type: 'strOrList', description: '' },
    { name: 'payers', type: 'strOrList', description: '', emptyIsAbsent: true },
    { name: 'title', type: 'str', description: '', refusesNull: true },
    { name: 'value', type: 'any', description: '' },
  ],
  result: t.none(),
  needs: [],
});

const call = (named: string, positional: JsonValue[] = []): CallParams => ({
  positional,
  named: new Map((parseJson(named) as JsonObject).entries),
});
const read = (named: string, positional: JsonValue[] = []): Record<string, unknown> =>
  readParams(method, call(named, positional));
const check =
  (named: string, positional: JsonValue[] = []) =>
  () =>
    checkParams(method, call(named, positional));

describe('names and numbers', () => {
  it('must match', () => {
    expect(check('{"name": "a"}')).not.toThrow();
    expect(check('{"name": "a", "count": 1}', ['b'])).toThrow(
      'Duplicate parameters for method command: name',
    );
    expect(check('{}')).toThrow('Missing required parameters for method command: name');
    expect(check('{"name": "a", "z": 1, "y": 2}')).toThrow('Extraneous parameters for method command: z, y');
    expect(check('{}', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])).toThrow('10 given by position, at most 9 are taken');
  });
});

describe('values', () => {
  it('are read by their types, with defaults', () => {
    expect(read('{"flag": 1, "amount": "1.5", "ids": "a", "value": null}', ['n', 3])).toMatchObject({
      name: 'n',
      count: 3,
      flag: true,
      amount: 150_000_000n,
      bid: undefined,
      ids: ['a'],
      value: null,
    });
    expect(read('{"name": "", "ids": "", "payers": ""}')).toMatchObject({ ids: [''], payers: undefined });
    expect(read('{"name": "", "payers": [""]}')).toMatchObject({ payers: [''] });
    expect(read('{"name": 7, "count": null, "ids": []}')).toMatchObject({
      name: '7',
      count: 7,
      ids: undefined,
    });
  });

  it('of other types are refused by name', () => {
    for (const [params, name, message] of [
      ['{"name": {}}', 'TypeError', "'name' must be text."],
      ['{"name": "a", "count": 1.5}', 'TypeError', "'count' must be an integer."],
      ['{"name": "a", "flag": "yes"}', 'TypeError', "'flag' must be true or false."],
      ['{"name": "a", "ids": [[]]}', 'TypeError', "'ids' must be text or a list of texts."],
      ['{"name": null}', 'InputValueIsNoneError', "None or null is not valid value for argument 'name'."],
      [
        '{"name": "a", "title": null}',
        'InputValueIsNoneError',
        "None or null is not valid value for argument 'title'.",
      ],
      ['{"name": "a", "amount": 1.5}', 'ValueError', "Invalid value for 'amount': "],
      ['{"name": "a", "amount": "1.123456789"}', 'ValueError', "Invalid value for 'amount': "],
      ['{"name": "a", "bid": "0.0"}', 'ValueError', "'bid' value must be greater than 0.0"],
    ] as const)
      expect(() => read(params), params).toThrow(
        expect.objectContaining({ name, message: expect.stringContaining(message) as string }),
      );
  });
});
