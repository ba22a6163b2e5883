/**
 * Converts options from text to typed values, with defaults, limits and choices. Source: `GetArg`, `GetBoolArg`,
 * `ParseMoney`.
 */
import {
  interpretBool,
  isInteger,
  isSwitchValue,
  leadingInteger,
  noPath,
  OptionError,
  placeText,
  type GivenValue,
  type OptionArgs,
} from './optionArgs.js';
import { checkFormat } from './optionFormats.js';
import { inHome } from './optionsConfig.js';
import { INTEGER, type OptionRow } from './optionRow.js';
import { OPTION_ROWS, type Options } from './optionsTable.js';
import { WALLET_DEBUG_OPTIONS, WALLET_OPTIONS } from './optionsTableWallet.js';

/**
 * Switches of the wallet for which the reference's reading of words applies. QUIRK: the reference reads a word as the number
 * 0, so that `true` means off.
 */
const WALLET_SWITCHES: ReadonlySet<string> = new Set(
  [...WALLET_OPTIONS, ...WALLET_DEBUG_OPTIONS].filter(({ kind }) => kind === 'bool').map(({ name }) => name),
);

type OptionValue = boolean | number | bigint | string | string[] | undefined;

/**
 * Reads all options of the table. Throws an `OptionError` with the position (file and line) for a value of the wrong type. A
 * value outside its limits is clamped, with a warning in `warnings`. Paths that begin with `~` are in the folder `home`.
 */
export function readOptions(args: OptionArgs, warnings: string[] = [], home: string | null = null): Options {
  const values = OPTION_ROWS.map((row: OptionRow) => {
    const value = readOption(row, args, warnings);
    return [row.name, row.format === 'path' ? pathsInHome(value, home) : value] as const;
  });
  return Object.fromEntries(values) as unknown as Options;
}

function pathsInHome(value: OptionValue, home: string | null): OptionValue {
  if (Array.isArray(value)) return value.map((path) => inHome(path, home));
  return typeof value === 'string' ? inHome(value, home) : value;
}

function readOption(row: OptionRow, args: OptionArgs, warnings: string[]): OptionValue {
  if (row.kind === 'list') {
    return args.givenValues(row.name).map((given) => {
      atPlace(given, () => checkText(row, given.text, args));
      return given.text;
    });
  }
  const given = args.givenValue(row.name);
  if (given === undefined || (args.isNegated(row.name) && isFree(row))) return row.default;
  return atPlace(given, () => readValue(row, given, args, warnings));
}

/**
 * Whether the option accepts any text, such as a password or a command. A negated option would then be read as the text `0`.
 */
function isFree({ kind, format }: OptionRow): boolean {
  return kind === 'string' && (format === 'text' || format === 'command');
}

/** Runs `read`, and adds the place of the value to an error that it throws. */
function atPlace<T>(given: GivenValue, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof OptionError)) throw error;
    throw new OptionError(`${error.message}${placeText(given.place)}`);
  }
}

function readValue(row: OptionRow, given: GivenValue, args: OptionArgs, warnings: string[]): OptionValue {
  const { name } = row;
  const { text } = given;
  switch (row.kind) {
    case 'bool':
      if (WALLET_SWITCHES.has(name) && !isSwitchValue(text)) {
        const place = placeText(given.place);
        warnings.push(
          `-${name}=${text} turns the option off, as in lbrycrd. Write 1 (on) or 0 (off)${place}.`,
        );
        return false;
      }
      checkSwitch(name, text);
      return interpretBool(text);
    case 'int': {
      const value = readInteger(row, text);
      const moved = clamp(value, row);
      if (moved !== value) {
        const side = moved < value ? 'above the maximum' : 'below the minimum';
        warnings.push(`-${name}=${text} is ${side}: ${moved} is used${placeText(given.place)}.`);
      }
      return moved;
    }
    case 'amount':
      return readAmount(name, text);
    default:
      return checkText(row, text, args);
  }
}

/** Throws for a switch with an ambiguous value such as `true`, which the reference would read as off. */
function checkSwitch(name: string, text: string): void {
  if (isSwitchValue(text)) return;
  throw new OptionError(`Invalid value -${name}=${text}, it must be 1 (on) or 0 (off)`, name);
}

function readInteger({ name, range, bare }: OptionRow, text: string): number {
  if (text === '' && bare !== undefined) return bare;
  const value = leadingInteger(text);
  if (isInteger(text) && (range === undefined || (value >= range[0] && value <= range[1]))) return value;
  // If the range is that of all integers, the message does not contain it.
  const bounds =
    range === undefined || range === INTEGER.range || range[1] > 0x7fffffff
      ? ''
      : ` from ${range[0]} to ${range[1]}`;
  const shown = text === '' ? `-${name} without a value` : `value -${name}=${text}`;
  throw new OptionError(`Invalid ${shown}, it must be a whole number${bounds}`, name);
}

function clamp(value: number, row: OptionRow): number {
  const [min, max] = row.clamp ?? [-Infinity, Infinity];
  return Math.min(max, Math.max(min, value));
}

function checkText(row: OptionRow, text: string, args: OptionArgs): string {
  const { name, choices, format } = row;
  // The value of a negated option is not checked here; the code that uses the option interprets the negation. For a path
  // without `mayBeNone` the negation is an error.
  const isNegated = args.isNegated(name);
  if (choices !== undefined && !choices.includes(text)) {
    const shown = isNegated ? `-no${name}` : `-${name}=${text}`;
    throw new OptionError(`Invalid value ${shown}, it must be one of ${choices.join(', ')}`, name);
  }
  if (isNegated && format === 'path' && row.mayBeNone !== true) throw noPath(name);
  if (format !== undefined && !isNegated) checkFormat(name, format, text);
  return text;
}

function readAmount(name: string, given: string): bigint {
  const amount = parseMoney(given);
  if (amount === null) throw new OptionError(`Invalid amount for -${name}=<amount>: '${given}'`, name);
  return amount;
}

/** Converts coins to satoshis. Returns null if the text is not an amount. Empty text is zero. Source: `ParseMoney`. */
export function parseMoney(text: string): bigint | null {
  const match = /^\s*([0-9]*)(?:\.([0-9]{0,8}))?\s*$/.exec(text);
  if (match === null) return null;
  const [, whole = '', fraction = ''] = match;
  if (whole.length > 10) return null;
  return BigInt(whole === '' ? '0' : whole) * 100_000_000n + BigInt(fraction.padEnd(8, '0'));
}

/** Formats satoshis as coins with at least two decimals. Source: `FormatMoney`. */
export function formatMoney(satoshis: bigint): string {
  const fraction = (satoshis % 100_000_000n)
    .toString()
    .padStart(8, '0')
    .replace(/0{1,6}$/, '');
  return `${satoshis / 100_000_000n}.${fraction}`;
}
