/** `abortrescan`: cancels the rescan in progress. Source: lbrycrd wallet/rpcdump.cpp. */
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { walletOf } from '../wallets/walletOf.js';

export const abortRescan = defineMethod({
  name: 'abortrescan',
  category: 'wallet',
  needsWallet: 'one',
  summary: 'Stops current wallet rescan triggered by an RPC call, e.g. by an importprivkey call.',
  params: [],
  result: t.bool('whether a rescan was running'),
  examples: [[]],
  run: (ctx) => walletOf(ctx).scans.abort(),
});
