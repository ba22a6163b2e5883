/** Errors of a wallet file, and of calls after its close. */
import { EnvironmentError } from '../../util/text/environmentError.js';

/** The file is not a wallet of this program, or is corrupt. The message says what to do. */
export class WalletFileError extends EnvironmentError {
  override readonly name = 'WalletFileError';
}

/** The wallet was closed during an operation. */
export class WalletClosedError extends EnvironmentError {
  override readonly name = 'WalletClosedError';

  constructor() {
    super('The wallet was unloaded meanwhile.');
  }
}
