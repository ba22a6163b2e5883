/** What can be wrong with a wallet file, or with when it is asked. */
import { EnvironmentError } from '../../util/text/environmentError.js';

/** The file is not a wallet of ours, or is damaged; the message says what to do. */
export class WalletFileError extends EnvironmentError {
  override readonly name = 'WalletFileError';
}

/** A wallet was closed while something was done with it. */
export class WalletClosedError extends EnvironmentError {
  override readonly name = 'WalletClosedError';

  constructor() {
    super('The wallet was unloaded meanwhile.');
  }
}
