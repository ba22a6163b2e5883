import { describe, expect, it } from 'vitest';
import { RPC_ERROR, RpcError } from '../../../../src/rpc/declare/errors.js';
import { invokeMethod } from '../../../../src/rpc/call/callMethod.js';
import {
  defineMethod,
  type ParamDecl,
  type ParsedArgs,
  type RpcMethod,
} from '../../../../src/rpc/declare/method.js';
import type { ParamTypeName } from '../../../../src/rpc/declare/paramTypes.js';
import { t } from '../../../../src/schema/schema.js';
import { MethodTable } from '../../../../src/rpc/declare/table.js';
import { JsonObject, type JsonValue } from '../../../../src/util/json/json.js';
import { parseJson } from '../../../../src/util/json/jsonParse.js';
import { testContext } from '../support.js';

/** A method with these parameters, and what its last call was given. */
function recorder(
  params: readonly ParamDecl[],
  extra: Partial<RpcMethod> = {},
): { method: RpcMethod; args: () => ParsedArgs } {
  let last: ParsedArgs = {};
  const method = {
    ...defineMethod({
      name: 'test',
      category: 'hidden',
      summary: 'Test.',
      params: [],
      result: t.none(),
      run: () => null,
    }),
    params,
    ...extra,
    run: (_ctx: unknown, args: ParsedArgs) => {
      last = args;
      return null;
    },
  };
  return { method, args: () => last };
}

async function failure(method: RpcMethod, params: string, ctx = testContext()): Promise<[number, string]> {
  const value = parseJson(params);
  try {
    await invokeMethod(method, ctx, value instanceof JsonObject ? value : (value as JsonValue[]));
  } catch (error) {
    if (error instanceof RpcError) return [error.code, error.message];
    throw error;
  }
  throw new Error(`${params} was taken`);
}

async function read(type: ParamTypeName, value: string, extra: Partial<ParamDecl> = {}): Promise<unknown> {
  const { method, args } = recorder([{ name: 'p', type, required: true, description: '', ...extra }]);
  await invokeMethod(method, testContext(), parseJson(`[${value}]`) as JsonValue[]);
  return args().p;
}

async function refuse(
  type: ParamTypeName,
  value: string,
  extra: Partial<ParamDecl> = {},
): Promise<[number, string]> {
  return failure(
    recorder([{ name: 'p', type, required: true, description: '', ...extra }]).method,
    `[${value}]`,
  );
}

const HASH = '00000000c937983704a73af28acdec37b049d214adbda81d7e2a3dd146f6ed09';

describe('types', () => {
  it('parse each kind of value', async () => {
    expect(await read('string', '"x"')).toBe('x');
    expect(await read('hex', '"0aFF"')).toEqual(Buffer.from([10, 255]));
    expect(await read('hash', `"${HASH}"`)).toEqual(Buffer.from(HASH, 'hex').reverse());
    expect(await read('integer', '-2147483648')).toBe(-2147483648);
    expect(await read('integer', '-0')).toBe(0);
    expect(await read('int64', '9223372036854775807')).toBe(9223372036854775807n);
    expect(await read('number', '1.5e3')).toBe(1500);
    expect(await read('boolean', 'true')).toBe(true);
    expect([
      await read('verbosity', 'true'),
      await read('verbosity', 'false'),
      await read('verbosity', '2'),
    ]).toEqual([1, 0, 2]);
    expect([await read('amount', '1.10'), await read('amount', '"0.00000001"')]).toEqual([110000000n, 1n]);
    expect(await read('amount', '9999999999')).toBe(999999999900000000n);
    expect(await read('hashOrHeight', '7')).toBe(7);
    expect(await read('hashOrHeight', `"${HASH}"`)).toEqual(Buffer.from(HASH, 'hex').reverse());
    expect(await read('object', '{"a":1}')).toBeInstanceOf(JsonObject);
    expect(await read('array', '[1]')).toEqual([1]);
    expect(await read('any', 'null')).toBeNull();
  });

  it('parse a malformed hash as the reference does', async () => {
    const printed = async (text: string): Promise<string> =>
      Buffer.from((await read('looseHash', JSON.stringify(text))) as Buffer)
        .reverse()
        .toString('hex');
    expect(await printed(HASH)).toBe(HASH);
    expect(await printed('zz')).toBe('0'.repeat(64));
    expect(await printed(' 0xABc')).toBe('abc'.padStart(64, '0'));
    expect(await printed('12 34')).toBe('12'.padStart(64, '0'));
    expect(await printed(`ff${HASH}`)).toBe(HASH);
  });

  it.each<[ParamTypeName, string, number, string]>([
    ['string', '1', -1, 'JSON value is not a string as expected'],
    ['string', 'null', -1, 'JSON value is not a string as expected'],
    ['boolean', '1', -1, 'JSON value is not a boolean as expected'],
    ['integer', '"1"', -1, 'JSON value is not an integer as expected'],
    ['integer', 'true', -1, 'JSON value is not an integer as expected'],
    ['integer', '1.0', -1, 'JSON integer out of range'],
    ['integer', '1e3', -1, 'JSON integer out of range'],
    ['integer', '2147483648', -1, 'JSON integer out of range'],
    ['integer', '99999999999999999999', -1, 'JSON integer out of range'],
    ['int64', '9223372036854775808', -1, 'JSON integer out of range'],
    ['number', '"1"', -1, 'JSON value is not a number as expected'],
    ['number', '1e400', -1, 'JSON double out of range'],
    ['object', '[]', -1, 'JSON value is not an object as expected'],
    ['array', '{}', -1, 'JSON value is not an array as expected'],
    ['hex', '"abc"', -8, "p must be hexadecimal string (not 'abc')"],
    ['hex', '""', -8, "p must be hexadecimal string (not '')"],
    ['hex', '5', -8, "p must be hexadecimal string (not '')"],
    ['hash', '"zz"', -8, "p must be hexadecimal string (not 'zz')"],
    ['hash', '"abcd"', -8, 'p must be of length 64 (not 4)'],
    ['hash', 'null', -8, "p must be hexadecimal string (not '')"],
    ['looseHash', '5', -1, 'JSON value is not a string as expected'],
    ['verbosity', '"1"', -1, 'JSON value is not a boolean as expected'],
    ['verbosity', '1.5', -1, 'JSON integer out of range'],
    ['hashOrHeight', 'true', -8, "p must be hexadecimal string (not '')"],
    ['amount', 'true', -3, 'Amount is not a number or string'],
    ['amount', '"x"', -3, 'Invalid amount'],
    ['amount', '0.000000001', -3, 'Invalid amount'],
    ['amount', '-1', -3, 'Amount out of range'],
    ['amount', '-0.00000001', -3, 'Amount out of range'],
    ['amount', '10000000000', -3, 'Invalid amount'],
  ])('%s refuses %s', async (type, value, code, message) => {
    expect(await refuse(type, value)).toEqual([code, message]);
  });

  it('are checked before the call if the declaration is strict', async () => {
    const { method } = recorder([
      { name: 'a', type: 'hex', required: true, strict: true, description: '' },
      { name: 'b', type: 'boolean', strict: true, description: '' },
      { name: 'c', type: 'array', strict: 'nullable', description: '' },
      { name: 'd', type: 'amount', strict: true, description: '' },
    ]);
    expect(await failure(method, '["x",1]')).toEqual([-3, 'Expected type bool, got number']);
    expect(await failure(method, '[1,true]')).toEqual([-3, 'Expected type string, got number']);
    expect(await failure(method, '["x",null]')).toEqual([-3, 'Expected type bool, got null']);
    expect(await failure(method, '["x",true,{}]')).toEqual([-3, 'Expected type array, got object']);
    expect(await failure(method, '["x",true,null,"y"]')).toEqual([
      -8,
      "a must be hexadecimal string (not 'x')",
    ]);
  });

  it('name the argument in errors, and limit numbers', async () => {
    expect(await refuse('hash', '"x"', { label: 'blockhash (optional parameter 2)' })).toEqual([
      -8,
      "blockhash (optional parameter 2) must be hexadecimal string (not 'x')",
    ]);
    const range = { min: 0, max: 4 };
    expect(await read('integer', '4', { range })).toBe(4);
    expect(await refuse('integer', '5', { range })).toEqual([-8, 'p must be between 0 and 4']);
    expect(await refuse('int64', '-1', { range: { ...range, error: 'no' } })).toEqual([-8, 'no']);
  });
});

describe('arguments', () => {
  const params: ParamDecl[] = [
    { name: 'first', type: 'integer', required: true, description: '' },
    { name: 'second|zwei', type: 'string', default: 'two', description: '' },
    { name: 'third', type: 'boolean', description: '' },
    { name: 'fourth', type: 'string', nullIsValue: true, description: '' },
  ];
  const { method, args } = recorder(params);
  const call = async (text: string): Promise<ParsedArgs> => {
    const value = parseJson(text);
    await invokeMethod(method, testContext(), value instanceof JsonObject ? value : (value as JsonValue[]));
    return args();
  };

  it('have their defaults if they are absent or null', async () => {
    expect(await call('[1]')).toEqual({ first: 1, second: 'two', third: undefined, fourth: undefined });
    expect(await call('[1,null,null]')).toEqual({
      first: 1,
      second: 'two',
      third: undefined,
      fourth: undefined,
    });
    expect(await call('[1,"x",false,"y"]')).toEqual({ first: 1, second: 'x', third: false, fourth: 'y' });
    expect(await failure(method, '[1,"x",false,null]')).toEqual([
      -1,
      'JSON value is not a string as expected',
    ]);
  });

  it('can be named, and missing ones in between are null', async () => {
    expect(await call('{"third":true,"first":5}')).toEqual({
      first: 5,
      second: 'two',
      third: true,
      fourth: undefined,
    });
    expect(await call('{"first":1,"zwei":"x"}')).toMatchObject({ second: 'x' });
    expect(await call('{"first":1,"first":2}')).toMatchObject({ first: 2 });
    expect(await failure(method, '{"third":true}')).toEqual([-1, 'JSON value is not an integer as expected']);
    expect(await failure(method, '{"first":1,"nosuch":1,"other":2}')).toEqual([
      -8,
      'Unknown named parameter nosuch',
    ]);
    const others = Array.from({ length: 1000 }, (_, n) => `"k${n}":0`).join();
    expect(await failure(method, `{"first":1,${others}}`)).toEqual([-8, 'Unknown named parameter k0']);
    expect(await failure(method, '{"first":1,"second":"x","zwei":"y"}')).toEqual([
      -8,
      'Unknown named parameter zwei',
    ]);
  });

  it('have a maximum number; the error contains the usage', async () => {
    for (const [wrong, were] of [
      ['[]', 'none were'],
      ['{}', 'none were'],
      ['[1,"x",true,"y",5]', '5 were'],
    ] as const) {
      const [code, message] = await failure(method, wrong);
      expect(code).toBe(RPC_ERROR.MISC_ERROR);
      expect(message).toBe(
        `test takes 1 to 4 arguments, ${were} given.\nUsage: test first ( "second" third "fourth" )`,
      );
    }
    const lax = recorder([], { maxArgs: 1 });
    await invokeMethod(lax.method, testContext(), [5]);
    expect((await failure(lax.method, '[1,2]'))[0]).toBe(-1);
  });

  it('are fewer in the other profiles if the last parameters have no effect there', async () => {
    const own = { ...method, maxArgsInReference: 3 };
    await invokeMethod(own, testContext(), [1, 'x', true, 'y']);
    for (const profile of ['lbrycrd', 'lbcd'] as const)
      await invokeMethod(own, testContext({ profile }), [1, 'x', true]);
    const usage = 'Usage: test first ( "second" third )';
    for (const wrong of ['[1,"x",true,"y"]', '{"first":1,"fourth":"y"}'])
      expect(await failure(own, wrong, testContext({ profile: 'lbrycrd' }))).toEqual([
        -1,
        `test takes 1 to 3 arguments, 4 were given.\n${usage}`,
      ]);
    expect(await failure(own, '[1,"x",true,"y"]', testContext({ profile: 'lbcd' }))).toEqual([
      -32602,
      'wrong number of params (expected between 1 and 3, received 4)',
    ]);
  });

  it('have the types of their declaration', async () => {
    const typedMethod = defineMethod({
      name: 'typed',
      category: 'hidden',
      summary: '',
      params: [
        { name: 'hash', type: 'hash', required: true, description: '' },
        { name: 'amount', type: 'amount', required: true, description: '' },
        { name: 'verbosity|verbose', type: 'verbosity', default: 1, description: '' },
        { name: 'label', type: 'string', description: '' },
      ],
      result: t.any(),
      run(_ctx, typed) {
        const hash: Buffer = typed.hash;
        const verbosity: number = typed.verbosity;
        const label: string | undefined = typed.label;
        const satoshis: bigint = typed.amount;
        // @ts-expect-error An optional parameter without a default may be undefined.
        const unsafe: string = typed.label;
        // @ts-expect-error Only the first name is a key.
        const missing: unknown = typed.verbose;
        return [hash.length, verbosity, label ?? null, satoshis, unsafe ?? null, missing === undefined];
      },
    });
    const answer = await invokeMethod(typedMethod, testContext(), [HASH, '1.5']);
    expect(answer).toEqual([32, 1, null, 150000000n, null, true]);
  });
});

describe('deprecation and profiles', () => {
  const deprecated = { option: 'old', message: 'old is deprecated', profiles: ['lbrycrd'] as const };
  const { method } = recorder([], { deprecated });

  it('refuses deprecated methods unless they are enabled, in their profiles only', async () => {
    expect(await failure(method, '[]', testContext({ profile: 'lbrycrd' }))).toEqual([
      -32,
      'old is deprecated',
    ]);
    expect((await failure(method, '[1]', testContext({ profile: 'lbrycrd' })))[0]).toBe(-1);
    const first = recorder([], { deprecated: { ...deprecated, comesFirst: true } }).method;
    expect((await failure(first, '[1]', testContext({ profile: 'lbrycrd' })))[0]).toBe(-32);
    const enabled = testContext({ profile: 'lbrycrd', isDeprecatedEnabled: (name) => name === 'old' });
    await expect(invokeMethod(method, enabled, [])).resolves.toBeNull();
    await expect(invokeMethod(method, testContext(), [])).resolves.toBeNull();
  });

  it('selects the method of the profile', () => {
    const documented = recorder([], { profiles: ['documented', 'lbrycrd'] }).method;
    const lbcd = recorder([], { profiles: ['lbcd'] }).method;
    const table = new MethodTable([documented, lbcd]);
    expect(table.find('test', 'lbrycrd')).toBe(documented);
    expect(table.find('test', 'lbcd')).toBe(lbcd);
    expect(table.find('nosuch', 'lbcd')).toBeUndefined();
    expect(() => new MethodTable([documented, documented])).toThrow('declared twice');
  });
});
