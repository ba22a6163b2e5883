/** The OpenRPC document of the daemon, derived from the declarations. */
import { JsonSchemas, type JsonSchema } from '../../schema/jsonSchema.js';
import type { MethodDeclaration, ParamDeclaration } from './declaration.js';
import { ERROR_CODE } from './dispatch.js';

const OPENRPC_VERSION = '1.3.2';
const AMOUNT: JsonSchema = { type: 'string', pattern: '^[0-9]{1,10}\\.[0-9]{1,8}$' };
const NUMBER_OR_TEXT: JsonSchema = { type: ['number', 'string'] };

/** JSON schemas of parameters, by type. */
const PARAM_SCHEMAS: Readonly<Record<ParamDeclaration['type'], JsonSchema>> = {
  str: { type: 'string' },
  int: { type: 'integer' },
  float: { type: 'number' },
  bool: { type: 'boolean' },
  lbc: AMOUNT,
  positiveLbc: AMOUNT,
  strOrList: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
  constraint: { anyOf: [NUMBER_OR_TEXT, { type: 'array', items: NUMBER_OR_TEXT }] },
  list: { type: 'array' },
  dict: { type: 'object' },
  any: {},
};

const ERRORS: JsonSchema = {
  Parse: { code: ERROR_CODE.parse, message: 'The body is not JSON.' },
  InvalidRequest: { code: ERROR_CODE.invalidRequest, message: 'The body is not an object.' },
  MethodNotFound: { code: ERROR_CODE.methodNotFound, message: 'There is no such method.' },
  InvalidParams: {
    code: ERROR_CODE.invalidParams,
    message: 'Names or number of the parameters do not match the method.',
  },
  Application: {
    code: ERROR_CODE.application,
    message: 'The method failed; `data.name` is the class of the error.',
  },
};

function paramObject(param: ParamDeclaration): JsonSchema {
  return {
    name: param.name,
    description: param.description,
    required: param.required === true,
    schema: { ...PARAM_SCHEMAS[param.type], default: param.default as JsonSchema[string] },
  };
}

export function openRpcDocument(declarations: readonly MethodDeclaration[], version: string): JsonSchema {
  const schemas = new JsonSchemas();
  const methods = declarations.map((declaration) => ({
    name: declaration.name,
    tags: [{ name: declaration.group ?? 'main' }],
    summary: declaration.summary,
    description: [declaration.summary, ...(declaration.details ?? [])].join(' '),
    paramStructure: 'by-name',
    // OpenRPC requires that required parameters come first. The order has no effect, because clients pass parameters by
    // name.
    params: declaration.params
      .toSorted((a, b) => Number(b.required === true) - Number(a.required === true))
      .map(paramObject),
    result: { name: 'result', schema: schemas.of(declaration.result) },
    errors: [{ $ref: '#/components/errors/InvalidParams' }, { $ref: '#/components/errors/Application' }],
  }));
  return {
    openrpc: OPENRPC_VERSION,
    info: {
      title: 'lbcnet JSON-RPC',
      description:
        'Publish, download and pay on the LBRY network. Method names and semantics are those of lbry-sdk 0.113.0.',
      version,
      license: { name: 'MIT' },
    },
    servers: [{ name: 'local', url: 'http://127.0.0.1:5279/' }],
    methods,
    components: { schemas: schemas.components, errors: ERRORS },
  };
}
