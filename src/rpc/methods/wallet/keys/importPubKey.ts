/** `importpubkey`: adds a public key whose payments the wallet watches. Source: lbrycrd wallet/rpcdump.cpp. */
import { ecdsaBackend } from '../../../../crypto/ecdsa.js';
import { fromHex, isHex } from '../../../../util/bytes.js';
import { importPublicKey } from '../../../../wallet/transfer/imports.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { runImport } from './importing.js';
import { refusePruned, rescanWatched, withScanTurn } from './rescanning.js';
import { walletOf } from '../wallets/walletOf.js';

export const importPubKey = defineMethod({
  name: 'importpubkey',
  category: 'wallet',
  needsWallet: 'one',
  summary:
    'Adds a public key (in hex) that can be watched as if it were in your wallet but cannot be used to spend. ' +
    'Requires a new wallet backup.',
  params: [
    { name: 'pubkey', type: 'string', required: true, description: 'The hex-encoded public key' },
    { name: 'label', type: 'string', default: '', description: 'A label for the addresses of the key' },
    { name: 'rescan', type: 'boolean', default: true, description: 'Rescan the wallet for transactions' },
  ],
  result: t.none(),
  examples: [['"mypubkey"'], ['"mypubkey"', '"testing"', 'false']],
  async run(ctx, { pubkey, label, rescan }) {
    const wallet = walletOf(ctx);
    refusePruned(ctx, rescan);
    return withScanTurn(wallet, rescan, async (turn) => {
      const fail = (message: string): never => {
        throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, message);
      };
      if (pubkey === '' || !isHex(pubkey)) fail('Pubkey must be a hex string');
      const publicKey = fromHex(pubkey);
      if (!ecdsaBackend().isFullyValidPublicKey(publicKey)) fail('Pubkey is not a valid public key');
      await runImport(wallet, (batch) => importPublicKey(wallet, batch, publicKey, label));
      await rescanWatched(ctx, wallet, turn);
      return null;
    });
  },
});
