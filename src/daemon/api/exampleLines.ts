/** Examples of a method: a command line, and the equivalent `curl` request. */
import type { MethodDeclaration } from './declaration.js';
import { EXAMPLES, type Example, type ExampleValue } from './declarations/examples.js';

const URL = 'http://localhost:5279/';
/** Words that need no quotes in a shell. */
const PLAIN = /^[\w@%+=:,./-]+$/;

/**
 * Lines of all examples of a method. Each example is shown as a command line and as a request. `command` is the name of the
 * program.
 */
export function exampleLines(declaration: MethodDeclaration, command: string): string[] {
  const { name, usage } = declaration;
  return (EXAMPLES[name] ?? []).flatMap((example) => [
    `> ${[command, ...commandArguments(usage.join(' '), example)].join(' ')}`,
    `> curl --data-binary ${quoted(`{"method": "${name}", "params": ${jsonOf(example)}}`)} ${URL}`,
  ]);
}

/**
 * Command line of an example. Parameters are positional where the usage line requires this or the parameter is required; the
 * others are named. A list becomes one argument for each item.
 */
function commandArguments(usage: string, example: Example): string[] {
  // Finds `<name>` that stands alone, not as the value in `--name=<name>`.
  const places = [...usage.matchAll(/(?<!=)<(\w+)>/g)].map(([, name]) => name!);
  const isPlaced = (name: string): boolean =>
    places.includes(name) &&
    (!usage.includes(`--${name}=`) || usage.includes(`(<${name}> | --${name}=<${name}>)`));
  const named = Object.entries(example).filter(([name]) => !isPlaced(name));
  const placed = places.filter((name) => isPlaced(name) && name in example);
  return [
    ...placed.flatMap((name) => textsOf(example[name]!)),
    ...named.flatMap(([name, value]) =>
      value === true && !usage.includes(`--${name}=`)
        ? [`--${name}`]
        : textsOf(value).map((text) => `--${name}=${text}`),
    ),
  ].map(quoted);
}

const textsOf = (value: ExampleValue): string[] =>
  Array.isArray(value) ? [...(value as readonly string[])] : [String(value)];

/** Quotes a word for a shell. The name of an option stays before the quotes. */
function quoted(word: string): string {
  if (PLAIN.test(word)) return word;
  const [, option = '', value = ''] = /^(--\w+=)?([^]*)$/.exec(word)!;
  return `${option}'${value.replaceAll("'", "'\\''")}'`;
}

/** Formats a value as JSON in one line, with spaces after commas and colons. */
function jsonOf(value: Example | ExampleValue): string {
  if (Array.isArray(value)) return `[${value.map((item: string) => JSON.stringify(item)).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  const fields = Object.entries(value as Example).map(
    ([name, inner]) => `${JSON.stringify(name)}: ${jsonOf(inner)}`,
  );
  return `{${fields.join(', ')}}`;
}
