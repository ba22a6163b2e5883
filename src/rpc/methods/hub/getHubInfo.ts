/** `gethubinfo`: the state of the hub, and its statistics since its start. */
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import { hubOf } from './hubOf.js';

export const getHubInfo = defineMethod({
  name: 'gethubinfo',
  category: 'hub',
  explorer: 'page',
  chainUse: 'none',
  summary: 'Returns the state of the hub and its counters since the start (needs -hub).',
  params: [],
  result: t.object({
    listening: t.bool(
      'whether clients can connect: not before the node has caught up, nor while there are too many',
    ),
    failure: t.optional(t.str('why clients cannot connect'), 'when the hub is about to be started again'),
    restarts: t.int('how often the hub was started again by itself'),
    address: t.str('where clients connect'),
    port: t.int('the port for clients'),
    udp_port: t.optional(t.int('the status port'), 'when there is one'),
    height: t.int('the block that clients are served up to'),
    tip_height: t.int('the latest block of the chain'),
    sessions: t.int('clients'),
    max_sessions: t.int('the most that there may be (-hubmaxsessions)'),
    stalled: t.int('of the clients, those that do not take what was sent to them'),
    unsent_bytes: t.int('bytes that wait for clients to take them'),
    subscriptions: t.int('addresses and script hashes with subscribed clients'),
    running: t.int('requests that work'),
    waiting: t.int('requests that wait for their turn'),
    peers: t.array(t.str('host:port'), 'other hubs that are announced to clients (-hubpeers, addhub)'),
    methods: t.map(
      'method of the protocol',
      t.object({ requests: t.int('how often it was answered'), errors: t.int('of these, with an error') }),
      'what clients asked; "unknown" is what no method has for a name',
    ),
    notifications: t.map(
      'method of the protocol',
      t.int('how many'),
      'what clients were told without asking',
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
      notifications: new Map(status.told),
    };
  },
});
