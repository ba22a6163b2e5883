/**
 * Generates help texts from declarations, in the layout of the reference: the text of one method, and the list of all
 * methods.
 */
import { suggestion } from '../../util/nearest.js';
import { boundedErrorText } from '../../util/text/errorText.js';
import { wrapLines } from '../../util/text/wrapLines.js';
import { stringifyJson } from '../../util/json/jsonStream.js';
import { type JsonOut } from '../../util/json/jsonWrite.js';
import {
  paramKey,
  type DeclaredMethods,
  type ParamDecl,
  type Profile,
  type RpcMethod,
} from '../declare/method.js';
import { RPC_ERROR, rpcError } from '../declare/errors.js';
import { PARAM_TYPES } from '../declare/paramTypes.js';
import type { OptionalSchema, Schema } from '../../schema/schema.js';

/** Maximum line width of help texts in characters. */
const WIDTH = 100;
/** URL in example calls: the RPC port of the main network. */
const EXAMPLE_URL = 'http://127.0.0.1:9245/';

/**
 * Returns the usage line, for example `getblock "blockhash" ( verbosity )`: optional parameters in parentheses and strings
 * in quotes.
 */
export function methodUsage(method: RpcMethod): string {
  let usage = method.name;
  let inOptional = false;
  for (const param of method.params) {
    const optional = param.required !== true;
    if (optional && !inOptional) usage += ' (';
    if (!optional && inOptional) usage += ' )';
    inOptional = optional;
    usage += ` ${quotedName(param)}`;
  }
  return inOptional ? `${usage} )` : usage;
}

/** Returns the error text for a call with wrong arguments: one line with the reason and one with the usage. */
export function usageError(method: RpcMethod, reason: string): string {
  return `${reason}\nUsage: ${methodUsage(method)}`;
}

/**
 * Returns the error text for a wrong number of arguments. The text does not count arguments that are accepted but ignored
 * (`maxArgs`).
 */
export function arityError(method: RpcMethod, given: number): string {
  const least = method.params.filter((param) => param.required === true).length;
  const most = method.maxArgs === Infinity ? Infinity : method.params.length;
  const were = `${given === 0 ? 'none' : given} ${given === 1 ? 'was' : 'were'} given`;
  return usageError(method, `${method.name} takes ${countOfArguments(least, most)}, ${were}.`);
}

function countOfArguments(least: number, most: number): string {
  if (most === 0) return 'no arguments';
  const bound = most === Infinity ? least : most;
  const counted = `${bound} argument${bound === 1 ? '' : 's'}`;
  if (most === Infinity) return `at least ${counted}`;
  if (least === most) return counted;
  return least === 0 ? `at most ${counted}` : `${least} to ${counted}`;
}

/** Returns the whole help text of a method. */
export function methodHelp(method: RpcMethod): string {
  const sections = [methodUsage(method), wrapLines(method.summary, WIDTH).join('\n')];
  if (method.params.length > 0) sections.push(['Arguments:', ...argumentLines(method.params)].join('\n'));
  sections.push(...resultSections(method.result));
  if (method.examples !== undefined) sections.push(['Examples:', ...exampleLines(method)].join('\n'));
  return `${sections.join('\n\n')}\n`;
}

/**
 * Returns the result of `help`: the text of one method, or the list by category. Hidden methods are shown only by name.
 * Throws -8 for an unknown method in the lbcd profile.
 */
export function helpAnswer(table: DeclaredMethods, profile: Profile, command: string): string {
  if (command !== '') {
    const method = table.find(command, profile);
    if (method !== undefined) return methodHelp(method);
    const unknown = boundedErrorText(`help: unknown command: ${command}`);
    // Source: lbcd rpcserver.go `handleHelp`.
    if (profile === 'lbcd') throw rpcError(RPC_ERROR.INVALID_PARAMETER, `Unknown command: ${command}`);
    // In the other profiles the error text is that of the reference program, without a suggestion.
    if (profile !== 'documented') return unknown;
    const shown = table.list(profile).filter(({ category }) => category !== 'hidden');
    const near = suggestion(command, shown.map(({ name }) => name)); // prettier-ignore
    return near === '' ? unknown : `${unknown}.${near}`;
  }
  const lines: string[] = [];
  let category = '';
  for (const method of table.list(profile)) {
    if (method.category === 'hidden') continue;
    if (method.category !== category) {
      if (category !== '') lines.push('');
      category = method.category;
      lines.push(`== ${category.charAt(0).toUpperCase()}${category.slice(1)} ==`);
    }
    lines.push(methodUsage(method));
  }
  return lines.join('\n');
}

function quotedName(param: ParamDecl): string {
  return PARAM_TYPES[param.type].json === 'string' ? `"${paramKey(param)}"` : paramKey(param);
}

function argumentLines(params: readonly ParamDecl[]): string[] {
  const heads = params.map((param, index) => `${index + 1}. ${quotedName(param)}`);
  const width = Math.max(...heads.map((head) => head.length)) + 2;
  return params.flatMap((param, index) => {
    const note = `(${[PARAM_TYPES[param.type].help, presence(param), rangeNote(param)].filter(Boolean).join(', ')})`;
    const lines = wrapLines(`${note} ${param.description}`, WIDTH - width);
    return lines.map((line, at) => (at === 0 ? (heads[index] ?? '') : '').padEnd(width) + line);
  });
}

function presence(param: ParamDecl): string {
  if (param.required === true) return 'required';
  const text = param.defaultText ?? defaultText(param.default);
  return text === '' ? 'optional' : `optional, default=${text}`;
}

/** Formats a default value as JSON. */
export function defaultText(value: unknown): string {
  return value === undefined ? '' : stringifyJson(value as JsonOut);
}

function rangeNote(param: ParamDecl): string {
  return param.range === undefined ? '' : `${param.range.min} to ${param.range.max}`;
}

function resultSections(schema: Schema): string[] {
  if (schema.kind === 'null') return [];
  if (schema.kind === 'union') {
    return schema.variants.map((variant) =>
      [variant.when === '' ? 'Result:' : `Result (${variant.when}):`, ...shape(variant.schema, '', '')].join(
        '\n',
      ),
    );
  }
  return [['Result:', ...shape(schema, '', '')].join('\n')];
}

/** Returns a schema as lines of annotated JSON, for the method reference. */
export function schemaLines(schema: Schema): string[] {
  return shape(schema, '', '');
}

const LEAF_SAMPLES = {
  null: ['null', 'null'],
  any: ['…', 'any'],
  boolean: ['true|false', 'boolean'],
  string: ['"str"', 'string'],
  hex: ['"hex"', 'string'],
  number: ['n.nnn', 'numeric'],
  integer: ['n', 'numeric'],
  coins: ['n.nnnnnnnn', 'numeric'],
  hash: ['"hash"', 'string'],
  enum: ['"str"', 'string'],
} as const;

/** Formats a schema as lines of annotated JSON. `lead` is the text before the value (a key), `note` the annotation of a field. */
function shape(schema: Schema, indent: string, lead: string, note = ''): string[] {
  switch (schema.kind) {
    case 'array':
      return container(schema, indent, lead, note, 'json array', '[', ']', (inner) => [
        ...shape(schema.item, inner, ''),
        `${inner},...`,
      ]);
    case 'tuple':
      return container(schema, indent, lead, note, 'json array', '[', ']', (inner) =>
        schema.items.flatMap((item) => shape(item, inner, '')),
      );
    case 'object':
      return container(schema, indent, lead, note, 'json object', '{', '}', (inner) =>
        Object.entries(schema.fields).flatMap(([name, field]) => fieldShape(name, field, inner)),
      );
    case 'map':
      return container(schema, indent, lead, note, 'json object', '{', '}', (inner) => [
        ...shape(schema.value, inner, `"${schema.key}": `),
        `${inner},...`,
      ]);
    case 'union':
      return schema.variants.flatMap((variant) =>
        shape(variant.schema, indent, lead, joinNotes(variant.when, note)),
      );
    default: {
      const [sample, type] = LEAF_SAMPLES[schema.kind];
      const values = schema.kind === 'enum' ? `one of ${schema.values.join(', ')}` : '';
      const text = `(${joinNotes(type, note)}) ${[schema.description, values].filter(Boolean).join(': ')}`;
      return annotate(`${indent}${lead}${sample}`, text);
    }
  }
}

function fieldShape(name: string, field: Schema | OptionalSchema, indent: string): string[] {
  if (field.kind !== 'optional') return shape(field, indent, `"${name}": `);
  return shape(field.schema, indent, `"${name}": `, joinNotes('optional', field.when));
}

function container(
  schema: Schema,
  indent: string,
  lead: string,
  note: string,
  type: string,
  open: string,
  close: string,
  inside: (indent: string) => string[],
): string[] {
  const head = annotate(`${indent}${lead}${open}`, `(${joinNotes(type, note)}) ${schema.description}`);
  return [...head, ...inside(`${indent}  `), `${indent}${close}`];
}

function joinNotes(...notes: string[]): string {
  return notes.filter(Boolean).join(', ');
}

/** Column where the annotations of a result begin. */
const NOTE_COLUMN = 34;

function annotate(code: string, text: string): string[] {
  const lines = wrapLines(text.trim(), WIDTH - NOTE_COLUMN);
  return lines.map((line, at) => {
    const left = at === 0 ? code : '';
    return left.length < NOTE_COLUMN ? left.padEnd(NOTE_COLUMN) + line : `${left}  ${line}`;
  });
}

function exampleLines(method: RpcMethod): string[] {
  return (method.examples ?? []).flatMap((words) => {
    const params = words.join(', ');
    const body = `{"jsonrpc": "1.0", "id": "curltest", "method": "${method.name}", "params": [${params}]}`;
    return [
      `> lbcnode-cli ${[method.name, ...words.map(shellWord)].join(' ')}`,
      `> curl --user myusername --data-binary '${body}' -H 'content-type: text/plain;' ${EXAMPLE_URL}`,
    ];
  });
}

/** Puts a JSON array or object in single quotes, so that a shell passes it as one word. Other words are unchanged. */
function shellWord(word: string): string {
  return /^[[{]/.test(word) ? `'${word}'` : word;
}
