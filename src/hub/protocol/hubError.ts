/** Error responses of the hub: codes, and the error class with a code. */
import { boundedErrorText } from '../../util/text/errorText.js';

/** Error codes of responses. Source: lbryio/hub herald/jsonrpc.py, session.py. */
export const HUB_ERROR = {
  badRequest: 1,
  daemon: 2,
  timeout: -32000,
  invalidRequest: -32600,
  unknownMethod: -32601,
  invalidArguments: -32602,
  internal: -32603,
  parse: -32700,
} as const;

/** Error that is sent to the client as an error response. */
export class HubError extends Error {
  override readonly name = 'HubError';
  readonly code: number;
  /** Whether a well-behaved client may cause the error. Such an error does not count towards disconnecting the client. */
  readonly isHonest: boolean;

  constructor(code: number, message: string, isHonest = false) {
    super(boundedErrorText(message));
    this.code = code;
    this.isHonest = isHonest;
  }
}

/** Error for an invalid request. */
export function badRequest(message: string): HubError {
  return new HubError(HUB_ERROR.badRequest, message);
}

/** Error for an item that does not exist. A well-behaved client may cause it. */
export function notThere(message: string): HubError {
  return new HubError(HUB_ERROR.badRequest, message, true);
}

/** Error for requests that make the code of the reference fail, mostly by wrong numbers or types of arguments. */
export function internalError(): HubError {
  return new HubError(HUB_ERROR.internal, 'internal server error');
}
