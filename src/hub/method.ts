/** What a method of the hub is: its parameters, what it may do to the client that calls it, and how arguments are bound. */
import type { JsonObject, JsonValue } from '../util/json.js';
import type { JsonOut } from '../util/jsonWrite.js';
import { internalError } from './hubError.js';
import type { HubServices } from './hubServices.js';
import type { Turn } from './turns.js';

/** A result that is made as it is sent: pieces of one JSON value. */
export class StreamedJson {
  readonly pieces: AsyncIterable<string>;
  constructor(pieces: AsyncIterable<string>) {
    this.pieces = pieces;
  }
}

export type HubResult = JsonOut | StreamedJson;

/** The client that calls. */
export interface HubClient {
  /** The first characters of what it calls itself. */
  name: string;
  /** What `server.version` answered; null before. */
  protocol: string | null;
  /** Whether headers are told as hex; null unless it wants to hear of them. */
  wantsHeaders: 'raw' | 'decoded' | null;
  /** Id of the header that it knows for the tip. */
  knownTip: number;
  /** The number of the latest other hub that it knows of (`hubPeers.ts`); null unless it wants to hear of them. */
  knownPeer: number | null;
  /** Hears from here on what happens to a script, by the name that it gave it. Throws `HubError` when there are too many. */
  subscribe(scriptKey: string, alias: string): void;
  unsubscribe(scriptKey: string): void;
  /** Ends the connection behind the answer. */
  dismiss(): void;
}

export interface HubCall {
  readonly client: HubClient;
  readonly turn: Turn;
  readonly hub: HubServices;
}

/** The names of the parameters in order, and how many are required; of `rest` any number follows. */
export interface HubMethod {
  readonly name: string;
  readonly params?: readonly string[];
  /** How many of `params` must be given; all when it is left out. */
  readonly required?: number;
  /** Takes any number of positional arguments instead of `params`. */
  readonly spread?: boolean;
  /** Takes named arguments of any name. */
  readonly named?: boolean;
  /** `args` has a place for each parameter, undefined where none was given. Throws `HubError`. */
  run(
    call: HubCall,
    args: readonly (JsonValue | undefined)[],
    named: JsonObject | null,
  ): HubResult | Promise<HubResult>;
}

/** The arguments in the order of the parameters. Throws what the reference answers when they do not fit. */
export function bindArguments(
  { params = [], required = params.length, spread = false, named = false }: HubMethod,
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
