/** Types of the arguments of a method's implementation, derived from its declaration. */
import type { JsonObject, JsonValue } from '../../util/json/json.js';
import type { MethodDeclaration, ParamDeclaration } from './declaration.js';

/** Types of values by parameter type. */
export interface ParamValues {
  str: string;
  int: number;
  float: number;
  bool: boolean;
  lbc: bigint;
  positiveLbc: bigint;
  strOrList: readonly string[];
  constraint: readonly string[];
  list: readonly JsonValue[];
  dict: JsonObject;
  any: JsonValue;
}

type ArgOf<P extends ParamDeclaration> = P extends { readonly required: true }
  ? ParamValues[P['type']]
  : P extends { readonly default: infer D }
    ? ParamValues[P['type']] | (D extends undefined ? undefined : never)
    : ParamValues[P['type']] | undefined;

/**
 * Type of a method's arguments: one member per declared parameter, undefined if the caller did not give it. `others`
 * contains parameters that were not declared (`freeKeywords`).
 */
export type ApiArgsOf<D extends MethodDeclaration> = {
  readonly [P in D['params'][number] as P['name']]: ArgOf<P>;
} & { readonly others: ReadonlyMap<string, JsonValue> };

export type AnyArgs = Readonly<Record<string, unknown>> & {
  readonly others: ReadonlyMap<string, JsonValue>;
};
