/** Errors of a wallet file, and of calls after the wallet was closed. */
import { EnvironmentError } from '../../util/text/environmentError.js';

/** Thrown if the file is not a wallet of this program, or is corrupt. The message says what the operator can do. */
export class WalletFileError extends EnvironmentError {
  override readonly name = 'WalletFileError';
}

/** Error: the wallet was closed during an operation. */
export class WalletClosedError extends EnvironmentError {
  override readonly name = 'WalletClosedError';

  constructor() {
    super('The wallet was unloaded during the call.');
  }
}
