/**
 * Reads and writes the settings file in YAML. Errors state the problem and its line. Writing replaces the whole file.
 * Source: lbry-sdk lbry/conf.py `ConfigFileAccess`.
 */
import {
  closeSync,
  fchmodSync,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { extname } from 'node:path';
import { isMap, parseDocument, stringify } from 'yaml';
import { EnvironmentError, failureReason } from '../../../util/text/environmentError.js';
import { JsonObject, rawNumber, type JsonValue } from '../../../util/json/json.js';
import { linkTarget } from '../../../util/files/linkTarget.js';
import { refuseSpecialFile } from '../../../util/files/specialFile.js';
import { unwritableFile } from '../../base/daemonError.js';
import { pythonFloat } from '../../base/pythonJson.js';

const MODE_BITS = 0o7777;
const EXTENSIONS: readonly string[] = ['.yml', '.yaml'];

/** Entries of the file, by name. */
export type FileMembers = Map<string, JsonValue>;

/** Throws `EnvironmentError` if the file name lacks an extension of a settings file. */
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

/**
 * Reads the file; empty if it does not exist. For a repeated key the last value counts, as with PyYAML, and `onDouble` is
 * called with the key. Throws `EnvironmentError` for invalid YAML, with the number of the line. Also throws for a link whose
 * target is missing, because the operator probably did not intend the default settings.
 */
export function readSettingsFile(path: string, onDouble: (key: string) => void): FileMembers {
  let text: string;
  try {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return new Map();
    refuseSpecialFile(path);
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new EnvironmentError(
      `The settings file ${path} cannot be read: ${failureReason(error)}. Correct this, or use another ` +
        'file with --config.',
    );
  }
  const document = parseDocument(text, { version: '1.1', uniqueKeys: false });
  const [problem] = document.errors;
  if (problem) throw noYaml(path, problem.message, problem.linePos?.[0].line);
  const { contents } = document;
  if (contents === null) return new Map();
  if (!isMap(contents))
    throw new EnvironmentError(
      `The settings file ${path} must contain settings, one per line as \`name: value\`. Correct it or move it away.`,
    );
  const keys = contents.items.map(({ key }) => String(key));
  for (const key of new Set(keys.filter((key, at) => keys.indexOf(key) !== at))) onDouble(key);
  let members: Record<string, unknown>;
  try {
    members = document.toJS() as Record<string, unknown>;
  } catch (error) {
    // The parser resolves aliases (`*name`) only in this step, so errors about aliases occur here too.
    throw noYaml(path, (error as Error).message);
  }
  return new Map(Object.entries(members).map(([key, value]) => [key, asJson(value)]));
}

function noYaml(path: string, message: string, line?: number): EnvironmentError {
  const [what] = message.split('\n');
  const where = line === undefined ? '' : `, line ${line}`;
  return new EnvironmentError(
    `The settings file ${path} is not valid YAML${where}: ${what} Correct it or move it away.`,
  );
}

/**
 * Replaces the file atomically and keeps its mode. If the path is a link, its target is replaced. Throws `DaemonError`
 * `OSError`.
 */
export function writeSettingsFile(path: string, members: ReadonlyMap<string, unknown>): void {
  const sorted = [...members].sort(([a], [b]) => (a < b ? -1 : 1));
  const text = stringify(Object.fromEntries(sorted), { version: '1.1', lineWidth: 0 });
  let fresh = `${path}.new`;
  try {
    const place = linkTarget(path);
    fresh = `${place}.new`;
    refuseSpecialFile(fresh);
    const mode = statSync(place, { throwIfNoEntry: false })?.mode;
    const handle = openSync(fresh, 'w');
    try {
      if (mode !== undefined) fchmodSync(handle, mode & MODE_BITS);
      writeFileSync(handle, text);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    renameSync(fresh, place);
  } catch (error) {
    removeFile(fresh);
    throw unwritableFile('settings', path, error);
  }
}

/** Removes a temporary file. A failure is ignored: a folder at this path was not created by the daemon. */
function removeFile(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // An error here is not reported, because the caller reports the error of the write.
  }
}
