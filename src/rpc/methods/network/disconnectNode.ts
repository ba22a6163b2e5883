/** `disconnectnode`: disconnects a peer. Source: lbrycrd rpc/net.cpp. */
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { usageError } from '../../reference/helpText.js';
import { defineMethod, type RpcMethod } from '../../declare/method.js';
import { getInt64, getString } from '../../declare/paramTypes.js';
import { t } from '../../../schema/schema.js';
import { requirePeers } from './requirePeers.js';

export const disconnectNode: RpcMethod = defineMethod({
  name: 'disconnectnode',
  category: 'network',
  chainUse: 'none',
  summary:
    "Immediately disconnects from the specified peer node, given by strictly one of 'address' and 'nodeid'.\n" +
    "To disconnect by nodeid, either set 'address' to the empty string, or call using the named 'nodeid' argument only.",
  params: [
    { name: 'address', type: 'any', cli: 'string', description: 'The IP address/port of the node' },
    { name: 'nodeid', type: 'any', description: 'The node ID (see getpeerinfo for node IDs)' },
  ],
  result: t.none(),
  examples: [['"192.168.0.6:9246"'], ['""', '1']],
  run({ services }, { address, nodeid }) {
    if (address === undefined && nodeid === undefined)
      throw rpcError(RPC_ERROR.MISC_ERROR, usageError(disconnectNode, 'address or nodeid must be given'));
    const peers = requirePeers(services);
    const byAddress = address !== undefined && address !== null;
    const byId = nodeid !== undefined && nodeid !== null;
    let found: boolean;
    if (byAddress && !byId) found = peers.disconnectAddress(getString(address));
    else if (byId && (!byAddress || address === '')) found = peers.disconnectId(getInt64(nodeid));
    else throw rpcError(RPC_ERROR.INVALID_PARAMS, 'Only one of address and nodeid should be provided.');
    if (!found) throw rpcError(RPC_ERROR.CLIENT_NODE_NOT_CONNECTED, 'Node not found in connected nodes');
    return null;
  },
});
