/**
 * Reads the parameters of a call by their declarations. Source: lbry-sdk lbry/extras/daemon/daemon.py `_check_params`;
 * required parameters and unknown names are checked for every method.
 */
import { isJsonNumber, JsonObject, numberText, type JsonValue } from '../../util/json/json.js';
import { parseLbc } from '../base/amounts.js';
import { badValue, DaemonError } from '../base/daemonError.js';
import type { AnyArgs } from './args.js';
import type { MethodDeclaration, ParamDeclaration, ParamType } from './declaration.js';

/** Parameters of a call, as received. */
export interface CallParams {
  readonly positional: readonly JsonValue[];
  readonly named: ReadonlyMap<string, JsonValue>;
}

/** The parameters of a call do not match the declaration. The message is returned with error code -32602. */
export class ParamsError extends Error {}

/**
 * Throws `ParamsError` if a parameter's name is unknown, a required parameter is missing, or there are too many parameters.
 * `readParams` refuses unknown filters of files.
 * The message contains the method's name as in the call.
 */
export function checkParams(
  declaration: MethodDeclaration,
  { positional, named }: CallParams,
  calledName = declaration.name,
): void {
  const fail = (problem: string, names: readonly string[]): never => {
    throw new ParamsError(`${problem} for ${calledName} command: ${names.join(', ')}`);
  };
  const { params } = declaration;
  const twice = params.slice(0, positional.length).filter((param) => named.has(param.name));
  if (twice.length > 0)
    fail(
      'Duplicate parameters',
      twice.map((param) => param.name),
    );
  const missing = params.slice(positional.length).filter((param) => param.required && !named.has(param.name));
  if (missing.length > 0)
    fail(
      'Missing required parameters',
      missing.map((param) => param.name),
    );
  const known = new Set(params.map((param) => param.name));
  const unknown =
    declaration.freeKeywords || selectsFiles(declaration)
      ? []
      : [...named.keys()].filter((name) => !known.has(name));
  if (unknown.length > 0) fail('Extraneous parameters', unknown);
  if (positional.length > params.length) {
    throw new ParamsError(
      `Extraneous parameters for ${calledName} command: ${positional.length} given by position, at most ${params.length} are taken`,
    );
  }
}

const selectsFiles = ({ params }: MethodDeclaration): boolean => params.some((param) => param.isFileFilter);

/**
 * Values of the parameters by name. Throws a `DaemonError` if a value has the wrong type or a filter of files is unknown. Call
 * `checkParams` before.
 */
export function readParams(declaration: MethodDeclaration, { positional, named }: CallParams): AnyArgs {
  const args: Record<string, unknown> = {};
  const others = new Map(named);
  declaration.params.forEach((param, index) => {
    others.delete(param.name);
    args[param.name] = readParam(
      param,
      index < positional.length ? positional[index] : named.get(param.name),
    );
  });
  // Source: lbry-sdk lbry/file/source_manager.py `get_filtered`.
  const [unknown] = selectsFiles(declaration) ? others.keys() : [];
  if (unknown !== undefined) throw badValue(`'${unknown}' is not a valid search operation`);
  return { ...args, others };
}

const READABLE: Readonly<Record<ParamType, string>> = {
  str: 'text',
  int: 'an integer',
  float: 'a number',
  bool: 'true or false',
  lbc: 'an amount',
  positiveLbc: 'an amount',
  strOrList: 'text or a list of texts',
  constraint: 'a number, text, or a list of these',
  list: 'a list',
  dict: 'an object',
  any: 'any value',
};

const isAmount = ({ type }: ParamDeclaration): boolean => type === 'lbc' || type === 'positiveLbc';

function readParam(param: ParamDeclaration, value: JsonValue | undefined): unknown {
  // A required amount must not be null. `parseLbc` throws the error for the null.
  if (value === null && param.required && isAmount(param)) return parseLbc(param.name, value);
  if (value === null && param.type !== 'any' && (param.refusesNull || param.required)) {
    throw new DaemonError(
      'InputValueIsNoneError',
      `None or null is not valid value for argument '${param.name}'.`,
    );
  }
  if (value === null && param.isFileFilter) return null;
  if (value === undefined || (value === null && param.type !== 'any')) return param.default;
  if (value === '' && param.emptyIsAbsent) return param.default;
  if (param.type === 'any') return value;
  if (param.type === 'lbc') return parseLbc(param.name, amountText(value));
  if (param.type === 'positiveLbc') return parseLbc(param.name, amountText(value), { isPositive: true });
  const read = READERS[param.type](value);
  if (read === undefined) {
    throw new DaemonError('TypeError', `'${param.name}' must be ${READABLE[param.type]}.`);
  }
  if (param.type !== 'strOrList') return read;
  const texts = read as readonly string[];
  // A single value of a filter is compared, and a list is searched.
  if (param.isFileFilter) return Array.isArray(value) ? texts : texts[0];
  return texts.length === 0 && !param.required ? param.default : texts;
}

const amountText = (value: JsonValue): unknown => (isJsonNumber(value) ? Number(numberText(value)) : value);

function textOf(value: JsonValue): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  return isJsonNumber(value) ? numberText(value) : undefined;
}

function numberOf(value: JsonValue): number | undefined {
  return isJsonNumber(value) ? Number(numberText(value)) : undefined;
}

function integerOf(value: JsonValue): number | undefined {
  const number = numberOf(value);
  return number !== undefined && Number.isSafeInteger(number) ? number : undefined;
}

function textsOf(value: JsonValue): string[] | undefined {
  const items = Array.isArray(value) ? value : [value];
  const texts = items.map(textOf);
  return texts.includes(undefined) ? undefined : (texts as string[]);
}

/** Readers of values, by the type of the parameter. A reader returns undefined if the value has the wrong type. */
const READERS: Readonly<
  Record<Exclude<ParamType, 'any' | 'lbc' | 'positiveLbc'>, (value: JsonValue) => unknown>
> = {
  str: textOf,
  int: integerOf,
  float: numberOf,
  bool: (value) =>
    typeof value === 'boolean' ? value : isJsonNumber(value) ? numberOf(value) !== 0 : undefined,
  strOrList: textsOf,
  constraint: textsOf,
  list: (value) => (Array.isArray(value) ? value : undefined),
  dict: (value) => (value instanceof JsonObject ? value : undefined),
};
