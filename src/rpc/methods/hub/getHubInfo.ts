/** `gethubinfo`: the state of the hub, and its statistics since its start. */
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import { hubOf } from './hubOf.js';

export const getHubInfo = defineMethod({
  name: 'gethubinfo',
  category: 'hub',
  explorer: 'page',
  chainUse: 'none',
  summary: 'Returns the state of the hub and its counters since the node started (needs -hub).',
  params: [],
  result: t.object({
    listening: t.bool(
      'whether the hub accepts clients; false until the node has caught up with the chain, and while the ' +
        'maximum number of clients is connected',
    ),
    failure: t.optional(
      t.str('the error that stopped the hub'),
      'while the hub is about to be restarted after an error',
    ),
    restarts: t.int('number of automatic restarts after errors'),
    address: t.str('the address at which the hub listens'),
    port: t.int('the TCP port for clients'),
    udp_port: t.optional(t.int('the UDP port for status pings'), 'when there is one'),
    height: t.int('the height of the block up to which the hub has data'),
    tip_height: t.int('the height of the tip'),
    sessions: t.int('clients'),
    max_sessions: t.int('maximum number of clients (-hubmaxsessions)'),
    stalled: t.int('number of clients that do not read their data'),
    unsent_bytes: t.int('number of bytes queued for clients'),
    subscriptions: t.int('number of subscribed addresses and script hashes'),
    running: t.int('number of running requests'),
    waiting: t.int('number of queued requests'),
    peers: t.array(t.str('host:port'), 'other hubs that are announced to clients (-hubpeers, addhub)'),
    methods: t.map(
      'method of the protocol',
      t.object({
        requests: t.int('number of answered requests'),
        errors: t.int('number of these that were answered with an error'),
      }),
      'requests of clients by method; "unknown" counts requests for other methods',
    ),
    notifications: t.map(
      'method of the protocol',
      t.int('number of notifications'),
      'notifications sent to clients by method',
    ),
  }),
  examples: [[]],
  run({ services }) {
    const status = hubOf(services).status;
    return {
      listening: status.listening,
      ...(status.failure === null ? {} : { failure: status.failure }),
      restarts: status.restarts,
      address: status.host,
      port: status.port,
      ...(status.udpPort === null ? {} : { udp_port: status.udpPort }),
      height: status.height,
      tip_height: services.chain.chain.height,
      sessions: status.sessions,
      max_sessions: status.maxSessions,
      stalled: status.stalled,
      unsent_bytes: status.unsentBytes,
      subscriptions: status.subscriptions,
      running: status.running,
      waiting: status.waiting,
      peers: status.peers,
      methods: new Map(
        [...status.answered].map(([name, { requests, errors }]) => [name, { requests, errors }]),
      ),
      notifications: new Map(status.notified),
    };
  },
});
