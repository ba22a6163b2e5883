/**
 * JSON-RPC of the hub: detects the version of a client, parses messages, and formats responses. Source: lbryio/hub
 * herald/jsonrpc.py.
 */
import { isJsonNumber, JsonObject, type JsonValue } from '../../util/json/json.js';
import { stringifyJson } from '../../util/json/jsonStream.js';
import { quoteJson } from '../../util/json/jsonWrite.js';
import { HUB_ERROR, HubError } from './hubError.js';
import { pythonText } from './pythonText.js';

/** JSON-RPC version, detected from the client's first message. `loose` is 2.0 without the member `jsonrpc`. */
export type WireVersion = '1.0' | '2.0' | 'loose';

export interface WireRequest {
  readonly method: string;
  readonly params: readonly JsonValue[] | JsonObject;
  /** Id of the request; null for a notification, which gets no response. */
  readonly id: JsonValue;
}

/** Result of parsing a message or a member of a batch. */
export type WireItem =
  | { readonly kind: 'request'; readonly request: WireRequest }
  | { readonly kind: 'error'; readonly error: HubError; readonly id: JsonValue }
  /** The client sent a response, although the hub sends no requests. */
  | { readonly kind: 'answer' };

export type WireMessage = WireItem | { readonly kind: 'batch'; readonly items: readonly JsonValue[] };

function versionOfOne(payload: JsonValue): WireVersion {
  if (!(payload instanceof JsonObject)) return 'loose';
  const version = payload.get('jsonrpc');
  if (version === '2.0' || version === '1.0') return version;
  return payload.has('result') && payload.has('error') ? '1.0' : 'loose';
}

/**
 * Detects the version from the first message. If the members of a batch have different versions, 2.0 takes precedence over
 * 1.0.
 */
export function detectVersion(payload: JsonValue): WireVersion {
  if (!Array.isArray(payload)) return versionOfOne(payload);
  const versions = new Set(payload.map(versionOfOne));
  if (versions.has('2.0')) return '2.0';
  return versions.has('1.0') ? '1.0' : 'loose';
}

const invalidRequest = (message: string): HubError => new HubError(HUB_ERROR.invalidRequest, message);

/** Parses a message: a single request or a batch. */
export function readMessage(payload: JsonValue, version: WireVersion): WireMessage {
  if (payload instanceof JsonObject)
    return payload.has('method') ? readItem(payload, version) : { kind: 'answer' };
  if (!Array.isArray(payload) || version === '1.0') return readItem(payload, version, false);
  if (payload.length === 0) return { kind: 'error', error: invalidRequest('batch is empty'), id: null };
  if (payload.every((item) => item instanceof JsonObject && (item.has('result') || item.has('error'))))
    return { kind: 'answer' };
  return { kind: 'batch', items: payload };
}

/** Parses one item of a message. `isObject` is false if the item is not an object although it must be one. */
export function readItem(
  payload: JsonValue,
  version: WireVersion,
  isObject = payload instanceof JsonObject,
): WireItem {
  if (!isObject || !(payload instanceof JsonObject))
    return { kind: 'error', error: invalidRequest('request object must be a dictionary'), id: null };
  let id: JsonValue = null;
  try {
    id = idOf(payload, version);
    if (version === '2.0' && payload.get('jsonrpc') !== '2.0') throw invalidRequest('"jsonrpc" is not "2.0"');
    const method = pythonText(payload.get('method') ?? null);
    return { kind: 'request', request: { method, params: paramsOf(payload, version), id } };
  } catch (error) {
    if (!(error instanceof HubError)) throw error;
    return { kind: 'error', error, id };
  }
}

function idOf(payload: JsonObject, version: WireVersion): JsonValue {
  const id = payload.get('id');
  if (version === '1.0') {
    if (id === undefined) throw invalidRequest('request has no "id"');
    return id;
  }
  if (
    id === undefined ||
    id === null ||
    typeof id === 'string' ||
    typeof id === 'boolean' ||
    isJsonNumber(id)
  )
    return id ?? null;
  throw invalidRequest(`invalid "id": ${pythonText(id)}`);
}

function paramsOf(payload: JsonObject, version: WireVersion): readonly JsonValue[] | JsonObject {
  const params = payload.get('params') ?? (payload.has('params') || version === '1.0' ? null : []);
  if (Array.isArray(params) || (version !== '1.0' && params instanceof JsonObject)) return params;
  throw new HubError(HUB_ERROR.invalidArguments, `invalid request arguments: ${pythonText(params)}`);
}

/** Returns the texts of a response before and after the JSON text of its result. */
export function answerFrame(version: WireVersion, id: JsonValue): readonly [before: string, behind: string] {
  const idText = stringifyJson(id);
  return version === '1.0'
    ? ['{"result":', `,"error":null,"id":${idText}}`]
    : ['{"jsonrpc":"2.0","result":', `,"id":${idText}}`];
}

export function errorText(version: WireVersion, error: HubError, id: JsonValue): string {
  const body = `{"code":${error.code},"message":${quoteJson(error.message)}}`;
  return version === '1.0'
    ? `{"result":null,"error":${body},"id":${stringifyJson(id)}}`
    : `{"jsonrpc":"2.0","error":${body},"id":${stringifyJson(id)}}`;
}

/** Text line of a notification. `params` is the text of a JSON array. */
export function notificationText(version: WireVersion, method: string, params: string): string {
  return version === '1.0'
    ? `{"method":"${method}","params":${params},"id":null}`
    : `{"jsonrpc":"2.0","method":"${method}","params":${params}}`;
}
