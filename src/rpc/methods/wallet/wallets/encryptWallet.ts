/**
 * `encryptwallet`: encrypts the private keys of an unencrypted wallet with a passphrase. Source: lbrycrd
 * wallet/rpcwallet.cpp.
 */
import { encryptWallet as encrypt } from '../../../../wallet/encryption/passphrases.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { withPassphrase } from './passphraseArgument.js';
import { walletOf } from './walletOf.js';

export const encryptWallet = defineMethod({
  name: 'encryptwallet',
  category: 'wallet',
  needsWallet: 'one',
  summary:
    'Encrypts the wallet with a passphrase, for the first time, gives it a new seed and new keys, and locks it. Backups from ' +
    'before have neither: make a new one. From then on, calls that need private keys need walletpassphrase first. An ' +
    'encrypted wallet gets another passphrase by walletpassphrasechange.',
  params: [
    {
      name: 'passphrase',
      type: 'string',
      required: true,
      late: true,
      description: 'The passphrase: at least one character, better many',
    },
  ],
  result: t.str('that it was encrypted, and that a new backup is to be made'),
  examples: [['"my pass phrase"']],
  async run(ctx, args) {
    const wallet = walletOf(ctx);
    if (wallet.keyring.isEncrypted) {
      throw rpcError(
        RPC_ERROR.WALLET_WRONG_ENC_STATE,
        'Error: running with an encrypted wallet, but encryptwallet was called.',
      );
    }
    const usage = 'encryptwallet <passphrase>\nEncrypts the wallet with <passphrase>.';
    const isDone = await withPassphrase(args.passphrase(), usage, (passphrase) =>
      encrypt(wallet, passphrase),
    );
    if (!isDone) throw rpcError(RPC_ERROR.WALLET_ENCRYPTION_FAILED, 'Error: Failed to encrypt the wallet.');
    return 'wallet encrypted; The keypool has been flushed and a new HD seed was generated (if you are using HD). You need to make a new backup.';
  },
});
