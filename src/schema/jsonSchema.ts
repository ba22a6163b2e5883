/**
 * Converts result schemas to JSON Schema (draft 7, as used by OpenRPC). A named type is defined once as a component, to
 * which all uses refer.
 */
import type { JsonOut } from '../util/json/jsonWrite.js';
import type { OptionalSchema, Schema } from './schema.js';

export type JsonSchema = { readonly [key: string]: JsonOut | undefined };

/** Converts schemas of results to JSON schemas, and collects the named types that occur in them. */
export class JsonSchemas {
  private readonly named = new Map<string, JsonSchema>();

  /** Definitions of the named types that were converted so far. */
  get components(): JsonSchema {
    return Object.fromEntries([...this.named].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  of(schema: Schema): JsonSchema {
    const { name } = schema;
    if (name === undefined) return this.shapeOf(schema);
    // The name is registered before the type is converted, because the type may contain itself.
    if (!this.named.has(name)) {
      this.named.set(name, {});
      this.named.set(name, { title: name, ...this.shapeOf(schema) });
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  private shapeOf(schema: Schema): JsonSchema {
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
        // `multipleOf` is not used, because a validator that divides doubles does not accept 0.07 as a multiple of 1e-8.
        return {
          type: 'number',
          description: [description, '(in coins, with eight decimals)'].join(' ').trim(),
        };
      case 'hex':
        return { type: 'string', pattern: '^(?:[0-9a-f]{2})*$', description };
      case 'hash':
        return { type: 'string', pattern: `^[0-9a-f]{${schema.bytes * 2}}$`, description };
      case 'enum':
        return { type: 'string', enum: schema.values, description };
      case 'array':
        return { type: 'array', items: this.of(schema.item), description };
      case 'tuple':
        return {
          type: 'array',
          items: schema.items.map((item) => this.of(item)),
          minItems: schema.items.length,
          maxItems: schema.items.length,
          description,
        };
      case 'map':
        return { type: 'object', additionalProperties: this.of(schema.value), description };
      case 'object':
        return {
          type: 'object',
          properties: Object.fromEntries(
            Object.entries(schema.fields).map(([name, field]) => [name, this.fieldOf(field)]),
          ),
          required: Object.entries(schema.fields)
            .filter(([, field]) => field.kind !== 'optional')
            .map(([name]) => name),
          additionalProperties: schema.open,
          description,
        };
      case 'union':
        return {
          anyOf: schema.variants.map((variant) => ({
            title: variant.when === '' ? undefined : variant.when,
            ...this.of(variant.schema),
          })),
          description,
        };
    }
  }

  private fieldOf(field: Schema | OptionalSchema): JsonSchema {
    return this.of(field.kind === 'optional' ? field.schema : field);
  }
}
