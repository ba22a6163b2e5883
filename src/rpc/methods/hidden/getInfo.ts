/**
 * `getinfo`: a summary that mining pools still request. The reference has removed the method; the format is that of the last
 * version that had it, without the wallet's fields. Source: Bitcoin Core 0.15 rpc/misc.cpp, lbcd `InfoChainResult`.
 */
import { coins } from '../../../util/json/json.js';
import { difficultyAnswer } from '../../format/difficulty.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

export const getInfo = defineMethod({
  name: 'getinfo',
  category: 'hidden',
  chainUse: 'reads',
  summary:
    'Returns an object containing various state info.\n' +
    'Provided for mining pools; use getblockchaininfo, getnetworkinfo and getwalletinfo instead.',
  params: [],
  result: t.object({
    version: t.int('the version of the node'),
    protocolversion: t.int('the protocol version'),
    blocks: t.int('the current number of blocks processed'),
    timeoffset: t.int('offset of the clocks of peers in seconds'),
    connections: t.int('the number of connections'),
    proxy: t.str('the proxy; empty if there is none'),
    difficulty: t.num('the current difficulty'),
    testnet: t.bool('whether this is the test network'),
    relayfee: t.coins('minimum relay fee per 1,000 virtual bytes'),
    errors: t.str('network and blockchain warnings'),
  }),
  examples: [[]],
  run({ services, profile }) {
    const { chain, params, network, mempool } = services;
    return {
      version: network.version,
      protocolversion: network.protocolVersion,
      blocks: chain.chain.height,
      timeoffset: network.timeOffsetSec(),
      connections: network.connectionCount(),
      proxy: network.networks()[0]?.proxy ?? '',
      difficulty: difficultyAnswer(chain.headers.bits(chain.chain.tip), { profile, params }),
      testnet: params.name === 'test',
      relayfee: coins(mempool.minRelayFeeRatePerKb),
      errors: services.warnings(),
    };
  },
});
