/**
 * lbcd's `getaddednodeinfo`: the nodes of the addnode list, by name or with the state of their connections. Difference from
 * lbcd: host names are not resolved again. The address in the result is that of the connection, or the name if there is no
 * connection. Source: lbcd rpcserver.go.
 */
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { defineMethod } from '../../declare/method.js';
import type { AddedNodeInfo } from '../../../interfaces/peerService.js';
import { t } from '../../../schema/schema.js';
import { requirePeers } from './requirePeers.js';

/** Returns the host of `host`, `host:port` or `[host]:port`. */
function hostOf(address: string): string {
  return /^\[([^\]]*)\](?::\d+)?$/.exec(address)?.[1] ?? /^([^:]*):\d+$/.exec(address)?.[1] ?? address;
}

function nodeAnswer({ name, connected }: AddedNodeInfo) {
  const direction = connected === null ? 'false' : connected.inbound ? 'inbound' : 'outbound';
  return {
    addednode: name,
    connected: connected !== null,
    addresses: [{ address: hostOf(connected?.address ?? name), connected: direction }],
  };
}

export const lbcdGetAddedNodeInfo = defineMethod({
  name: 'getaddednodeinfo',
  category: 'network',
  chainUse: 'none',
  summary: 'Returns the added nodes: only their names, or with dns also their connections.',
  params: [
    { name: 'dns', type: 'boolean', required: true, description: 'Include the connections' },
    {
      name: 'node',
      type: 'string',
      description: 'Return information about this node only (default: all nodes)',
    },
  ],
  result: t.union([
    { when: 'for dns = false', schema: t.array(t.str('the IP address or name as given to addnode')) },
    {
      when: 'for dns = true',
      schema: t.array(
        t.object({
          addednode: t.str('the IP address or name as given to addnode'),
          connected: t.bool('whether it is connected'),
          addresses: t.array(
            t.object({
              address: t.str('the address of the node'),
              connected: t.oneOf(
                ['false', 'inbound', 'outbound'],
                'direction of the connection if the node is connected',
              ),
            }),
          ),
        }),
      ),
    },
  ]),
  examples: [['true'], ['true', '"192.168.0.201"']],
  profiles: ['lbcd'],
  run({ services }, { dns, node }) {
    const all = requirePeers(services).addedNodes();
    const wanted = node === undefined ? all : all.filter(({ name }) => name === node);
    if (node !== undefined && wanted.length === 0)
      throw rpcError(RPC_ERROR.CLIENT_NODE_NOT_ADDED, 'Node has not been added');
    return dns ? wanted.map(nodeAnswer) : wanted.map(({ name }) => name);
  },
});
