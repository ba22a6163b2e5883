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

/** Error: the connection to the hub failed, was closed or stayed silent. The caller may send the request to another hub. */
export class HubGone extends DaemonError {
  constructor(message: string) {
    super('ConnectionError', message);
  }
}

/** Thrown when a hub sent provably false data. The hub is then not used for a while. */
export class HubLie extends Error {}

/** Creates the error for a request that no hub answered in time. */
export const noHub = (): DaemonError =>
  new DaemonError(
    'TimeoutError',
    'No hub is connected. The daemon keeps trying the servers of the setting lbryum_servers.',
  );

/** Whether an error is the fault of the hub, so that the same request may be sent to another hub. */
export function isHubFault(error: unknown): error is Error {
  return error instanceof HubGone || error instanceof HubLie;
}
