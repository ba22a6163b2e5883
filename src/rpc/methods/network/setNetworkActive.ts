/** `setnetworkactive`: enables or disables the peer network. Source: lbrycrd rpc/net.cpp. */
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import { requirePeers } from './requirePeers.js';

export const setNetworkActive = defineMethod({
  name: 'setnetworkactive',
  category: 'network',
  chainUse: 'none',
  summary: 'Disable/enable all p2p network activity.',
  params: [
    {
      name: 'state',
      type: 'boolean',
      required: true,
      description: 'true to enable networking, false to disable',
    },
  ],
  result: t.bool('whether P2P networking is enabled now'),
  examples: [['true']],
  run({ services }, { state }) {
    const peers = requirePeers(services);
    peers.setActive(state);
    return peers.isActive();
  },
});
