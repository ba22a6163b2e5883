/**
 * lbcd's `generate`: mines blocks that pay to the addresses of `-miningaddress`. lbcd has no wallet. Without these addresses
 * this node pays to its wallet, if it has one. Source: lbcd rpcserver.go `handleGenerate`.
 */
import { MiningError } from '../../../mining/miner.js';
import { hashToHex } from '../../../util/bytes.js';
import { onWallets } from '../../call/onWallets.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import { generate } from './generate.js';

const MAX_TRIES_IN_WALLET = 1_000_000;

export const lbcdGenerate = defineMethod({
  name: 'generate',
  category: 'generating',
  summary:
    'Mines blocks immediately. They pay to the addresses of -miningaddress in turn or, without such an address, to the wallet.',
  params: [
    { name: 'numblocks', type: 'integer', required: true, description: 'Number of blocks to generate' },
  ],
  result: t.array(t.hash('hash of a generated block')),
  examples: [['11']],
  profiles: ['lbcd'],
  async run(ctx, { numblocks }) {
    const { mining, wallets } = ctx.services;
    if (numblocks < 0)
      throw rpcError(
        RPC_ERROR.INVALID_PARAMS,
        `parameter #1 'numblocks' must be type uint32 (got number ${numblocks})`,
      );
    const script = mining.nextPayoutScript();
    if (script === null && !wallets?.all().length)
      throw rpcError(RPC_ERROR.INTERNAL_ERROR, 'No payment addresses specified via --miningaddr');
    if (numblocks === 0)
      throw rpcError(RPC_ERROR.INTERNAL_ERROR, 'Please request a nonzero number of blocks to generate.');
    if (script === null) {
      const args = { nblocks: numblocks, maxtries: MAX_TRIES_IN_WALLET };
      return onWallets(wallets!, () => generate.run(ctx, args, []));
    }
    try {
      return (await mining.generate(script, numblocks, Infinity, ctx.signal)).map(hashToHex);
    } catch (error) {
      if (error instanceof MiningError) throw rpcError(RPC_ERROR.INTERNAL_ERROR, error.message);
      throw error;
    }
  },
});
