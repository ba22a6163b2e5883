/**
 * The settings file: YAML, read with a word on what is wrong and where, and replaced as a whole.
 * Source: lbry-sdk lbry/conf.py `ConfigFileAccess`; sdk-facts 2.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { extname } from 'node:path';
import { isMap, parseDocument, stringify } from 'yaml';
import { EnvironmentError } from '../../util/environmentError.js';
import { JsonObject, rawNumber, type JsonValue } from '../../util/json.js';
import { refuseSpecialFile } from '../../util/specialFile.js';
import { pythonFloat } from '../base/pythonJson.js';

const EXTENSIONS: readonly string[] = ['.yml', '.yaml'];

/** What stands in the file, by name. */
export type FileMembers = Map<string, JsonValue>;

/** Throws `EnvironmentError` where the name of the file is none of a settings file. */
export function assertSettingsPath(path: string): void {
  const extension = extname(path);
  if (!EXTENSIONS.includes(extension))
    throw new EnvironmentError(
      `The settings file ${path} must be YAML: its name must end with .yml or .yaml, not '${extension}'.`,
    );
}

function asJson(value: unknown): JsonValue {
  if (value === null || value === undefined) return null;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value : rawNumber(pythonFloat(value));
  if (typeof value === 'bigint') return rawNumber(String(value));
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.map(asJson);
  if (value instanceof Date) return value.toISOString();
  return new JsonObject(Object.entries(value).map(([key, inner]) => [key, asJson(inner)]));
}

/** Nothing where there is no file. Throws `EnvironmentError`, with the line where the text is no YAML. */
export function readSettingsFile(path: string): FileMembers {
  if (!existsSync(path)) return new Map();
  let text: string;
  try {
    refuseSpecialFile(path);
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new EnvironmentError(
      `The settings file ${path} cannot be read (${(error as NodeJS.ErrnoException).code}). Give the user that runs ` +
        'lbcnet the permission, or name another file by --config.',
    );
  }
  const document = parseDocument(text, { version: '1.1' });
  const [problem] = document.errors;
  if (problem) {
    const line = problem.linePos?.[0].line;
    const [what] = problem.message.split('\n');
    throw new EnvironmentError(
      `The settings file ${path} is no YAML${line === undefined ? '' : `, line ${line}`}: ${what} Mend it or move it away.`,
    );
  }
  if (document.contents === null) return new Map();
  if (!isMap(document.contents))
    throw new EnvironmentError(
      `The settings file ${path} must hold settings, each on a line as \`name: value\`. Mend it or move it away.`,
    );
  return new Map(
    Object.entries(document.toJS() as Record<string, unknown>).map(([key, value]) => [key, asJson(value)]),
  );
}

/** Replaces the file so that a kill leaves the old or the new one. */
export function writeSettingsFile(path: string, members: ReadonlyMap<string, unknown>): void {
  const sorted = [...members].sort(([a], [b]) => (a < b ? -1 : 1));
  const text = stringify(Object.fromEntries(sorted), { version: '1.1', lineWidth: 0 });
  const fresh = `${path}.new`;
  try {
    const handle = openSync(fresh, 'w');
    try {
      writeSync(handle, text);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    renameSync(fresh, path);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  }
}
