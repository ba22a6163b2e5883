/** Error that prevents the start of the hub. */
import { OperatorError } from '../../util/text/operatorError.js';

/** Error: the hub cannot listen at the configured address. The message is for the operator. */
export class HubStartError extends OperatorError {
  override readonly name = 'HubStartError';
}
