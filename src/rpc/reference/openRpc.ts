/**
 * Generates the OpenRPC document from declarations: parameters and results as JSON Schema, with recurring types as
 * components; the errors of each method; and examples recorded from a node on regtest.
 */
import type { JsonValue } from '../../util/json/json.js';
import { RPC_ERROR, RPC_ERROR_MEANING, type RpcErrorName } from '../declare/errors.js';
import { defaultText } from './helpText.js';
import { JsonSchemas, type JsonSchema } from '../../schema/jsonSchema.js';
import { paramKey, type ParamDecl, type Profile, type RpcMethod } from '../declare/method.js';
import { METHOD_ERRORS } from './methodErrors.js';
import { PARAM_TYPES, type ParamTypeName } from '../declare/paramTypes.js';

const OPENRPC_VERSION = '1.3.2';
/** Default RPC URLs of the networks. */
const SERVERS = [
  { name: 'main', url: 'http://127.0.0.1:9245/' },
  { name: 'test', url: 'http://127.0.0.1:19245/' },
  { name: 'regtest', url: 'http://127.0.0.1:29245/' },
] as const;

/** A call with positional parameters and the node's result. */
export interface ExampleCall {
  readonly method: string;
  readonly params: readonly JsonValue[];
  readonly result: JsonValue;
}

export interface OpenRpcOptions {
  /** Version of the program. */
  readonly version: string;
  readonly examples: readonly ExampleCall[];
  /** Profile whose methods the document describes. */
  readonly profile: Profile;
}

export function openRpcDocument(
  methods: readonly RpcMethod[],
  { version, examples, profile }: OpenRpcOptions,
): JsonSchema {
  const schemas = new JsonSchemas();
  const described = methods.map((method) =>
    methodObject(
      method,
      schemas,
      examples.filter((example) => example.method === method.name),
      profile,
    ),
  );
  return {
    openrpc: OPENRPC_VERSION,
    info: {
      title: 'lbcnode JSON-RPC',
      description: 'A full node for the LBRY chain. Method names and semantics are those of lbrycrd 0.17.3.',
      version,
      license: { name: 'MIT' },
    },
    servers: SERVERS,
    methods: described,
    components: { schemas: schemas.components, errors: errorComponents() },
  };
}

function methodObject(
  method: RpcMethod,
  schemas: JsonSchemas,
  examples: readonly ExampleCall[],
  profile: Profile,
): JsonSchema {
  return {
    name: method.name,
    tags: [{ name: method.category }],
    summary: method.summary.split('\n')[0],
    description: method.summary,
    paramStructure: 'either',
    params: method.params.map(paramObject),
    result: { name: 'result', schema: schemas.of(method.result) },
    errors: methodErrors(method, profile).map((name) => ({ $ref: `#/components/errors/${name}` })),
    examples: examples.length === 0 ? undefined : examples.map((example) => exampleObject(method, example)),
    deprecated: method.deprecated === undefined ? undefined : true,
  };
}

function paramObject(param: ParamDecl): JsonSchema {
  const range = param.range;
  const byDefault = param.defaultText ?? defaultText(param.default);
  return {
    name: paramKey(param),
    description: byDefault === '' ? param.description : `${param.description} (default: ${byDefault})`,
    required: param.required === true,
    schema: {
      ...(PARAM_TYPES[param.type].schema as JsonSchema),
      minimum: range?.min,
      maximum: range?.max,
    },
  };
}

/** Error code of parameter types that reject values with another code than -1. */
const PARSE_ERRORS: Readonly<Partial<Record<ParamTypeName, RpcErrorName>>> = {
  hex: 'INVALID_PARAMETER',
  hash: 'INVALID_PARAMETER',
  hashOrHeight: 'INVALID_PARAMETER',
  claimIdDigits: 'INVALID_PARAMETER',
  amount: 'TYPE_ERROR',
};

/**
 * Returns the names of the errors that a call can return: errors of all calls, of the parameter types and of the method,
 * sorted by code from -1 downwards.
 */
export function methodErrors(method: RpcMethod, profile: Profile): RpcErrorName[] {
  const names = new Set<RpcErrorName>(['MISC_ERROR', ...(METHOD_ERRORS[method.name] ?? [])]);
  // Error of lbcd for a wrong number of parameters or a parameter of the wrong type.
  if (profile === 'lbcd') names.add(method.refusesBriefly === true ? 'INVALID_REQUEST' : 'INVALID_PARAMS');
  // Error for an unknown name in named parameters.
  names.add('INVALID_PARAMETER');
  if (method.duringWarmup !== true) names.add('IN_WARMUP');
  if (method.deprecated !== undefined) names.add('METHOD_DEPRECATED');
  for (const { type, strict } of method.params) {
    const name = PARSE_ERRORS[type];
    if (name !== undefined) names.add(name);
    // Error for the types that lbcd parses differently, which are hashes.
    if (profile === 'lbcd' && PARAM_TYPES[type].parseInLbcd !== undefined) names.add('DESERIALIZATION_ERROR');
    if (strict !== undefined && strict !== false) names.add('TYPE_ERROR');
  }
  return [...names].toSorted((a, b) => RPC_ERROR[b] - RPC_ERROR[a]);
}

function errorComponents(): JsonSchema {
  const names = Object.keys(RPC_ERROR) as RpcErrorName[];
  return Object.fromEntries(
    names.map((name) => [name, { code: RPC_ERROR[name], message: RPC_ERROR_MEANING[name] }]),
  );
}

function exampleObject(method: RpcMethod, { params, result }: ExampleCall): JsonSchema {
  return {
    name: [
      method.name,
      ...params.map((value) => (typeof value === 'string' ? value : defaultText(value))),
    ].join(' '),
    params: params.map((value, index) => ({
      name: method.params[index] === undefined ? `arg${index}` : paramKey(method.params[index]),
      value,
    })),
    result: { name: 'result', value: result },
  };
}
