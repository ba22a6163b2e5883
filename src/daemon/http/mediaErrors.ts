/**
 * Errors of the media server as statuses of HTTP. lbry-sdk sends a status line that HTTP does not know.
 * Source: RFC 9110, section 15; RFC 7725 for 451.
 */
import { EnvironmentError } from '../../util/text/environmentError.js';
import { boundedErrorText } from '../../util/text/errorText.js';
import { DaemonError } from '../base/daemonError.js';
import { ResolveError, type ResolveProblem } from '../base/resolveError.js';

export interface MediaFailure {
  readonly status: number;
  /** Message for the client. */
  readonly text: string;
  /** Whether a later request may succeed without a change of the daemon's settings. */
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

/** HTTP status by error name; other errors are 500. */
const STATUS_BY_NAME: Readonly<Record<string, number>> = {
  InvalidStreamURLError: 400,
  // The price.
  KeyFeeAboveMaxAllowedError: 402,
  InsufficientFundsError: 402,
  CurrencyConversionError: 402,
  // The wallet is locked. `get` asserts nothing else.
  AssertionError: 402,
  // A hub refused the payment, or its connection ended.
  RPCError: 502,
  ConnectionError: 502,
  // What peers gave is not a stream.
  InvalidStreamDescriptorError: 502,
  InvalidDataError: 502,
  // Skipped; still starting.
  NameError: 501,
  ComponentsNotStartedError: 503,
  ResolveTimeoutError: 504,
  DownloadSDTimeoutError: 504,
  DownloadDataTimeoutError: 504,
  TimeoutError: 504,
};

/** Null for an error that has no text for the client: a bug. */
export function mediaFailure(error: unknown): MediaFailure | null {
  const { name, message } = error as Error;
  const isKnown =
    error instanceof DaemonError || error instanceof EnvironmentError || name === 'TimeoutError';
  if (!isKnown) return null;
  const status =
    error instanceof ResolveError ? STATUS_BY_PROBLEM[error.problem] : (STATUS_BY_NAME[name] ?? 500);
  return { status, text: boundedErrorText(message), isPassing: status >= 502 };
}
