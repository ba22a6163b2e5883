/** `migratewallet`: copies a wallet file of lbrycrd to a new wallet of this node. */
import { basename } from 'node:path';
import type { JsonOut } from '../../../../util/json/jsonWrite.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { openFailure } from './openedWallet.js';
import { walletsOf } from './walletOf.js';

/** Name of the new wallet if no name can be derived from the name of the file. */
const DEFAULT_NAME = 'wallet';

export const migrateWallet = defineMethod({
  name: 'migratewallet',
  category: 'wallet',
  needsWallet: 'any',
  summary:
    'Converts a wallet of lbrycrd (wallet.dat) into a new wallet, and loads it: all keys, labels and ' +
    'transactions. Encrypted keys keep their passphrase. If lbrycrd was not shut down cleanly, its ' +
    'database log beside the file is read too. The old file is not changed; afterwards only one program ' +
    'should use either the old or the new wallet.',
  params: [
    {
      name: 'file',
      type: 'string',
      required: true,
      description:
        'The file, or the folder that contains wallet.dat; a relative path is relative to -walletdir',
    },
    {
      name: 'name',
      type: 'string',
      defaultText: 'the name of the file, or "wallet"',
      description: 'The name of the new wallet',
    },
  ],
  result: t.object({
    name: t.str('the name of the new wallet'),
    warning: t.str('a warning if data may be missing'),
    records: t.int('number of converted records'),
    fromlog: t.bool('whether the database log contained records that the file did not'),
    keys: t.int('number of private keys in the new wallet'),
    txcount: t.int('number of transactions in the new wallet'),
  }),
  examples: [['"/home/me/.lbrycrd/wallet.dat"'], ['"/home/me/.lbrycrd/wallet.dat"', '"savings"']],
  async run(ctx, { file, name }): Promise<JsonOut> {
    const own = basename(file).replace(/\.dat$/, '');
    try {
      const found = await walletsOf(ctx).migrate(file, name ?? (own === '' ? DEFAULT_NAME : own));
      const { wallet, rows, usedLog, warning } = found;
      return {
        name: wallet.name,
        warning,
        records: rows,
        fromlog: usedLog,
        keys: wallet.keyring.keyCount,
        txcount: wallet.ledger.size,
      };
    } catch (error) {
      throw openFailure(error);
    }
  },
});
