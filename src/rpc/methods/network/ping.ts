/** `ping`: sends a ping to every peer to measure the round-trip time. */
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import { requirePeers } from './requirePeers.js';

export const ping = defineMethod({
  name: 'ping',
  category: 'network',
  chainUse: 'none',
  summary:
    'Requests that a ping be sent to all other nodes, to measure ping time.\n' +
    'Results are in getpeerinfo: pingtime and pingwait are decimal seconds.\n' +
    'The ping is queued with all other commands, so it measures processing backlog, not just network ping.',
  params: [],
  result: t.none(),
  examples: [[]],
  run({ services }) {
    requirePeers(services).ping();
    return null;
  },
});
