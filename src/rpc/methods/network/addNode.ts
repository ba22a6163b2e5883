/** `addnode`: adds or removes nodes to which the node stays connected, or tries a node once. Source: lbrycrd rpc/net.cpp. */
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { usageError } from '../../reference/helpText.js';
import { defineMethod, type RpcMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import { requirePeers } from './requirePeers.js';

export const addNode: RpcMethod = defineMethod({
  name: 'addnode',
  category: 'network',
  chainUse: 'none',
  summary:
    'Attempts to add or remove a node from the addnode list, or tries a connection to a node once.\n' +
    'Nodes added by addnode (or -connect) are protected from disconnection for misbehaviour and are not required to be ' +
    'full nodes as other outbound peers are (though such peers will not be synced from).',
  params: [
    { name: 'node', type: 'string', required: true, description: 'The node (see getpeerinfo for nodes)' },
    {
      name: 'command',
      type: 'string',
      required: true,
      description: "'add', 'remove', or 'onetry' to try a connection once",
    },
  ],
  result: t.none(),
  examples: [['"192.168.0.6:9246"', '"onetry"']],
  async run({ services }, { node, command }) {
    if (!['add', 'remove', 'onetry'].includes(command))
      throw rpcError(RPC_ERROR.MISC_ERROR, usageError(addNode, 'command must be add, remove or onetry'));
    const peers = requirePeers(services);
    if (command === 'onetry') await peers.tryOnce(node);
    else if (command === 'add' && !peers.addNode(node))
      throw rpcError(RPC_ERROR.CLIENT_NODE_ALREADY_ADDED, 'Error: Node already added');
    else if (command === 'remove' && !peers.removeNode(node))
      throw rpcError(RPC_ERROR.CLIENT_NODE_NOT_ADDED, 'Error: Node has not been added.');
    return null;
  },
});
