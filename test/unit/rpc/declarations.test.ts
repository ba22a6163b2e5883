import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { operatorFiles } from '../../../src/bin/generate/operatorFiles.js';
import { generatedFiles } from '../../../src/node/options/optionsGenerated.js';
import { arityError, methodHelp, methodUsage } from '../../../src/rpc/reference/helpText.js';
import { recordedCalls } from '../../../src/rpc/reference/recordedExamples.js';
import { checkJson, checkResult } from '../../../src/schema/schemaCheck.js';
import { MethodTable } from '../../../src/rpc/declare/table.js';
import { WITHOUT_EXAMPLE } from '../../support/exampleCalls.js';
import { defineMethod, paramNames, type Profile, type RpcMethod } from '../../../src/rpc/declare/method.js';
import { LBCWALLET_METHODS } from '../../../src/rpc/declare/lbcwalletTable.js';
import { METHODS } from '../../../src/rpc/declare/methodTable.js';
import { JsonSchemas } from '../../../src/schema/jsonSchema.js';
import { methodErrors, openRpcDocument } from '../../../src/rpc/reference/openRpc.js';
import { PARAM_TYPES } from '../../../src/rpc/declare/paramTypes.js';
import { t, type Schema } from '../../../src/schema/schema.js';
import { coins, toPlain } from '../../../src/util/json/json.js';
import { parseJson } from '../../../src/util/json/jsonParse.js';
import { stringifyJson } from '../../../src/util/json/jsonStream.js';
import { hexOf, jsonArray } from '../../../src/util/json/jsonWrite.js';

describe('every declared method', () => {
  const declared = [...METHODS, ...LBCWALLET_METHODS];
  it.each(declared.map((method) => [method.name, method] as const))(
    '%s has a valid declaration',
    (name, method) => {
      expect(name).toMatch(/^[a-z][a-z0-9_.]*$/);
      expect(method.summary).toMatch(/[.!?"]$/);
      const names = method.params.flatMap(paramNames);
      expect(new Set(names).size).toBe(names.length);
      const firstOptional = method.params.findIndex((param) => param.required !== true);
      const lastRequired = method.params.findLastIndex((param) => param.required === true);
      if (firstOptional >= 0) expect(lastRequired).toBeLessThan(firstOptional);
      for (const param of method.params) {
        expect(PARAM_TYPES).toHaveProperty(param.type);
        expect(param.description).not.toBe('');
        if (param.required === true) expect(param.default).toBeUndefined();
      }
      for (const example of method.examples ?? []) {
        for (const word of example) expect(() => parseJson(word), `${name} ${word}`).not.toThrow();
      }
      expect(methodHelp(method).startsWith(`${methodUsage(method)}\n`)).toBe(true);
    },
  );
});

describe('generated files', () => {
  const files = { ...generatedFiles(), ...operatorFiles() };

  it.each(Object.entries(files))('%s is up to date (node scripts/generateRpcDocs.mjs)', (name, text) => {
    const present = readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8');
    // Compared as a boolean, because the message of the matcher would have thousands of lines.
    expect(present === text, `${name} is stale`).toBe(true);
  });
});

describe('the method reference', () => {
  it('has a table of contents that links to its headings', () => {
    const text = generatedFiles()['docs/rpc.md']!;
    const anchors = [...text.matchAll(/^###? (.*)$/gm)].map(([, heading]) =>
      heading!
        .toLowerCase()
        .replace(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    );
    const links = [...text.matchAll(/\]\(#([^)]*)\)/g)].map(([, anchor]) => anchor!);
    expect(links.toSorted()).toEqual(anchors.toSorted());
    expect(new Set(anchors).size).toBe(anchors.length);
  });

  it('shows a sample of each method that has one', () => {
    const text = generatedFiles()['docs/rpc.md']!;
    for (const method of METHODS.filter(({ name }) => !WITHOUT_EXAMPLE.includes(name)))
      expect(text, method.name).toContain(`\n{"method":"${method.name}","params":[`);
  });
});

const sample = defineMethod({
  name: 'sample',
  category: 'blockchain',
  summary: 'Does a sample thing.',
  params: [
    { name: 'blockhash', type: 'hash', required: true, description: 'The block' },
    { name: 'verbosity|verbose', type: 'verbosity', default: 1, description: 'How much' },
    { name: 'stats', type: 'array', description: 'Which ones' },
    {
      name: 'n',
      type: 'integer',
      default: 6,
      range: { min: 1, max: 9 },
      defaultText: 'six',
      description: 'How many',
    },
  ],
  result: t.union([
    { when: 'for verbosity = 0', schema: t.hex('the block') },
    {
      when: 'for verbosity = 1',
      schema: t.object({
        hash: t.hash('the id'),
        fee: t.optional(t.coins('the fee'), 'when known'),
        tx: t.array(t.object({ txid: t.hash('its id') })),
        byName: t.map('name', t.int('count')),
        pair: t.tuple([t.str('address'), t.bool('mine')]),
      }),
    },
  ]),
  examples: [['"hash"', '1', '["a"]']],
  run: () => null,
});

describe('help', () => {
  it('has the layout of the reference', () => {
    expect(methodHelp(sample)).toBe(`sample "blockhash" ( verbosity stats n )

Does a sample thing.

Arguments:
1. "blockhash"  (string, required) The block
2. verbosity    (numeric or boolean, optional, default=1) How much
3. stats        (json array, optional) Which ones
4. n            (numeric, optional, default=six, 1 to 9) How many

Result (for verbosity = 0):
"hex"                             (string) the block

Result (for verbosity = 1):
{                                 (json object)
  "hash": "hash"                  (string) the id
  "fee": n.nnnnnnnn               (numeric, optional, when known) the fee
  "tx": [                         (json array)
    {                             (json object)
      "txid": "hash"              (string) its id
    }
    ,...
  ]
  "byName": {                     (json object)
    "name": n                     (numeric) count
    ,...
  }
  "pair": [                       (json array)
    "str"                         (string) address
    true|false                    (boolean) mine
  ]
}

Examples:
> lbcnode-cli sample "hash" 1 '["a"]'
> curl --user myusername --data-binary '{"jsonrpc": "1.0", "id": "curltest", "method": "sample", "params": ["hash", 1, ["a"]]}' -H 'content-type: text/plain;' http://127.0.0.1:9245/
`);
  });
});

describe('the error about a wrong number of arguments', () => {
  const taking = (least: number, named: number, maxArgs?: number): RpcMethod => ({
    ...sample,
    params: Array.from({ length: named }, (_, index) => ({
      name: `p${index}`,
      type: 'string' as const,
      required: index < least,
      description: '',
    })),
    ...(maxArgs !== undefined && { maxArgs }),
  });
  it.each([
    [0, 0, undefined, 1, 'sample takes no arguments, 1 was given.\nUsage: sample'],
    [1, 1, undefined, 0, 'sample takes 1 argument, none were given.\nUsage: sample "p0"'],
    [0, 1, undefined, 2, 'sample takes at most 1 argument, 2 were given.\nUsage: sample ( "p0" )'],
    [1, 2, undefined, 3, 'sample takes 1 to 2 arguments, 3 were given.\nUsage: sample "p0" ( "p1" )'],
    [2, 2, Infinity, 1, 'sample takes at least 2 arguments, 1 was given.\nUsage: sample "p0" "p1"'],
    // A third argument is accepted and ignored, so the message does not mention it.
    [2, 2, 3, 1, 'sample takes 2 arguments, 1 was given.\nUsage: sample "p0" "p1"'],
    [0, 0, 1, 2, 'sample takes no arguments, 2 were given.\nUsage: sample'],
  ])('is correct from %d to %d (%s): %d', (least, named, maxArgs, given, said) =>
    expect(arityError(taking(least, named, maxArgs), given)).toBe(said),
  );

  it('states as many arguments as the usage shows, for every method', () => {
    for (const method of METHODS) {
      const shown = method.maxArgs === Infinity ? Infinity : method.params.length;
      const bound = /^\S+ takes (?:\d+ to |at most )?(no|\d+) arguments?, /.exec(
        arityError(method, 1000),
      )?.[1];
      if (shown !== Infinity) expect(bound, method.name).toBe(shown === 0 ? 'no' : String(shown));
    }
  });
});

describe('OpenRPC', () => {
  it('defines recurring shapes once and refers to them', () => {
    const inner = t.named('Inner', t.object({ a: t.coins('an amount') }));
    const schemas = new JsonSchemas();
    expect(schemas.of(t.array(inner))).toEqual({
      type: 'array',
      items: { $ref: '#/components/schemas/Inner' },
      description: undefined,
    });
    expect(schemas.components['Inner']).toMatchObject({
      title: 'Inner',
      properties: { a: { type: 'number', description: 'an amount (in coins, with eight decimals)' } },
    });
    expect(JSON.stringify(schemas.components)).not.toContain('multipleOf');
  });

  it('has one shape for each name', () => {
    const shapes = new Map<string, Schema>();
    const walk = (schema: Schema): void => {
      if (schema.name !== undefined) {
        const known = shapes.get(schema.name) ?? schema;
        expect(schema, schema.name).toEqual(known);
        shapes.set(schema.name, schema);
      }
      if (schema.kind === 'array') walk(schema.item);
      if (schema.kind === 'map') walk(schema.value);
      if (schema.kind === 'tuple') schema.items.forEach(walk);
      if (schema.kind === 'union') schema.variants.forEach((variant) => walk(variant.schema));
      if (schema.kind === 'object') {
        for (const field of Object.values(schema.fields))
          walk(field.kind === 'optional' ? field.schema : field);
      }
    };
    for (const { result } of METHODS) walk(result);
    expect(shapes.size).toBeGreaterThan(15);
  });

  it('lists the errors that a method can return', () => {
    const errorsOf = (name: string, profile: Profile = 'documented'): string[] =>
      methodErrors(
        METHODS.find((method) => method.name === name)!,
        profile,
      );
    expect(errorsOf('getblockcount')).toEqual(['MISC_ERROR', 'INVALID_PARAMETER', 'IN_WARMUP']);
    expect(errorsOf('sendrawtransaction')).toContain('VERIFY_ALREADY_IN_CHAIN');
    expect(errorsOf('getrawtransaction')).toContain('INVALID_ADDRESS_OR_KEY');
    expect(errorsOf('getblockcount', 'lbcd')).toContain('INVALID_PARAMS');
  });

  it('describes every method', () => {
    const text = stringifyJson(
      openRpcDocument([...METHODS, sample], { version: '1.2.3', examples: [], profile: 'documented' }),
    );
    const document = toPlain(parseJson(text)) as {
      openrpc: string;
      methods: { name: string; params: object[]; result: object }[];
    };
    expect(document.methods.map((method) => method.name)).toEqual(
      [...METHODS, sample].map((method) => method.name),
    );
    const described = document.methods[document.methods.length - 1]!;
    expect(described.params[0]).toEqual({
      name: 'blockhash',
      description: 'The block',
      required: true,
      schema: { type: 'string', pattern: '^[0-9a-fA-F]{64}$' },
    });
    expect(described.params[3]).toEqual({
      name: 'n',
      description: 'How many (default: six)',
      required: false,
      schema: { type: 'integer', minimum: 1, maximum: 9 },
    });
    expect(described.result).toMatchObject({ schema: { anyOf: [{ type: 'string' }, { type: 'object' }] } });
  });

  it('lists the required members of an object', () => {
    const schema = new JsonSchemas().of(t.object({ a: t.int(), b: t.optional(t.str()) }));
    expect(schema).toMatchObject({ required: ['a'], additionalProperties: false });
  });
});

describe('the recorded examples', () => {
  const table = new MethodTable(METHODS);

  it.each(recordedCalls().map((call) => [call.method, call] as const))(
    '%s matches its declaration',
    (_, call) => {
      const method = table.find(call.method, call.profile);
      expect(method, `${call.method} is not a method of the ${call.profile} profile`).toBeDefined();
      expect(checkJson(method!.result, call.result)).toEqual([]);
      expect(call.params.length).toBeLessThanOrEqual(method!.maxArgs ?? method!.params.length);
    },
  );

  it('exist for every method (LBCNODE_RECORD=1 npx vitest run test/functional/openRpc.test.ts)', () => {
    const recorded = new Set(recordedCalls().map(({ method }) => method));
    const missing = METHODS.filter(({ name }) => !recorded.has(name) && !WITHOUT_EXAMPLE.includes(name));
    expect(missing.map(({ name }) => name)).toEqual([]);
  });
});

describe('checkResult', () => {
  const good = {
    hash: '0'.repeat(64),
    tx: [{ txid: 'a'.repeat(64) }],
    byName: { x: 1 },
    pair: ['addr', true],
  };

  it('accepts a result that matches its declaration', async () => {
    expect(await checkResult(sample.result, hexOf(Buffer.from('00', 'hex')))).toEqual([]);
    expect(await checkResult(sample.result, good)).toEqual([]);
    expect(await checkResult(sample.result, { ...good, fee: coins(5n), tx: jsonArray([]) })).toEqual([]);
  });

  it.each<[object, string[]]>([
    [{ ...good, hash: 'x' }, ['result.hash: not 32 bytes of hex: x']],
    [{ ...good, extra: 1 }, ['result.extra: not declared']],
    [{ ...good, hash: undefined }, ['result.hash: missing']],
    [{ ...good, fee: 0.1 }, ['result.fee: not a number of coins with eight decimals: 0.1']],
    [{ ...good, fee: '1' }, ['result.fee: string, not number']],
    [{ ...good, tx: [{ txid: null }] }, ['result.tx[0].txid: null, not string']],
    [{ ...good, byName: { x: 1.5 } }, ['result.byName.x: not an integer: 1.5']],
    [{ ...good, pair: ['addr'] }, ['result.pair: 1 items, not 2']],
    [{ ...good, pair: ['addr', 1] }, ['result.pair[1]: number, not bool']],
  ])('reports a difference: %j', async (value, problems) => {
    expect(await checkResult(sample.result, value as never)).toEqual(problems);
  });

  it('checks every kind of value', async () => {
    expect(await checkResult(t.none(), null)).toEqual([]);
    expect(await checkResult(t.none(), 0)).toEqual(['result: number, not null']);
    expect(await checkResult(t.any(), [1, {}])).toEqual([]);
    expect(await checkResult(t.oneOf(['a', 'b']), 'b')).toEqual([]);
    expect(await checkResult(t.oneOf(['a', 'b']), 'c')).toEqual(['result: not one of a, b']);
    expect(await checkResult(t.hex(), 'ABC')).toEqual(['result: not lower-case hex: ABC']);
    expect(await checkResult(t.claimId(), 'ab'.repeat(20))).toEqual([]);
    expect(await checkResult(t.openObject({}), { x: 1 })).toEqual([]);
    expect(await checkResult(t.int(), 1n << 70n)).toEqual([]);
    expect(await checkResult(t.num(), 1e-9)).toEqual([]);
    expect(await checkResult(t.array(t.int()), {})).toEqual(['result: object, not array']);
    expect(await checkResult(t.map('k', t.int()), [])).toEqual(['result: array, not object']);
  });
});
