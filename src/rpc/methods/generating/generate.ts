/** `generate`: mines blocks that pay to the wallet. Source: lbrycrd wallet/rpcwallet.cpp. */
import { MiningError } from '../../../mining/miner.js';
import { scriptForPublicKey } from '../../../script/standard.js';
import { hashToHex } from '../../../util/bytes.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import { WalletBatch } from '../../../wallet/store/records.js';
import { ranOut } from '../wallet/addresses/addressArguments.js';
import { walletOf } from '../wallet/wallets/walletOf.js';

export const generate = defineMethod({
  name: 'generate',
  category: 'generating',
  needsWallet: 'one',
  summary: 'Mine up to nblocks blocks immediately (before the RPC call returns) to an address in the wallet.',
  params: [
    {
      name: 'nblocks',
      type: 'integer',
      required: true,
      description: 'How many blocks are generated immediately',
    },
    { name: 'maxtries', type: 'integer', default: 1_000_000, description: 'How many iterations to try' },
  ],
  result: t.array(t.hash('hash of a generated block')),
  examples: [['11']],
  profiles: ['documented', 'lbrycrd'],
  async run(ctx, { nblocks, maxtries }) {
    const wallet = walletOf(ctx);
    if (nblocks <= 0) {
      const batch = new WalletBatch();
      const reserved = wallet.keys.reserve(batch, false);
      if (reserved !== null) wallet.keypool.giveBack(reserved);
      await wallet.write(batch);
      if (reserved === null) throw ranOut();
      return [];
    }
    const publicKey = await wallet.keys.take(false);
    if (publicKey === null) throw ranOut();
    const tries = maxtries < 0 ? Infinity : maxtries;
    try {
      const script = scriptForPublicKey(publicKey);
      const hashes = await ctx.services.mining.generate(script, nblocks, tries, ctx.signal);
      return hashes.map(hashToHex);
    } catch (error) {
      if (error instanceof MiningError) throw rpcError(RPC_ERROR.INTERNAL_ERROR, error.message);
      throw error;
    }
  },
});
