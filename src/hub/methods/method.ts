/**
 * Definition of a hub method: its parameters, the thread that runs it, its access to the client, and the assignment of
 * arguments to parameters.
 */
import type { JsonObject, JsonValue } from '../../util/json/json.js';
import type { HubClient, HubResult, MethodShape } from '../protocol/hubClient.js';
import { internalError } from '../protocol/hubError.js';
import type { HubServices } from '../link/hubServices.js';
import type { ClientServices } from '../link/clientServices.js';
import type { Turn } from '../../scheduler/clientQueue.js';

/** A call of a method that the hub's thread runs. */
export interface HubCall {
  readonly client: HubClient;
  readonly turn: Turn;
  readonly hub: ClientServices;
}

/** A call of a method that the node's thread runs. */
export interface NodeCall {
  readonly turn: Turn;
  readonly hub: HubServices;
}

/** A method that runs in the hub's thread, to which the clients are connected. */
export interface HubMethod extends MethodShape {
  /**
   * Runs the method. `args` has an element for each parameter, which is undefined if the client did not send it. Throws
   * `HubError`.
   */
  run(
    call: HubCall,
    args: readonly (JsonValue | undefined)[],
    named: JsonObject | null,
  ): HubResult | Promise<HubResult>;
}

/** A method that runs in the node's thread, which stores the chain. */
export interface NodeMethod extends MethodShape {
  /** Like `HubMethod.run`, except that named arguments are not supported. */
  run(call: NodeCall, args: readonly (JsonValue | undefined)[]): HubResult | Promise<HubResult>;
}

/**
 * Sorts the arguments of a request in the order of the parameters. Throws the reference's error if they do not match the
 * parameters.
 */
export function bindArguments(
  { params = [], required = params.length, spread = false, named = false }: MethodShape,
  given: readonly JsonValue[] | JsonObject,
): readonly (JsonValue | undefined)[] {
  if (isPositional(given)) {
    if (spread) return given;
    if (given.length > params.length || given.length < required) throw internalError();
    return params.map((_, n) => given[n]);
  }
  if (named) return [];
  if (spread && given.size > 0) throw internalError();
  if (given.keys().some((key) => !params.includes(key))) throw internalError();
  const bound = params.map((name) => given.get(name));
  if (bound.slice(0, required).includes(undefined)) throw internalError();
  return bound;
}

function isPositional(given: readonly JsonValue[] | JsonObject): given is readonly JsonValue[] {
  return Array.isArray(given);
}
