/** `dumpwallet`: writes all keys to a text file. Source: lbrycrd wallet/rpcdump.cpp. */
import { isAbsolute } from 'node:path';
import { diskFailureReason } from '../../../../util/text/environmentError.js';
import { dumpToFile } from '../../../../wallet/transfer/dumpFile.js';
import { DumpLockedError } from '../../../../wallet/transfer/dumpWallet.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { requireUnlocked, walletOf } from '../wallets/walletOf.js';

export const dumpWallet = defineMethod({
  name: 'dumpwallet',
  category: 'wallet',
  needsWallet: 'one',
  summary:
    'Dumps all wallet keys in a human-readable format to a server-side file. This does not allow ' +
    'overwriting existing files.\n' +
    'The file also contains imported keys. Everyone who has the file can spend the coins.',
  params: [
    {
      name: 'filename',
      type: 'string',
      required: true,
      late: true,
      description:
        'The filename with path (either absolute or relative to the working directory of the node)',
    },
  ],
  result: t.object({ filename: t.str('the filename with full absolute path') }),
  examples: [['"test"']],
  async run(ctx, args) {
    const wallet = walletOf(ctx);
    requireUnlocked(wallet);
    const filename = args.filename();
    const path = isAbsolute(filename) ? filename : `${process.cwd()}/${filename}`;
    try {
      await dumpToFile(wallet, path, ctx.services.network.userAgent);
    } catch (error) {
      if (error instanceof DumpLockedError) requireUnlocked(wallet);
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EEXIST') {
        throw rpcError(
          RPC_ERROR.INVALID_PARAMETER,
          `${path} already exists. If you are sure this is what you want, move it out of the way first`,
        );
      }
      if (code === undefined || !(error instanceof Error)) throw error;
      const reason = diskFailureReason(error);
      throw rpcError(
        RPC_ERROR.INVALID_PARAMETER,
        reason === null ? 'Cannot open wallet dump file' : `Cannot write wallet dump file ${path}: ${reason}`,
      );
    }
    return { filename: path };
  },
});
