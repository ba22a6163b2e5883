/** Errors between the ledger and a hub. */
import { DaemonError } from '../../base/daemonError.js';

/** An error that a hub answers; to a caller of the daemon it is lbry-sdk's `RPCError` with the hub's words. */
export class HubRefusal extends DaemonError {
  readonly code: number;

  constructor(code: number, message: string) {
    super('RPCError', message);
    this.code = code;
  }
}

/** The connection failed, was closed or stayed silent; another hub may be asked. */
export class HubGone extends DaemonError {
  constructor(message: string) {
    super('ConnectionError', message);
  }
}

/** A hub said what cannot be. It is not asked again for a while. */
export class HubLie extends Error {}

/** No hub answered in time. */
export const noHub = (): DaemonError =>
  new DaemonError(
    'TimeoutError',
    'No hub is connected. The servers of the setting lbryum_servers are tried again and again.',
  );

/** Whether another hub may be asked the same. */
export function isHubFault(error: unknown): error is Error {
  return error instanceof HubGone || error instanceof HubLie;
}
