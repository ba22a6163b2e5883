/**
 * Compares `rpc.discover` with a node by common validators: the document with OpenRPC's own schema, every answer with the
 * schema of its method, every error with the list of its method. Records the examples of data/rpcExamples.json if
 * LBCNODE_RECORD is set. Otherwise compares the shape of new answers with theirs.
 */
import { writeFileSync } from 'node:fs';
import { Ajv, type ValidateFunction } from 'ajv';
import * as openRpc from '@open-rpc/meta-schema';
import jsonSchemaDraft7 from 'ajv/dist/refs/json-schema-draft-07.json' with { type: 'json' };
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROFILES, type Profile } from '../../src/rpc/declare/method.js';
import { METHODS } from '../../src/rpc/declare/methodTable.js';
import {
  callKey,
  examplesFor,
  EXAMPLES_FILE,
  recordedCalls,
  type RecordedCall,
} from '../../src/rpc/reference/recordedExamples.js';
import { checkJson } from '../../src/schema/schemaCheck.js';
import { MethodTable } from '../../src/rpc/declare/table.js';
import { freePort, startRegtest, type RegtestNode } from './support/node.js';
import { JsonObject, toPlain, type JsonValue } from '../../src/util/json/json.js';
import { parseJson } from '../../src/util/json/jsonParse.js';
import { stringifyJson } from '../../src/util/json/jsonStream.js';
import { projectFile } from '../../src/util/project.js';
import { answerShape } from '../support/answerShape.js';
import { EXAMPLE_NODE_ARGS, makeExampleCalls } from '../support/exampleCalls.js';
import { IS_LONG } from '../support/long.js';

interface Document {
  readonly info: { readonly version: string };
  readonly methods: readonly {
    readonly name: string;
    readonly params: readonly { readonly name: string; readonly schema: object }[];
    readonly result: { readonly schema: object };
    readonly errors: readonly { readonly $ref: string }[];
    readonly examples?: readonly {
      readonly params: readonly { readonly name: string; readonly value: unknown }[];
      readonly result: { readonly value: unknown };
    }[];
  }[];
  readonly components: {
    readonly schemas: object;
    readonly errors: Record<string, { readonly code: number }>;
  };
}

interface Answer {
  readonly result: JsonValue;
  readonly code: number | null;
}

const PATHS: Readonly<Record<Profile, string>> = { documented: '/', lbrycrd: '/lbrycrd', lbcd: '/lbcd' };
const table = new MethodTable(METHODS);

let node: RegtestNode;
let peer: RegtestNode;
const documents = {} as Record<Profile, Document>;
/** The answers to all calls, by profile. */
const answered: { readonly call: RecordedCall; readonly text: string }[] = [];

async function ask(
  profile: Profile,
  method: string,
  params: readonly unknown[],
): Promise<Answer & { text: string }> {
  const { text } = await node.post(JSON.stringify({ id: 1, method, params }), PATHS[profile]);
  const reply = parseJson(text, Infinity) as JsonObject;
  const error = reply.get('error') ?? null;
  const code = error instanceof JsonObject ? Number(toPlain(error.get('code') ?? null)) : null;
  return { result: reply.get('result') ?? null, code, text };
}

/** A validator that compiles schemas as a client does, with the components to which they refer. */
function validatorOf(document: Document): (schema: object) => ValidateFunction {
  const ajv = new Ajv({ allErrors: true });
  ajv.addVocabulary(['components']);
  return (schema) => ajv.compile({ ...schema, components: { schemas: document.components.schemas } });
}

beforeAll(async () => {
  const p2pPort = await freePort();
  // Options that make more methods return data. `-listen` overrides the `-listen=0` of startRegtest, because it comes later.
  node = await startRegtest({
    args: [...EXAMPLE_NODE_ARGS, `-port=${p2pPort}`, '-hub', `-hubport=${await freePort()}`],
  });
  const cases = await makeExampleCalls(node);
  peer = await startRegtest({ args: [`-connect=127.0.0.1:${p2pPort}`, EXAMPLE_NODE_ARGS[0]!] });
  await node.rpc('waitforblockheight', [0]);
  for (const profile of PROFILES) {
    documents[profile] = toPlain((await ask(profile, 'rpc.discover', [])).result) as Document;
  }
  for (const { method, params, profiles = PROFILES } of cases) {
    for (const profile of profiles) {
      if (table.find(method, profile) === undefined) continue;
      const { result, code, text } = await ask(profile, method, params);
      expect(code, `${profile} ${method} ${text.slice(0, 300)}`).toBeNull();
      const sent = parseJson(JSON.stringify(params)) as JsonValue[];
      answered.push({ call: { profile, method, params: sent, result }, text });
    }
  }
  if (process.env['LBCNODE_RECORD']) record();
});
afterAll(async () => {
  await peer?.stop();
  await node?.stop();
});

describe.each(IS_LONG ? PROFILES : PROFILES.slice(0, 1))('the document of the %s profile', (profile) => {
  it('matches the schema of OpenRPC, and has the version of the program', async () => {
    const document = documents[profile];
    const ajv = new Ajv({ strict: false, allErrors: true });
    ajv.addFormat('regex', (text: string) => new RegExp(text, 'u') instanceof RegExp);
    ajv.addFormat('uri', (text: string) => URL.canParse(text));
    ajv.addFormat('uri-reference', true);
    // Schemas to which OpenRPC's schema refers: JSON Schema draft 7, and a definition that is stored elsewhere.
    const jsonSchemaId = 'https://meta.json-schema.tools';
    ajv.addMetaSchema({ ...jsonSchemaDraft7, $id: jsonSchemaId });
    const reference = { properties: { $ref: { type: 'string' } } };
    ajv.addMetaSchema({ $id: `${jsonSchemaId}/`, definitions: { JSONSchemaObject: reference } });
    const validate = ajv.compile((openRpc as unknown as { openrpcDocument: object }).openrpcDocument);
    expect(validate(document), JSON.stringify(validate.errors?.slice(0, 3))).toBe(true);
    const { subversion } = await node.rpc<{ subversion: string }>('getnetworkinfo');
    expect(subversion).toContain(document.info.version);
  });

  it('describes every answer', () => {
    const document = documents[profile];
    const compile = validatorOf(document);
    const problems: string[] = [];
    for (const { call, text } of answered.filter((one) => one.call.profile === profile)) {
      const { result } = document.methods.find(({ name }) => name === call.method)!;
      const validate = compile(result.schema);
      // Parses the answer as a usual client does: numbers are doubles.
      if (!validate(JSON.parse(text).result)) {
        problems.push(`${callKey(call)}: ${JSON.stringify(validate.errors?.slice(0, 3))}`);
      }
    }
    expect(problems).toEqual([]);
  });

  it('has examples that fit its own schemas', () => {
    const document = documents[profile];
    const compile = validatorOf(document);
    let count = 0;
    for (const { name, params, result, examples } of document.methods) {
      for (const example of examples ?? []) {
        count++;
        const validate = compile(result.schema);
        expect(validate(example.result.value), `${name} ${JSON.stringify(validate.errors)}`).toBe(true);
        for (const [index, { value }] of example.params.entries()) {
          const declared = params[index];
          if (declared !== undefined)
            expect(compile(declared.schema)(value), `${name} ${declared.name}`).toBe(true);
        }
      }
    }
    expect(count).toBeGreaterThanOrEqual(examplesFor(profile).length);
  });
});

it.each(IS_LONG ? (['documented', 'lbcd'] as const) : (['documented'] as const))(
  'methods return only the errors of the document: %s',
  async (profile) => {
    const document = documents[profile];
    const surprises: string[] = [];
    for (const { name, params, errors } of document.methods) {
      // These methods end the node or write files.
      if (['stop', 'backupwallet', 'dumpwallet'].includes(name)) continue;
      const declared = errors.map(({ $ref }) => document.components.errors[$ref.split('/').pop()!]!.code);
      const sample = answered.find(({ call }) => call.method === name)?.call.params.map(toPlain) ?? [];
      const wrong = params.flatMap((_, at) =>
        ['zz', { zz: 1 }, [{}], true, -7, null].map((value) => {
          const changed = [...sample];
          while (changed.length < at) changed.push(null);
          changed[at] = value;
          return changed;
        }),
      );
      for (const tried of [...wrong, [], Array.from({ length: 20 }, () => 1)]) {
        // With valid arguments, these methods wait for an event.
        if (name.startsWith('waitfor') && tried.length < 20) continue;
        const { code } = await ask(profile, name, tried);
        if (code !== null && !declared.includes(code))
          surprises.push(`${name} ${JSON.stringify(tried)}: ${code}`);
      }
    }
    expect(surprises).toEqual([]);
  },
);

/**
 * A call without values that differ between runs. The position of change outputs is random, which changes ids and output numbers.
 */
function likeness(call: RecordedCall): string {
  return callKey(call)
    .replaceAll(/"[0-9a-f]{40,}"/g, 'hex')
    .replaceAll(/"vout":\d+/g, 'output')
    .replaceAll(/"cHNidP[^"]*"/g, 'psbt');
}

describe('the recorded examples', () => {
  it('have the shape of fresh answers', () => {
    const problems: string[] = [];
    for (const profile of PROFILES) {
      const examples = new Map(examplesFor(profile).map((one) => [likeness(one), one]));
      for (const { call } of answered.filter((one) => one.call.profile === profile)) {
        const known = examples.get(likeness(call));
        if (known === undefined) problems.push(`${profile} ${callKey(call)}: not recorded`);
        else if (shapeOf(known, profile) !== shapeOf(call, profile)) {
          problems.push(
            `${profile} ${callKey(call)}: ${shapeOf(known, profile)} -> ${shapeOf(call, profile)}`,
          );
        }
      }
    }
    expect(problems).toEqual([]);
    expect(recordedCalls().length).toBeGreaterThan(METHODS.length / 2);
  });
});

function shapeOf({ method, result }: RecordedCall, profile: Profile): string {
  return answerShape(table.find(method, profile)!.result, result);
}

/** Writes the answers. If profiles give the same answer to a method, only that of the first is written. */
function record(): void {
  const kept: RecordedCall[] = [];
  for (const profile of PROFILES) {
    const shared = new Map(examplesFor(profile, kept).map((one) => [likeness(one), one]));
    const calls = answered.map(({ call }) => call).filter((call) => call.profile === profile);
    const differs = (call: RecordedCall): boolean => {
      const known = shared.get(likeness(call));
      return known === undefined || shapeOf(known, profile) !== shapeOf(call, profile);
    };
    const own = new Set(calls.filter(differs).map(({ method }) => method));
    kept.push(...calls.filter(({ method }) => own.has(method)));
  }
  for (const { method, profile, result } of kept) {
    expect(checkJson(table.find(method, profile)!.result, result), method).toEqual([]);
  }
  const lines = kept.map(({ method, profile, params, result }) =>
    stringifyJson({ method, profile, params, result }),
  );
  writeFileSync(projectFile(...EXAMPLES_FILE.split('/')), `[\n${lines.join(',\n')}\n]\n`);
}
