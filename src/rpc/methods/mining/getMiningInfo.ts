/** `getmininginfo`: the state of mining. Source: lbrycrd rpc/mining.cpp; lbcd rpcserver.go `handleGetMiningInfo`. */
import { networkName } from '../../format/networkName.js';
import { difficultyAnswer } from '../../format/difficulty.js';
import { defineMethod } from '../../method.js';
import { t } from '../../../schema/schema.js';
import { DEFAULT_LOOKUP_BLOCKS, networkHashesPerSec } from './getNetworkHashPs.js';

export const getMiningInfo = defineMethod({
  name: 'getmininginfo',
  category: 'mining',
  summary: 'Returns a json object containing mining-related information.',
  params: [],
  result: t.object({
    blocks: t.int('the current block'),
    currentblockweight: t.int('weight of the last block put together here'),
    currentblocktx: t.int('transactions of that block, coinbase left out'),
    difficulty: t.num('the current difficulty'),
    networkhashps: t.num('the network hashes per second'),
    pooledtx: t.int('the size of the mempool'),
    chain: t.str('the name of the network'),
    warnings: t.str('network and blockchain warnings'),
    errors: t.optional(t.str('the same'), 'in the lbcd profile'),
    testnet: t.optional(t.bool('whether this is the test network'), 'in the lbcd profile'),
  }),
  examples: [[]],
  run({ services, profile }) {
    const { chain, params, mining, mempool } = services;
    const warnings = services.warnings();
    return {
      blocks: chain.chain.height,
      currentblockweight: mining.lastBlock.weight,
      currentblocktx: mining.lastBlock.txCount,
      difficulty: difficultyAnswer(chain.headers.bits(chain.chain.tip), { profile, params }),
      networkhashps: networkHashesPerSec(chain, params, DEFAULT_LOOKUP_BLOCKS, -1),
      pooledtx: mempool.size,
      chain: networkName(params, profile),
      warnings,
      errors: profile === 'lbcd' ? warnings : undefined,
      testnet: profile === 'lbcd' ? params.name === 'test' : undefined,
    };
  },
});
