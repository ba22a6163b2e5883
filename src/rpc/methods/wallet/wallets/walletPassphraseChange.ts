/** `walletpassphrasechange`: changes the passphrase. Source: lbrycrd wallet/rpcwallet.cpp. */
import { changePassphrase } from '../../../../wallet/encryption/passphrases.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { requireEncrypted, withPassphrase, wrongPassphrase } from './passphraseArgument.js';
import { walletOf } from './walletOf.js';

const USAGE =
  'walletpassphrasechange <oldpassphrase> <newpassphrase>\nChanges the wallet passphrase from <oldpassphrase> to <newpassphrase>.';

export const walletPassphraseChange = defineMethod({
  name: 'walletpassphrasechange',
  category: 'wallet',
  needsWallet: 'one',
  summary:
    'Changes the passphrase of the wallet. Older backups still need the old passphrase. A wallet that ' +
    'was encrypted by lbrycrd is protected by scrypt afterwards.',
  params: [
    {
      name: 'oldpassphrase',
      type: 'string',
      required: true,
      late: true,
      description: 'The current passphrase',
    },
    {
      name: 'newpassphrase',
      type: 'string',
      required: true,
      late: true,
      description: 'The new passphrase',
    },
  ],
  result: t.none(),
  examples: [['"old one"', '"new one"']],
  async run(ctx, args) {
    const wallet = walletOf(ctx);
    requireEncrypted(wallet, 'walletpassphrasechange');
    const [oldText, newText] = [args.oldpassphrase(), args.newpassphrase()];
    await withPassphrase(oldText, USAGE, (old) =>
      withPassphrase(newText, USAGE, async (passphrase) => {
        if (!(await changePassphrase(wallet, old, passphrase))) throw wrongPassphrase();
      }),
    );
    return null;
  },
});
