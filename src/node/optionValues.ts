/** From options as given to typed values: defaults, bounds, choices. Source: `GetArg`, `GetBoolArg`, `ParseMoney`. */
import { interpretBool, leadingInteger, OptionError, type OptionArgs } from './optionArgs.js';
import type { OptionRow } from './optionRow.js';
import { OPTION_ROWS, type Options } from './optionsTable.js';

export function readOptions(args: OptionArgs): Options {
  const values = OPTION_ROWS.map((row: OptionRow) => [row.name, readOption(row, args)] as const);
  return Object.fromEntries(values) as unknown as Options;
}

function readOption(
  row: OptionRow,
  args: OptionArgs,
): boolean | number | bigint | string | string[] | undefined {
  if (row.kind === 'list') return args.values(row.name);
  const given = args.value(row.name);
  if (given === undefined) return row.default;
  switch (row.kind) {
    case 'bool':
      return interpretBool(given);
    case 'int':
      return clamp(leadingInteger(given), row);
    case 'amount':
      return readAmount(row.name, given);
    case 'string':
      return checkChoice(row, given, args.isNegated(row.name));
  }
}

function clamp(value: number, row: OptionRow): number {
  const [min, max] = row.clamp ?? [-Infinity, Infinity];
  return Math.min(max, Math.max(min, value));
}

function checkChoice(row: OptionRow, given: string, negated: boolean): string {
  if (row.choices === undefined || row.choices.includes(given)) return given;
  const shown = negated ? `-no${row.name}` : `-${row.name}=${given}`;
  throw new OptionError(`Invalid value ${shown}, it must be one of ${row.choices.join(', ')}`);
}

function readAmount(name: string, given: string): bigint {
  const amount = parseMoney(given);
  if (amount === null) throw new OptionError(`Invalid amount for -${name}=<amount>: '${given}'`);
  return amount;
}

/** Coins to satoshis; null for what is no amount. The empty text is zero. Source: `ParseMoney`. */
export function parseMoney(text: string): bigint | null {
  const match = /^\s*([0-9]*)(?:\.([0-9]{0,8}))?\s*$/.exec(text);
  if (match === null) return null;
  const [, whole = '', fraction = ''] = match;
  if (whole.length > 10) return null;
  return BigInt(whole === '' ? '0' : whole) * 100_000_000n + BigInt(fraction.padEnd(8, '0'));
}

/** Satoshis as coins with at least two decimals. Source: `FormatMoney`. */
export function formatMoney(satoshis: bigint): string {
  const fraction = (satoshis % 100_000_000n)
    .toString()
    .padStart(8, '0')
    .replace(/0{1,6}$/, '');
  return `${satoshis / 100_000_000n}.${fraction}`;
}
