/**
 * `listaddressgroupings`: groups of addresses whose common ownership is visible on the chain, because they were inputs or
 * change of one transaction. Source: lbrycrd wallet/rpcwallet.cpp.
 */
import { encodeDestination } from '../../../../script/address.js';
import { coins } from '../../../../util/json/json.js';
import { jsonArray, type JsonOut } from '../../../../util/json/jsonWrite.js';
import type { Slices } from '../../../../util/slices.js';
import { keyedDestination } from '../../../../wallet/destinationKey.js';
import { addressBalances } from '../../../../wallet/listing/addressBalances.js';
import { ofOneState } from '../../../../wallet/listing/oneState.js';
import { sumsOf } from '../../../../wallet/listing/sumsOf.js';
import type { Wallet } from '../../../../wallet/wallet.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { walletOf } from '../wallets/walletOf.js';

/** Schema of one member of a group: address, balance and, if it has one, label. */
const MEMBER = t.union([
  {
    when: 'for an address in the address book',
    schema: t.tuple([t.str('the address'), t.coins('its balance'), t.str('its label')]),
  },
  { when: 'for another', schema: t.tuple([t.str('the address'), t.coins('its balance')]) },
]);

export const listAddressGroupings = defineMethod({
  name: 'listaddressgroupings',
  category: 'wallet',
  needsWallet: 'one',
  summary:
    'Lists groups of addresses which have had their common ownership\nmade public by common use as inputs or as the resulting change\nin past transactions.',
  params: [],
  result: t.array(t.array(MEMBER)),
  examples: [[]],
  async run(ctx) {
    const wallet = walletOf(ctx);
    const { groups, balances } = await ofOneState(wallet, function* (): Slices<Found> {
      return {
        groups: yield* sumsOf(wallet).groups.all(),
        balances: yield* addressBalances(wallet),
      };
    });
    return jsonArray(answer(wallet, groups, balances));
  },
});

interface Found {
  readonly groups: string[][];
  readonly balances: ReadonlyMap<string, bigint>;
}

function* answer(
  { book, prefixes }: Wallet,
  groups: readonly string[][],
  balances: Found['balances'],
): Generator<JsonOut> {
  function* members(group: readonly string[]): Generator<JsonOut> {
    for (const destination of group) {
      const address = encodeDestination(keyedDestination(destination), prefixes);
      const known = book.at(destination);
      const balance = coins(balances.get(destination) ?? 0n);
      yield known === undefined ? [address, balance] : [address, balance, known.label];
    }
  }
  for (const group of groups) yield jsonArray(members(group));
}
