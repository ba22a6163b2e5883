/** What a request of the hub can be answered with instead of a result: codes, and the error that carries one. */
import { boundedErrorText } from '../../util/text/errorText.js';

/** Source: lbryio/hub herald/jsonrpc.py, session.py. */
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

/** An answer with an error. */
export class HubError extends Error {
  override readonly name = 'HubError';
  readonly code: number;
  /** Whether a client that does nothing wrong may get it: then it does not count towards the end of its connection. */
  readonly isHonest: boolean;

  constructor(code: number, message: string, isHonest = false) {
    super(boundedErrorText(message));
    this.code = code;
    this.isHonest = isHonest;
  }
}

/** The client asked for what cannot be. */
export function badRequest(message: string): HubError {
  return new HubError(HUB_ERROR.badRequest, message);
}

/** What was asked for is not there, which a client cannot know before it asks. */
export function notThere(message: string): HubError {
  return new HubError(HUB_ERROR.badRequest, message, true);
}

/** The reference's answer to whatever its code trips over: wrong counts and types of arguments above all. */
export function internalError(): HubError {
  return new HubError(HUB_ERROR.internal, 'internal server error');
}
