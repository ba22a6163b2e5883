/** `setban`: bans addresses, or removes bans. Source: lbrycrd rpc/net.cpp. */
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { usageError } from '../../reference/helpText.js';
import { defineMethod, type RpcMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import { requirePeers } from './requirePeers.js';

export const setBan: RpcMethod = defineMethod({
  name: 'setban',
  category: 'network',
  chainUse: 'none',
  summary: 'Attempts to add or remove an IP/Subnet from the banned list.',
  params: [
    {
      name: 'subnet',
      type: 'string',
      required: true,
      description:
        'The IP/Subnet (see getpeerinfo for nodes IP) with an optional netmask (default is /32 = single IP)',
    },
    { name: 'command', type: 'string', required: true, description: '"add" or "remove"' },
    {
      name: 'bantime',
      type: 'int64',
      description:
        'How long, in seconds (or until when if absolute is set); 0 or empty means the default time of 24h, which -bantime can change',
    },
    {
      name: 'absolute',
      type: 'any',
      description: 'If true, bantime is a time in seconds since 1970',
    },
  ],
  result: t.none(),
  examples: [
    ['"192.168.0.6"', '"add"', '86400'],
    ['"192.168.0.0/24"', '"add"'],
  ],
  run({ services }, { subnet, command, bantime, absolute }) {
    if (command !== 'add' && command !== 'remove')
      throw rpcError(RPC_ERROR.MISC_ERROR, usageError(setBan, 'command must be add or remove'));
    const peers = requirePeers(services);
    const outcome =
      command === 'add' ? peers.ban(subnet, bantime ?? 0n, absolute === true) : peers.unban(subnet);
    if (outcome === 'invalid')
      throw rpcError(RPC_ERROR.CLIENT_INVALID_IP_OR_SUBNET, 'Error: Invalid IP/Subnet');
    if (outcome === 'already')
      throw rpcError(RPC_ERROR.CLIENT_NODE_ALREADY_ADDED, 'Error: IP/Subnet already banned');
    if (outcome === 'absent')
      throw rpcError(
        RPC_ERROR.CLIENT_INVALID_IP_OR_SUBNET,
        'Error: Unban failed. Requested address/subnet was not previously banned.',
      );
    return null;
  },
});
