/** `getnetworkinfo`: the state of the peer network. Source: lbrycrd rpc/net.cpp; lbcd rpcserver.go `handleGetNetworkInfo`. */
import { coins } from '../../../util/json/json.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

/** Number of hex digits of `localservices`, which has 64 bits. */
const SERVICES_DIGITS = 16;

export const getNetworkInfo = defineMethod({
  name: 'getnetworkinfo',
  category: 'network',
  explorer: 'page',
  chainUse: 'none',
  summary: 'Returns an object containing various state info regarding P2P networking.',
  params: [],
  result: t.object({
    version: t.int('the version of the node'),
    subversion: t.str('the user agent'),
    protocolversion: t.int('the protocol version'),
    localservices: t.hex('the services that we offer to the network, 16 digits'),
    localrelay: t.bool('whether transaction relay is enabled'),
    timeoffset: t.int('offset of the clocks of peers in seconds'),
    networkactive: t.bool('whether P2P networking is enabled'),
    connections: t.int('the number of connections'),
    networks: t.array(
      t.object({
        name: t.oneOf(['ipv4', 'ipv6', 'onion'], 'the network'),
        limited: t.bool('whether -onlynet excludes the network'),
        reachable: t.bool('whether the network is reachable'),
        proxy: t.str('host:port of the proxy for this network; empty if there is none'),
        proxy_randomize_credentials: t.bool('whether each proxy connection uses new credentials'),
      }),
      'information per network',
    ),
    relayfee: t.coins('minimum relay fee per 1,000 virtual bytes'),
    incrementalfee: t.coins(
      'minimum fee rate increase per 1,000 virtual bytes for replacement or a full mempool',
    ),
    localaddresses: t.array(
      t.object({
        address: t.str('the address'),
        port: t.int('the port'),
        score: t.int('relative score of the address'),
      }),
      'our own addresses',
    ),
    warnings: t.str('network and blockchain warnings'),
  }),
  examples: [[]],
  run({ services }) {
    const { network, mempool, options } = services;
    return {
      version: network.version,
      subversion: network.userAgent,
      protocolversion: network.protocolVersion,
      localservices: network.localServices().toString(16).padStart(SERVICES_DIGITS, '0'),
      localrelay: network.relaysTransactions,
      timeoffset: network.timeOffsetSec(),
      networkactive: network.isActive(),
      connections: network.connectionCount(),
      networks: network.networks().map((one) => ({
        name: one.name,
        limited: one.limited,
        reachable: one.reachable,
        proxy: one.proxy,
        proxy_randomize_credentials: one.randomizesProxyCredentials,
      })),
      relayfee: coins(mempool.minRelayFeeRatePerKb),
      incrementalfee: coins(options.incrementalFeeRatePerKb),
      localaddresses: network.localAddresses().map(({ address, port, score }) => ({ address, port, score })),
      warnings: services.warnings(),
    };
  },
});
