/**
 * Encodes arguments for transfer to another thread. Instances of classes lose their methods in the transfer, so values that
 * are not primitive are sent as JSON text.
 */
import { JsonScanner } from '../../util/json/jsonParse.js';
import type { JsonValue } from '../../util/json/json.js';
import { stringifyJson } from '../../util/json/jsonStream.js';
import { inTurn, type Turn } from '../../scheduler/clientQueue.js';

type Crossing = string | number | boolean | null | undefined | { readonly json: string };

export function crossingOf(value: JsonValue | undefined): Crossing {
  return typeof value === 'object' && value !== null ? { json: stringifyJson(value) } : value;
}

export function valueOf(crossing: unknown, turn: Turn): Promise<JsonValue> | JsonValue | undefined {
  const value = crossing as Crossing;
  return typeof value === 'object' && value !== null
    ? inTurn(turn, new JsonScanner(value.json).readValueInSlices())
    : value;
}
