/** `getmininginfo`: the state of mining. Source: lbrycrd rpc/mining.cpp; lbcd rpcserver.go `handleGetMiningInfo`. */
import { availableParallelism } from 'node:os';
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import { readBlockChecked } from '../../lookup/blockLookup.js';
import { networkName } from '../../format/networkName.js';
import { difficultyAnswer } from '../../format/difficulty.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import { DEFAULT_LOOKUP_BLOCKS, networkHashesPerSec, shownHashesPerSec } from './getNetworkHashPs.js';

export const getMiningInfo = defineMethod({
  name: 'getmininginfo',
  category: 'mining',
  explorer: 'console',
  chainUse: 'reads',
  summary: 'Returns a json object containing mining-related information.',
  params: [],
  result: t.object({
    blocks: t.int('the current block'),
    currentblocksize: t.optional(t.int('size in bytes of the latest block'), 'in the lbcd profile'),
    currentblockweight: t.int('weight of the last block template; in the lbcd profile of the latest block'),
    currentblocktx: t.int(
      'number of transactions of the last block template, excluding the coinbase; in the lbcd profile all ' +
        'of the latest block',
    ),
    difficulty: t.num('the current difficulty'),
    networkhashps: t.num('the network hashes per second'),
    pooledtx: t.int('the size of the mempool'),
    chain: t.str('the name of the network'),
    warnings: t.str('network and blockchain warnings'),
    errors: t.optional(t.str('the same value as "warnings"'), 'in the lbcd profile'),
    testnet: t.optional(t.bool('whether this is the test network'), 'in the lbcd profile'),
    generate: t.optional(t.bool('whether the node mines by itself; always false'), 'in the lbcd profile'),
    genproclimit: t.optional(
      t.int('number of processors, which lbcd would mine with'),
      'in the lbcd profile',
    ),
    hashespersec: t.optional(t.int('hash rate of the mining threads; always 0'), 'in the lbcd profile'),
  }),
  examples: [[]],
  async run({ services, profile }): Promise<JsonOut> {
    const { chain, params, mining, mempool } = services;
    const warnings = services.warnings();
    const { tip, height } = chain.chain;
    const rates = {
      difficulty: difficultyAnswer(chain.headers.bits(tip), { profile, params }),
      networkhashps: shownHashesPerSec(
        networkHashesPerSec(chain, params, DEFAULT_LOOKUP_BLOCKS, -1),
        profile,
      ),
      pooledtx: mempool.size,
      chain: networkName(params, profile),
      warnings,
    };
    if (profile !== 'lbcd') {
      const { weight, txCount } = mining.lastBlock;
      return { blocks: height, currentblockweight: weight, currentblocktx: txCount, ...rates };
    }
    const { raw, parsed } = await readBlockChecked(services, tip);
    return {
      blocks: height,
      currentblocksize: raw.length,
      currentblockweight: parsed.weight,
      currentblocktx: parsed.txCount,
      ...rates,
      errors: warnings,
      testnet: params.name === 'test',
      generate: false,
      genproclimit: availableParallelism(),
      hashespersec: 0,
    };
  },
});
