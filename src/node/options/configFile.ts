/**
 * Parser of configuration files: `name=value` lines, `[section]` headings, `#` comments. The caller reads the files and
 * checks whether the options exist. Source: `GetConfigOptions`.
 */
import { OperatorError } from '../../util/text/operatorError.js';

/** One setting in a configuration file. `section` is empty for settings above the first heading. */
export interface ConfigEntry {
  readonly section: string;
  readonly name: string;
  readonly value: string;
  /** Line number in the file, starting at 1. */
  readonly line: number;
}

/** Thrown if the file cannot be parsed. The message names the line. */
export class ConfigFileError extends OperatorError {
  override readonly name = 'ConfigFileError';
}

/** Maps section names of lbrycrd's files to this node's network names. */
const SECTION_ALIASES: Readonly<Record<string, string>> = {
  lbrycrd: 'main',
  lbrycrdtest: 'test',
  lbrycrdreg: 'regtest',
};

/** Parses the settings in order. The name of a setting may include its section, as in `regtest.rpcport=1`. */
export function parseConfigText(text: string): ConfigEntry[] {
  const entries: ConfigEntry[] = [];
  let heading = '';
  for (const [index, raw] of text.split('\n').entries()) {
    const comment = raw.indexOf('#');
    const line = trim(comment < 0 ? raw : raw.slice(0, comment));
    if (line === '') continue;
    if (line.startsWith('[') && line.endsWith(']')) {
      heading = sectionName(line.slice(1, -1));
      continue;
    }
    const number = index + 1;
    const where = `parse error on line ${number}`;
    if (line.startsWith('-')) {
      throw new ConfigFileError(
        `${where}: ${line}, options in configuration file must be specified without leading -`,
      );
    }
    const equals = line.indexOf('=');
    if (equals < 0) {
      const hint = line.startsWith('no')
        ? `, if you intended to specify a negated option, use ${line}=1 instead`
        : '';
      throw new ConfigFileError(`${where}: ${line}${hint}`);
    }
    const entry = {
      ...splitName(heading, trim(line.slice(0, equals)), trim(line.slice(equals + 1))),
      line: number,
    };
    // lbrycrd silently cuts the password at a #. Later Core rejects such a password, as done here, because the cut
    // password would not work.
    if (comment >= 0 && entry.name === 'rpcpassword') {
      throw new ConfigFileError(`${where}, using # in rpcpassword can be ambiguous and should be avoided`);
    }
    entries.push(entry);
  }
  return entries;
}

function splitName(heading: string, name: string, value: string): Omit<ConfigEntry, 'line'> {
  const dot = name.indexOf('.');
  if (heading !== '' || dot < 0) return { section: heading, name, value };
  return { section: sectionName(name.slice(0, dot)), name: name.slice(dot + 1), value };
}

function sectionName(name: string): string {
  return Object.hasOwn(SECTION_ALIASES, name) ? (SECTION_ALIASES[name] ?? name) : name;
}

const WHITE_SPACE = ' \t\r\n';

function trim(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && WHITE_SPACE.includes(text[start]!)) start++;
  while (end > start && WHITE_SPACE.includes(text[end - 1]!)) end--;
  return text.slice(start, end);
}
