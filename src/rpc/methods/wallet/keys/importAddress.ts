/** `importaddress`: adds an address or a script that the wallet watches. Source: lbrycrd wallet/rpcdump.cpp. */
import { decodeDestination } from '../../../../script/address.js';
import { fromHex, isHex } from '../../../../util/bytes.js';
import { importAddress as watchAddress, importScript } from '../../../../wallet/transfer/imports.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { runImport } from './importing.js';
import { refusePruned, rescanWatched, withScanTurn } from './rescanning.js';
import { walletOf } from '../wallets/walletOf.js';

export const importAddress = defineMethod({
  name: 'importaddress',
  category: 'wallet',
  needsWallet: 'one',
  summary:
    'Adds an address or script (in hex) that can be watched as if it were in your wallet but cannot be ' +
    'used to spend. Requires a new wallet backup.\n' +
    'Until a rescan has finished, transactions may be missing. If you have the full public key, call ' +
    'importpubkey instead.',
  params: [
    {
      name: 'address',
      type: 'string',
      required: true,
      description: 'The address, or a script in hex',
    },
    { name: 'label', type: 'string', default: '', description: 'A label for the address' },
    { name: 'rescan', type: 'boolean', default: true, description: 'Rescan the wallet for transactions' },
    {
      name: 'p2sh',
      type: 'boolean',
      default: false,
      description: 'Add the P2SH version of the script as well',
    },
  ],
  result: t.none(),
  examples: [['"myaddress"'], ['"myaddress"', '"testing"', 'false']],
  async run(ctx, { address, label, rescan, p2sh }) {
    const wallet = walletOf(ctx);
    refusePruned(ctx, rescan);
    return withScanTurn(wallet, rescan, async (turn) => {
      const destination = decodeDestination(address, wallet.prefixes);
      if (destination !== null && p2sh) {
        throw rpcError(
          RPC_ERROR.INVALID_ADDRESS_OR_KEY,
          'Cannot use the p2sh flag with an address - use a script instead',
        );
      }
      if (destination === null && (address === '' || !isHex(address)))
        throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, 'Invalid Bitcoin address or script');
      await runImport(wallet, (batch) => {
        if (destination !== null) watchAddress(wallet, batch, destination, label);
        else importScript(wallet, batch, fromHex(address), label, p2sh);
      });
      await rescanWatched(ctx, wallet, turn);
      return null;
    });
  },
});
