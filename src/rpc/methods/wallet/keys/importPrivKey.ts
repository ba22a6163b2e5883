/** `importprivkey`: imports a private key. Source: lbrycrd wallet/rpcdump.cpp. */
import { decodeSecret } from '../../../../script/wif.js';
import { importPrivateKey } from '../../../../wallet/transfer/imports.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { runImport } from './importing.js';
import { refusePruned, rescanSince, withScanTurn } from './rescanning.js';
import { requirePrivateKeys, requireUnlocked, walletOf } from '../wallets/walletOf.js';

export const importPrivKey = defineMethod({
  name: 'importprivkey',
  category: 'wallet',
  needsWallet: 'one',
  summary:
    'Adds a private key (as returned by dumpprivkey) to your wallet. Requires a new wallet backup.\n' +
    'Until a rescan has finished, transactions of the key may be missing. Use importmulti for more than ' +
    'one key.',
  params: [
    {
      name: 'privkey',
      type: 'string',
      required: true,
      late: true,
      description: 'The private key (see dumpprivkey)',
    },
    {
      name: 'label',
      type: 'string',
      default: '',
      late: true,
      description: 'A label for the addresses of the key',
    },
    {
      name: 'rescan',
      type: 'boolean',
      default: true,
      late: true,
      description: 'Rescan the wallet for transactions',
    },
  ],
  result: t.none(),
  examples: [['"mykey"'], ['"mykey"', '"testing"', 'false']],
  async run(ctx, args) {
    const wallet = walletOf(ctx);
    requireUnlocked(wallet);
    const privkey = args.privkey();
    const label = args.label();
    const rescan = args.rescan();
    refusePruned(ctx, rescan);
    return withScanTurn(wallet, rescan, async (turn) => {
      const secret = decodeSecret(privkey, wallet.prefixes);
      if (secret === null) {
        throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, 'Invalid private key encoding');
      }
      if (!wallet.hasPrivateKeys) secret.privateKey.fill(0);
      requirePrivateKeys(wallet);
      const isNew = await runImport(wallet, (batch) => importPrivateKey(wallet, batch, secret, label));
      if (isNew && turn !== null) await rescanSince(ctx, wallet, turn, 0);
      return null;
    });
  },
});
