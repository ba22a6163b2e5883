/**
 * Every example of docs/lbcnet-api.md: a shell splits the line, the command line parses it, and the call must equal that of the
 * curl line. Flags and lists that the command line sends although they were not given are ignored.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { DECLARATIONS } from '../../../../src/daemon/api/declarations/table.js';
import { checkParams, readParams } from '../../../../src/daemon/api/paramReading.js';
import { parseCommandLine } from '../../../../src/daemon/main/commandLine.js';
import { JsonObject, type JsonValue } from '../../../../src/util/json/json.js';
import { parseJson } from '../../../../src/util/json/jsonParse.js';
import { projectFile } from '../../../../src/util/project.js';
import { stringifyJson } from '../../../../src/util/json/jsonStream.js';
import { examplesOf, sectionsOf, type DocExample } from '../../../functional/support/docExamples.js';

const reference = readFileSync(projectFile('docs/lbcnet-api.md'), 'utf8');
const examples = examplesOf(reference, 'lbcnet');

/** In the order of the names, so that texts can be compared. */
const textOf = (params: JsonObject): string =>
  stringifyJson(new JsonObject(params.entries.toSorted(([a], [b]) => (a < b ? -1 : 1))));

const says = ([, value]: readonly [string, JsonValue]): boolean =>
  value !== false && !(Array.isArray(value) && value.length === 0);

/** The problem of an example, or null. */
function problemOf({ section, words, body }: DocExample): string | null {
  const command = parseCommandLine(words);
  if (command.kind !== 'call') return `is read as ${JSON.stringify(command)}`;
  const request = parseJson(body) as JsonObject;
  if (request.get('method') !== section) return 'curl calls another method';
  if (command.method !== section) return `calls ${command.method}`;
  const theirs = request.get('params') as JsonObject;
  const ours = new JsonObject(command.params.entries.filter(says));
  if (textOf(ours) !== textOf(theirs)) return `sends ${textOf(ours)}, curl sends ${textOf(theirs)}`;
  const declaration = DECLARATIONS.find(({ name }) => name === section)!;
  for (const params of [command.params, theirs]) {
    const call = { positional: [], named: new Map(params.entries) };
    try {
      checkParams(declaration, call);
      readParams(declaration, call);
    } catch (error) {
      return `is refused: ${(error as Error).message}`;
    }
  }
  return null;
}

describe('docs/lbcnet-api.md', () => {
  it('has an example of each method', () => {
    const shown = new Set(examples.map(({ section }) => section));
    expect(DECLARATIONS.map(({ name }) => name).filter((name) => !shown.has(name))).toEqual([]);
    expect(sectionsOf(reference).toSorted()).toEqual(DECLARATIONS.map(({ name }) => name));
  });

  it('has examples that the command line reads as curl sends them', () => {
    const problems = examples.flatMap((example) => {
      const problem = problemOf(example);
      return problem === null ? [] : [`${example.line}: ${problem}`];
    });
    expect(problems).toEqual([]);
  });
});
