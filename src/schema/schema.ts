/**
 * The schema language for the results of methods. Help text, the OpenRPC document, the method reference and the typed client
 * are derived from a schema, and tests check every result against it (`schemaCheck.ts`). Data only.
 *
 *   result: t.object({
 *     hash: t.hash('the block hash'),
 *     nextblockhash: t.optional(t.hash('the next block'), 'when there is one'),
 *     tx: t.array(t.hash('a transaction id')),
 *     fees: t.map('txid', t.coins('fee in coins')),
 *   })
 *   result: t.union([{ when: 'for verbosity = 0', schema: t.hex('the serialized block') }, …])
 */

export type Schema = SchemaShape & {
  /** Name of a type that is defined once because several results contain it (`t.named`). */
  readonly name?: string;
};

type SchemaShape =
  | {
      readonly kind: 'null' | 'any' | 'boolean' | 'string' | 'hex' | 'number' | 'integer' | 'coins';
      readonly description: string;
    }
  /** A string of hex digits with a fixed number of bytes (32 for a hash, 20 for a claim id). */
  | { readonly kind: 'hash'; readonly bytes: number; readonly description: string }
  | { readonly kind: 'enum'; readonly values: readonly string[]; readonly description: string }
  | { readonly kind: 'array'; readonly item: Schema; readonly description: string }
  | { readonly kind: 'tuple'; readonly items: readonly Schema[]; readonly description: string }
  | {
      readonly kind: 'object';
      readonly fields: SchemaFields;
      readonly open: boolean;
      readonly description: string;
    }
  /** An object whose keys are data, such as txids or addresses. */
  | { readonly kind: 'map'; readonly key: string; readonly value: Schema; readonly description: string }
  | { readonly kind: 'union'; readonly variants: readonly SchemaVariant[]; readonly description: string };

export type SchemaFields = Readonly<Record<string, Schema | OptionalSchema>>;

export interface OptionalSchema {
  readonly kind: 'optional';
  readonly schema: Schema;
  /** Description of the condition under which the field is present. */
  readonly when: string;
}

export interface SchemaVariant {
  /**
   * Description of the condition under which the result has this type, for example `for verbosity = 0` or `in the lbrycrd
   * profile`.
   */
  readonly when: string;
  readonly schema: Schema;
}

/** Functions that build schemas. Descriptions are phrases in lower case without a full stop. */
export const t = {
  none: (description = ''): Schema => ({ kind: 'null', description }),
  any: (description = ''): Schema => ({ kind: 'any', description }),
  bool: (description = ''): Schema => ({ kind: 'boolean', description }),
  str: (description = ''): Schema => ({ kind: 'string', description }),
  /** String with an even number of hex digits; may be empty. */
  hex: (description = ''): Schema => ({ kind: 'hex', description }),
  num: (description = ''): Schema => ({ kind: 'number', description }),
  int: (description = ''): Schema => ({ kind: 'integer', description }),
  /** Integer Unix time in seconds. */
  time: (description = ''): Schema => ({
    kind: 'integer',
    description: `${description} (seconds since 1970)`,
  }),
  /** Integer amount in satoshis. */
  sats: (description = ''): Schema => ({ kind: 'integer', description: `${description} (in satoshis)` }),
  /** Amount in coins, a number with eight decimals. */
  coins: (description = ''): Schema => ({ kind: 'coins', description }),
  hash: (description = ''): Schema => ({ kind: 'hash', bytes: 32, description }),
  claimId: (description = ''): Schema => ({ kind: 'hash', bytes: 20, description }),
  oneOf: (values: readonly string[], description = ''): Schema => ({ kind: 'enum', values, description }),
  array: (item: Schema, description = ''): Schema => ({ kind: 'array', item, description }),
  tuple: (items: readonly Schema[], description = ''): Schema => ({ kind: 'tuple', items, description }),
  object: (fields: SchemaFields, description = ''): Schema => ({
    kind: 'object',
    fields,
    open: false,
    description,
  }),
  /** An object that may have fields in addition to the declared fields. */
  openObject: (fields: SchemaFields, description = ''): Schema => ({
    kind: 'object',
    fields,
    open: true,
    description,
  }),
  map: (key: string, value: Schema, description = ''): Schema => ({ kind: 'map', key, value, description }),
  union: (variants: readonly SchemaVariant[], description = ''): Schema => ({
    kind: 'union',
    variants,
    description,
  }),
  /** Type with a name, for example `BlockHeader`. It is defined once in the OpenRPC document and in the typed client. */
  named: (name: string, schema: Schema): Schema => ({ ...schema, name }),
  optional: (schema: Schema, when = ''): OptionalSchema => ({ kind: 'optional', schema, when }),
};
