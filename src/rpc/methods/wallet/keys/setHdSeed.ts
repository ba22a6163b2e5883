/** `sethdseed`: sets a new HD seed, from which future keys are derived. Source: lbrycrd wallet/rpcwallet.cpp. */
import { decodeSecret } from '../../../../script/wif.js';
import { hasSecret, setNewSeed } from '../../../../wallet/keys/newSeed.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { requireUnlocked, walletOf } from '../wallets/walletOf.js';

export const setHdSeed = defineMethod({
  name: 'sethdseed',
  category: 'wallet',
  needsWallet: 'one',
  summary:
    'Set or generate a new HD wallet seed. Wallets without a seed cannot get one.\n' +
    'Note that you will need to MAKE A NEW BACKUP of your wallet after setting the HD wallet seed.',
  params: [
    {
      name: 'newkeypool',
      type: 'boolean',
      late: true,
      default: true,
      description:
        'Whether the next addresses come from the new seed at once; otherwise the remaining keypool ' +
        'addresses of the old seed are used first',
    },
    {
      name: 'seed',
      type: 'string',
      late: true,
      description: 'The WIF private key to use as the new HD seed; a random one if not provided',
    },
  ],
  result: t.none(),
  examples: [[], ['false'], ['true', '"wifkey"']],
  async run(ctx, args) {
    const wallet = walletOf(ctx);
    if (wallet.node.chain.isInitialDownload()) {
      throw rpcError(
        RPC_ERROR.CLIENT_IN_INITIAL_DOWNLOAD,
        'Cannot set a new HD seed while still in Initial Block Download',
      );
    }
    if (wallet.hd.state === null) {
      throw rpcError(
        RPC_ERROR.WALLET_ERROR,
        'Cannot set a HD seed on a non-HD wallet. Start with -upgradewallet in order to upgrade a non-HD wallet to HD',
      );
    }
    requireUnlocked(wallet);
    const isFlushed = args.newkeypool();
    const seed = args.seed();
    const secret = seed === undefined ? null : decodeSecret(seed, wallet.prefixes);
    if (seed !== undefined && secret === null)
      throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, 'Invalid private key');
    if (secret !== null && hasSecret(wallet, secret)) {
      throw rpcError(
        RPC_ERROR.INVALID_ADDRESS_OR_KEY,
        'Already have this key (either as an HD seed or as a loose private key)',
      );
    }
    await setNewSeed(wallet, secret, isFlushed);
    return null;
  },
});
