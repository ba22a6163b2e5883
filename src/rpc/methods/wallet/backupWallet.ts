/** `backupwallet`: a copy of the wallet as one file. Source: lbrycrd wallet/rpcwallet.cpp, wallet/db.cpp `BerkeleyDatabase::Backup`. */
import { statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { diskFailureReason, EnvironmentError } from '../../../util/environmentError.js';
import { RPC_ERROR, rpcError } from '../../errors.js';
import { defineMethod } from '../../method.js';
import { t } from '../../../schema/schema.js';
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
      description: 'The destination directory or file; a file that lies there is replaced',
    },
  ],
  result: t.none(),
  examples: [['"backup.db"']],
  async run(ctx, { destination }) {
    const { file } = walletOf(ctx);
    if (destination === '') throw rpcError(RPC_ERROR.WALLET_ERROR, 'Error: Wallet backup failed!');
    const path = resolve(destination);
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
    const target = isFolder ? join(path, basename(file.path)) : path;
    // Never over a wallet that is in use, this one or another: its keys would be gone.
    if (walletsOf(ctx).keeps(target)) throw rpcError(RPC_ERROR.WALLET_ERROR, 'Error: Wallet backup failed!');
    try {
      await file.backup(target);
    } catch (error) {
      if (!(error instanceof EnvironmentError)) throw error;
      ctx.services.log.warn(`The wallet could not be backed up: ${error.message}`);
      const reason = diskFailureReason(error);
      const told = reason === null ? '' : ` ${target}: ${reason}`;
      throw rpcError(RPC_ERROR.WALLET_ERROR, `Error: Wallet backup failed!${told}`);
    }
    return null;
  },
});
