/** `listbanned`: the banned addresses and subnets. Source: lbrycrd rpc/net.cpp. */
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import { requirePeers } from './requirePeers.js';

export const listBanned = defineMethod({
  name: 'listbanned',
  category: 'network',
  chainUse: 'none',
  summary: 'List all banned IPs/Subnets.',
  params: [],
  result: t.array(
    t.object({
      address: t.str('the address or subnet'),
      banned_until: t.time('end of the ban'),
      ban_created: t.time('start of the ban'),
      ban_reason: t.str('reason: "node misbehaving" or "manually added"'),
    }),
  ),
  examples: [[]],
  run: ({ services }) =>
    requirePeers(services)
      .bans()
      .map(({ subnet, createdSec, untilSec, reason }) => ({
        address: subnet,
        banned_until: untilSec,
        ban_created: createdSec,
        ban_reason: reason,
      })),
});
