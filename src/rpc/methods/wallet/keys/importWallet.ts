/** `importwallet`: imports the keys and scripts of a file written by `dumpwallet`. Source: lbrycrd wallet/rpcdump.cpp. */
import { open, type FileHandle } from 'node:fs/promises';
import { inSlices } from '../../../../scheduler/slices.js';
import { refuseSpecialFile } from '../../../../util/files/specialFile.js';
import { importDump } from '../../../../wallet/transfer/importDump.js';
import type { Wallet } from '../../../../wallet/wallet.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { rescanSince, withScanTurn } from './rescanning.js';
import { requirePrivateKeys, requireUnlocked, walletOf } from '../wallets/walletOf.js';

async function openDump(path: string): Promise<FileHandle> {
  try {
    refuseSpecialFile(path);
    const file = await open(path);
    if ((await file.stat()).isFile()) return file;
    await file.close();
  } catch {
    // The file does not exist or cannot be read.
  }
  throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'Cannot open wallet dump file');
}

async function takeIn(wallet: Wallet, file: FileHandle): ReturnType<typeof importDump> {
  requirePrivateKeys(wallet);
  return importDump(wallet, file);
}

export const importWallet = defineMethod({
  name: 'importwallet',
  category: 'wallet',
  needsWallet: 'one',
  summary:
    'Imports keys from a wallet dump file (see dumpwallet). Requires a new wallet backup to include imported keys.',
  params: [{ name: 'filename', type: 'string', required: true, late: true, description: 'The wallet file' }],
  result: t.none(),
  examples: [['"test"']],
  async run(ctx, { filename }) {
    const wallet = walletOf(ctx);
    if (ctx.services.pruner !== null)
      throw rpcError(RPC_ERROR.WALLET_ERROR, 'Importing wallets is disabled in pruned mode');
    return withScanTurn(wallet, true, async (turn) => {
      requireUnlocked(wallet);
      const file = await openDump(filename());
      const { oldestSec, isComplete } = await takeIn(wallet, file).finally(() => file.close());
      await wallet.reconsiderOutputs();
      await inSlices(wallet.book.readNew());
      await rescanSince(ctx, wallet, turn!, oldestSec);
      if (!isComplete) throw rpcError(RPC_ERROR.WALLET_ERROR, 'Error adding some keys/scripts to wallet');
      return null;
    });
  },
});
