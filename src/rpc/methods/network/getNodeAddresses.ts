/** `getnodeaddresses`: addresses of other nodes. Source: Core 0.18 rpc/net.cpp. */
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import { requirePeers } from './requirePeers.js';

export const getNodeAddresses = defineMethod({
  name: 'getnodeaddresses',
  category: 'network',
  chainUse: 'none',
  summary: 'Return known addresses which can potentially be used to find new nodes in the network.',
  params: [
    {
      name: 'count',
      type: 'integer',
      default: 1,
      description: 'How many addresses to return, limited to 2500 or 23% of all known addresses',
    },
  ],
  result: t.array(
    t.object({
      time: t.time('the time at which the node was last seen'),
      services: t.int('the services offered'),
      address: t.str('the address'),
      port: t.int('the port'),
    }),
  ),
  examples: [['8']],
  run({ services }, { count }) {
    const peers = requirePeers(services);
    if (count <= 0) throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'Address count out of range');
    return peers.knownAddresses(count).map(({ timeSec, services: offered, address, port }) => ({
      time: timeSec,
      services: offered,
      address,
      port,
    }));
  },
});
