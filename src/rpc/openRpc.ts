/** The OpenRPC document, derived from declarations: parameters and answers as JSON Schema. */
import type { JsonOut } from '../util/jsonWrite.js';
import { defaultText } from './helpText.js';
import { paramKey, type ParamDecl, type RpcMethod } from './method.js';
import { PARAM_TYPES } from './paramTypes.js';
import type { OptionalSchema, Schema } from './schema.js';

type JsonSchema = { readonly [key: string]: JsonOut | undefined };

/** Version of the interface itself: the reference's, whose methods these are. */
export const INTERFACE_VERSION = '0.17.3';

export function openRpcDocument(methods: readonly RpcMethod[]): JsonSchema {
  return {
    openrpc: '1.3.2',
    info: { title: 'lbcnode JSON-RPC', version: INTERFACE_VERSION },
    methods: methods.map(methodObject),
  };
}

function methodObject(method: RpcMethod): JsonSchema {
  return {
    name: method.name,
    tags: [{ name: method.category }],
    summary: method.summary.split('\n')[0],
    description: method.summary,
    paramStructure: 'either',
    params: method.params.map(paramObject),
    result: { name: 'result', schema: jsonSchema(method.result) },
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

/** A declared answer as JSON Schema. */
export function jsonSchema(schema: Schema): JsonSchema {
  const description = schema.description === '' ? undefined : schema.description;
  switch (schema.kind) {
    case 'any':
      return { description };
    case 'null':
    case 'boolean':
    case 'string':
    case 'number':
    case 'integer':
      return { type: schema.kind, description };
    case 'coins':
      return { type: 'number', multipleOf: 1e-8, description };
    case 'hex':
      return { type: 'string', pattern: '^([0-9a-f]{2})*$', description };
    case 'hash':
      return { type: 'string', pattern: `^[0-9a-f]{${schema.bytes * 2}}$`, description };
    case 'enum':
      return { type: 'string', enum: schema.values, description };
    case 'array':
      return { type: 'array', items: jsonSchema(schema.item), description };
    case 'tuple':
      return {
        type: 'array',
        prefixItems: schema.items.map(jsonSchema),
        minItems: schema.items.length,
        description,
      };
    case 'map':
      return { type: 'object', additionalProperties: jsonSchema(schema.value), description };
    case 'object':
      return {
        type: 'object',
        properties: Object.fromEntries(
          Object.entries(schema.fields).map(([name, field]) => [name, fieldSchema(field)]),
        ),
        required: Object.entries(schema.fields)
          .filter(([, field]) => field.kind !== 'optional')
          .map(([name]) => name),
        additionalProperties: schema.open,
        description,
      };
    case 'union':
      return {
        anyOf: schema.variants.map((variant) => ({ ...jsonSchema(variant.schema), title: variant.when })),
        description,
      };
  }
}

function fieldSchema(field: Schema | OptionalSchema): JsonSchema {
  return jsonSchema(field.kind === 'optional' ? field.schema : field);
}
