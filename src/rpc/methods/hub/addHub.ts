/** `addhub`: adds another hub that is announced to clients. Source: lbryio/hub herald/session.py `_notify_peer`. */
import { isPlainHostPort } from '../../../util/network/hostPort.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import { hubOf } from './hubOf.js';

export const addHub = defineMethod({
  name: 'addhub',
  category: 'hub',
  chainUse: 'none',
  summary:
    'Adds a hub to those that are announced to clients, or removes one (needs -hub).\n' +
    'Subscribed clients are notified of a new hub at once. The change lasts until the node stops; see ' +
    '-hubpeers.',
  params: [
    {
      name: 'hub',
      type: 'string',
      required: true,
      description: 'The hub as host:port; the port is 50001 by default',
    },
    { name: 'command', type: 'string', default: 'add', description: '"add" or "remove"' },
  ],
  result: t.none(),
  examples: [['"hub.example.com:50001"'], ['"hub.example.com:50001"', '"remove"']],
  async run({ services }, { hub: peer, command }) {
    const hub = hubOf(services);
    // An entry with more than one colon is rejected, because clients ignore such entries.
    if (!isPlainHostPort(peer))
      throw rpcError(RPC_ERROR.INVALID_PARAMETER, `Not a host name or an IPv4 address: ${peer}`);
    if (command === 'add') {
      if (!(await hub.addPeer(peer)))
        throw rpcError(RPC_ERROR.CLIENT_NODE_ALREADY_ADDED, 'Hub already added');
    } else if (command === 'remove') {
      if (!(await hub.removePeer(peer)))
        throw rpcError(RPC_ERROR.CLIENT_NODE_NOT_ADDED, 'Hub has not been added');
    } else {
      throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'command must be add or remove');
    }
    return null;
  },
});
