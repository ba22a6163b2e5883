/** Returns the hub, or throws the error of a node without hub. */
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import type { HubService } from '../../../interfaces/hubService.js';
import type { RpcServices } from '../../../interfaces/services.js';

export function hubOf({ hub }: RpcServices): HubService {
  if (hub === null) throw rpcError(RPC_ERROR.MISC_ERROR, 'The hub is not running. Start with -hub to use it');
  return hub;
}
