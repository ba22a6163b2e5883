/** Errors between the ledger and a hub. */
import { DaemonError } from '../../base/daemonError.js';

/** Error response of a hub. Callers of the daemon get it as lbry-sdk's `RPCError` with the hub's text. */
export class HubRefusal extends DaemonError {
  readonly code: number;

  constructor(code: number, message: string) {
    super('RPCError', message);
    this.code = code;
  }
}

/** The connection failed, was closed or stayed silent. The request may be sent to another hub. */
export class HubGone extends DaemonError {
  constructor(message: string) {
    super('ConnectionError', message);
  }
}

/** A hub sent provably false data. It is not used again for a while. */
export class HubLie extends Error {}

/** No hub answered in time. */
export const noHub = (): DaemonError =>
  new DaemonError(
    'TimeoutError',
    'No hub is connected. The servers of the setting lbryum_servers are tried again and again.',
  );

/** Whether the same request may be sent to another hub. */
export function isHubFault(error: unknown): error is Error {
  return error instanceof HubGone || error instanceof HubLie;
}
