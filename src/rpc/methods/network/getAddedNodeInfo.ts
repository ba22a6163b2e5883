/** `getaddednodeinfo`: the nodes added by `-addnode` and `addnode`. Source: lbrycrd rpc/net.cpp. */
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import { requirePeers } from './requirePeers.js';

export const getAddedNodeInfo = defineMethod({
  name: 'getaddednodeinfo',
  category: 'network',
  chainUse: 'none',
  summary:
    'Returns information about the given added node, or all added nodes (note that onetry addnodes are not listed here).',
  params: [
    {
      name: 'node',
      type: 'string',
      description: 'Return information about this node only (default: all nodes)',
    },
  ],
  result: t.array(
    t.object({
      addednode: t.str('the IP address or name as given to addnode'),
      connected: t.bool('whether it is connected'),
      addresses: t.array(
        t.object({
          address: t.str('the address that we are connected to'),
          connected: t.oneOf(['inbound', 'outbound'], 'direction of the connection'),
        }),
        'if connected',
      ),
    }),
  ),
  examples: [['"192.168.0.201"']],
  profiles: ['documented', 'lbrycrd'],
  run({ services }, { node }) {
    const all = requirePeers(services).addedNodes();
    const wanted = node === undefined ? all : all.filter(({ name }) => name === node);
    if (node !== undefined && wanted.length === 0)
      throw rpcError(RPC_ERROR.CLIENT_NODE_NOT_ADDED, 'Error: Node has not been added.');
    return wanted.map(({ name, connected }) => ({
      addednode: name,
      connected: connected !== null,
      addresses: connected
        ? [{ address: connected.address, connected: connected.inbound ? 'inbound' : 'outbound' }]
        : [],
    }));
  },
});
