/** Returns the peer layer of the node. Throws for a node without peer connections. */
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import type { PeerService } from '../../../interfaces/peerService.js';
import type { RpcServices } from '../../../interfaces/services.js';

/** Returns the peer layer. Throws the reference's error if the node runs without peers. */
export function requirePeers({ peers }: Pick<RpcServices, 'peers'>): PeerService {
  if (peers) return peers;
  throw rpcError(RPC_ERROR.CLIENT_P2P_DISABLED, 'Error: Peer-to-peer functionality missing or disabled');
}
