/** `clearbanned`: removes all bans. Source: lbrycrd rpc/net.cpp. */
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import { requirePeers } from './requirePeers.js';

export const clearBanned = defineMethod({
  name: 'clearbanned',
  category: 'network',
  chainUse: 'none',
  summary: 'Clear all banned IPs.',
  params: [],
  result: t.none(),
  examples: [[]],
  run({ services }) {
    requirePeers(services).clearBans();
    return null;
  },
});
