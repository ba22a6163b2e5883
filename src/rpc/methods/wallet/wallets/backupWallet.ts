/**
 * `backupwallet`: writes a copy of the wallet as one file. Source: lbrycrd wallet/rpcwallet.cpp, wallet/db.cpp
 * `BerkeleyDatabase::Backup`.
 */
import { statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { diskFailureReason, EnvironmentError } from '../../../../util/text/environmentError.js';
import { WalletFile } from '../../../../wallet/store/walletFile.js';
import { refusalToReplace } from '../../../../wallet/transfer/replacing.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { walletOf, walletsOf } from './walletOf.js';

export const backupWallet = defineMethod({
  name: 'backupwallet',
  category: 'wallet',
  needsWallet: 'one',
  summary:
    'Safely copies current wallet file to destination, which can be a directory or a path with filename.',
  params: [
    {
      name: 'destination',
      type: 'string',
      required: true,
      description:
        'The destination directory or file. An existing file is replaced, unless it is a wallet with keys ' +
        'that this wallet does not have',
    },
  ],
  result: t.none(),
  examples: [['"backup.db"']],
  async run(ctx, { destination }) {
    const wallets = walletsOf(ctx);
    const { file, keyring, images } = walletOf(ctx);
    if (destination === '') throw failure();
    const path = resolve(destination);
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
    const target = isFolder ? join(path, basename(file.path)) : path;
    // A backup must not overwrite a wallet that is open in this node, because the keys of that wallet would be lost.
    if (wallets.keeps(target)) throw failure();
    const refusal = await refusalToReplace(target, keyring);
    if (refusal !== null) throw failure(`${target}: ${refusal}`);
    if (WalletFile.isOne(target) && (await wallets.isUsedElsewhere(target)))
      throw failure(`${target}: another node has loaded wallets from this folder`);
    try {
      await images.backup(target);
    } catch (error) {
      if (!(error instanceof EnvironmentError)) throw error;
      ctx.services.log.warn(`The wallet could not be backed up: ${error.message}`);
      const reason = diskFailureReason(error);
      throw failure(reason === null ? '' : `${target}: ${reason}`);
    }
    return null;
  },
});

function failure(reason = ''): Error {
  return rpcError(RPC_ERROR.WALLET_ERROR, `Error: Wallet backup failed! ${reason}`.trimEnd());
}
