/** `listlockunspent`: outputs that are locked against spending. Source: lbrycrd wallet/rpcwallet.cpp. */
import { fromLatin1, hashToHex } from '../../../../util/bytes.js';
import { jsonArray, type JsonOut } from '../../../../util/json/jsonWrite.js';
import { outputNumber, txKeyOf } from '../../../../wallet/ledger/entry.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { walletOf } from '../wallets/walletOf.js';

export const listLockUnspent = defineMethod({
  name: 'listlockunspent',
  category: 'wallet',
  needsWallet: 'one',
  summary:
    'Returns list of temporarily unspendable outputs.\nSee the lockunspent call to lock and unlock transactions for spending.',
  params: [],
  result: t.array(t.object({ txid: t.hash('the transaction'), vout: t.int('the index of the output') })),
  examples: [[]],
  run: (ctx) => jsonArray(outputs([...walletOf(ctx).lockedOutputs])),
});

/** Yields the locked outputs sorted by the wire-order bytes of their txids, as in the reference. */
function* outputs(keys: string[]): Generator<JsonOut> {
  const ordered = keys.sort((a, b) => {
    const [first, second] = [txKeyOf(a), txKeyOf(b)];
    return first === second ? outputNumber(a) - outputNumber(b) : first < second ? -1 : 1;
  });
  for (const key of ordered) yield { txid: hashToHex(fromLatin1(txKeyOf(key))), vout: outputNumber(key) };
}
