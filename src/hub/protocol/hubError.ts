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

/** Error that the client receives as an error response. */
export class HubError extends Error {
  override readonly name = 'HubError';
  readonly code: number;
  /**
   * Whether the client may cause the error without a fault of its own. Such an error does not count towards the limit at
   * which a client is disconnected.
   */
  readonly isHonest: boolean;

  constructor(code: number, message: string, isHonest = false) {
    super(boundedErrorText(message));
    this.code = code;
    this.isHonest = isHonest;
  }
}

/** Creates the error for an invalid request. */
export function badRequest(message: string): HubError {
  return new HubError(HUB_ERROR.badRequest, message);
}

/** Creates the error for an item that does not exist. A client that works correctly may cause it. */
export function notThere(message: string): HubError {
  return new HubError(HUB_ERROR.badRequest, message, true);
}

/** Error for requests at which the reference's code fails, mostly because of a wrong number or type of arguments. */
export function internalError(): HubError {
  return new HubError(HUB_ERROR.internal, 'internal server error');
}
