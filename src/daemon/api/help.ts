/** Help of methods and groups, from the declarations. */
import { wrapLines } from '../../util/text/wrapLines.js';
import type { OptionalSchema, Schema } from '../../schema/schema.js';
import {
  GROUPS,
  type Group,
  type MethodAlias,
  type MethodDeclaration,
  type ParamDeclaration,
} from './declaration.js';
import { exampleLines } from './exampleLines.js';

const INDENT = '    ';
const WIDTH = 100;
/** Column of descriptions, unless the name is longer. */
const NAME_WIDTH = 32;

const TYPE_WORDS: Readonly<Record<ParamDeclaration['type'], string>> = {
  str: 'text',
  int: 'integer',
  float: 'number',
  bool: 'true or false',
  lbc: 'amount in LBC',
  positiveLbc: 'amount in LBC',
  strOrList: 'text or list of texts',
  constraint: 'number, text or list',
  list: 'list',
  dict: 'object',
  any: 'any value',
};

/** The words of the command line by which a method is called. */
export function commandWords({ name, group }: Pick<MethodDeclaration, 'name' | 'group'>): string[] {
  return group === null ? [name] : [group, name.slice(group.length + 1)];
}

/** Wraps text for a column that begins after `indent` spaces. The first line has no indent. */
function wrap(text: string, indent: number): string {
  return wrapLines(text, WIDTH - indent).join(`\n${' '.repeat(indent)}`);
}

function row(name: string, text: string, level = 1): string {
  const start = INDENT.repeat(level) + name;
  const column = NAME_WIDTH + INDENT.length * (level - 1);
  const head = start.length < column ? start.padEnd(column) : `${start}\n${' '.repeat(column)}`;
  return head + wrap(text, column);
}

/** Describes a parameter for the help text: its type, whether it is required, its description and its default. */
function describeParam(param: ParamDeclaration): string {
  const type = `${TYPE_WORDS[param.type]}${param.required ? ', required' : ''}`;
  const fallback =
    param.default === undefined || param.default === false ? '' : `; default: ${String(param.default)}`;
  return `(${type}) ${param.description}${fallback}`;
}

function kindOf(schema: Schema): string {
  if (schema.name !== undefined) return schema.name;
  switch (schema.kind) {
    case 'array':
      return `list of ${kindOf(schema.item)}`;
    case 'map':
      return `object by ${schema.key} of ${kindOf(schema.value)}`;
    case 'union':
      return schema.variants.map((variant) => kindOf(variant.schema)).join(' or ');
    case 'hash':
    case 'hex':
      return 'hex';
    case 'enum':
      return schema.values.join(' | ');
    case 'object':
    case 'tuple':
    case 'string':
    case 'boolean':
    case 'null':
    case 'number':
    case 'integer':
    case 'any':
    case 'coins':
      return schema.kind;
  }
}

function describeField(name: string, field: Schema | OptionalSchema): string {
  const schema = field.kind === 'optional' ? field.schema : field;
  const when = field.kind === 'optional' && field.when !== '' ? ` [${field.when}]` : '';
  return row(name, `(${kindOf(schema)}) ${schema.description}${when}`.trimEnd());
}

/** Describes the fields of an object, one a line; empty for other types. */
function describeFields(schema: Schema): string[] {
  if (schema.kind !== 'object') return [];
  return Object.entries(schema.fields).map(([name, field]) => describeField(name, field));
}

/** Type of the items of a page, if it is an object; null for other results. */
function itemOf(schema: Schema): Schema | null {
  const items = schema.kind === 'object' ? schema.fields['items'] : undefined;
  return items?.kind === 'array' && items.item.kind === 'object' ? items.item : null;
}

/** Describes a result. With `hasTypes`, the fields of named types are listed too. */
function describeResult(schema: Schema, hasTypes: boolean): string {
  if (schema.kind === 'union' && schema.name === undefined)
    return schema.variants
      .flatMap(({ when, schema: variant }) => [
        `${INDENT}${[`(${kindOf(variant)})`, variant.description, `[${when}]`].filter(Boolean).join(' ')}`,
        ...(hasTypes || variant.name === undefined ? describeFields(variant) : []),
      ])
      .join('\n');
  const item = hasTypes ? itemOf(schema) : null;
  return [
    `${INDENT}(${kindOf(schema)}) ${schema.description}`.trimEnd(),
    ...describeFields(schema),
    ...(item === null ? [] : [`\n${INDENT}Fields of each item:`, ...describeFields(item)]),
  ].join('\n');
}

/** Returns the text that describes an object type: its description and its fields. */
export const typeHelp = (schema: Schema): string =>
  [schema.description, ...describeFields(schema)].filter(Boolean).join('\n');

/**
 * Returns the whole help text of a method, as `--help` of its command shows it. Without `hasTypes` it names the types of a
 * result and does not list their fields.
 */
export function methodHelp(
  declaration: MethodDeclaration,
  { program = 'lbcnet', hasTypes = true }: { program?: string; hasTypes?: boolean } = {},
): string {
  const { summary, details = [], usage, params, result } = declaration;
  const [first = '', ...more] = usage;
  const command = `${INDENT}${program} ${commandWords(declaration).join(' ')} `;
  const lines = [`${command}${first}`.trimEnd(), ...more.map((line) => `${INDENT}${INDENT}${line}`)];
  const options = params.map((param) => row(`--${param.name}`, describeParam(param)));
  return [
    summary,
    ...details.map((text) => wrap(text, 0)),
    `Usage:\n${lines.join('\n')}`,
    `Options:\n${options.length === 0 ? `${INDENT}None` : options.join('\n')}`,
    `Returns:\n${describeResult(result, hasTypes)}`,
    `Examples:\n${exampleLines(declaration, `${program} ${commandWords(declaration).join(' ')}`).join('\n')}`,
  ].join('\n\n');
}

/** Returns the help text of a group, which lists its commands. */
export function groupHelp(
  group: Group,
  declarations: readonly MethodDeclaration[],
  aliases: readonly MethodAlias[],
  program = 'lbcnet',
): string {
  const commands = declarations
    .filter((declaration) => declaration.group === group)
    .map((declaration) => row(commandWords(declaration)[1]!, declaration.summary));
  const others = aliases
    .filter(({ name }) => name.startsWith(`${group}_`))
    .map(({ name, replacedBy }) => row(name.slice(group.length + 1), `Same as ${replacedBy}; deprecated.`));
  return [
    `Usage:  ${program} ${group} [--help] COMMAND ...`,
    GROUPS[group],
    `Commands:\n${[...commands, ...others].join('\n')}`,
    `Run '${program} ${group} COMMAND --help' for more information on a command.`,
  ].join('\n\n');
}

/** Returns the help text of the program: all groups, and the commands without a group. */
export function programHelp(
  declarations: readonly MethodDeclaration[],
  options: readonly (readonly [name: string, text: string])[],
  program = 'lbcnet',
): string {
  const groups = Object.entries(GROUPS).map(([name, text]) => row(name, text));
  const commands = declarations
    .filter(({ group }) => group === null)
    .map(({ name, summary }) => row(name, summary));
  return [
    `Usage:  ${program} [--help] [--version] [--api HOST:PORT] COMMAND ...`,
    'Publish, download and pay on the LBRY network.',
    `Options:\n${options.map(([name, text]) => row(name, text)).join('\n')}`,
    `Grouped Commands:\n${groups.join('\n')}`,
    `Commands:\n${[row('start', 'Start the daemon.'), ...commands].join('\n')}`,
    `Run '${program} COMMAND --help' for more information on a command or group.`,
  ].join('\n\n');
}
