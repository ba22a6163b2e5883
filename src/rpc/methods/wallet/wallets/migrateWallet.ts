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
    'Takes over a wallet of lbrycrd (wallet.dat) into a new wallet, and loads it: all its keys, labels and transactions, ' +
    'encrypted ones still under their passphrase. A log that lbrycrd left beside the file, when it was not stopped, is read ' +
    'too. The old file is not changed; only one program should use it or the new one from then on.',
  params: [
    {
      name: 'file',
      type: 'string',
      required: true,
      description: 'The file, or the folder with wallet.dat in it; relative to the folder of the wallets',
    },
    {
      name: 'name',
      type: 'string',
      defaultText: 'the name of the file, or wallet',
      description: 'The name of the new wallet',
    },
  ],
  result: t.object({
    name: t.str('the name of the new wallet'),
    warning: t.str('a warning when something may be missing'),
    records: t.int('how many records were taken over'),
    fromlog: t.bool('whether the log had some that the file had not'),
    keys: t.int('how many private keys the wallet has'),
    txcount: t.int('how many transactions it has'),
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
