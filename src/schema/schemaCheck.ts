/**
 * Checks results against their declared schemas, for tests. The result is serialized and parsed first, so that the check
 * sees the text that a client receives, including number literals.
 */
import { isJsonNumber, JsonObject, jsonTypeName, numberText, type JsonValue } from '../util/json/json.js';
import { parseJson } from '../util/json/jsonParse.js';
import { jsonChunks } from '../util/json/jsonStream.js';
import { type JsonOut } from '../util/json/jsonWrite.js';
import type { Schema, SchemaFields } from './schema.js';

/** Returns all differences between a result and its schema as `path: problem`; empty if the result matches. */
export async function checkResult(schema: Schema, answer: JsonOut): Promise<string[]> {
  let text = '';
  for await (const chunk of jsonChunks(answer)) text += chunk;
  return checkJson(schema, parseJson(text));
}

/** Returns all differences between a parsed result and its schema, like `checkResult`. */
export function checkJson(schema: Schema, value: JsonValue, path = 'result'): string[] {
  switch (schema.kind) {
    case 'any':
      return [];
    case 'null':
      return expectType(value, 'null', path);
    case 'boolean':
      return expectType(value, 'bool', path);
    case 'string':
      return expectType(value, 'string', path);
    case 'hex':
      return expectText(value, /^(?:[0-9a-f]{2})*$/, 'lower-case hex', path);
    case 'hash':
      return expectText(
        value,
        new RegExp(`^[0-9a-f]{${schema.bytes * 2}}$`),
        `${schema.bytes} bytes of hex`,
        path,
      );
    case 'enum':
      if (typeof value === 'string' && schema.values.includes(value)) return [];
      return [`${path}: not one of ${schema.values.join(', ')}`];
    case 'number':
      return expectType(value, 'number', path);
    case 'integer':
      return expectNumber(value, /^-?[0-9]+$/, 'an integer', path);
    case 'coins':
      return expectNumber(value, /^-?[0-9]+\.[0-9]{8}$/, 'a number of coins with eight decimals', path);
    case 'array':
      if (!Array.isArray(value)) return expectType(value, 'array', path);
      return value.flatMap((item, index) => checkJson(schema.item, item, `${path}[${index}]`));
    case 'tuple':
      if (!Array.isArray(value)) return expectType(value, 'array', path);
      if (value.length !== schema.items.length)
        return [`${path}: ${value.length} items, not ${schema.items.length}`];
      return schema.items.flatMap((item, index) =>
        checkJson(item, value[index] ?? null, `${path}[${index}]`),
      );
    case 'map':
      if (!(value instanceof JsonObject)) return expectType(value, 'object', path);
      return value.entries.flatMap(([key, inner]) => checkJson(schema.value, inner, `${path}.${key}`));
    case 'object':
      if (!(value instanceof JsonObject)) return expectType(value, 'object', path);
      return checkFields(schema.fields, schema.open, value, path);
    case 'union':
      return checkUnion(
        schema.variants.map((variant) => variant.schema),
        value,
        path,
      );
  }
}

function checkFields(fields: SchemaFields, open: boolean, value: JsonObject, path: string): string[] {
  const problems: string[] = [];
  for (const [name, field] of Object.entries(fields)) {
    const inner = value.get(name);
    if (inner !== undefined) {
      problems.push(...checkJson(field.kind === 'optional' ? field.schema : field, inner, `${path}.${name}`));
    } else if (field.kind !== 'optional') {
      problems.push(`${path}.${name}: missing`);
    }
  }
  const seen = new Set<string>();
  for (const key of value.keys()) {
    if (seen.has(key)) problems.push(`${path}.${key}: twice`);
    seen.add(key);
    if (!open && !Object.hasOwn(fields, key)) problems.push(`${path}.${key}: not declared`);
  }
  return problems;
}

/**
 * Checks a value against variants. If none matches, returns the problems of the closest variant, preferably one with the
 * right JSON type.
 */
function checkUnion(schemas: readonly Schema[], value: JsonValue, path: string): string[] {
  const attempts = schemas.map((schema) => checkJson(schema, value, path));
  const distance = (problems: string[]): number =>
    problems.some((problem) => problem.startsWith(`${path}: `)) ? Infinity : problems.length;
  const nearest = attempts.toSorted((a, b) => Math.sign(distance(a) - distance(b)) || 0);
  return nearest[0] ?? [`${path}: no variant is declared`];
}

function expectType(value: JsonValue, expected: string, path: string): string[] {
  const got = jsonTypeName(value);
  return got === expected ? [] : [`${path}: ${got}, not ${expected}`];
}

function expectText(value: JsonValue, pattern: RegExp, what: string, path: string): string[] {
  if (typeof value !== 'string') return expectType(value, 'string', path);
  return pattern.test(value) ? [] : [`${path}: not ${what}: ${value.slice(0, 80)}`];
}

function expectNumber(value: JsonValue, pattern: RegExp, what: string, path: string): string[] {
  if (!isJsonNumber(value)) return expectType(value, 'number', path);
  return pattern.test(numberText(value)) ? [] : [`${path}: not ${what}: ${numberText(value)}`];
}
