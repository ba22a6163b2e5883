/** Texts of `-help` and `-version`, generated from the options table. */
import { programVersion } from '../../util/project.js';
import { wrapLines } from '../../util/text/wrapLines.js';
import { formatMoney } from './optionValues.js';
import { OPTION_CATEGORIES, type OptionCategory, type OptionRow } from './optionRow.js';
import { OPTION_GROUPS } from './optionsTable.js';

const WIDTH = 79;
const OPTION_INDENT = 2;
const TEXT_INDENT = 7;

export function versionText(): string {
  return `lbcnode version v${programVersion()}\n\nDistributed under the MIT software license.\n`;
}

/** Returns the text of `-help`. `debug` includes the debug options. */
export function helpText(debug: boolean): string {
  const groups = Object.entries(OPTION_GROUPS) as [OptionCategory, readonly OptionRow[]][];
  const shown = groups.filter(([category]) => category !== 'hidden');
  return (
    `lbcnode version v${programVersion()}\n\nUsage:  lbcnode [options]                     Start the node\n\n` +
    shown.map(([category, rows]) => groupText(OPTION_CATEGORIES[category], rows, debug)).join('')
  );
}

function groupText(heading: string, rows: readonly OptionRow[], debug: boolean): string {
  const shown = rows.filter((row) => debug || row.debugOnly !== true);
  if (shown.length === 0) return '';
  const sorted = shown.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return `${heading}\n\n${sorted.map((row) => optionText(optionUsage(row), optionSentence(row))).join('')}`;
}

/** `-dbcache=<n>`. */
export function optionUsage(row: OptionRow): string {
  return `-${row.name}${row.valueName === undefined ? '' : `=${row.valueName}`}`;
}

/** Returns the help text of an option, with its default, its limits, and whether it is repeatable. */
export function optionSentence(row: OptionRow): string {
  const notes: string[] = [];
  if (row.clamp !== undefined) notes.push(`${row.clamp[0]} to ${row.clamp[1]}`);
  if (row.choices !== undefined) notes.push(row.choices.join(', '));
  const byDefault = optionDefault(row);
  if (byDefault !== '') notes.push(`default: ${byDefault}`);
  if (row.kind === 'list') notes.push('can be given several times');
  return notes.length === 0 ? row.help : `${row.help} (${notes.join('; ')})`;
}

/**
 * Returns the default value as written on the command line. Empty if the table has no default or the option is off by
 * default.
 */
export function optionDefault(row: OptionRow): string {
  const value = row.default;
  if (value === undefined || value === '') return '';
  if (typeof value === 'boolean') return value ? '1' : '0';
  return typeof value === 'bigint' ? formatMoney(value) : String(value);
}

/** Formats a help entry in the layout of the reference. Source: `HelpMessageOpt`. */
function optionText(usage: string, sentence: string): string {
  const indent = ' '.repeat(TEXT_INDENT);
  const lines = wrapLines(sentence, WIDTH - TEXT_INDENT);
  return `${' '.repeat(OPTION_INDENT)}${usage}\n${lines.map((line) => indent + line).join('\n')}\n\n`;
}
