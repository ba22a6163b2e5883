/**
 * Runs one declared method: converts named to positional arguments, checks their number, parses types and ranges, and calls
 * `run`. Each step fails with the reference's error. Contains no transport and no envelope, and does not wait for chain or
 * wallets (`callMethod.ts`).
 */
import { type JsonObject, jsonTypeName, type JsonValue } from '../../util/json/json.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import { RPC_ERROR, RpcError, rpcError } from '../declare/errors.js';
import { arityError } from '../reference/helpText.js';
import {
  paramKey,
  paramNames,
  type ParamDecl,
  type ParsedArgs,
  type Profile,
  type RpcContext,
  type RpcMethod,
} from '../declare/method.js';
import { PARAM_TYPES } from '../declare/paramTypes.js';

/** Data about a method that each call needs, computed once from the declaration of the method. */
interface CallPlan {
  readonly required: number;
  /** Maximum number of arguments by profile. lbcd ignores no arguments. */
  readonly most: Readonly<Record<Profile, number>>;
  readonly params: readonly ParamPlan[];
  /** Parameters whose JSON type is checked before the first parameter is parsed. */
  readonly strict: readonly { readonly index: number; readonly param: ParamDecl }[];
}

interface ParamPlan {
  readonly key: string;
  readonly param: ParamDecl;
}

const plans = new WeakMap<RpcMethod, CallPlan>();

function planOf(method: RpcMethod): CallPlan {
  let plan = plans.get(method);
  if (plan !== undefined) return plan;
  const { params, maxArgs = params.length } = method;
  const { maxArgsInReference = Infinity } = method;
  const mostInLbcd = method.refusesBriefly === true ? maxArgs : params.length;
  plan = {
    required: params.filter((param) => param.required === true).length,
    most: {
      documented: maxArgs,
      lbrycrd: Math.min(maxArgs, maxArgsInReference),
      lbcd: Math.min(mostInLbcd, maxArgsInReference),
    },
    params: params.map((param) => ({ key: paramKey(param), param })),
    strict: params
      .map((param, index) => ({ index, param }))
      .filter(({ param }) => param.strict !== undefined && param.strict !== false),
  };
  plans.set(method, plan);
  return plan;
}

/**
 * Runs a method with positional parameters. Throws or rejects with `RpcError` or with the error that the method's `run`
 * throws.
 */
export function invoke(
  method: RpcMethod,
  ctx: RpcContext,
  positional: readonly JsonValue[],
): JsonOut | Promise<JsonOut> {
  const plan = planOf(method);
  const count = positional.length;
  if (method.deprecated?.comesFirst === true) refuseDeprecated(method, ctx);
  if (count < plan.required || count > plan.most[ctx.profile])
    throw wrongCount(method, plan, count, ctx.profile);
  if (method.deprecated !== undefined) refuseDeprecated(method, ctx);
  return method.run(ctx, parseArgs(method, plan, positional, ctx.profile), positional);
}

/**
 * Converts named arguments to declared order. Gaps are filled with null, except at the end. Of duplicate names the last
 * value is used; an unknown name gives error -8. Source: `transformNamedArguments`.
 */
export function toPositional(method: RpcMethod, named: JsonObject): JsonValue[] {
  const known = new Set(method.params.flatMap(paramNames));
  const given = new Map<string, JsonValue>();
  // The entries are checked one by one, without building a map of all entries, because the first of a million names may
  // already be unknown.
  for (const [name, value] of named.entries) {
    if (!known.has(name)) throw rpcError(RPC_ERROR.INVALID_PARAMETER, `Unknown named parameter ${name}`);
    given.set(name, value);
  }
  const positional: JsonValue[] = [];
  let holes = 0;
  for (const param of method.params) {
    const name = paramNames(param).find((alternative) => given.has(alternative));
    if (name === undefined) {
      holes++;
      continue;
    }
    for (; holes > 0; holes--) positional.push(null);
    positional.push(given.get(name) ?? null);
    given.delete(name);
  }
  // A remaining entry is an alternative name of a parameter that the caller has already given.
  for (const unknown of given.keys()) {
    throw rpcError(RPC_ERROR.INVALID_PARAMETER, `Unknown named parameter ${unknown}`);
  }
  return positional;
}

function refuseDeprecated(method: RpcMethod, ctx: RpcContext): void {
  const deprecated = method.deprecated;
  if (deprecated === undefined || ctx.isDeprecatedEnabled(deprecated.option)) return;
  if (deprecated.profiles !== undefined && !deprecated.profiles.includes(ctx.profile)) return;
  throw rpcError(RPC_ERROR.METHOD_DEPRECATED, deprecated.message);
}

/** Returns the method without the parameters that have no effect in the profile. */
function inProfile(method: RpcMethod, profile: Profile): RpcMethod {
  if (profile === 'documented' || method.maxArgsInReference === undefined) return method;
  return { ...method, params: method.params.slice(0, method.maxArgsInReference) };
}

/**
 * Creates the error for a wrong number of arguments: -32602 in the lbcd profile, otherwise -1. Source: lbcd
 * btcjson/cmdparse.go `checkNumParams`.
 */
function wrongCount(method: RpcMethod, plan: CallPlan, count: number, profile: Profile): RpcError {
  if (profile !== 'lbcd')
    return rpcError(RPC_ERROR.MISC_ERROR, arityError(inProfile(method, profile), count));
  if (method.refusesBriefly === true) return invalidRequest();
  const {
    required,
    most: { lbcd: most },
  } = plan;
  const expected = required === most ? `${most}` : `between ${required} and ${most}`;
  return rpcError(
    RPC_ERROR.INVALID_PARAMS,
    `wrong number of params (expected ${expected}, received ${count})`,
  );
}

/**
 * Creates the error that lbcwallet returns for invalid parameters. Source: lbcwallet rpc/legacyrpc/methods.go
 * `lazyApplyHandler`.
 */
function invalidRequest(): RpcError {
  return rpcError(RPC_ERROR.INVALID_REQUEST, 'Invalid request');
}

function parseArgs(
  method: RpcMethod,
  plan: CallPlan,
  values: readonly JsonValue[],
  profile: Profile,
): ParsedArgs {
  if (profile !== 'lbcd') return parseEach(plan, values);
  const at = { index: 0 };
  try {
    return parseEach(plan, values, at);
  } catch (error) {
    if (method.refusesBriefly === true && error instanceof RpcError) throw invalidRequest();
    throw asLbcdTypeError(error, plan, at.index, values);
  }
}

const TYPE_CODES: readonly number[] = [RPC_ERROR.MISC_ERROR, RPC_ERROR.TYPE_ERROR];

/** Converts a type error to lbcd's error for a parameter of the wrong type. Source: lbcd btcjson/cmdparse.go `assignField`. */
function asLbcdTypeError(
  error: unknown,
  plan: CallPlan,
  index: number,
  values: readonly JsonValue[],
): unknown {
  const declared = plan.params[index];
  const value = values[index];
  if (!(error instanceof RpcError) || !TYPE_CODES.includes(error.code) || !declared || value === undefined)
    return error;
  const { help } = PARAM_TYPES[declared.param.type];
  const message = `parameter #${index + 1} '${declared.key}' must be type ${help} (got ${jsonTypeName(value)})`;
  return rpcError(RPC_ERROR.INVALID_PARAMS, message);
}

/** Parses all arguments in order. `at`, which only the lbcd profile uses, has the index of the parameter that is being parsed. */
function parseEach(plan: CallPlan, values: readonly JsonValue[], at?: { index: number }): ParsedArgs {
  for (let i = 0; i < plan.strict.length; i++) {
    const { index, param } = plan.strict[i]!;
    const value = values[index];
    if (at) at.index = index;
    if (value !== undefined) checkStrictType(param, value);
  }
  const args: Record<string, unknown> = {};
  for (let i = 0; i < plan.params.length; i++) {
    if (at) at.index = i;
    const { key, param } = plan.params[i] as ParamPlan;
    const value = values[i];
    const inLbcd = at !== undefined;
    args[key] =
      param.late === true
        ? () => parseParam(param, key, value, inLbcd)
        : parseParam(param, key, value, inLbcd);
  }
  return args;
}

/** Source: `RPCTypeCheck`. */
function checkStrictType(param: ParamDecl, value: JsonValue): void {
  const expected = PARAM_TYPES[param.type].json;
  if (expected === null) return;
  const got = jsonTypeName(value);
  if (got === expected || (got === 'null' && param.strict === 'nullable')) return;
  throw rpcError(RPC_ERROR.TYPE_ERROR, `Expected type ${expected}, got ${got}`);
}

function parseParam(param: ParamDecl, key: string, value: JsonValue | undefined, inLbcd: boolean): unknown {
  if (value === undefined) return param.default;
  if (value === null && param.required !== true && param.nullIsValue !== true) return param.default;
  const { parse, parseInLbcd } = PARAM_TYPES[param.type];
  const parsed: unknown = inLbcd && parseInLbcd ? parseInLbcd(value) : parse(value, param.label ?? key);
  if (param.range !== undefined) checkRange(param, parsed);
  return parsed;
}

function checkRange(param: ParamDecl, parsed: unknown): void {
  const range = param.range;
  if (range === undefined || (typeof parsed !== 'number' && typeof parsed !== 'bigint')) return;
  if (parsed >= range.min && parsed <= range.max) return;
  const message = range.error ?? `${paramKey(param)} must be between ${range.min} and ${range.max}`;
  throw rpcError(RPC_ERROR.INVALID_PARAMETER, message);
}
