/**
 * Maps errors of the media server to HTTP statuses. lbry-sdk sends an invalid status line. Source: RFC 9110, section 15; RFC
 * 7725 for 451.
 */
import { callErrorText, EnvironmentError } from '../../util/text/environmentError.js';
import { boundedErrorText } from '../../util/text/errorText.js';
import { DaemonError } from '../base/daemonError.js';
import { ResolveError, type ResolveProblem } from '../base/resolveError.js';

export interface MediaFailure {
  readonly status: number;
  /** Error message for the client. */
  readonly text: string;
  /** Whether a later request may succeed with the same settings. */
  readonly isPassing: boolean;
}

const STATUS_BY_PROBLEM: Readonly<Record<ResolveProblem, number>> = {
  'not found': 404,
  'no file': 404,
  blocked: 451,
  'hub failed': 502,
  'no hub': 503,
  collision: 409,
};

/** HTTP status by name of the error. Errors not in this table have status 500. */
const STATUS_BY_NAME: Readonly<Record<string, number>> = {
  InvalidStreamURLError: 400,
  // The stream cannot be purchased.
  KeyFeeAboveMaxAllowedError: 402,
  InsufficientFundsError: 402,
  CurrencyConversionError: 402,
  // The method `get` throws `AssertionError` only if the wallet is locked.
  AssertionError: 402,
  // Errors which mean that a hub refused the payment, or that the connection to it ended.
  RPCError: 502,
  ConnectionError: 502,
  // The peers sent data that is not a valid stream.
  InvalidStreamDescriptorError: 502,
  InvalidDataError: 502,
  // `NameError`: the component is skipped. `ComponentsNotStartedError`: the component is still starting.
  NameError: 501,
  ComponentsNotStartedError: 503,
  ResolveTimeoutError: 504,
  // The file was deleted while it was opened.
  DownloadCancelledError: 404,
  DownloadSDTimeoutError: 504,
  DownloadDataTimeoutError: 504,
  TimeoutError: 504,
};

/** Status and text of an error; null for an error without a text for the client, which is a bug. */
export function mediaFailure(error: unknown): MediaFailure | null {
  const { name, message } = error as Error;
  const isKnown =
    error instanceof DaemonError || error instanceof EnvironmentError || name === 'TimeoutError';
  if (!isKnown) return null;
  const text = error instanceof EnvironmentError ? callErrorText(error) : message;
  const status =
    error instanceof ResolveError ? STATUS_BY_PROBLEM[error.problem] : (STATUS_BY_NAME[name] ?? 500);
  return { status, text: boundedErrorText(text), isPassing: status >= 502 };
}
