/** `listreceivedbyaddress`: the received amount of each address. Source: lbrycrd wallet/rpcwallet.cpp `ListReceived`. */
import { decodeDestination } from '../../../../script/address.js';
import { fromLatin1, hashToHex } from '../../../../util/bytes.js';
import { coins } from '../../../../util/json/json.js';
import { jsonArray, type JsonOut } from '../../../../util/json/jsonWrite.js';
import { inSlices } from '../../../../scheduler/slices.js';
import { destinationKey } from '../../../../wallet/destinationKey.js';
import { receiptOf, sortedDestinations, type ReceiptOptions } from '../../../../wallet/listing/received.js';
import type { Wallet } from '../../../../wallet/wallet.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { defineMethod } from '../../../declare/method.js';
import { getString } from '../../../declare/paramTypes.js';
import { t } from '../../../../schema/schema.js';
import { MIN_DEPTH_PARAM } from './getReceivedByAddress.js';
import { filterOf, WATCHED_PARAM } from './listedTransaction.js';
import { walletOf } from '../wallets/walletOf.js';

/** Maximum number of addresses of a result that is created at once. Longer results are created while they are sent. */
const ADDRESSES_AT_ONCE = 256;

export const INCLUDE_EMPTY_PARAM = {
  name: 'include_empty',
  type: 'boolean',
  default: false,
  description: 'Whether to include addresses that have received nothing',
} as const;

export const WATCHED_FIELD = t.optional(t.bool('true: the address is only watched'), 'if it is only watched');

export const listReceivedByAddress = defineMethod({
  name: 'listreceivedbyaddress',
  category: 'wallet',
  needsWallet: 'one',
  summary: 'List balances by receiving address.',
  params: [
    MIN_DEPTH_PARAM,
    INCLUDE_EMPTY_PARAM,
    WATCHED_PARAM,
    // The value null is rejected, like any other value that is not an address.
    {
      name: 'address_filter',
      type: 'string',
      nullIsValue: true,
      description: 'Only return information on this address',
    },
  ],
  result: t.array(
    t.object({
      involvesWatchonly: WATCHED_FIELD,
      address: t.str('the address'),
      account: t.str('DEPRECATED. The label'),
      amount: t.coins('the total amount received, without mined coins'),
      confirmations: t.int('number of confirmations of the latest transaction'),
      label: t.str('the label of the address'),
      txids: t.array(t.hash('a transaction that pays to the address')),
    }),
  ),
  examples: [[], ['6', 'true']],
  async run(ctx, { minconf, include_empty, include_watchonly, address_filter }) {
    const wallet = walletOf(ctx);
    const options = {
      minDepth: minconf,
      includesEmpty: include_empty,
      filter: filterOf(include_watchonly),
    };
    if (address_filter !== undefined) {
      const destination = decodeDestination(getString(address_filter), wallet.prefixes);
      if (destination === null)
        throw rpcError(RPC_ERROR.WALLET_ERROR, 'address_filter parameter was invalid');
      return [...items(wallet, [destinationKey(destination)], options)];
    }
    const destinations = await inSlices(sortedDestinations(wallet));
    const listed = items(wallet, destinations, options);
    return destinations.length <= ADDRESSES_AT_ONCE ? [...listed] : jsonArray(listed);
  },
});

function* items(
  wallet: Wallet,
  destinations: readonly string[],
  options: ReceiptOptions,
): Generator<JsonOut> {
  for (const destination of destinations) {
    const receipt = receiptOf(wallet, destination, options);
    if (receipt === null) continue;
    const { address, label, amountSat, confirmations, isWatched, entries } = receipt;
    yield {
      ...(isWatched ? { involvesWatchonly: true } : {}),
      address,
      account: label,
      amount: coins(amountSat),
      confirmations,
      label,
      txids: entries.map(({ key }) => hashToHex(fromLatin1(key))),
    };
  }
}
