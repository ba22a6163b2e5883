/**
 * Envelope of JSON-RPC 1.0 and 2.0: parses a request and wraps its result. Contains no transport and runs no methods.
 * Source: `JSONRPCRequest::parse`, `JSONRPCReplyObj`, `JSONErrorReply`.
 */
import { JsonObject, type JsonValue } from '../../util/json/json.js';
import { RawJson, SMALL_CHARS, smallJson, type JsonOut } from '../../util/json/jsonWrite.js';
import { boundedErrorText } from '../../util/text/errorText.js';
import { RPC_ERROR, rpcError, type RpcError } from '../declare/errors.js';
import type { Profile } from '../declare/method.js';

/** One parsed request. `id` is set first, so that the response to an invalid request contains it. */
export interface ParsedRequest {
  id: JsonValue;
  isV2: boolean;
  isNotification: boolean;
  method: string;
  params: readonly JsonValue[] | JsonObject;
  /** RPC profile of the caller. */
  readonly profile: Profile;
}

/** Response to one request: HTTP status and envelope. The envelope is null for a notification. */
export interface RpcAnswer {
  readonly status: number;
  readonly envelope: JsonOut | null;
  readonly request: ParsedRequest;
}

export function newRequest(profile: Profile): ParsedRequest {
  return { id: null, isV2: false, isNotification: false, method: '', params: [], profile };
}

interface Members {
  id?: JsonValue;
  jsonrpc?: JsonValue;
  method?: JsonValue;
  params?: JsonValue;
}

/**
 * Returns the members of a request that JSON-RPC uses. If a member occurs several times, the first one counts. All members
 * are found in one pass, because a request may contain two million other members.
 */
function membersOf({ entries }: JsonObject): Members {
  const found: Members = {};
  for (let i = 0; i < entries.length; i++) {
    const entry = entries[i]!;
    const name = entry[0];
    switch (name) {
      case 'id':
      case 'jsonrpc':
      case 'method':
      case 'params':
        if (found[name] === undefined) found[name] = entry[1];
    }
  }
  return found;
}

/** Parses a request into `request`. At an error, the members parsed before the error are set. Source: `JSONRPCRequest::parse`. */
export function readRequest(value: JsonValue, request: ParsedRequest): void {
  if (!(value instanceof JsonObject)) throw rpcError(RPC_ERROR.INVALID_REQUEST, 'Invalid Request object');
  const { id, jsonrpc, method = null, params = null } = membersOf(value);
  request.id = id ?? null;
  request.isV2 = jsonrpc === '2.0';
  if (method === null) throw rpcError(RPC_ERROR.INVALID_REQUEST, 'Missing method');
  if (typeof method !== 'string') throw rpcError(RPC_ERROR.INVALID_REQUEST, 'Method must be a string');
  request.method = method;
  if (params !== null && !Array.isArray(params) && !(params instanceof JsonObject)) {
    throw rpcError(RPC_ERROR.INVALID_REQUEST, 'Params must be an array or object');
  }
  request.params = params ?? [];
  // Only a 2.0 request without id is a notification. Bitcoin's 1.0 clients omit the id and expect a response.
  request.isNotification = request.isV2 && id === undefined;
}

export function successAnswer(request: ParsedRequest, result: JsonOut): RpcAnswer {
  return request.isNotification
    ? { status: 204, envelope: null, request }
    : { status: 200, envelope: successEnvelope(request, result), request };
}

function successEnvelope(request: ParsedRequest, result: JsonOut): JsonOut {
  return request.isV2 ? { jsonrpc: '2.0', result, id: request.id } : { result, error: null, id: request.id };
}

/**
 * The whole response to a successful request, equal to the serialized `successAnswer` and `end`: one string, or pieces if the
 * result is encoded. Null for a notification, for a result that is neither small nor encoded, and for an id that is not small.
 */
export function wholeAnswer(
  request: ParsedRequest,
  result: JsonOut,
  end: string,
): string | readonly (string | Buffer)[] | null {
  const { id, isV2, isNotification } = request;
  const idText = isNotification ? null : smallText(id);
  if (idText === null) return null;
  const before = isV2 ? '{"jsonrpc":"2.0","result":' : '{"result":';
  const after = isV2 ? `,"id":${idText}}${end}` : `,"error":null,"id":${idText}}${end}`;
  const pieces = result instanceof RawJson ? result.pieces : null;
  if (pieces !== null) return [before, ...pieces, after];
  const text = smallText(result);
  return text === null ? null : before + text + after;
}

function smallText(value: JsonOut): string | null {
  if (typeof value === 'number' && value > 0 && Number.isSafeInteger(value)) return `${value}`;
  if (!(value instanceof RawJson)) return smallJson(value);
  return value.pieces === null && value.text.length <= SMALL_CHARS ? value.text : null;
}

export function errorAnswer(request: ParsedRequest, error: RpcError): RpcAnswer {
  if (request.isNotification) return { status: 204, envelope: null, request };
  const body = { code: error.code, message: boundedErrorText(error.message) };
  return request.isV2
    ? { status: 200, envelope: { jsonrpc: '2.0', error: body, id: request.id }, request }
    : {
        status: errorStatus(error.code, request.profile),
        envelope: { result: null, error: body, id: request.id },
        request,
      };
}

/** Returns the HTTP status of a 1.0 error. Source: `JSONErrorReply`; lbcd rpcserver.go `jsonRPCRead`, which always sends 200. */
function errorStatus(code: number, profile: Profile): number {
  if (profile === 'lbcd') return 200;
  if (code === RPC_ERROR.INVALID_REQUEST) return 400;
  return code === RPC_ERROR.METHOD_NOT_FOUND ? 404 : 500;
}
