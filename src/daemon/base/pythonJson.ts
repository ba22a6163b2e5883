/**
 * JSON as Python's `json` module writes it: ASCII only, its forms of numbers, and its separators. The hashes by which
 * wallets are compared are computed over such texts. Source: CPython Lib/json/encoder.py, `float.__repr__`.
 */
import type { JsonObject } from '../../util/json/json.js';
import { JsonNumber, numberText, type JsonValue } from '../../util/json/json.js';

export interface PythonJsonForm {
  /** Number of spaces of indentation per level; 0 writes one line with `", "` and `": "`. */
  readonly indent?: number;
  /** Whether keys are sorted by their code points instead of their insertion order. */
  readonly sortKeys?: boolean;
}

const NEEDS_ESCAPE = /[^ !#-[\]-~]/g;
const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\b': '\\b',
  '\f': '\\f',
};

/** Writes a string literal. Each UTF-16 unit outside ASCII becomes an escape with four hexadecimal digits. */
export function quotePython(text: string): string {
  if (!/[^ !#-[\]-~]/.test(text)) return `"${text}"`;
  const escaped = text.replaceAll(
    NEEDS_ESCAPE,
    (unit) => SHORT_ESCAPES[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `"${escaped}"`;
}

/** Bounds of the decimal exponent. Outside these bounds Python writes a float with an exponent. */
const MIN_FIXED_EXPONENT = -4;
const MAX_FIXED_EXPONENT = 15;

/**
 * The shortest text of a double that parses to the same value, always recognizable as a float. Source: `float_repr_style`
 * short.
 */
export function pythonFloat(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value < 0 ? '-Infinity' : 'Infinity';
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  const [mantissa = '0', exponentText = '0'] = Math.abs(value).toExponential().split('e');
  const exponent = Number(exponentText);
  if (exponent < MIN_FIXED_EXPONENT || exponent > MAX_FIXED_EXPONENT) {
    const size = String(Math.abs(exponent)).padStart(2, '0');
    return `${sign}${mantissa}e${exponent < 0 ? '-' : '+'}${size}`;
  }
  const digits = mantissa.replace('.', '');
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  return `${sign}${whole}.${digits.slice(exponent + 1) || '0'}`;
}

/**
 * Text of a number after Python has read its literal: integers keep any size, and numbers with a point or an exponent become
 * floats.
 */
export function pythonNumber(literal: string): string {
  if (/[.eE]/.test(literal)) return pythonFloat(Number(literal));
  return literal === '-0' ? '0' : literal;
}

/** Compares texts by code points. This order differs from the order of UTF-16 units above U+D800. */
export function compareCodePoints(left: string, right: string): number {
  for (let at = 0; ; at++) {
    const [a, b] = [left.codePointAt(at), right.codePointAt(at)];
    if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? -1 : 1;
    if (a !== b) return a - b;
    if (a > 0xffff) at++;
  }
}

/**
 * Maximum nesting of JSON that lbry-sdk can read. Python allows 1,000 nested calls (`sys.getrecursionlimit`), and some are
 * in use before `json` starts.
 */
const MAX_PYTHON_DEPTH = 900;

/** Whether the nesting of the value exceeds the limit. */
export function isTooDeep(value: JsonValue, most = MAX_PYTHON_DEPTH): boolean {
  let level: JsonValue[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > most) return true;
    level = level.flatMap(membersWithin);
  }
  return false;
}

/**
 * Whether the value contains a number beyond the range of a double. Python writes such a number as a word that is not valid
 * JSON.
 */
export function hasNumberWords(value: JsonValue): boolean {
  if (value === null || typeof value !== 'object') return false;
  if (value instanceof JsonNumber) return /[a-z]{2}/i.test(pythonNumber(value.text));
  return membersWithin(value).some(hasNumberWords);
}

function membersWithin(value: JsonValue): JsonValue[] {
  if (value === null || typeof value !== 'object' || value instanceof JsonNumber) return [];
  return Array.isArray(value) ? value : value.entries.map(([, inner]) => inner);
}

/** The members of an object as in a Python dictionary: a repeated key keeps its first position and gets its last value. */
function membersOf(object: JsonObject): [string, JsonValue][] {
  return [...new Map(object.entries)];
}

export function writePythonJson(
  value: JsonValue,
  { indent = 0, sortKeys = false }: PythonJsonForm = {},
): string {
  function list(open: string, parts: readonly string[], close: string, depth: number): string {
    if (parts.length === 0) return open + close;
    if (indent === 0) return open + parts.join(', ') + close;
    const inner = `\n${' '.repeat(indent * (depth + 1))}`;
    return `${open}${inner}${parts.join(`,${inner}`)}\n${' '.repeat(indent * depth)}${close}`;
  }
  function write(part: JsonValue, depth: number): string {
    if (part === null) return 'null';
    if (typeof part === 'boolean') return String(part);
    if (typeof part === 'string') return quotePython(part);
    if (typeof part === 'number' || part instanceof JsonNumber) return pythonNumber(numberText(part));
    if (Array.isArray(part))
      return list(
        '[',
        part.map((item) => write(item, depth + 1)),
        ']',
        depth,
      );
    const members = membersOf(part);
    if (sortKeys) members.sort(([a], [b]) => compareCodePoints(a, b));
    return list(
      '{',
      members.map(([key, inner]) => `${quotePython(key)}: ${write(inner, depth + 1)}`),
      '}',
      depth,
    );
  }
  return write(value, 0);
}
