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
    'Encrypts the wallet with a passphrase for the first time. The wallet gets a new seed and new keys, ' +
    'and is locked. Older backups contain neither: make a new backup. Afterwards, calls that need ' +
    'private keys require walletpassphrase first. Use walletpassphrasechange to change the passphrase ' +
    'later.',
  params: [
    {
      name: 'passphrase',
      type: 'string',
      required: true,
      late: true,
      description: 'The passphrase: at least one character; use a long one',
    },
  ],
  result: t.str('a message that the wallet is encrypted and a new backup is needed'),
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
